//! A prompt from its acceptance to the end of its turn: which events belong to it,
//! what the client is sent, and how it ends.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::Arc,
    task::Waker,
};

use acp_host::{Cancel, CommandId, EmitError, EventBody, Gate, GateId, GateKind, TurnOrigin};

use super::{
    client_view::ClientView,
    draft::PendingEvent,
    effects::Effects,
    gate_signal::GateSignal,
    outcome::{PromptAnswer, PromptEnd, StopCause},
    translator::Translator,
    waiting_events::WaitingEvents,
};
use crate::wire::event_meta::EventMeta;

/// A prompt from its acceptance to the end of its turn.
#[derive(Debug)]
pub(crate) struct ActivePrompt {
    pub(super) command: CommandId,
    /// Fires when the client no longer wants the prompt.
    pub(super) cancel: Cancel,
    /// It is a command, which has no turn.
    is_command: bool,
    pub(super) turn: Option<RunningTurn>,
    /// Gates at which the client is asked, each with its own signal.
    gates: BTreeMap<GateId, GateSignal>,
    /// How many questions the client has not answered.
    asking: usize,
    /// Addresses to which the user was sent and where not all is done.
    addresses: BTreeSet<GateId>,
    stop: Option<StopCause>,
    end: Option<PromptEnd>,
    /// The prompt is answered; the session is free when the turn ends.
    pub(super) is_abandoned: bool,
    /// The task that waits for the end.
    waiter: Option<Waker>,
    /// Events that wait for the client to take more.
    pub(super) waiting: WaitingEvents,
    /// The turn reported something since this was last looked at.
    has_moved: bool,
}

/// The turn of a prompt.
#[derive(Debug)]
pub(super) struct RunningTurn {
    pub(super) origin: Arc<TurnOrigin>,
    pub(super) translator: Translator,
}

impl RunningTurn {
    fn owns(&self, origin: &TurnOrigin) -> bool {
        self.origin.is_same_turn(origin) || origin.descends_from(&self.origin)
    }
}

/// How far a prompt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptProgress {
    /// The host is at work on it: its turn has begun, or it needs none.
    pub(crate) has_begun: bool,
    /// Its turn has begun.
    pub(crate) has_turn: bool,
    /// It was stopped.
    pub(crate) is_stopped: bool,
    /// It has ended, and questions to the client are being withdrawn.
    pub(crate) has_ended: bool,
}

/// The consequence of an event.
#[derive(Debug)]
pub(crate) enum EventAction {
    /// The client sees nothing of it.
    Ignore,
    /// Its turn or its session has ended.
    TooLate,
    /// Its turn has not begun, so the client sees nothing of it.
    NoTurn,
    /// Send what the client sees of it.
    Send(PendingEvent),
    /// The client cannot be asked: decline in its place.
    Decline(Box<Gate>),
    /// Announce the tool that waits, if it is new, and ask the client.
    Ask {
        announce: PendingEvent,
        gate: Box<Gate>,
        command: CommandId,
        signal: GateSignal,
    },
    /// Report that all is done at the address to which the user was sent.
    AddressDone(GateId),
}

impl ActivePrompt {
    pub(crate) fn new(command: CommandId, cancel: Cancel) -> Self {
        Self {
            command,
            cancel,
            is_command: false,
            turn: None,
            gates: BTreeMap::new(),
            asking: 0,
            addresses: BTreeSet::new(),
            stop: None,
            end: None,
            is_abandoned: false,
            waiter: None,
            waiting: WaitingEvents::default(),
            has_moved: true,
        }
    }

    /// Expects no turn for it.
    pub(crate) fn expect_no_turn(&mut self) {
        self.is_command = true;
    }

    pub(crate) fn progress(&self) -> PromptProgress {
        PromptProgress {
            has_begun: self.is_command || self.turn.is_some(),
            has_turn: self.turn.is_some(),
            is_stopped: self.stop.is_some(),
            has_ended: self.end.is_some(),
        }
    }

