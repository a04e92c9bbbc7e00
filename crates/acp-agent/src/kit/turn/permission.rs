//! The answers of the user: permissions, and answers to questions.

use std::collections::BTreeMap;

use acp_host::{FormValue, GateAnswer, PermissionAction};

/// The user's decision about a tool call.
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

/// The user's answer to a question: a value, or the values of a form.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it was asked for"]
pub enum UserAnswer<T = BTreeMap<String, FormValue>> {
    /// This.
    Given(T),
    /// The user does not want to answer.
    Declined,
    /// Nobody answered, or what was answered does not fit.
    Dismissed,
    /// The question was asked in words, as [`TypedQuestion::or_text`](crate::kit::TypedQuestion::or_text)
    /// wants it: the next prompt answers it.
    InWords,
}

impl<T> UserAnswer<T> {
    /// The answer, if the user gave one.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Given(value) => Some(value),
            _ => None,
        }
    }

    /// Reads what was answered; what cannot be read is no answer.
    pub(in crate::kit) fn and_then<U>(self, read: impl FnOnce(T) -> Option<U>) -> UserAnswer<U> {
        match self {
            Self::Given(value) => read(value).map_or(UserAnswer::Dismissed, UserAnswer::Given),
            Self::Declined => UserAnswer::Declined,
            Self::Dismissed => UserAnswer::Dismissed,
            Self::InWords => UserAnswer::InWords,
        }
    }
}

impl UserAnswer {
    /// The text that was answered in a field, or the id of the option.
    pub fn text(&self, field: &str) -> Option<&str> {
        match self {
            Self::Given(values) => values.get(field)?.as_text(),
            _ => None,
        }
    }
}

impl From<GateAnswer> for UserAnswer {
    fn from(answer: GateAnswer) -> Self {
        match answer {
            GateAnswer::Form(values) => Self::Given(values),
            GateAnswer::Declined => Self::Declined,
            _ => Self::Dismissed,
        }
    }
}
