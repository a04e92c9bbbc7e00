//! Events of the session as a whole, in turns and between them.

use std::sync::Arc;

use acp_host::{EmitError, EventBody, Offer, Visibility};

use super::{SessionCore, unsent::UnsentEvent};
use crate::{
    turn::{draft::PendingEvent, session_turns::SessionTurns},
    wire::event_meta::{EventMeta, EventName},
};

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
        if let EventBody::GateOpened(gate) = &body {
            tracing::warn!(session.id = %self.id, gate.id = %gate.id, "the host opened a gate outside of a turn");
            return Offer::Done(Err(EmitError::NoTurn));
        }
        self.send_session_event(&mut turns, EventName::Number(number), body)
    }

    /// Offers the agent's own command, unless the host has offered its commands.
    pub(crate) fn announce_commands(self: &Arc<Self>) {
        let mut turns = self.turns();
        let Some(commands) = turns.view().own_commands() else {
            return;
        };
        let name = EventName::OwnCommands;
        if let Offer::Wait(rest) = self.send_session_event(&mut turns, name, commands) {
            self.runtime.spawn(rest);
        }
    }

    /// Sends the events that waited until the client knew the session.
    pub(crate) fn send_held(self: &Arc<Self>) {
        let mut turns = self.turns();
        for held in turns.view().release() {
            let event = PendingEvent::new(held.body);
            let unsent = UnsentEvent::new(event, self.session_meta(held.name));
            unsent.send_past_all(self, &mut turns);
        }
        drop(turns);
        // The host's commands may be among those that could not be sent.
        self.announce_commands();
    }

    /// Sends an event that belongs to no turn, behind those of its kind that wait.
    fn send_session_event(
        self: &Arc<Self>,
        turns: &mut SessionTurns,
        name: EventName,
        body: EventBody,
    ) -> Offer {
        if !turns.view().shows(&body) {
            return Offer::Done(Ok(()));
        }
        let (name, body) = match turns.view().hold(name, body) {
            Ok(Some(event)) => event,
            Ok(None) => return Offer::Done(Ok(())),
            Err(error) => return Offer::Done(Err(error)),
        };
        let mut unsent = UnsentEvent::new(PendingEvent::new(body), self.session_meta(name));
        let queue = self.event_queue();
        let turn_in_queue = Arc::clone(&queue).try_lock_owned().ok();
        if turn_in_queue.is_some()
            && let Some(sent) = unsent.send_now(self, turns, None)
        {
            return Offer::Done(sent);
        }
        let waiting = unsent.wait(self, turns, None);
        Offer::Wait(Box::pin(async move {
            let _turn_in_queue = match turn_in_queue {
                Some(first) => first,
                None => queue.lock_owned().await,
            };
            tokio::task::yield_now().await;
            waiting.send().await
        }))
    }

    /// The lock under which events of the session as a whole are sent.
    pub(crate) fn event_queue(&self) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.event_queue.get_or_init(Arc::default))
    }

    fn session_meta(&self, name: EventName) -> Option<(Arc<EventMeta>, EventName)> {
        let meta = || Arc::new(EventMeta::of_session(self.id.as_str()));
        self.has_event_ids.then(|| (meta(), name))
    }
}