    /// Whether events of a turn may still be sent: it is the turn of the prompt or
    /// works for it, and neither has it ended nor is the prompt answered.
    pub(super) fn accepts(&self, origin: &TurnOrigin) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.owns(origin)) && self.end.is_none() && !self.is_abandoned
    }

    /// The turn of `origin`, if the client sees its text.
    pub(super) fn streaming(&mut self, origin: &TurnOrigin) -> Option<&mut Translator> {
        let turn = self.turn.as_mut()?;
        self.has_moved = true;
        (turn.origin.is_same_turn(origin) && self.end.is_none() && !self.is_abandoned)
            .then_some(&mut turn.translator)
    }

    /// The translator of the turn that `origin` belongs to.
    pub(super) fn translator(&mut self, origin: &TurnOrigin) -> Option<&mut Translator> {
        let turn = self.turn.as_mut().filter(|turn| turn.owns(origin));
        turn.map(|turn| &mut turn.translator)
    }

    /// Whether the turn reported something since the last call, or the client is asked
    /// something.
    pub(crate) fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.has_moved) || self.asking > 0
    }

    /// Whether an event that the client cannot take now may wait; keeps its waker.
    pub(crate) fn block(&mut self, waker: &Waker) -> Result<(), EmitError> {
        if self.stop.is_some() {
            return Err(EmitError::Cancelled);
        }
        self.waiting.block(waker);
        Ok(())
    }

    /// The `_meta` of the events of a turn that works for the prompt.
    pub(crate) fn event_meta(&self, origin: &TurnOrigin) -> Arc<EventMeta> {
        match &self.turn {
            Some(turn) if turn.origin.turn == origin.turn => Arc::clone(turn.translator.meta()),
            _ => Arc::new(self.meta_of(origin)),
        }
    }

    fn meta_of(&self, origin: &TurnOrigin) -> EventMeta {
        EventMeta::of_prompt(origin.turn.as_str(), self.command.as_str())
    }

    pub(crate) fn begin_asking(&mut self) {
        self.asking += 1;
    }

    /// Keeps the waker of the task that waits for the end.
    pub(super) fn wait(&mut self, waker: &Waker) {
        match &mut self.waiter {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// The answer, if the prompt has ended and no question stands before the
    /// client.
    pub(super) fn take_answer(&mut self) -> Option<PromptAnswer> {
        if self.asking > 0 {
            return None;
        }
        let end = self.end.take()?;
        let stop = self.stop.take();
        Some(stop.map_or_else(|| end.answer(), StopCause::answer))
    }

    /// Whether it has ended and is answered.
    pub(super) fn is_done(&self) -> bool {
        self.is_abandoned && self.end.is_some()
    }

    pub(super) fn stop(&mut self, cause: StopCause, effects: &mut Effects) {
        if self.end.is_some() || self.is_abandoned {
            return;
        }
        if self.stop.as_ref().is_none_or(|known| cause.outranks(known)) {
            self.stop = Some(cause);
        }
        effects.cancels.push(self.cancel.clone());
        self.give_up_waiting(effects);
    }

    pub(super) fn abandon(&mut self, is_over: bool, effects: &mut Effects) -> Option<StopCause> {
        self.is_abandoned = true;
        self.close_tools(effects);
        self.waiter = None;
        effects.cancels.push(self.cancel.clone());
        self.give_up_waiting(effects);
        if is_over {
            self.finish(PromptEnd::Interrupted, effects);
        }
        self.stop.take()
    }

    pub(super) fn finish(&mut self, end: PromptEnd, effects: &mut Effects) {
        if self.end.is_none() {
            self.end = Some(end);
            self.close_tools(effects);
            // The turn is over: its gates need no answer.
            self.addresses.clear();
            let gates = std::mem::take(&mut self.gates).into_values();
            effects.cancels.extend(gates.map(GateSignal::resolve));
            self.give_up_waiting(effects);
        }
    }

    pub(super) fn close_gate(&mut self, gate: &GateId) -> bool {
        self.gates.remove(gate).is_some()
    }

    pub(super) fn end_asking(&mut self, effects: &mut Effects) {
        self.asking = self.asking.saturating_sub(1);
        if self.asking == 0 && self.end.is_some() {
            effects.wakers.extend(self.waiter.take());
        }
    }

    /// Takes an event; `None` if it has nothing to do with this prompt.
    pub(super) fn event(
        &mut self,
        origin: &Arc<TurnOrigin>,
        is_public: bool,
        body: EventBody,
        view: &mut ClientView,
        effects: &mut Effects,
    ) -> Option<EventAction> {
        if let Some(named) = reply_to(&body) {
            return (*named == self.command).then(|| self.reply(origin, body, effects));
        }
        let turn = self.turn.as_mut().filter(|turn| turn.owns(origin))?;
        self.has_moved = true;
        let is_own = turn.origin.is_same_turn(origin);
        if self.end.is_some() {
            return Some(EventAction::TooLate);
        }
        if is_own && body.ends_turn() {
            let end = turn.translator.end(body, is_public);
            self.finish(end, effects);
            return Some(EventAction::Ignore);
        }
        if !is_public {
            return Some(EventAction::Ignore);
        }
        Some(match body {
            EventBody::GateOpened(gate) => self.open_gate(gate, view)?,
            EventBody::GateResolved(gate) => {
                let signal = self.gates.remove(&gate);
                effects.cancels.extend(signal.map(GateSignal::resolve));
                if self.addresses.remove(&gate) {
                    EventAction::AddressDone(gate)
                } else {
                    EventAction::Ignore
                }
            }
            // The prompt is answered: nothing may follow.
            _ if self.is_abandoned => EventAction::TooLate,
            body if is_own => EventAction::Send(PendingEvent::new(body)),
            body => EventAction::Send(PendingEvent::of_sub_agent(body)),
        })
    }

    /// Takes the host's reply to the submission.
    fn reply(
        &mut self,
        origin: &Arc<TurnOrigin>,
        body: EventBody,
        effects: &mut Effects,
    ) -> EventAction {
        match body {
            _ if self.end.is_some() => return EventAction::TooLate,
            EventBody::TurnStarted { .. } | EventBody::TurnFoldedInto { .. } => {
                self.turn = Some(RunningTurn {
                    origin: Arc::clone(origin),
                    translator: Translator::new(origin, self.meta_of(origin)),
                });
                if self.stop.is_some() {
                    // It was interrupted before it began, so interrupt it again.
                    effects.wakers.extend(self.waiter.take());
                }
            }
            EventBody::InputCancelled { reason, .. } => {
                self.finish(PromptEnd::Withdrawn(reason), effects);
            }
            EventBody::TurnRejected { reason, .. } => {
                self.finish(PromptEnd::Rejected(reason), effects);
            }
            _ => {}
        }
        EventAction::Ignore
    }

    pub(super) fn reply_without_turn(&mut self, body: EventBody, effects: &mut Effects) {
        match body {
            EventBody::CompactDone { command } if command == self.command => {
                self.finish(PromptEnd::Done { refused: false }, effects);
            }
            EventBody::CompactRejected { command, reason } if command == self.command => {
                self.finish(PromptEnd::NotCompacted(reason), effects);
            }
            _ => {}
        }
    }

    /// Ends the tool calls that the client believes open: its turn is over.
    fn close_tools(&mut self, effects: &mut Effects) {
        if let Some(turn) = &mut self.turn {
            effects.close_tools(&mut turn.translator);
        }
    }

    fn open_gate(&mut self, gate: Box<Gate>, view: &ClientView) -> Option<EventAction> {
        let signal = GateSignal::default();
        let announce = if self.stop.is_some() || self.is_abandoned {
            // The client is not asked any more, and the host gets its answer.
            signal.give_up();
            PendingEvent::of_updates(Vec::new())
        } else if !view.can_ask(&gate) {
            return Some(if !gate.answered_elsewhere {
                EventAction::Decline(gate)
            } else if let GateKind::Permission { .. } = &gate.kind {
                EventAction::Ignore
            } else {
                // It stays with the host, and the user is informed.
                EventAction::Send(Translator::answer_needed_elsewhere(&gate, view))
            });
        } else {
            match self.gates.entry(gate.id.clone()) {
                // The same event once more.
                Entry::Occupied(_) => return Some(EventAction::Ignore),
                Entry::Vacant(vacant) => vacant.insert(signal.clone()),
            };
            if let GateKind::OpenUrl { .. } = &gate.kind {
                self.addresses.insert(gate.id.clone());
            }
            Translator::announcement(&gate)
        };
        Some(EventAction::Ask {
            announce,
            gate,
            command: self.command.clone(),
            signal,
        })
    }

    /// Gives up gates, and wakes all who wait.
    fn give_up_waiting(&mut self, effects: &mut Effects) {
        let gates = std::mem::take(&mut self.gates).into_values();
        effects.cancels.extend(gates.map(GateSignal::cancel));
        effects.wakers.extend(self.waiter.take());
        self.waiting.wake(effects);
    }
}

/// The submission that an event replies to.
fn reply_to(body: &EventBody) -> Option<&CommandId> {
    match body {
        EventBody::TurnStarted { command, .. } => command.as_ref(),
        EventBody::TurnFoldedInto { command }
        | EventBody::InputQueued { command }
        | EventBody::InputCancelled { command, .. }
        | EventBody::TurnRejected { command, .. } => Some(command),
        _ => None,
    }
}
