//! The turns of one session: at most one prompt runs at a time.

mod stray;

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Poll, Waker},
};

use acp_host::{
    Cancel, ClientCallError, CommandId, EmitError, EventBody, GateId, HostError, TurnOrigin,
    Visibility,
};

use super::{
    active_prompt::{ActivePrompt, EventAction, PromptProgress},
    client_view::ClientView,
    draft::{ClientKnows, Draft, PendingEvent},
    effects::Effects,
    outcome::{PromptAnswer, PromptEnd, StopCause},
    translator::Translator,
};
use stray::Stray;

/// The prompt of a session, if one runs, and whether another may begin.
#[derive(Debug, Default)]
pub(crate) struct SessionTurns {
    /// No prompt may begin any more.
    is_closing: bool,
    /// The session is closed: its id is free again.
    is_closed: bool,
    /// Boxed: most sessions are idle most of the time.
    active: Option<Box<ActivePrompt>>,
    /// The turn that ended last; further events of it come too late.
    last_turn: Option<Arc<TurnOrigin>>,
    /// Turns that run for no prompt of the client, the latest ones: nothing is expected
    /// of their events.
    own_turns: VecDeque<Arc<TurnOrigin>>,
    /// The place of the event that was the last to wait.
    last_place: u64,
    /// Tasks that wait until no prompt runs.
    idle: Vec<Waker>,
    view: ClientView,
    effects: Effects,
}

/// Why a prompt may not begin, in words for the client.
pub(crate) const BUSY: &str = "the session is at work on another prompt";
pub(crate) const CLOSING: &str = "the session is being closed";

impl SessionTurns {
    /// An idle session, and what its client can show.
    pub(crate) fn new(view: ClientView) -> Self {
        Self {
            view,
            ..Self::default()
        }
    }

