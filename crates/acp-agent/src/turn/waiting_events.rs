//! Events of a turn that wait for the client to take more.

use std::{collections::VecDeque, task::Waker};

use super::effects::Effects;

/// Events that wait, in the order in which the host reported them. Each is a future of
/// the host, which bounds their number.
#[derive(Debug, Default)]
pub(crate) struct WaitingEvents {
    places: VecDeque<u64>,
    blocked: Vec<Waker>,
}

impl WaitingEvents {
    /// Whether there are any: what is reported now waits behind them.
    pub(super) fn are_there(&self) -> bool {
        !self.places.is_empty()
    }

    /// Has an event wait behind those that wait already.
    pub(super) fn push(&mut self, place: u64) {
        self.places.push_back(place);
    }

    /// Whether an event is the first of those that wait.
    pub(super) fn is_first(&self, place: u64) -> bool {
        self.places.front() == Some(&place)
    }

    /// Takes an event out, and wakes the others.
    pub(super) fn remove(&mut self, place: u64, effects: &mut Effects) {
        self.places.retain(|waiting| *waiting != place);
        self.wake(effects);
    }

    /// Keeps the waker of an event that cannot be sent now.
    pub(super) fn block(&mut self, waker: &Waker) {
        self.blocked.retain(|known| !known.will_wake(waker));
        self.blocked.push(waker.clone());
    }

    /// Wakes all that wait.
    pub(super) fn wake(&mut self, effects: &mut Effects) {
        effects.wakers.append(&mut self.blocked);
    }
}
