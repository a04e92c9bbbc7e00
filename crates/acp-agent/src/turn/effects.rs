//! Signals and wakers, fired once the lock of a session is released.

use std::task::Waker;

use acp_host::Cancel;

/// Signals to cancel and tasks to wake.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(super) cancels: Vec<Cancel>,
    pub(super) wakers: Vec<Waker>,
}

impl Effects {
    /// Fires all of them.
    pub(crate) fn run(self) {
        for cancel in self.cancels {
            cancel.cancel();
        }
        for waker in self.wakers {
            waker.wake();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cancels.is_empty() && self.wakers.is_empty()
    }
}
