//! A prompt from its acceptance to the end of its turn.
//!
//! Which events are its own, what they tell the client, and who has to hear when
//! nobody wants it any more. Without I/O, like the [slot](crate::slot) it is in.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Waker,
};

use acp_host::{
    Cancel, Cancelled, CommandId, Delta, EmitError, EventBody, Gate, GateId, GateKind, Origin,
};
use acp_protocol::{rpc::frame::TextHead, v1::SessionUpdate};

use crate::{
    turn::client_view::ClientView,
    turn::effects::Effects,
    turn::outcome::{PromptEnd, StopCause},
    turn::sent::SentMark,
    turn::session_turns::PromptProgress,
    turn::translator::{Translator, Updates},
    wire::event_meta::{EventMeta, EventMetaCache},
};

/// A prompt from its acceptance to the end of its turn.
#[derive(Debug)]
pub(crate) struct ActivePrompt {
    command: CommandId,
    cancel: Cancel,
    /// It is a command, which has no turn.
    is_command: bool,
    turn: Option<Arc<Origin>>,
    translator: Translator,
    stamper: EventMetaCache,
    /// Permission round trips under way, each with its own signal.
    gates: BTreeMap<GateId, GateSignal>,
    /// How many questions stand before the client.
    asking: usize,
    /// Addresses to which the user was sent, and where not all is done.
    addresses: BTreeSet<GateId>,
    stop: Option<StopCause>,
    end: Option<PromptEnd>,
    /// Nobody waits for the end any more; the slot is freed when it comes.
    abandoned: bool,
    /// Who waits for the end.
    waiter: Option<Waker>,
    /// Events that wait for the client to take more.
    blocked: Vec<Waker>,
}

/// What to do about an event.
#[derive(Debug)]
pub(crate) enum EventAction {
    /// Nothing the client sees.
    Ignore,
    /// It comes too late.
    TooLate,
    /// Tell the client.
    Tell(Updates),
    /// Announce the tool that waits, if it is new, and ask for permission.
    Ask {
        announce: Updates,
        gate: Box<Gate>,
        command: CommandId,
        signal: GateSignal,
    },
    /// Tell the client that all is done at an address to which it sent the user.
    AddressDone(GateId),
}

/// Tells a permission round trip that it is no longer wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateSignal {
    cancel: Cancel,
    resolved: Arc<AtomicBool>,
}

impl GateSignal {
    /// Waits until the round trip is no longer wanted.
    pub(crate) fn given_up(&self) -> Cancelled {
        self.cancel.cancelled()
    }

    /// Whether the gate was resolved elsewhere, or its turn is over: then it
    /// needs no answer.
    pub(crate) fn is_resolved(&self) -> bool {
        self.resolved.load(Ordering::Acquire)
    }

    /// Whether the round trip is no longer wanted.
    #[cfg(test)]
    pub(crate) fn is_given_up(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn resolve(self) -> Cancel {
        self.resolved.store(true, Ordering::Release);
        self.cancel
    }
}

impl ActivePrompt {
    pub(crate) fn new(command: CommandId, cancel: Cancel) -> Self {
        Self {
            command,
            cancel,
            is_command: false,
            turn: None,
            translator: Translator::default(),
            stamper: EventMetaCache::default(),
            gates: BTreeMap::new(),
            asking: 0,
            addresses: BTreeSet::new(),
            stop: None,
            end: None,
            abandoned: false,
            waiter: None,
            blocked: Vec::new(),
        }
    }

    pub(crate) fn command(&self) -> &CommandId {
        &self.command
    }

    /// Fires when nobody wants it any more.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(crate) fn expect_no_turn(&mut self) {
        self.is_command = true;
    }

    /// The turn, once it has begun.
    pub(crate) fn into_turn(self) -> Option<Arc<Origin>> {
        self.turn
    }

    pub(crate) fn progress(&self) -> PromptProgress {
        PromptProgress {
            begun: self.is_command || self.turn.is_some(),
            started: self.turn.is_some(),
            stopped: self.stop.is_some(),
            ended: self.end.is_some(),
        }
    }

