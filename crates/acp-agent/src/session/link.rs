//! The way from a host to its client: events become updates on the task of
//! whoever tells them.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
};

use acp_connection::{Sending, Unsent};
use acp_host::{
    BoxFuture, ClientError, CreateTerminal, Delta, EmitError, Event, EventBody, HostError, Offer,
    Origin, Port, ReadTextFile, Terminal, Visibility, WriteTextFile,
};
use acp_protocol::{
    rpc::{SendError, frame::TextHead},
    v1::{CompleteElicitationNotification, SessionUpdate},
};

use crate::{
    session::SessionCore, session::client_calls, session::gate_request::GateRequest,
    session::terminal, session::unsent::UnsentUpdates, turn::active_prompt::EventAction,
    turn::effects::Effects, turn::session_turns::SessionTurns, turn::translator::Updates,
    wire::event_meta::EventMeta, wire::form,
};

/// What a [`ClientLink`](acp_host::ClientLink) of this facade carries.
pub(crate) struct SessionPort(Arc<SessionCore>);

impl SessionPort {
    pub(crate) fn new(core: Arc<SessionCore>) -> Self {
        Self(core)
    }
}

impl Port for SessionPort {
    fn offer(&self, event: Event) -> Offer {
        let Event {
            origin,
            number,
            visibility,
            body,
            ..
        } = event;
        match (origin, body) {
            // Replies to what has no turn.
            (_, body @ (EventBody::CompactDone { .. } | EventBody::CompactRejected { .. })) => {
                let after = self.0.slot().reply(body);
                after.run();
                Offer::Done(Ok(()))
            }
            (Some(origin), body) => self.0.offer(origin, number, visibility, body),
            (None, body) => self.0.offer_anywhere(number, visibility, body),
        }
    }

    fn lose_events(&self, cause: HostError) {
        let after = self.0.slot().lose(Some(cause));
        after.run();
    }

    fn read_text_file(&self, request: ReadTextFile) -> BoxFuture<'_, Result<String, ClientError>> {
        Box::pin(client_calls::read_text_file(&self.0, request))
    }

    fn write_text_file(&self, request: WriteTextFile) -> BoxFuture<'_, Result<(), ClientError>> {
        Box::pin(client_calls::write_text_file(&self.0, request))
    }

    fn create_terminal(
        &self,
        request: CreateTerminal,
    ) -> BoxFuture<'_, Result<Terminal, ClientError>> {
        Box::pin(terminal::create(&self.0, request))
    }
}

impl Drop for SessionPort {
    fn drop(&mut self) {
        let after = self.0.slot().lose(None);
        after.run();
    }
}

impl SessionCore {
    /// Takes an event of a turn.
    fn offer(
        self: &Arc<Self>,
        origin: Arc<Origin>,
        number: u64,
        visibility: Visibility,
        body: EventBody,
    ) -> Offer {
        let mut slot = self.slot();
        let body = match body {
            EventBody::Delta(delta) => {
                match self.say(&mut slot, &origin, number, visibility, delta) {
                    Ok(offer) => return offer,
                    Err(delta) => EventBody::Delta(delta),
                }
            }
            body => body,
        };
        let mut after = Effects::default();
        let step = slot.event(&origin, visibility, body, &mut after);
        let offer = match step {
            EventAction::Ignore => Offer::Done(Ok(())),
            EventAction::TooLate => Offer::Done(Err(EmitError::Ended)),
            EventAction::Tell(told) => match self.tell(&mut slot, &origin, number, told) {
                Ok(result) => Offer::Done(result),
                Err(rest) => Offer::Wait(Box::pin(self.tell_later(origin, *rest))),
            },
            EventAction::AddressDone(gate) => {
                let id = form::address_id(&self.id, &gate);
                let done = CompleteElicitationNotification::new(id);
                Offer::Done(self.peer().notify_now(&done).map_err(emit_error))
            }
            EventAction::Ask {
                announce,
                gate,
                command,
                signal,
            } => {
                let told = self.tell(&mut slot, &origin, number, announce);
                // A trip locks the slot for itself.
                drop(slot);
                after.run();
                let trip = GateRequest::new(Arc::clone(self), command, gate, signal);
                let rest = match told {
                    Ok(_) => {
                        trip.start();
                        return Offer::Done(Ok(()));
                    }
                    Err(rest) => self.tell_later(origin, *rest),
                };
                return Offer::Wait(Box::pin(async move {
                    // Who waits at the gate is answered, come what may.
                    let _ = rest.await;
                    trip.start();
                    Ok(())
                }));
            }
        };
        drop(slot);
        after.run();
        offer
    }

