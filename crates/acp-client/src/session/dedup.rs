//! Notices events that an agent tells of twice.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use acp_connection::Update;

use crate::limits::{DEDUP_WINDOW, MAX_EVENT_ID};

/// Remembers the newest events of a session by their ids.
///
/// What an agent says of its events cannot be trusted with more than this: one that
/// wants to hide an update can, but it could leave it out as well.
#[derive(Debug, Default)]
pub(crate) struct SeenEvents {
    known: HashSet<Arc<str>>,
    /// In the order in which they came, the oldest first.
    order: VecDeque<Arc<str>>,
}

impl SeenEvents {
    /// Tells whether the update tells of an event that was told of before, and
    /// remembers it if not. History is no repetition, and is not remembered.
    pub(crate) fn is_repeated(&mut self, update: &Update) -> bool {
        let Some(event) = update.event_id() else {
            return false;
        };
        if event.is_empty() || event.len() > MAX_EVENT_ID || update.is_replay() {
            return false;
        }
        self.knows(event)
    }

    fn knows(&mut self, event: &str) -> bool {
        if self.known.contains(event) {
            return true;
        }
        if self.order.len() == DEDUP_WINDOW
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        let event: Arc<str> = event.into();
        self.known.insert(Arc::clone(&event));
        self.order.push_back(event);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_events_are_known_and_the_oldest_is_forgotten_first() {
        let mut window = SeenEvents::default();
        for n in 0..DEDUP_WINDOW {
            assert!(!window.knows(&n.to_string()));
        }
        // A repetition does not make an event younger.
        assert!(window.knows("0"));
        assert!(!window.knows("one more"));
        assert!(!window.knows("0"), "it was the oldest");
        assert!(window.knows("2"), "the one behind it was not");
        assert!(!window.knows("1"));
        assert_eq!(window.known.len(), DEDUP_WINDOW);
        assert_eq!(window.order.len(), DEDUP_WINDOW);
    }
}
