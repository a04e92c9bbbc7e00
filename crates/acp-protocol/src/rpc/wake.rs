//! Who is to be woken once the connection's lock is free again.

use std::task::Waker;

/// Wakers to wake after unlocking.
///
/// Waking under a lock sends the woken thread straight into it.
#[derive(Debug, Default)]
#[must_use = "wake them after unlocking"]
pub struct Wakes {
    first: Option<Waker>,
    rest: Vec<Waker>,
}

impl Wakes {
    pub(super) fn push(&mut self, waker: Waker) {
        match &self.first {
            None => self.first = Some(waker),
            Some(first) if first.will_wake(&waker) => {}
            Some(_) => self.rest.push(waker),
        }
    }

    /// Takes the waker out of `slot`, if one waits there.
    pub(super) fn take_from(&mut self, slot: &mut Option<Waker>) {
        if let Some(waker) = slot.take() {
            self.push(waker);
        }
    }

    /// Wakes them all. Call it without holding a lock.
    pub fn wake(self) {
        if let Some(first) = self.first {
            first.wake();
        }
        for waker in self.rest {
            waker.wake();
        }
    }
}

/// Remembers `waker` in `slot` unless what is there wakes the same task.
pub(super) fn register(slot: &mut Option<Waker>, waker: &Waker) {
    match slot {
        Some(known) if known.will_wake(waker) => {}
        slot => *slot = Some(waker.clone()),
    }
}