    /// Tells a piece of text, the most frequent event of all, the short way: without
    /// an update, straight into what the connection is about to write. Gives the piece
    /// back where that cannot be done.
    fn say(
        self: &Arc<Self>,
        slot: &mut SessionTurns,
        origin: &Arc<Origin>,
        number: u64,
        visibility: Visibility,
        delta: Delta,
    ) -> Result<Offer, Delta> {
        let head = |piece: &SessionUpdate, stamp: &EventMeta| {
            let meta = self.stamps.then(|| stamp.around_number());
            TextHead::new(&self.update_head, piece, meta)
        };
        let (Delta::Text(text) | Delta::Thinking(text) | Delta::Refusal(text)) = &delta else {
            return Err(delta);
        };
        let Some(head) = slot.say(origin, visibility, &delta, head) else {
            return Err(delta);
        };
        let told = self.lane.try_text(head, text, number);
        if let Some(Ok(())) = told {
            return Ok(Offer::Done(Ok(())));
        }
        let piece = slot.piece(delta);
        if let Some(Err(error)) = told {
            slot.forget_all(Some(origin), piece);
            return Ok(Offer::Done(Err(emit_error(error))));
        }
        let stamper = slot.stamper().filter(|_| self.stamps);
        let rest = Rest {
            stamp: stamper.map(|(stamper, prompt)| stamper.stamp(origin, prompt, number)),
            updates: piece.into_iter().collect(),
        };
        Ok(Offer::Wait(Box::pin(
            self.tell_later(Arc::clone(origin), rest),
        )))
    }

    /// Tells updates of an event now. Gives back what the client cannot take
    /// yet.
    ///
    /// It runs under the lock of the slot, so nothing of a turn is written
    /// behind its end, and updates are written in the order of their numbers.
    fn tell(
        &self,
        slot: &mut SessionTurns,
        origin: &Origin,
        number: u64,
        told: Updates,
    ) -> Result<Result<(), EmitError>, Box<Rest>> {
        let mut rest = told.into_iter();
        let Some(mut update) = rest.next() else {
            return Ok(Ok(()));
        };
        let stamper = slot.stamper().filter(|_| self.stamps);
        let mut stamp = stamper.map(|(stamper, prompt)| stamper.stamp(origin, prompt, number));
        let mut written = self.write(&update, stamp.as_ref());
        loop {
            match written {
                Written::Done(Ok(())) => {}
                Written::Done(Err(error)) => {
                    slot.forget_all(Some(origin), std::iter::once(update).chain(rest));
                    return Ok(Err(error));
                }
                Written::Waits => {
                    return Err(Box::new(Rest {
                        updates: std::iter::once(update).chain(rest).collect(),
                        stamp,
                    }));
                }
            }
            update = match rest.next() {
                Some(update) => update,
                None => break,
            };
            stamp.iter_mut().for_each(EventMeta::next_part);
            written = self.write(&update, stamp.as_ref());
        }
        if let (Some(stamp), Some((stamper, _))) = (stamp, slot.stamper()) {
            stamper.take_back(stamp);
        }
        Ok(Ok(()))
    }

