//! Wakers that remember whether they were woken: who finds something ready was
//! told so before.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Wake, Waker},
};

/// Someone who waits, and who may only find things ready after it rang.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    bell: Arc<Bell>,
    waits: bool,
}

#[derive(Debug, Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Waiter {
    /// Polls, and checks that nobody forgot to wake.
    pub(crate) fn poll<T>(&mut self, poll: impl FnOnce(&Waker) -> Poll<T>) -> Poll<T> {
        let rang = self.rang();
        self.bell.0.store(false, Ordering::Relaxed);
        let polled = poll(&Waker::from(Arc::clone(&self.bell)));
        assert!(
            polled.is_pending() || rang || !self.waits,
            "it was ready, and nobody woke the one who waits for it"
        );
        self.waits = polled.is_pending();
        polled
    }

    pub(crate) fn rang(&self) -> bool {
        self.bell.0.load(Ordering::Relaxed)
    }
}
