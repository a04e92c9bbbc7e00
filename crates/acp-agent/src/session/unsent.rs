//! Events on their way to the client.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use acp_connection::{Sending, Unsent};
use acp_host::{EmitError, TurnOrigin};
use acp_protocol::rpc::SendError;

use crate::{
    session::SessionCore,
    turn::{
        draft::{ClientKnows, PendingEvent},
        session_turns::SessionTurns,
    },
    wire::event_meta::{EventMeta, EventName},
};

/// An event that is not sent yet, or not all of it.
///
/// Each update of it counts once it is in the outgoing buffer. Dropped before, the
/// event leaves nothing behind.
pub(crate) struct UnsentEvent {
    event: PendingEvent,
    /// The `_meta` of its updates, and its name.
    meta: Option<(Arc<EventMeta>, EventName)>,
    /// How many updates of it were sent.
    part: u32,
    /// The next update, encoded.
    encoded: Option<(Unsent, ClientKnows)>,
}

impl UnsentEvent {
    pub(crate) fn new(event: PendingEvent, meta: Option<(Arc<EventMeta>, EventName)>) -> Self {
        Self {
            event,
            meta,
            part: 0,
            encoded: None,
        }
    }

    /// Encodes the next update, if there is one. It is kept until it is sent.
    fn encode_next(
        &mut self,
        core: &SessionCore,
        turns: &mut SessionTurns,
        origin: Option<&TurnOrigin>,
    ) -> Result<Option<&mut Unsent>, EmitError> {
        if self.encoded.is_none() {
            let Some(draft) = turns.next_update(origin, &mut self.event) else {
                return Ok(None);
            };
            let meta = self.meta.as_ref();
            let meta = meta.map(|(meta, name)| meta.json(name, self.part));
            let encoded = Unsent::encode_update(&core.update_head, &draft.update, meta.as_deref());
            self.encoded = Some((encoded.map_err(emit_error)?, draft.then));
        }
        Ok(self.encoded.as_mut().map(|(unsent, _)| unsent))
    }

    /// Takes note that the encoded update was sent, and sends what goes with it.
    fn mark_sent(
        &mut self,
        core: &SessionCore,
        turns: &mut SessionTurns,
        origin: Option<&TurnOrigin>,
    ) {
        if let Some((_, known)) = self.encoded.take() {
            turns.update_sent(origin, known);
            self.part += 1;
        }
        if self.event.has_companion() {
            let companion = self.encode_next(core, turns, origin).is_ok();
            if let (true, Some((unsent, known))) = (companion, self.encoded.take())
                && core.lane.send_now(unsent).is_ok()
            {
                turns.update_sent(origin, known);
                self.part += 1;
            }
        }
    }

    /// Sends as much as there is room for; `None` if some has to wait.
    ///
    /// It runs under the lock of the turns, so nothing of a turn is written behind
    /// its end, and updates are written in the order of their numbers.
    pub(super) fn send_now(
        &mut self,
        core: &SessionCore,
        turns: &mut SessionTurns,
        origin: Option<&TurnOrigin>,
    ) -> Option<Result<(), EmitError>> {
        if origin.is_some() && turns.has_waiting() && !self.event.is_nothing() {
            return None;
        }
        loop {
            // A long update is made only if there is room for it.
            if turns.has_update(origin, &self.event) && !core.lane.has_room() {
                return None;
            }
            let sent = match self.encode_next(core, turns, origin) {
                Ok(None) => return Some(Ok(())),
                Ok(Some(unsent)) => core.lane.try_send(unsent)?.map_err(emit_error),
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                return Some(Err(error));
            }
            self.mark_sent(core, turns, origin);
        }
    }

    /// Sends all of it past those that wait for room. Only for events whose number is
    /// bounded.
    pub(super) fn send_past_all(mut self, core: &SessionCore, turns: &mut SessionTurns) {
        while let Ok(Some(_)) = self.encode_next(core, turns, None) {
            let Some((unsent, known)) = self.encoded.take() else {
                return;
            };
            if core.lane.send_now(unsent).is_err() {
                return;
            }
            turns.update_sent(None, known);
            self.part += 1;
        }
    }

    /// Has it wait for the client, as an event of a turn or of the session.
    pub(crate) fn wait(
        self,
        core: &Arc<SessionCore>,
        turns: &mut SessionTurns,
        origin: Option<Arc<TurnOrigin>>,
    ) -> WaitingEvent {
        WaitingEvent {
            core: Arc::clone(core),
            place: origin.is_some().then(|| turns.enqueue()),
            origin,
            unsent: self,
        }
    }
}

/// An event that waits for the client to take more.
pub(crate) struct WaitingEvent {
    core: Arc<SessionCore>,
    origin: Option<Arc<TurnOrigin>>,
    /// Its place among the events of its turn that wait.
    place: Option<u64>,
    unsent: UnsentEvent,
}

impl WaitingEvent {
    /// Sends it as soon as the client takes it, unless the turn or the session ends or
    /// the turn is cancelled meanwhile.
    pub(crate) async fn send(mut self) -> Result<(), EmitError> {
        let core = Arc::clone(&self.core);
        loop {
            let mut sending = core.lane.sending();
            if poll_fn(|cx| self.poll_next(&core, &mut sending, cx)).await? {
                return Ok(());
            }
        }
    }

    /// Sends the next update; true if none is left.
    fn poll_next(
        &mut self,
        core: &SessionCore,
        sending: &mut Sending<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, EmitError>> {
        let origin = self.origin.clone();
        let mut turns = core.turns();
        if let Err(error) = turns.check_open(origin.as_deref()) {
            return Poll::Ready(Err(error));
        }
        // Events are made in the order in which they were reported.
        let sent = match self.place {
            Some(place) if !turns.is_first(place) => Poll::Pending,
            _ => self.poll_send(core, &mut turns, origin.as_deref(), sending, cx),
        };
        if sent.is_pending() && origin.is_some() {
            let blocked = turns.active().map(|prompt| prompt.block(cx.waker()));
            if let Err(error) = blocked.unwrap_or(Err(EmitError::Ended)) {
                return Poll::Ready(Err(error));
            }
        }
        sent
    }

    /// Waits for room before it makes an update: what waits is in memory once.
    fn poll_send(
        &mut self,
        core: &SessionCore,
        turns: &mut SessionTurns,
        origin: Option<&TurnOrigin>,
        sending: &mut Sending<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, EmitError>> {
        let unsent = &mut self.unsent;
        if unsent.encoded.is_none() && turns.has_update(origin, &unsent.event) {
            ready!(sending.poll_room(cx)).map_err(emit_error)?;
        }
        if let Some(encoded) = unsent.encode_next(core, turns, origin)? {
            ready!(sending.poll_send(encoded, cx)).map_err(emit_error)?;
            unsent.mark_sent(core, turns, origin);
        }
        if turns.has_update(origin, &unsent.event) {
            return Poll::Ready(Ok(false));
        }
        // The end of an event counts, too.
        turns.next_update(origin, &mut unsent.event);
        Poll::Ready(Ok(true))
    }
}

impl Drop for WaitingEvent {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.core.turns().dequeue(place);
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