    /// Begins a prompt. Closing wins over beginning.
    pub(crate) fn begin(&mut self, command: CommandId, cancel: Cancel) -> Result<(), &'static str> {
        if self.is_closing {
            return Err(CLOSING);
        }
        if self.active.is_some() {
            return Err(BUSY);
        }
        self.active = Some(Box::new(ActivePrompt::new(command, cancel)));
        Ok(())
    }

    /// The prompt of a command, if it is the one that runs.
    pub(crate) fn prompt(&mut self, command: &CommandId) -> Option<&mut ActivePrompt> {
        let active = self.active.as_deref_mut();
        active.filter(|prompt| prompt.command == *command)
    }

    /// The prompt that runs.
    pub(crate) fn active(&mut self) -> Option<&mut ActivePrompt> {
        self.active.as_deref_mut()
    }

    /// Whether a prompt runs.
    pub(crate) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// The client's abilities, and the state it was last sent.
    pub(crate) fn view(&mut self) -> &mut ClientView {
        &mut self.view
    }

    /// Lets no further prompt begin.
    pub(crate) fn mark_closing(&mut self) {
        self.is_closing = true;
    }

    /// Closes the session: nothing is sent or asked in its name any more.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
        self.is_closed = true;
    }

    /// Whether an event may still be sent: one of the prompt that runs, or of the
    /// session as a whole.
    pub(crate) fn check_open(&self, origin: Option<&TurnOrigin>) -> Result<(), EmitError> {
        let is_open = match (origin, &self.active) {
            (None, _) => !self.is_closed,
            (Some(origin), Some(prompt)) => prompt.accepts(origin),
            (Some(_), None) => false,
        };
        is_open.then_some(()).ok_or(EmitError::Ended)
    }

    /// The signal that ends calls to the client which begin now: that of the
    /// prompt. Calls behind a cancellation clean up, and are not cancelled.
    pub(crate) fn client_calls(&self) -> Result<Option<Cancel>, ClientCallError> {
        if self.is_closed {
            return Err(ClientCallError::Closed);
        }
        let cancel = self.active.as_ref().map(|prompt| &prompt.cancel);
        Ok(cancel.filter(|cancel| !cancel.is_cancelled()).cloned())
    }

    /// Waits until no prompt runs.
    pub(crate) fn poll_idle(&mut self, waker: &Waker) -> Poll<()> {
        if self.active.is_none() {
            return Poll::Ready(());
        }
        self.idle.retain(|known| !known.will_wake(waker));
        self.idle.push(waker.clone());
        Poll::Pending
    }

    /// Waits until the prompt is answered, if need be before its turn ends.
    pub(crate) fn poll_answered(&mut self, waker: &Waker) -> Poll<()> {
        match &self.active {
            Some(prompt) if !prompt.is_abandoned => self.poll_idle(waker),
            _ => Poll::Ready(()),
        }
    }

    /// Stops the prompt that runs, or only that of `command`: open gates and
    /// waiting events are given up.
    pub(crate) fn stop(&mut self, command: Option<&CommandId>, cause: StopCause) {
        if let Some(prompt) = &mut self.active
            && command.is_none_or(|command| *command == prompt.command)
        {
            prompt.stop(cause, &mut self.effects);
        }
    }

    /// Ends the prompt of `command` without an event of the host.
    pub(crate) fn end(&mut self, command: &CommandId, end: PromptEnd) {
        if let Some(prompt) = &mut self.active
            && prompt.command == *command
        {
            prompt.finish(end, &mut self.effects);
        }
        self.free_if_done();
    }

    /// Ends the prompt that runs because the host has lost its events.
    pub(crate) fn lose(&mut self, error: Option<HostError>) {
        if let Some(prompt) = &mut self.active {
            prompt.finish(PromptEnd::Lost(error), &mut self.effects);
        }
        self.free_if_done();
    }

    /// Takes the answer to a prompt, which frees the session for the next one; or
    /// says how far the prompt is.
    pub(crate) fn poll_answer(
        &mut self,
        command: &CommandId,
        waker: &Waker,
    ) -> Result<PromptAnswer, PromptProgress> {
        let Some(prompt) = self.prompt(command) else {
            return Ok(PromptEnd::Lost(None).answer());
        };
        match prompt.take_answer() {
            Some(answer) => {
                self.free();
                Ok(answer)
            }
            None => {
                prompt.wait(waker);
                Err(prompt.progress())
            }
        }
    }

    /// Waits no longer for the end of a prompt, and gives the reason it was
    /// stopped for. The session is free now if the prompt `is_over`, else when
    /// the turn ends.
    pub(crate) fn abandon(&mut self, command: &CommandId, is_over: bool) -> Option<StopCause> {
        let mut stop = None;
        if let Some(prompt) = &mut self.active
            && prompt.command == *command
        {
            stop = prompt.abandon(is_over, &mut self.effects);
        }
        self.effects.wakers.append(&mut self.idle);
        self.free_if_done();
        stop
    }

    /// Takes note that the client is no longer asked something.
    pub(crate) fn end_asking(&mut self, command: &CommandId) {
        if let Some(prompt) = &mut self.active
            && prompt.command == *command
        {
            prompt.end_asking(&mut self.effects);
        }
    }

    /// Forgets a gate. False when it was given up before.
    pub(crate) fn close_gate(&mut self, gate: &GateId) -> bool {
        self.active().is_some_and(|prompt| prompt.close_gate(gate))
    }

    /// Whether events of the turn wait for the client: what is reported now waits
    /// behind them.
    pub(crate) fn has_waiting(&self) -> bool {
        self.active
            .as_ref()
            .is_some_and(|prompt| prompt.waiting.are_there())
    }

    /// Has an event of the turn wait behind those that wait already. Give its place
    /// back by [`dequeue`](Self::dequeue).
    pub(crate) fn enqueue(&mut self) -> u64 {
        self.last_place += 1;
        if let Some(prompt) = &mut self.active {
            prompt.waiting.push(self.last_place);
        }
        self.last_place
    }

    /// Whether an event is the first of those that wait.
    pub(crate) fn is_first(&self, place: u64) -> bool {
        self.active
            .as_ref()
            .is_some_and(|prompt| prompt.waiting.is_first(place))
    }

    /// Takes an event out of those that wait.
    pub(crate) fn dequeue(&mut self, place: u64) {
        if let Some(prompt) = &mut self.active {
            prompt.waiting.remove(place, &mut self.effects);
        }
    }

    /// The next update of an event; it counts once it is [sent](Self::update_sent).
    pub(crate) fn next_update(
        &mut self,
        origin: Option<&TurnOrigin>,
        event: &mut PendingEvent,
    ) -> Option<Draft> {
        let (translator, view) = self.translator(origin);
        match translator {
            Some(translator) => translator.next(event, view),
            None => view.next_of(event),
        }
    }

    /// Whether an event has a [next update](Self::next_update).
    pub(crate) fn has_update(&mut self, origin: Option<&TurnOrigin>, event: &PendingEvent) -> bool {
        let (translator, view) = self.translator(origin);
        match translator {
            Some(translator) => translator.has_next(event, view),
            None => view.has_next(event),
        }
    }

    /// Takes note that an update was sent.
    pub(crate) fn update_sent(&mut self, origin: Option<&TurnOrigin>, known: ClientKnows) {
        let (translator, view) = self.translator(origin);
        match translator {
            Some(translator) => translator.sent(known, view),
            None => view.sent(known),
        }
    }

    fn translator(
        &mut self,
        origin: Option<&TurnOrigin>,
    ) -> (Option<&mut Translator>, &mut ClientView) {
        let active = self.active.as_deref_mut();
        let translator = origin.and_then(|origin| active?.translator(origin));
        (translator, &mut self.view)
    }

    /// The turn whose text the client sees, if it is that of `origin`.
    pub(crate) fn streaming(
        &mut self,
        origin: &TurnOrigin,
        visibility: Visibility,
    ) -> Option<&mut Translator> {
        let prompt = self.active.as_deref_mut()?;
        let is_next = visibility == Visibility::Public && !prompt.waiting.are_there();
        is_next.then(|| prompt.streaming(origin))?
    }

    /// Takes an event of a turn.
    pub(crate) fn event(
        &mut self,
        origin: &Arc<TurnOrigin>,
        visibility: Visibility,
        body: EventBody,
    ) -> EventAction {
        let is_public = visibility == Visibility::Public;
        let (view, effects) = (&mut self.view, &mut self.effects);
        let (active, stray) = (self.active.as_mut(), Stray::of(&body));
        let action = active.and_then(|prompt| prompt.event(origin, is_public, body, view, effects));
        let action = action.unwrap_or_else(|| self.stray(origin, is_public, stray));
        self.free_if_done();
        action
    }

    /// Takes the reply to a command that has no turn.
    pub(crate) fn reply(&mut self, body: EventBody) {
        if let Some(prompt) = &mut self.active {
            prompt.reply_without_turn(body, &mut self.effects);
        }
        self.free_if_done();
    }

    /// Signals and wakers to fire once the lock is released.
    pub(crate) fn take_effects(&mut self) -> Option<Effects> {
        (!self.effects.is_empty()).then(|| std::mem::take(&mut self.effects))
    }

    fn free_if_done(&mut self) {
        if self.active.as_ref().is_some_and(|prompt| prompt.is_done()) {
            self.free();
        }
    }

    fn free(&mut self) {
        if let Some(prompt) = self.active.take() {
            self.last_turn = prompt.turn.map(|turn| turn.origin);
        }
        self.effects.wakers.append(&mut self.idle);
    }
}

#[cfg(test)]
mod tests;
