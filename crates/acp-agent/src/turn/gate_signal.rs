//! The signal of a question that is put to the client.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use acp_host::{Cancel, Cancelled};

/// Tells a question to the client that its answer is no longer wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateSignal {
    cancel: Cancel,
    is_resolved: Arc<AtomicBool>,
}

impl GateSignal {
    /// Waits until the answer is no longer wanted.
    pub(crate) fn given_up(&self) -> Cancelled {
        self.cancel.cancelled()
    }

    /// Whether the gate was resolved elsewhere or its turn is over: then it needs
    /// no answer.
    pub(crate) fn is_resolved(&self) -> bool {
        self.is_resolved.load(Ordering::Acquire)
    }

    #[cfg(test)]
    pub(crate) fn is_given_up(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Makes it resolved; fire the signal that is returned.
    pub(super) fn resolve(self) -> Cancel {
        self.is_resolved.store(true, Ordering::Release);
        self.cancel
    }

    /// The signal to fire when the answer is no longer wanted.
    pub(super) fn cancel(self) -> Cancel {
        self.cancel
    }

    /// Gives the answer up at once: nobody was asked.
    pub(super) fn give_up(&self) {
        self.cancel.cancel();
    }
}
