//! The place of a session in which at most one prompt runs.
//!
//! A state machine without I/O: events, cancellations and looks of who waits go
//! in, what to tell the client and whom to wake come out. Nothing here waits.

use std::{
    sync::Arc,
    task::{Poll, Waker},
};

use acp_host::{
    Cancel, ClientError, CommandId, Delta, EmitError, EventBody, GateId, HostError, Origin,
    Visibility,
};

use acp_protocol::{rpc::frame::TextHead, v1::SessionUpdate};

use crate::{
    turn::active_prompt::{ActivePrompt, EventAction},
    turn::client_view::ClientView,
    turn::effects::Effects,
    turn::outcome::{PromptEnd, StopCause},
    turn::sent::SentMark,
    wire::event_meta::{EventMeta, EventMetaCache},
};

/// At most one prompt, and whether there may be another.
#[derive(Debug, Default)]
pub(crate) struct SessionTurns {
    closing: bool,
    /// The session is closed: its id stands for nothing.
    is_closed: bool,
    /// Boxed: most sessions are idle most of the time.
    run: Option<Box<ActivePrompt>>,
    /// The turn that ended last: what it still tells comes too late.
    ended: Option<Arc<Origin>>,
    /// Who waits until no prompt has the slot.
    idle: Vec<Waker>,
    /// What the client shows, and what it was told besides turns.
    shown: ClientView,
}

/// Whether a prompt may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It has the slot.
    Started,
    /// Another prompt has it.
    Busy,
    /// The session is being closed.
    Closing,
}

/// How far a prompt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptProgress {
    /// The host is at work on it: its turn has begun, or it needs none.
    pub(crate) begun: bool,
    /// Its turn has begun.
    pub(crate) started: bool,
    /// Nobody wants it any more.
    pub(crate) stopped: bool,
    /// It has ended; what the client was asked in it is being withdrawn.
    pub(crate) ended: bool,
}

impl SessionTurns {
    /// A free slot of a session whose client shows this.
    pub(crate) fn new(shown: ClientView) -> Self {
        Self {
            shown,
            ..Self::default()
        }
    }

    /// What the client shows, and what it was told besides turns.
    pub(crate) fn shown(&mut self) -> &mut ClientView {
        &mut self.shown
    }

    /// Takes note that no turn begins for a command.
    pub(crate) fn expect_no_turn(&mut self, command: &CommandId) {
        if let Some(run) = self.run_of(command) {
            run.expect_no_turn();
        }
    }

    /// Takes the slot for a prompt. Closing wins over beginning.
    pub(crate) fn begin(&mut self, command: CommandId, cancel: Cancel) -> Admission {
        if self.closing {
            return Admission::Closing;
        }
        if self.run.is_some() {
            return Admission::Busy;
        }
        self.run = Some(Box::new(ActivePrompt::new(command, cancel)));
        Admission::Started
    }

    /// Lets no further prompt begin.
    pub(crate) fn mark_closing(&mut self) {
        self.closing = true;
    }

