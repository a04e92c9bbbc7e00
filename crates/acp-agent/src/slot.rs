//! The place of a session in which at most one prompt runs.
//!
//! A state machine without I/O: events, cancellations and looks of who waits go
//! in, what to tell the client and whom to wake come out. Nothing here waits.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Waker},
};

use acp_host::{
    Cancel, Cancelled, CommandId, EmitError, EventBody, Gate, GateId, HostError, Origin, Visibility,
};

use crate::{
    outcome::{End, Stop},
    stamp::Stamper,
    translate::{Told, Translator},
};

/// At most one prompt, and whether there may be another.
#[derive(Debug, Default)]
pub(crate) struct PromptSlot {
    closing: bool,
    run: Option<Run>,
    /// The turn that ended last: what it still tells comes too late.
    ended: Option<Arc<Origin>>,
    /// Who waits until no prompt has the slot.
    idle: Vec<Waker>,
}

/// A prompt from its acceptance to the end of its turn.
#[derive(Debug)]
struct Run {
    command: CommandId,
    cancel: Cancel,
    turn: Option<Arc<Origin>>,
    translator: Translator,
    stamper: Stamper,
    /// Permission round trips under way, each with its own signal.
    gates: HashMap<GateId, GateSignal>,
    stop: Option<Stop>,
    end: Option<End>,
    /// Nobody waits for the end any more; the slot is freed when it comes.
    abandoned: bool,
    /// Who waits for the end.
    waiter: Option<Waker>,
    /// Events that wait for the client to take more.
    blocked: Vec<Waker>,
}

/// Whether a prompt may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// It has the slot.
    Started,
    /// Another prompt has it.
    Busy,
    /// The session is being closed.
    Closing,
}

/// What to do about an event.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing the client sees.
    Ignore,
    /// It comes too late.
    TooLate,
    /// Tell the client.
    Tell(Told),
    /// Announce the tool that waits, if it is new, and ask for permission.
    Ask {
        announce: Told,
        gate: Box<Gate>,
        command: CommandId,
        signal: GateSignal,
    },
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

    fn resolve(self) -> Cancel {
        self.resolved.store(true, Ordering::Release);
        self.cancel
    }
}

/// What is left to do once the slot is unlocked.
#[derive(Debug, Default)]
#[must_use = "somebody waits for these"]
pub(crate) struct After {
    cancels: Vec<Cancel>,
    wakers: Vec<Waker>,
}

impl After {
    /// Fires signals and wakes tasks.
    pub(crate) fn run(self) {
        for cancel in self.cancels {
            cancel.cancel();
        }
        for waker in self.wakers {
            waker.wake();
        }
    }
}

/// How far a prompt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Its turn has begun.
    pub(crate) started: bool,
    /// Nobody wants it any more.
    pub(crate) stopped: bool,
}

impl PromptSlot {
    /// Takes the slot for a prompt. Closing wins over beginning.
    pub(crate) fn begin(&mut self, command: CommandId, cancel: Cancel) -> Begin {
        if self.closing {
            return Begin::Closing;
        }
        if self.run.is_some() {
            return Begin::Busy;
        }
        self.run = Some(Run {
            command,
            cancel,
            turn: None,
            translator: Translator::default(),
            stamper: Stamper::default(),
            gates: HashMap::new(),
            stop: None,
            end: None,
            abandoned: false,
            waiter: None,
            blocked: Vec::new(),
        });
        Begin::Started
    }

    /// Lets no further prompt begin.
    pub(crate) fn mark_closing(&mut self) {
        self.closing = true;
    }

    /// Whether a prompt has the slot.
    pub(crate) fn is_taken(&self) -> bool {
        self.run.is_some()
    }

    /// Waits until no prompt has the slot.
    pub(crate) fn poll_idle(&mut self, waker: &Waker) -> Poll<()> {
        if self.run.is_none() {
            return Poll::Ready(());
        }
        self.idle.retain(|known| !known.will_wake(waker));
        self.idle.push(waker.clone());
        Poll::Pending
    }