    /// Writes an update, if there is room for it.
    pub(super) fn write(&self, update: &SessionUpdate, stamp: Option<&EventMeta>) -> Written {
        if !self.lane.has_room() {
            return Written::Waits;
        }
        let mut unsent = match self.encode(update, stamp) {
            Ok(unsent) => unsent,
            Err(error) => return Written::Done(Err(error)),
        };
        match self.lane.try_send(&mut unsent) {
            Some(sent) => Written::Done(sent.map_err(emit_error)),
            None => Written::Waits,
        }
    }

    pub(super) fn encode(
        &self,
        update: &SessionUpdate,
        stamp: Option<&EventMeta>,
    ) -> Result<Unsent, EmitError> {
        let stamp = stamp.map(EventMeta::as_json);
        Unsent::encode_update(&self.update_head, update, stamp).map_err(emit_error)
    }

    /// Tells the rest of an event as soon as the client takes it, unless the
    /// turn is cancelled or ends meanwhile.
    fn tell_later(
        self: &Arc<Self>,
        origin: Arc<Origin>,
        rest: Rest,
    ) -> impl Future<Output = Result<(), EmitError>> + Send + use<> {
        let core = Arc::clone(self);
        let Rest { updates, mut stamp } = rest;
        let mut untold = UnsentUpdates::new(self, Some(&origin), &updates);
        async move {
            // There was no room, or it was time to let the connection write.
            tokio::task::yield_now().await;
            for update in updates {
                core.send_while_told(&origin, &update, stamp.as_ref())
                    .await?;
                untold.told();
                stamp.iter_mut().for_each(EventMeta::next_part);
            }
            Ok(())
        }
    }

    /// Tells an update of a turn once the client takes it, unless the turn is
    /// cancelled or ends meanwhile.
    async fn send_while_told(
        &self,
        origin: &Origin,
        update: &SessionUpdate,
        stamp: Option<&EventMeta>,
    ) -> Result<(), EmitError> {
        let mut sending = self.lane.sending();
        let mut unsent = None;
        poll_fn(|cx| {
            let mut slot = self.slot();
            if let Err(error) = slot.check_told(origin) {
                return Poll::Ready(Err(error));
            }
            match self.poll_send(&mut sending, &mut unsent, update, stamp, cx) {
                Poll::Ready(sent) => Poll::Ready(sent),
                Poll::Pending => match slot.block(cx.waker()) {
                    Ok(()) => Poll::Pending,
                    Err(error) => Poll::Ready(Err(error)),
                },
            }
        })
        .await
    }

    /// Waits for room, and only then serialises: what waits is in memory once.
    fn poll_send(
        &self,
        sending: &mut Sending<'_>,
        unsent: &mut Option<Unsent>,
        update: &SessionUpdate,
        stamp: Option<&EventMeta>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), EmitError>> {
        let unsent = match unsent {
            Some(unsent) => unsent,
            none => {
                ready!(sending.poll_room(cx)).map_err(emit_error)?;
                none.insert(self.encode(update, stamp)?)
            }
        };
        sending.poll_send(unsent, cx).map_err(emit_error)
    }

    /// Tells an update as soon as the client takes it.
    pub(crate) async fn send(
        &self,
        update: &SessionUpdate,
        stamp: Option<&EventMeta>,
    ) -> Result<(), EmitError> {
        let (mut sending, mut unsent) = (self.lane.sending(), None);
        poll_fn(|cx| self.poll_send(&mut sending, &mut unsent, update, stamp, cx)).await
    }
}

/// What became of an update.
pub(super) enum Written {
    Done(Result<(), EmitError>),
    Waits,
}

/// What the client cannot take yet of an event.
struct Rest {
    updates: Vec<SessionUpdate>,
    stamp: Option<EventMeta>,
}

pub(super) fn emit_error(error: SendError) -> EmitError {
    match error {
        SendError::Cancelled => EmitError::Cancelled,
        SendError::TooLarge { .. } => EmitError::TooLarge,
        SendError::Encode(_) => EmitError::Unwritable,
        SendError::Closed(_) | _ => EmitError::Closed,
    }
}