    /// Takes note that the session is closed: from now on nothing is told or
    /// asked in its name.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        self.is_closed = true;
    }

    /// Whether anything may still be told in the session's name.
    ///
    /// # Errors
    ///
    /// When it is closed.
    pub(crate) fn check_open(&self) -> Result<(), EmitError> {
        if self.is_closed {
            Err(EmitError::Ended)
        } else {
            Ok(())
        }
    }

    /// What ends the calls to the client that begin now: the cancellation of the
    /// prompt that runs. What begins behind a cancellation cleans up, and is let
    /// be.
    ///
    /// # Errors
    ///
    /// When the session is closed, and the client knows it no more.
    pub(crate) fn client_calls(&self) -> Result<Option<Cancel>, ClientError> {
        if self.is_closed {
            return Err(ClientError::Closed);
        }
        let cancel = self.run.as_ref().map(|run| run.cancel());
        Ok(cancel.filter(|cancel| !cancel.is_cancelled()).cloned())
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

    /// Waits until nobody waits for the end of a prompt: it was answered, if need
    /// be without the end of its turn.
    pub(crate) fn poll_answered(&mut self, waker: &Waker) -> Poll<()> {
        match &self.run {
            Some(run) if !run.is_abandoned() => self.poll_idle(waker),
            _ => Poll::Ready(()),
        }
    }

    /// Takes note that nobody wants the prompt any more: the running one, or
    /// only that of `command`. Gates under way are given up, events that wait
    /// for the client are let go.
    pub(crate) fn stop(&mut self, command: Option<&CommandId>, stop: StopCause) -> Effects {
        let mut after = Effects::default();
        let run = self.run.as_mut();
        if let Some(run) = run.filter(|run| command.is_none_or(|c| c == run.command())) {
            run.stop(stop, &mut after);
        }
        after
    }

    /// Ends the prompt of `command` without an event of the host.
    pub(crate) fn end(&mut self, command: &CommandId, end: PromptEnd) -> Effects {
        let mut after = Effects::default();
        if let Some(run) = self.run_of(command) {
            run.finish(end, &mut after);
        }
        self.free_if_forgotten();
        after
    }

    /// Takes note that the host lost track of its events.
    pub(crate) fn lose(&mut self, error: Option<HostError>) -> Effects {
        let mut after = Effects::default();
        if let Some(run) = &mut self.run {
            run.finish(PromptEnd::Lost(error), &mut after);
        }
        self.free_if_forgotten();
        after
    }

    /// Waits for the end of a prompt; meanwhile, tells how far it is.
    ///
    /// Once it is ready the slot is free.
    pub(crate) fn poll_end(
        &mut self,
        command: &CommandId,
        waker: &Waker,
        progress: &mut PromptProgress,
    ) -> Poll<(PromptEnd, Option<StopCause>)> {
        let Some(run) = self.run_of(command) else {
            return Poll::Ready((PromptEnd::Lost(None), None));
        };
        *progress = run.progress();
        match run.take_end() {
            Some(ended) => {
                self.free();
                Poll::Ready(ended)
            }
            None => {
                run.wait(waker);
                Poll::Pending
            }
        }
    }

    /// Stops waiting for the end of a prompt, and gives the reason for which
    /// nobody wants it. The slot is free now if `is_over`, else when the end
    /// comes.
    pub(crate) fn abandon(
        &mut self,
        command: &CommandId,
        is_over: bool,
    ) -> (Option<StopCause>, Effects) {
        let mut after = Effects::default();
        let run = self.run_of(command);
        let stop = run.and_then(|run| run.abandon(is_over, &mut after));
        after.wake(&mut self.idle);
        self.free_if_forgotten();
        (stop, after)
    }

    /// Whether an event may still be told.
    pub(crate) fn check_told(&self, origin: &Origin) -> Result<(), EmitError> {
        let run = self.run.as_ref().ok_or(EmitError::Ended)?;
        run.check_told(origin)
    }

    /// Whether an event that the client cannot take now may wait; keeps its
    /// waker.
    pub(crate) fn block(&mut self, waker: &Waker) -> Result<(), EmitError> {
        self.run.as_mut().ok_or(EmitError::Ended)?.block(waker)
    }

    /// Forgets a permission round trip. False when it was given up before.
    pub(crate) fn close_gate(&mut self, gate: &GateId) -> bool {
        self.run.as_mut().is_some_and(|run| run.close_gate(gate))
    }

    /// Takes note that the client is being asked something in the prompt of
    /// `command`.
    pub(crate) fn begin_asking(&mut self, command: &CommandId) {
        if let Some(run) = self.run_of(command) {
            run.begin_asking();
        }
    }

    /// Takes note that it is no longer asked.
    pub(crate) fn end_asking(&mut self, command: &CommandId) -> Effects {
        let mut after = Effects::default();
        if let Some(run) = self.run_of(command) {
            run.end_asking(&mut after);
        }
        after
    }

    /// Forgets what was taken as told and was not, in a turn or outside.
    pub(crate) fn forget(&mut self, origin: Option<&Origin>, memory: &SentMark) {
        self.shown.forget(memory);
        if let (Some(run), Some(origin)) = (&mut self.run, origin) {
            run.forget(origin, memory);
        }
    }

    /// Forgets all of these updates.
    pub(crate) fn forget_all(
        &mut self,
        origin: Option<&Origin>,
        untold: impl IntoIterator<Item = SessionUpdate>,
    ) {
        for update in untold {
            self.forget(origin, &SentMark::of(&update));
        }
    }

    /// Tells a piece of text the short way, where there is one: [`ActivePrompt::say`].
    /// Everything else is an [event](Self::event).
    pub(crate) fn say(
        &mut self,
        origin: &Origin,
        visibility: Visibility,
        delta: &Delta,
        head: impl FnOnce(&SessionUpdate, &EventMeta) -> Option<TextHead>,
    ) -> Option<&TextHead> {
        let run = self.run.as_mut()?;
        let is_public = visibility == Visibility::Public;
        is_public.then(|| run.say(origin, delta, head))?
    }

    /// A piece of text that was said and has to wait, as an update.
    pub(crate) fn piece(&mut self, delta: Delta) -> Option<SessionUpdate> {
        self.run.as_mut()?.piece(delta)
    }

    /// Takes an event of a turn.
    pub(crate) fn event(
        &mut self,
        origin: &Arc<Origin>,
        visibility: Visibility,
        body: EventBody,
        after: &mut Effects,
    ) -> EventAction {
        let is_public = visibility == Visibility::Public;
        let shown = &mut self.shown;
        let step = self
            .run
            .as_mut()
            .and_then(|run| run.event(origin, is_public, body, shown, after));
        let step = step.unwrap_or_else(|| {
            let ended = self.ended.as_ref();
            let is_late = self.is_closed || ended.is_some_and(|ended| ended.is_same_turn(origin));
            if is_late {
                EventAction::TooLate
            } else {
                EventAction::Ignore
            }
        });
        self.free_if_forgotten();
        step
    }

    /// Takes the reply to a command that has no turn.
    pub(crate) fn reply(&mut self, body: EventBody) -> Effects {
        let mut after = Effects::default();
        if let Some(run) = &mut self.run {
            run.reply_without_turn(body, &mut after);
        }
        self.free_if_forgotten();
        after
    }

    /// Who stamps the events of the prompt, and its command.
    pub(crate) fn stamper(&mut self) -> Option<(&mut EventMetaCache, &CommandId)> {
        self.run.as_mut().map(|run| run.stamper())
    }

    #[cfg(test)]
    fn progress(&self) -> Option<PromptProgress> {
        self.run.as_ref().map(|run| run.progress())
    }

    fn run_of(&mut self, command: &CommandId) -> Option<&mut ActivePrompt> {
        let run = self.run.as_deref_mut();
        run.filter(|run| run.command() == command)
    }

    fn free_if_forgotten(&mut self) {
        if self.run.as_ref().is_some_and(|run| run.is_forgotten()) {
            self.free();
        }
    }

    fn free(&mut self) {
        if let Some(run) = self.run.take() {
            self.ended = run.into_turn();
        }
        for waker in self.idle.drain(..) {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests;