    /// Takes note that nobody wants the prompt any more: the running one, or
    /// only that of `command`. Gates under way are given up, events that wait
    /// for the client are let go.
    pub(crate) fn stop(&mut self, command: Option<&CommandId>, stop: Stop) -> After {
        let mut after = After::default();
        let run = self
            .run
            .as_mut()
            .filter(|run| command.is_none_or(|c| *c == run.command));
        let Some(run) = run.filter(|run| run.end.is_none() && !run.abandoned) else {
            return after;
        };
        if run.stop.as_ref().is_none_or(|known| stop.outranks(known)) {
            run.stop = Some(stop);
        }
        after.cancels.push(run.cancel.clone());
        run.let_go(&mut after);
        after
    }

    /// Ends the prompt of `command` without an event of the host.
    pub(crate) fn end(&mut self, command: &CommandId, end: End) -> After {
        let mut after = After::default();
        if let Some(run) = self.run_of(command) {
            run.finish(end, &mut after);
        }
        self.free_if_abandoned();
        after
    }

    /// Takes note that the host lost track of its events.
    pub(crate) fn lose(&mut self, error: Option<HostError>) -> After {
        let mut after = After::default();
        if let Some(run) = &mut self.run {
            run.finish(End::Lost(error), &mut after);
        }
        self.free_if_abandoned();
        after
    }

    /// Waits for the end of a prompt; meanwhile, tells how far it is.
    ///
    /// Once it is ready the slot is free.
    pub(crate) fn poll_end(
        &mut self,
        command: &CommandId,
        waker: &Waker,
        progress: &mut Progress,
    ) -> Poll<(End, Option<Stop>)> {
        let Some(run) = self.run_of(command) else {
            return Poll::Ready((End::Lost(None), None));
        };
        *progress = Progress {
            started: run.turn.is_some(),
            stopped: run.stop.is_some(),
        };
        if let Some(end) = run.end.take() {
            let stop = run.stop.take();
            self.free();
            return Poll::Ready((end, stop));
        }
        match &mut run.waiter {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        Poll::Pending
    }

    /// Stops waiting for the end of a prompt, and gives the reason for which
    /// nobody wants it. The slot is free now if `is_over`, else when the end
    /// comes.
    pub(crate) fn abandon(&mut self, command: &CommandId, is_over: bool) -> (Option<Stop>, After) {
        let mut after = After::default();
        let Some(run) = self.run_of(command) else {
            return (None, after);
        };
        let stop = run.stop.take();
        run.abandoned = true;
        run.waiter = None;
        after.cancels.push(run.cancel.clone());
        run.let_go(&mut after);
        if is_over {
            run.finish(End::Interrupted, &mut after);
        }
        self.free_if_abandoned();
        (stop, after)
    }

    /// Whether an event may still be told: its turn has not ended.
    pub(crate) fn check_told(&self, origin: &Origin) -> Result<(), EmitError> {
        let run = self
            .run
            .as_ref()
            .filter(|run| run.is_told(origin) && run.end.is_none());
        if run.is_some() {
            Ok(())
        } else {
            Err(EmitError::Ended)
        }
    }

    /// Whether an event that the client cannot take now may wait; keeps its
    /// waker.
    pub(crate) fn block(&mut self, waker: &Waker) -> Result<(), EmitError> {
        let run = self.run.as_mut().ok_or(EmitError::Ended)?;
        if run.stop.is_some() || run.abandoned {
            return Err(EmitError::Cancelled);
        }
        run.blocked.retain(|known| !known.will_wake(waker));
        run.blocked.push(waker.clone());
        Ok(())
    }

    /// Forgets a permission round trip. False when it was given up before.
    pub(crate) fn close_gate(&mut self, gate: &GateId) -> bool {
        self.run
            .as_mut()
            .is_some_and(|run| run.gates.remove(gate).is_some())
    }

    /// Takes an event of a turn.
    pub(crate) fn event(
        &mut self,
        origin: &Arc<Origin>,
        visibility: Visibility,
        body: EventBody,
        after: &mut After,
    ) -> Step {
        let is_public = visibility == Visibility::Public;
        let step = self
            .run
            .as_mut()
            .and_then(|run| run.event(origin, is_public, body, after));
        let step = step.unwrap_or_else(|| {
            let is_late = self
                .ended
                .as_ref()
                .is_some_and(|ended| ended.is_same_turn(origin));
            if is_late { Step::TooLate } else { Step::Ignore }
        });
        self.free_if_abandoned();
        step
    }

    /// Who stamps the events of the prompt.
    pub(crate) fn stamper(&mut self) -> Option<(&mut Stamper, &CommandId)> {
        self.run
            .as_mut()
            .map(|run| (&mut run.stamper, &run.command))
    }

    fn run_of(&mut self, command: &CommandId) -> Option<&mut Run> {
        self.run.as_mut().filter(|run| run.command == *command)
    }

    fn free_if_abandoned(&mut self) {
        if self
            .run
            .as_ref()
            .is_some_and(|run| run.abandoned && run.end.is_some())
        {
            self.free();
        }
    }

    fn free(&mut self) {
        if let Some(run) = self.run.take() {
            self.ended = run.turn;
        }
        for waker in self.idle.drain(..) {
            waker.wake();
        }
    }
}

impl Run {
    /// Whether an event belongs to the turn of this prompt, or to a sub-agent
    /// of it.
    fn is_told(&self, origin: &Origin) -> bool {
        let turn = self.turn.as_ref();
        turn.is_some_and(|turn| turn.is_same_turn(origin) || origin.descends_from(turn))
    }

