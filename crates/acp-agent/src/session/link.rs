//! The link of a host to its client: events become updates on the task of the
//! caller, without a queue in between.

use std::sync::Arc;

use acp_host::{
    ClientCallError, CreateTerminal, Delta, EmitError, EventBody, HostError, HostEvent, HostFuture,
    Offer, Port, ReadTextFile, Terminal, TurnOrigin, Visibility, WriteTextFile,
};
use acp_protocol::{
    rpc::frame::TextHead,
    v1::{CompleteElicitationNotification, SessionUpdate},
};

use super::{
    SessionCore, client_calls,
    gate_request::GateRequest,
    terminal,
    unsent::{UnsentUpdates, WaitingUpdates, emit_error},
};
use crate::{
    turn::{active_prompt::EventAction, session_turns::SessionTurns},
    wire::{event_meta::EventMeta, form},
};

/// Carries a [`ClientLink`](acp_host::ClientLink).
pub(super) struct SessionPort(pub(super) Arc<SessionCore>);

impl Port for SessionPort {
    fn offer(&self, event: HostEvent) -> Offer {
        let HostEvent {
            origin,
            number,
            visibility,
            body,
        } = event;
        let core = &self.0;
        match (origin, body) {
            (Some(origin), EventBody::Delta(delta)) => {
                core.offer_delta(origin, number, visibility, delta)
            }
            // Replies to what has no turn.
            (_, body @ (EventBody::CompactDone { .. } | EventBody::CompactRejected { .. })) => {
                core.turns().reply(body);
                Offer::Done(Ok(()))
            }
            (Some(origin), body) => core.offer_event(origin, number, visibility, body),
            (None, body) => core.offer_session_event(number, visibility, body),
        }
    }

    fn lose_events(&self, cause: HostError) {
        self.0.turns().lose(Some(cause));
    }

    fn read_text_file(
        &self,
        request: ReadTextFile,
    ) -> HostFuture<'_, Result<String, ClientCallError>> {
        Box::pin(client_calls::read_text_file(&self.0, request))
    }

    fn write_text_file(
        &self,
        request: WriteTextFile,
    ) -> HostFuture<'_, Result<(), ClientCallError>> {
        Box::pin(client_calls::write_text_file(&self.0, request))
    }

    fn create_terminal(
        &self,
        request: CreateTerminal,
    ) -> HostFuture<'_, Result<Terminal, ClientCallError>> {
        Box::pin(terminal::create(&self.0, request))
    }
}

impl Drop for SessionPort {
    fn drop(&mut self) {
        self.0.turns().lose(None);
    }
}

impl SessionCore {
    /// Sends a piece of text, the most frequent event of all: written into the
    /// template of its message, straight into the outgoing buffer of the
    /// connection. The first piece of a message goes the way of all events.
    fn offer_delta(
        self: &Arc<Self>,
        origin: Arc<TurnOrigin>,
        number: u64,
        visibility: Visibility,
        delta: Delta,
    ) -> Offer {
        let mut turns = self.turns();
        let template = turns.streaming(&origin, visibility).and_then(|translator| {
            translator.template(&delta, |chunk, meta| self.text_template(chunk, meta))
        });
        let sent = match template {
            Some((template, text)) => self.lane.try_text(template, text, number),
            None => {
                drop(turns);
                return self.offer_event(origin, number, visibility, EventBody::Delta(delta));
            }
        };
        if let Some(Ok(())) = sent {
            return Offer::Done(Ok(()));
        }
        let chunk = turns.streaming(&origin, visibility);
        let chunk = chunk.and_then(|translator| translator.chunk(delta));
        let chunk: Vec<_> = chunk.into_iter().collect();
        if let Some(Err(error)) = sent {
            turns.forget(Some(&origin), &chunk);
            return Offer::Done(Err(emit_error(error)));
        }
        let unsent = self.unsent(&mut turns, &origin, number, chunk);
        send_later(unsent.wait(self, Some(origin)))
    }

    fn text_template(&self, chunk: &SessionUpdate, meta: &EventMeta) -> Option<TextHead> {
        let meta = self.has_event_ids.then(|| meta.around_number());
        TextHead::new(&self.update_head, chunk, meta)
    }

    /// Takes an event of a turn.
    fn offer_event(
        self: &Arc<Self>,
        origin: Arc<TurnOrigin>,
        number: u64,
        visibility: Visibility,
        body: EventBody,
    ) -> Offer {
        let mut turns = self.turns();
        match turns.event(&origin, visibility, body) {
            EventAction::Ignore => Offer::Done(Ok(())),
            EventAction::TooLate => Offer::Done(Err(EmitError::Ended)),
            EventAction::Send(updates) => {
                let mut unsent = self.unsent(&mut turns, &origin, number, updates);
                match unsent.send_now(self, &mut turns, Some(&origin)) {
                    Some(sent) => Offer::Done(sent),
                    None => send_later(unsent.wait(self, Some(origin))),
                }
            }
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
                let mut unsent = self.unsent(&mut turns, &origin, number, announce);
                let sent = unsent.send_now(self, &mut turns, Some(&origin));
                // A gate request locks the turns for itself.
                drop(turns);
                let request = GateRequest::new(Arc::clone(self), command, gate, signal);
                if sent.is_some() {
                    request.start();
                    return Offer::Done(Ok(()));
                }
                let waiting = unsent.wait(self, Some(origin));
                Offer::Wait(Box::pin(async move {
                    tokio::task::yield_now().await;
                    // The host waits at the gate: ask, whether the tool is announced
                    // or not.
                    let _ = waiting.send().await;
                    request.start();
                    Ok(())
                }))
            }
        }
    }

    /// Addresses updates of a turn.
    fn unsent(
        &self,
        turns: &mut SessionTurns,
        origin: &TurnOrigin,
        number: u64,
        updates: Vec<SessionUpdate>,
    ) -> UnsentUpdates {
        let prompt = turns
            .active()
            .filter(|_| self.has_event_ids && !updates.is_empty());
        let meta = prompt.map(|prompt| (prompt.event_meta(origin), number));
        UnsentUpdates::new(updates, meta)
    }
}

fn send_later(waiting: WaitingUpdates) -> Offer {
    Offer::Wait(Box::pin(async move {
        // Lets the connection write first.
        tokio::task::yield_now().await;
        waiting.send().await
    }))
}
