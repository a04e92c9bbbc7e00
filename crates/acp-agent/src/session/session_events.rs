//! What concerns the session as a whole, in turns and between them.

use std::sync::Arc;

use acp_host::{EmitError, EventBody, Offer, Visibility};

use super::link::{Written, emit_error};
use crate::{
    session::SessionCore, session::unsent::UnsentUpdates, turn::sent::SentMark,
    turn::session_turns::SessionTurns, turn::translator::Updates, wire::event_meta::EventMeta,
};

impl SessionCore {
    /// Takes an event of the session as a whole.
    pub(super) fn offer_anywhere(
        self: &Arc<Self>,
        number: u64,
        visibility: Visibility,
        body: EventBody,
    ) -> Offer {
        if visibility != Visibility::Public {
            return Offer::Done(Ok(()));
        }
        let mut slot = self.slot();
        if let Err(error) = slot.check_open() {
            return Offer::Done(Err(error));
        }
        let told = slot.shown().tell(body);
        self.tell_anywhere(&mut slot, number, told)
    }

    /// Tells of the agent's own command, unless the host has told its commands.
    pub(crate) fn announce_commands(self: &Arc<Self>) {
        let mut slot = self.slot();
        let told = slot.shown().own_commands();
        if let Offer::Wait(rest) = self.tell_anywhere(&mut slot, 0, told) {
            drop(slot);
            self.runtime.spawn(rest);
        }
    }

    /// Tells what was held back until the client knew the session.
    pub(crate) fn tell_held(self: &Arc<Self>) {
        let mut slot = self.slot();
        for held in slot.shown().release() {
            let mut stamp = self.session_stamp(held.number);
            for update in held.updates {
                // Their number is bounded, so they need not wait for credit.
                let unsent = self.encode(&update, stamp.as_ref());
                let told = unsent.and_then(|unsent| self.lane.send_now(unsent).map_err(emit_error));
                if told.is_err() {
                    slot.forget(None, &SentMark::of(&update));
                }
                stamp.iter_mut().for_each(EventMeta::next_part);
            }
        }
        drop(slot);
        // Where the host's commands could not be told, the agent's own still can.
        self.announce_commands();
    }

    /// Tells updates that belong to no turn, now or as soon as the client takes
    /// them; never in front of those that wait.
    fn tell_anywhere(
        self: &Arc<Self>,
        slot: &mut SessionTurns,
        number: u64,
        told: Updates,
    ) -> Offer {
        if let Updates::Nothing = told {
            return Offer::Done(Ok(()));
        }
        let told = match slot.shown().keep_back(number, told) {
            Ok(Some(told)) => told,
            Ok(None) => return Offer::Done(Ok(())),
            Err(lost) => {
                slot.forget_all(None, lost);
                return Offer::Done(Err(EmitError::NoRoom));
            }
        };
        let mut stamp = self.session_stamp(number);
        let mut updates = told.into_iter().peekable();
        let turn = Arc::clone(self.news()).try_lock_owned().ok();
        while let Some(update) = updates.peek().filter(|_| turn.is_some()) {
            match self.write(update, stamp.as_ref()) {
                Written::Done(Ok(())) => stamp.iter_mut().for_each(EventMeta::next_part),
                Written::Done(Err(error)) => {
                    slot.forget_all(None, updates);
                    return Offer::Done(Err(error));
                }
                Written::Waits => break,
            }
            updates.next();
        }
        let left: Vec<_> = updates.collect();
        if left.is_empty() {
            return Offer::Done(Ok(()));
        }
        let core = Arc::clone(self);
        let mut untold = UnsentUpdates::new(self, None, &left);
        Offer::Wait(Box::pin(async move {
            let _turn = match turn {
                Some(turn) => turn,
                None => Arc::clone(core.news()).lock_owned().await,
            };
            tokio::task::yield_now().await;
            for update in left {
                core.slot().check_open()?;
                core.send(&update, stamp.as_ref()).await?;
                untold.told();
                stamp.iter_mut().for_each(EventMeta::next_part);
            }
            Ok(())
        }))
    }

    fn session_stamp(&self, number: u64) -> Option<EventMeta> {
        self.stamps
            .then(|| EventMeta::of_session(self.id.as_str(), number))
    }
}
