//! Events of the session as a whole, in turns and between them.

use std::sync::Arc;

use acp_host::{EmitError, EventBody, Offer, Visibility};
use acp_protocol::v1::SessionUpdate;

use super::{SessionCore, unsent::UnsentUpdates};
use crate::{turn::session_turns::SessionTurns, wire::event_meta::EventMeta};

impl SessionCore {
    /// Takes an event of the session as a whole.
    pub(super) fn offer_session_event(
        self: &Arc<Self>,
        number: u64,
        visibility: Visibility,
        body: EventBody,
    ) -> Offer {
        if visibility != Visibility::Public {
            return Offer::Done(Ok(()));
        }
        let mut turns = self.turns();
        if let Err(error) = turns.check_open(None) {
            return Offer::Done(Err(error));
        }
        let updates = turns.view().updates(body);
        self.send_session_updates(&mut turns, number, updates)
    }

    /// Offers the agent's own command, unless the host has offered its commands.
    pub(crate) fn announce_commands(self: &Arc<Self>) {
        let mut turns = self.turns();
        let commands = turns.view().own_commands();
        if let Offer::Wait(rest) = self.send_session_updates(&mut turns, 0, commands) {
            self.runtime.spawn(rest);
        }
    }

    /// Sends the events that waited until the client knew the session.
    pub(crate) fn send_held(self: &Arc<Self>) {
        let mut turns = self.turns();
        for held in turns.view().release() {
            let unsent = UnsentUpdates::new(held.updates, self.session_meta(held.number));
            unsent.send_past_all(self, &mut turns);
        }
        drop(turns);
        // The host's commands may be among those that could not be sent.
        self.announce_commands();
    }

    /// Sends updates that belong to no turn, behind those of their kind that wait.
    fn send_session_updates(
        self: &Arc<Self>,
        turns: &mut SessionTurns,
        number: u64,
        updates: Vec<SessionUpdate>,
    ) -> Offer {
        if updates.is_empty() {
            return Offer::Done(Ok(()));
        }
        let updates = match turns.view().hold(number, updates) {
            Ok(updates) => updates,
            Err(lost) => {
                turns.forget(None, &lost);
                return Offer::Done(Err(EmitError::NoRoom));
            }
        };
        let mut unsent = UnsentUpdates::new(updates, self.session_meta(number));
        let queue = Arc::clone(self.event_queue.get_or_init(Arc::default));
        let turn_in_queue = Arc::clone(&queue).try_lock_owned().ok();
        if turn_in_queue.is_some()
            && let Some(sent) = unsent.send_now(self, turns, None)
        {
            return Offer::Done(sent);
        }
        let waiting = unsent.wait(self, None);
        Offer::Wait(Box::pin(async move {
            let _turn_in_queue = match turn_in_queue {
                Some(first) => first,
                None => queue.lock_owned().await,
            };
            tokio::task::yield_now().await;
            waiting.send().await
        }))
    }

    fn session_meta(&self, number: u64) -> Option<(Arc<EventMeta>, u64)> {
        let meta = || Arc::new(EventMeta::of_session(self.id.as_str()));
        self.has_event_ids.then(|| (meta(), number))
    }
}