    /// Keeps the waker of who waits for the end.
    pub(crate) fn wait(&mut self, waker: &Waker) {
        match &mut self.waiter {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// The end, if there is one, and the reason for which nobody wants it. What
    /// the client was asked is withdrawn before.
    pub(crate) fn take_end(&mut self) -> Option<(PromptEnd, Option<StopCause>)> {
        if self.asking > 0 {
            return None;
        }
        let end = self.end.take()?;
        Some((end, self.stop.take()))
    }

    /// Whether nothing more is expected and nobody waits for it.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.abandoned && self.end.is_some()
    }

    /// Whether nobody waits for the end any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Takes note that nobody wants it any more.
    pub(crate) fn stop(&mut self, stop: StopCause, after: &mut Effects) {
        if self.end.is_some() || self.abandoned {
            return;
        }
        if self.stop.as_ref().is_none_or(|known| stop.outranks(known)) {
            self.stop = Some(stop);
        }
        after.cancels.push(self.cancel.clone());
        self.let_go(after);
    }

    /// Takes note that nobody waits for the end any more, and that it has ended
    /// if it `is_over`.
    pub(crate) fn abandon(&mut self, is_over: bool, after: &mut Effects) -> Option<StopCause> {
        self.abandoned = true;
        self.waiter = None;
        after.cancels.push(self.cancel.clone());
        self.let_go(after);
        if is_over {
            self.finish(PromptEnd::Interrupted, after);
        }
        self.stop.take()
    }

    /// Ends it.
    pub(crate) fn finish(&mut self, end: PromptEnd, after: &mut Effects) {
        if self.end.is_none() {
            self.end = Some(end);
            // The turn is over: its gates need no answer.
            self.addresses.clear();
            let gates = std::mem::take(&mut self.gates).into_iter();
            after
                .cancels
                .extend(gates.map(|(_, signal)| signal.resolve()));
            self.let_go(after);
        }
    }

    /// Whether an event may still be told: the turn has not ended, nor was the
    /// prompt answered without it.
    pub(crate) fn check_told(&self, origin: &Origin) -> Result<(), EmitError> {
        if self.owns(origin) && self.end.is_none() && !self.abandoned {
            Ok(())
        } else {
            Err(EmitError::Ended)
        }
    }

    /// Whether an event that the client cannot take now may wait; keeps its
    /// waker.
    pub(crate) fn block(&mut self, waker: &Waker) -> Result<(), EmitError> {
        if self.stop.is_some() {
            return Err(EmitError::Cancelled);
        }
        self.blocked.retain(|known| !known.will_wake(waker));
        self.blocked.push(waker.clone());
        Ok(())
    }

    /// Forgets a permission round trip. False when it was given up before.
    pub(crate) fn close_gate(&mut self, gate: &GateId) -> bool {
        self.gates.remove(gate).is_some()
    }

    pub(crate) fn begin_asking(&mut self) {
        self.asking += 1;
    }

    pub(crate) fn end_asking(&mut self, after: &mut Effects) {
        self.asking = self.asking.saturating_sub(1);
        if self.asking == 0 && self.end.is_some() {
            after.wakers.extend(self.waiter.take());
        }
    }

    /// Forgets what was taken as told and was not.
    pub(crate) fn forget(&mut self, origin: &Origin, memory: &SentMark) {
        if self.owns(origin) {
            self.translator.forget(memory);
        }
    }

    /// Whether a turn is that of the prompt, or works for it.
    fn owns(&self, origin: &Origin) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.is_same_turn(origin) || origin.descends_from(turn))
    }

    pub(crate) fn stamper(&mut self) -> (&mut EventMetaCache, &CommandId) {
        (&mut self.stamper, &self.command)
    }

    /// Tells a piece of text the short way, where there is one:
    /// [`Translator::say`], whose head gets the stamp of the turn besides.
    pub(crate) fn say(
        &mut self,
        origin: &Origin,
        delta: &Delta,
        head: impl FnOnce(&SessionUpdate, &EventMeta) -> Option<TextHead>,
    ) -> Option<&TextHead> {
        let turn = self.turn.as_ref()?;
        if self.end.is_some() || self.abandoned || !turn.is_same_turn(origin) {
            return None;
        }
        self.translator.say(delta, |piece| {
            let stamp = EventMeta::of_prompt(origin.turn.as_str(), 0, &self.command);
            head(piece, &stamp)
        })
    }

    /// A piece of text that was said and has to wait, as an update.
    pub(crate) fn piece(&mut self, delta: Delta) -> Option<SessionUpdate> {
        self.translator.piece(delta)
    }

    /// What to do about an event; `None` if it has nothing to do with this
    /// prompt.
    pub(crate) fn event(
        &mut self,
        origin: &Arc<Origin>,
        is_public: bool,
        body: EventBody,
        shown: &mut ClientView,
        after: &mut Effects,
    ) -> Option<EventAction> {
        if let Some(named) = reply_to(&body) {
            return (*named == self.command).then(|| self.reply(origin, body, after));
        }
        let turn = self.turn.as_ref()?;
        let own = turn.is_same_turn(origin);
        if !own && !origin.descends_from(turn) {
            return None;
        }
        if self.end.is_some() {
            return Some(EventAction::TooLate);
        }
        if own && body.ends_turn() {
            self.finish(self.translator.end(body, is_public), after);
            return Some(EventAction::Ignore);
        }
        if !is_public {
            return Some(EventAction::Ignore);
        }
        Some(match body {
            EventBody::GateOpened(gate) => self.open_gate(gate, shown),
            EventBody::GateResolved(gate) => {
                after
                    .cancels
                    .extend(self.gates.remove(&gate).map(GateSignal::resolve));
                if self.addresses.remove(&gate) {
                    EventAction::AddressDone(gate)
                } else {
                    EventAction::Ignore
                }
            }
            // The prompt was answered: nothing may follow.
            _ if self.abandoned => EventAction::TooLate,
            body if own => EventAction::Tell(self.translator.tell(body, shown)),
            // Of a sub-agent the client sees what it was asked about.
            body => EventAction::Tell(self.translator.tell_known_tool(body)),
        })
    }

    /// Takes what the host replies to the submission.
    fn reply(&mut self, origin: &Arc<Origin>, body: EventBody, after: &mut Effects) -> EventAction {
        match body {
            _ if self.end.is_some() => return EventAction::TooLate,
            EventBody::TurnStarted { .. } | EventBody::TurnFoldedInto { .. } => {
                self.turn = Some(Arc::clone(origin));
                self.translator.begin(origin);
                if self.stop.is_some() {
                    // It was interrupted before it began, so interrupt it again.
                    after.wakers.extend(self.waiter.take());
                }
            }
            EventBody::InputCancelled { reason, .. } => {
                self.finish(PromptEnd::Withdrawn(reason), after)
            }
            EventBody::TurnRejected { reason, .. } => {
                self.finish(PromptEnd::Rejected(reason), after)
            }
            _ => {}
        }
        EventAction::Ignore
    }

    /// Takes the reply to a command that has no turn.
    pub(crate) fn reply_without_turn(&mut self, body: EventBody, after: &mut Effects) {
        match body {
            EventBody::CompactDone { command } if command == self.command => {
                self.finish(PromptEnd::Done { refused: false }, after);
            }
            EventBody::CompactRejected { command, reason } if command == self.command => {
                self.finish(PromptEnd::NotCompacted(reason), after);
            }
            _ => {}
        }
    }

    fn open_gate(&mut self, gate: Box<Gate>, shown: &ClientView) -> EventAction {
        let signal = GateSignal::default();
        let announce = if self.stop.is_some() || self.abandoned {
            // Nobody is asked any more, and whoever waits at the gate is told.
            signal.cancel.cancel();
            Updates::Nothing
        } else if !shown.can_ask(&gate) {
            // It stays with the host, and the user is told.
            return match &gate.kind {
                GateKind::Permission { .. } => EventAction::Ignore,
                _ => EventAction::Tell(self.translator.tell_of_gate(&gate, shown)),
            };
        } else {
            match self.gates.entry(gate.id.clone()) {
                // It was told before.
                Entry::Occupied(_) => return EventAction::Ignore,
                Entry::Vacant(place) => place.insert(signal.clone()),
            };
            if let GateKind::OpenUrl { .. } = &gate.kind {
                self.addresses.insert(gate.id.clone());
            }
            self.translator.announce(&gate)
        };
        EventAction::Ask {
            announce,
            gate,
            command: self.command.clone(),
            signal,
        }
    }

    /// Gives up gates, and wakes everybody who waits.
    fn let_go(&mut self, after: &mut Effects) {
        let gates = std::mem::take(&mut self.gates).into_iter();
        after.cancels.extend(gates.map(|(_, signal)| signal.cancel));
        after.wakers.extend(self.waiter.take());
        after.wakers.append(&mut self.blocked);
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
