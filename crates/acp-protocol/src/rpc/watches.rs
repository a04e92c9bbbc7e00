//! Who waits for the end of a call without being its caller.

use std::task::Waker;

use foldhash::HashMap;

use super::wake::{Wakes, register};

/// A place in the line of those who watch a call; see
/// [`Connection::poll_call_ended`](super::Connection::poll_call_ended).
#[derive(Debug)]
pub struct CallWatch {
    call: i64,
    key: u64,
}

/// The watchers of open calls. Whoever watches does it for a request of the peer, so
/// there are at most as many as those.
#[derive(Debug, Default)]
pub(super) struct Watches {
    by_call: HashMap<i64, HashMap<u64, Option<Waker>>>,
    next: u64,
}

impl Watches {
    /// Remembers who is to be woken at the end of an open call.
    pub(super) fn add(&mut self, call: i64, watch: &mut Option<CallWatch>, waker: &Waker) {
        let key = match watch {
            Some(known) => known.key,
            None => {
                self.next += 1;
                self.next
            }
        };
        let slots = self.by_call.entry(call).or_default();
        register(slots.entry(key).or_default(), waker);
        *watch = Some(CallWatch { call, key });
    }

    /// Forgets a watcher.
    pub(super) fn remove(&mut self, watch: &CallWatch) {
        if let Some(slots) = self.by_call.get_mut(&watch.call) {
            slots.remove(&watch.key);
            if slots.is_empty() {
                self.by_call.remove(&watch.call);
            }
        }
    }

    /// Wakes those who watch a call: it ended.
    pub(super) fn end(&mut self, call: i64, wakes: &mut Wakes) {
        if self.by_call.is_empty() {
            return;
        }
        for mut slot in self.by_call.remove(&call).into_iter().flatten() {
            wakes.take_from(&mut slot.1);
        }
    }

    /// Wakes them all.
    pub(super) fn end_all(&mut self, wakes: &mut Wakes) {
        for mut slot in self.by_call.drain().flat_map(|(_, slots)| slots) {
            wakes.take_from(&mut slot.1);
        }
    }
}
