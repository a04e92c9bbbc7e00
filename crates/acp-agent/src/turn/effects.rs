//! What is left to do once a slot is unlocked.

use std::task::Waker;

use acp_host::Cancel;

/// What is left to do once the slot is unlocked.
#[derive(Debug, Default)]
#[must_use = "somebody waits for these"]
pub(crate) struct Effects {
    pub(crate) cancels: Vec<Cancel>,
    pub(crate) wakers: Vec<Waker>,
}

impl Effects {
    /// Wakes these as well.
    pub(crate) fn wake(&mut self, wakers: &mut Vec<Waker>) {
        self.wakers.append(wakers);
    }

    /// Fires signals and wakes tasks.
    pub(crate) fn run(self) {
        for cancel in self.cancels {
            cancel.cancel();
        }
        for waker in self.wakers {
            waker.wake();
        }
    }
}
