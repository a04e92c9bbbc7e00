//! Events of turns that answer no prompt: those of the host's own turns, which mean
//! nothing to the client, and those that a host reports too early or in vain.

use std::sync::Arc;

use acp_host::{EventBody, TurnOrigin};

use super::{ActivePrompt, EventAction, PromptEnd, SessionTurns};
use crate::limits::MAX_OWN_TURNS;

/// The meaning of an event whose turn answers no prompt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stray {
    Begins,
    Ends,
    Gate,
    /// The client would see it.
    Shown,
    /// The client would see nothing of it.
    Hidden,
}

impl Stray {
    /// The meaning of an event.
    pub(super) fn of(body: &EventBody) -> Self {
        match body {
            EventBody::TurnStarted { .. } => Self::Begins,
            body if body.ends_turn() => Self::Ends,
            EventBody::GateOpened(_) => Self::Gate,
            EventBody::Delta(_)
            | EventBody::StepDone(_)
            | EventBody::ToolRequested(_)
            | EventBody::ToolStarted(_)
            | EventBody::ToolProgressed(_)
            | EventBody::ToolCompleted(_)
            | EventBody::PlanChanged(_) => Self::Shown,
            _ => Self::Hidden,
        }
    }
}

impl SessionTurns {
    /// Takes an event of a turn that answers no prompt.
    pub(super) fn stray(
        &mut self,
        origin: &Arc<TurnOrigin>,
        is_public: bool,
        event: Stray,
    ) -> EventAction {
        let is_own = |own: &Arc<TurnOrigin>| origin.is_same_turn(own) || origin.descends_from(own);
        let last = self.last_turn.as_ref();
        if self.is_closed || last.is_some_and(|last| last.is_same_turn(origin)) {
            return EventAction::TooLate;
        }
        match event {
            Stray::Begins => {
                if self.own_turns.len() >= MAX_OWN_TURNS {
                    self.own_turns.pop_front();
                }
                self.own_turns.push_back(Arc::clone(origin));
                EventAction::Ignore
            }
            Stray::Ends => {
                let known = self.own_turns.len();
                self.own_turns.retain(|own| !origin.is_same_turn(own));
                let is_known = self.own_turns.len() < known || self.own_turns.iter().any(is_own);
                let is_waiting = |prompt: &&mut Box<ActivePrompt>| !prompt.progress().has_begun;
                let waiting = self.active.as_mut().filter(is_waiting);
                let Some(prompt) = waiting.filter(|_| !is_known) else {
                    return EventAction::Ignore;
                };
                // Behind a cancel it is that of the prompt, whose beginning the host
                // did not report.
                if prompt.progress().is_stopped {
                    prompt.finish(PromptEnd::Interrupted, &mut self.effects);
                }
                EventAction::NoTurn
            }
            // A gate that nobody sees is waited at for ever.
            Stray::Gate if is_public => EventAction::NoTurn,
            Stray::Shown if is_public && !self.own_turns.iter().any(is_own) => EventAction::NoTurn,
            Stray::Gate | Stray::Shown | Stray::Hidden => EventAction::Ignore,
        }
    }
}
