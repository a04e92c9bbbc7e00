//! Permissions and answers: asked in a turn, answered through the session.

use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc};

use acp_host::{FormValue, GateAnswer, GateId, GateResponse, HostError, PermissionAction};
use tokio::sync::oneshot;

use crate::kit::session::facts::SessionFacts;

/// What the user decided about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a tool runs only if it may"]
pub enum Permission {
    /// It may run this time.
    Allowed,
    /// It may run, and its like in this workspace from now on. Remembering that
    /// is up to the agent.
    AllowedAlways,
    /// It may not run.
    Denied,
}

impl Permission {
    /// Whether the tool may run.
    pub fn is_allowed(self) -> bool {
        self != Self::Denied
    }
}

impl From<GateAnswer> for Permission {
    fn from(answer: GateAnswer) -> Self {
        match answer {
            GateAnswer::Permission(PermissionAction::Approve) => Self::Allowed,
            GateAnswer::Permission(PermissionAction::ApproveAlways) => Self::AllowedAlways,
            // Whatever is not an approval is none.
            _ => Self::Denied,
        }
    }
}

/// What the user answered to a question: a value, or the values of a form.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it was asked for"]
pub enum Answer<T = BTreeMap<String, FormValue>> {
    /// This.
    Given(T),
    /// The user does not want to answer.
    Declined,
    /// Nobody answered, or what was answered does not fit.
    Dismissed,
    /// The question was asked in words, as [`Ask::or_text`](crate::kit::Ask::or_text)
    /// wants it: the next prompt answers it.
    InWords,
}

impl<T> Answer<T> {
    /// What was answered, if anything was.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Given(value) => Some(value),
            _ => None,
        }
    }

    /// Reads what was answered; what cannot be read is no answer.
    pub(in crate::kit) fn and_then<U>(self, read: impl FnOnce(T) -> Option<U>) -> Answer<U> {
        match self {
            Self::Given(value) => read(value).map_or(Answer::Dismissed, Answer::Given),
            Self::Declined => Answer::Declined,
            Self::Dismissed => Answer::Dismissed,
            Self::InWords => Answer::InWords,
        }
    }
}

impl Answer {
    /// The text that was answered in a field, or the id of the option.
    pub fn text(&self, field: &str) -> Option<&str> {
        match self {
            Self::Given(values) => values.get(field)?.as_text(),
            _ => None,
        }
    }
}

impl From<GateAnswer> for Answer {
    fn from(answer: GateAnswer) -> Self {
        match answer {
            GateAnswer::Form(values) => Self::Given(values),
            GateAnswer::Declined => Self::Declined,
            _ => Self::Dismissed,
        }
    }
}

/// The gates of a session that are open; at most one for each call of
/// [`ask_permission`](crate::kit::Turn::ask_permission) under way.
#[derive(Debug, Default)]
pub(in crate::kit) struct OpenGates(Mutex<Waiting>);

type Waiting = BTreeMap<GateId, oneshot::Sender<GateAnswer>>;

/// A gate of a session that is open; dropping it closes it.
pub(in crate::kit) struct OpenGate {
    id: GateId,
    session: Arc<SessionFacts>,
    pub(in crate::kit) answer: oneshot::Receiver<GateAnswer>,
}

impl OpenGates {
    pub(in crate::kit) fn respond(&self, response: GateResponse) -> Result<(), HostError> {
        let sender = self.0.lock().remove(&response.gate);
        sender
            .and_then(|sender| sender.send(response.answer).ok())
            .ok_or_else(|| HostError::public("the gate is not open"))
    }
}

impl OpenGate {
    pub(in crate::kit) fn new(session: Arc<SessionFacts>, id: GateId) -> Self {
        let (sender, answer) = oneshot::channel();
        session.gates.0.lock().insert(id.clone(), sender);
        Self {
            id,
            session,
            answer,
        }
    }

    /// Whether nobody has answered.
    pub(in crate::kit) fn close(&self) -> bool {
        self.session.gates.0.lock().remove(&self.id).is_some()
    }
}

impl Drop for OpenGate {
    fn drop(&mut self) {
        self.close();
    }
}
