//! Updates of an event on their way to the client.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use acp_connection::{Sending, Unsent};
use acp_host::{EmitError, TurnOrigin};
use acp_protocol::{rpc::SendError, v1::SessionUpdate};

use crate::{session::SessionCore, turn::session_turns::SessionTurns, wire::event_meta::EventMeta};

/// The updates of one event that are not sent yet.
pub(crate) struct UnsentUpdates {
    updates: std::vec::IntoIter<SessionUpdate>,
    /// The `_meta` of the updates, and the number of the event.
    meta: Option<(Arc<EventMeta>, u64)>,
    /// How many updates of the event came before.
    part: u32,
}

impl UnsentUpdates {
    pub(crate) fn new(updates: Vec<SessionUpdate>, meta: Option<(Arc<EventMeta>, u64)>) -> Self {
        Self {
            updates: updates.into_iter(),
            meta,
            part: 0,
        }
    }

    fn next(&self) -> Option<&SessionUpdate> {
        self.updates.as_slice().first()
    }

    fn encode(&self, core: &SessionCore, update: &SessionUpdate) -> Result<Unsent, EmitError> {
        let meta = self.meta.as_ref();
        let meta = meta.map(|(meta, number)| meta.json(*number, self.part));
        Unsent::encode_update(&core.update_head, update, meta.as_deref()).map_err(emit_error)
    }

    fn mark_sent(&mut self) {
        self.updates.next();
        self.part += 1;
    }

    /// Sends as many as there is room for; `None` if some have to wait.
    ///
    /// It runs under the lock of the turns, so nothing of a turn is written behind
    /// its end, and updates are written in the order of their numbers.
    pub(super) fn send_now(
        &mut self,
        core: &SessionCore,
        turns: &mut SessionTurns,
        origin: Option<&TurnOrigin>,
    ) -> Option<Result<(), EmitError>> {
        while let Some(update) = self.next() {
            // A long update is encoded only if there is room for it.
            if !core.lane.has_room() {
                return None;
            }
            let sent = match self.encode(core, update) {
                Ok(mut unsent) => core.lane.try_send(&mut unsent)?.map_err(emit_error),
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                turns.forget(origin, self.updates.as_slice());
                self.updates = Vec::new().into_iter();
                return Some(Err(error));
            }
            self.mark_sent();
        }
        Some(Ok(()))
    }

    /// Sends all of them past those that wait for room. Only for updates whose
    /// number is bounded.
    pub(super) fn send_past_all(mut self, core: &SessionCore, turns: &mut SessionTurns) {
        while let Some(update) = self.next() {
            let unsent = self.encode(core, update);
            let sent = unsent.and_then(|unsent| core.lane.send_now(unsent).map_err(emit_error));
            if sent.is_err() {
                turns.forget(None, [update]);
            }
            self.mark_sent();
        }
    }

    /// Has them wait for the client, as updates of a turn or of the session.
    pub(crate) fn wait(
        self,
        core: &Arc<SessionCore>,
        origin: Option<Arc<TurnOrigin>>,
    ) -> WaitingUpdates {
        WaitingUpdates {
            core: Arc::clone(core),
            origin,
            unsent: self,
        }
    }
}

/// Updates that wait for the client to take more. Those that are not sent when this
/// is dropped are forgotten.
pub(crate) struct WaitingUpdates {
    core: Arc<SessionCore>,
    origin: Option<Arc<TurnOrigin>>,
    unsent: UnsentUpdates,
}

impl WaitingUpdates {
    /// Sends them as soon as the client takes them, unless the turn or the session
    /// ends or the turn is cancelled meanwhile.
    pub(crate) async fn send(mut self) -> Result<(), EmitError> {
        while self.unsent.next().is_some() {
            self.send_next().await?;
            self.unsent.mark_sent();
        }
        Ok(())
    }

    async fn send_next(&self) -> Result<(), EmitError> {
        let mut sending = self.core.lane.sending();
        let mut encoded = None;
        let origin = self.origin.as_deref();
        poll_fn(|cx| {
            let mut turns = self.core.turns();
            if let Err(error) = turns.check_open(origin) {
                return Poll::Ready(Err(error));
            }
            let sent = self.poll_send(&mut sending, &mut encoded, cx);
            if sent.is_pending() && origin.is_some() {
                let blocked = turns.active().map(|prompt| prompt.block(cx.waker()));
                if let Err(error) = blocked.unwrap_or(Err(EmitError::Ended)) {
                    return Poll::Ready(Err(error));
                }
            }
            sent
        })
        .await
    }

    /// Waits for room before it encodes: a waiting update is in memory once.
    fn poll_send(
        &self,
        sending: &mut Sending<'_>,
        encoded: &mut Option<Unsent>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), EmitError>> {
        let Some(update) = self.unsent.next() else {
            return Poll::Ready(Ok(()));
        };
        let encoded = match encoded {
            Some(encoded) => encoded,
            none => {
                ready!(sending.poll_room(cx)).map_err(emit_error)?;
                none.insert(self.unsent.encode(&self.core, update)?)
            }
        };
        sending.poll_send(encoded, cx).map_err(emit_error)
    }
}

impl Drop for WaitingUpdates {
    fn drop(&mut self) {
        let left = self.unsent.updates.as_slice();
        if !left.is_empty() {
            self.core.turns().forget(self.origin.as_deref(), left);
        }
    }
}

pub(super) fn emit_error(error: SendError) -> EmitError {
    match error {
        SendError::Cancelled => EmitError::Cancelled,
        SendError::TooLarge { .. } => EmitError::TooLarge,
        SendError::Encode(_) => EmitError::Unwritable,
        SendError::Closed(_) | _ => EmitError::Closed,
    }
}