    /// What to do about an event; `None` if it has nothing to do with this
    /// prompt.
    fn event(
        &mut self,
        origin: &Arc<Origin>,
        is_public: bool,
        body: EventBody,
        after: &mut After,
    ) -> Option<Step> {
        if let Some(named) = reply_to(&body) {
            return (*named == self.command).then(|| self.reply(origin, body, after));
        }
        let turn = self.turn.as_ref()?;
        let own = turn.is_same_turn(origin);
        if !own && !origin.descends_from(turn) {
            return None;
        }
        if self.end.is_some() {
            return Some(Step::TooLate);
        }
        if own && body.ends_turn() {
            self.finish(self.translator.end(body, is_public), after);
            return Some(Step::Ignore);
        }
        if !is_public {
            return Some(Step::Ignore);
        }
        Some(match body {
            EventBody::GateOpened(gate) => self.open_gate(gate),
            EventBody::GateResolved(gate) => {
                after
                    .cancels
                    .extend(self.gates.remove(&gate).map(GateSignal::resolve));
                Step::Ignore
            }
            // The prompt was answered: nothing may follow.
            _ if self.abandoned => Step::TooLate,
            body if own => Step::Tell(self.translator.tell(body)),
            // Of a sub-agent the client sees what it was asked about.
            body => Step::Tell(self.translator.tell_known_tool(body)),
        })
    }

    /// Takes what the host replies to the submission.
    fn reply(&mut self, origin: &Arc<Origin>, body: EventBody, after: &mut After) -> Step {
        match body {
            _ if self.end.is_some() => return Step::TooLate,
            EventBody::TurnStarted { .. } | EventBody::TurnFoldedInto { .. } => {
                self.turn = Some(Arc::clone(origin));
                self.translator.begin(origin);
                if self.stop.is_some() {
                    // It was interrupted before it began, so interrupt it again.
                    after.wakers.extend(self.waiter.take());
                }
            }
            EventBody::InputCancelled { reason, .. } => self.finish(End::Withdrawn(reason), after),
            EventBody::TurnRejected { reason, .. } => self.finish(End::Rejected(reason), after),
            _ => {}
        }
        Step::Ignore
    }

    fn open_gate(&mut self, gate: Box<Gate>) -> Step {
        let (command, signal) = (self.command.clone(), GateSignal::default());
        if self.stop.is_some() || self.abandoned {
            // Nobody is asked any more, and whoever waits at the gate is told.
            signal.cancel.cancel();
            return Step::Ask {
                announce: Told::Nothing,
                gate,
                command,
                signal,
            };
        }
        self.gates.insert(gate.id.clone(), signal.clone());
        Step::Ask {
            announce: self.translator.announce(&gate),
            gate,
            command,
            signal,
        }
    }

    fn finish(&mut self, end: End, after: &mut After) {
        if self.end.is_none() {
            self.end = Some(end);
            // The turn is over: its gates need no answer.
            after
                .cancels
                .extend(self.gates.drain().map(|(_, signal)| signal.resolve()));
            self.let_go(after);
        }
    }

    /// Gives up gates, and wakes everybody who waits.
    fn let_go(&mut self, after: &mut After) {
        after
            .cancels
            .extend(self.gates.drain().map(|(_, signal)| signal.cancel));
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
