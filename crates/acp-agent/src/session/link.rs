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
    gate_request::{self, GateRequest},
    outgoing, terminal,
    unsent::{UnsentEvent, WaitingEvent, emit_error},
};
use crate::{
    turn::{active_prompt::EventAction, draft::PendingEvent, session_turns::SessionTurns},
    wire::{
        event_meta::{EventMeta, EventName},
        form,
    },
};

/// Carries a [`ClientLink`](acp_host::ClientLink).
pub(super) struct SessionPort(pub(super) Arc<SessionCore>);

impl Port for SessionPort {
    fn offer(&self, event: HostEvent) -> Offer {
        let HostEvent {
            origin,
            number,
            visibility,
            mut body,
        } = event;
        let core = &self.0;
        if let Err(error) = outgoing::fit(&mut body, &core.cwd) {
            return Offer::Done(Err(error));
        }
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
        let streaming = turns.streaming(&origin, visibility);
        let sent = streaming.and_then(|translator| {
            let encode = |chunk: &_, meta: &_| self.text_template(chunk, meta);
            let (template, text) = translator.template(&delta, encode)?;
            let sent = self.lane.try_text(template, text, number);
            if let Some(Ok(())) = sent {
                translator.note_delta(&delta);
            }
            Some(sent)
        });
        match sent {
            Some(Some(sent)) => Offer::Done(sent.map_err(emit_error)),
            Some(None) => {
                let event = PendingEvent::new(EventBody::Delta(delta));
                let unsent = self.unsent(&mut turns, &origin, number, event);
                send_later(unsent.wait(self, &mut turns, Some(origin)))
            }
            None => {
                drop(turns);
                self.offer_event(origin, number, visibility, EventBody::Delta(delta))
            }
        }
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
            EventAction::NoTurn => {
                drop(turns);
                tracing::warn!(session.id = %self.id, turn.id = %origin.turn, "the host reported an event of a turn that has not begun");
                Offer::Done(Err(EmitError::NoTurn))
            }
            EventAction::Decline(gate) => {
                drop(turns);
                gate_request::decline(Arc::clone(self), gate);
                Offer::Done(Ok(()))
            }
            EventAction::Send(event) => {
                let mut unsent = self.unsent(&mut turns, &origin, number, event);
                match unsent.send_now(self, &mut turns, Some(&origin)) {
                    Some(sent) => Offer::Done(sent),
                    None => send_later(unsent.wait(self, &mut turns, Some(origin))),
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
                let waiting = match sent {
                    Some(_) => None,
                    None => Some(unsent.wait(self, &mut turns, Some(origin))),
                };
                // A gate request locks the turns for itself.
                drop(turns);
                let request = GateRequest::new(Arc::clone(self), command, gate, signal);
                match (sent, waiting) {
                    (Some(Ok(())), _) => {
                        request.start();
                        Offer::Done(Ok(()))
                    }
                    (None, Some(waiting)) => Offer::Wait(Box::pin(async move {
                        tokio::task::yield_now().await;
                        waiting.send().await?;
                        request.start();
                        Ok(())
                    })),
                    // A client that does not know the tool is not asked about it.
                    (Some(Err(error)), _) => Offer::Done(Err(error)),
                    (None, None) => Offer::Done(Err(EmitError::Ended)),
                }
            }
        }
    }

    /// Addresses an event of a turn.
    fn unsent(
        &self,
        turns: &mut SessionTurns,
        origin: &TurnOrigin,
        number: u64,
        event: PendingEvent,
    ) -> UnsentEvent {
        let prompt = turns.active().filter(|_| self.has_event_ids);
        let meta = prompt.map(|prompt| (prompt.event_meta(origin), EventName::Number(number)));
        UnsentEvent::new(event, meta)
    }
}

fn send_later(waiting: WaitingEvent) -> Offer {
    Offer::Wait(Box::pin(async move {
        // Lets the connection write first.
        tokio::task::yield_now().await;
        waiting.send().await
    }))
}
