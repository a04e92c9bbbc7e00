//! Gates: decisions for which a turn waits.

use derive_setters::Setters;
use std::collections::BTreeMap;

use crate::{FormValue, GateId, OpenUrl, ToolCall, ToolId, UserForm};

/// A decision for which a turn waits.
///
/// A gate is opened by an [event](crate::EventBody::GateOpened) and answered by
/// [`respond_gate`](crate::LiveSession::respond_gate). Meanwhile the turn waits;
/// nothing else in the session or in other sessions does.
#[derive(Clone, Debug, PartialEq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct Gate {
    /// Names the gate.
    pub id: GateId,
    /// What is to be decided.
    pub kind: GateKind,
    /// A line that says what is to be decided; the tool's own title if absent.
    pub title: Option<String>,
    /// What should be known to decide it.
    pub body: Option<String>,
    /// It can be answered without the client, too.
    #[setters(skip)]
    pub answered_elsewhere: bool,
}

impl Gate {
    /// Asks whether a tool may run, with the usual [controls](Control::usual).
    pub fn permission(id: impl Into<GateId>, tool: ToolCall) -> Self {
        Self::permission_with(id, tool, Control::usual())
    }

    /// Asks whether a tool may run, with these controls.
    pub fn permission_with(id: impl Into<GateId>, tool: ToolCall, controls: Vec<Control>) -> Self {
        let kind = GateKind::Permission { tool, controls };
        Self {
            id: id.into(),
            kind,
            title: None,
            body: None,
            answered_elsewhere: false,
        }
    }

    /// Asks the user some questions, introduced by a line of text.
    pub fn form(id: impl Into<GateId>, message: impl Into<String>, form: UserForm) -> Self {
        Self {
            id: id.into(),
            kind: GateKind::Form { form, tool: None },
            title: Some(message.into()),
            body: None,
            answered_elsewhere: false,
        }
    }

    /// Sends the user to an address, and says why.
    ///
    /// That the user went there does not mean that all is done there: report
    /// [`GateResolved`](crate::EventBody::GateResolved) when it is.
    pub fn open_url(id: impl Into<GateId>, message: impl Into<String>, url: OpenUrl) -> Self {
        Self {
            id: id.into(),
            kind: GateKind::OpenUrl { url, tool: None },
            title: Some(message.into()),
            body: None,
            answered_elsewhere: false,
        }
    }

    /// Says that it can be answered in another way than by the client: a client that
    /// cannot be asked leaves it open, and its user is informed.
    ///
    /// Without this such a gate is declined, because nobody would ever answer it.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.answered_elsewhere = true;
        self
    }

    /// Says which tool call asks the questions, or sends to the address.
    #[must_use]
    pub fn for_tool(mut self, id: impl Into<ToolId>) -> Self {
        if let GateKind::Form { tool, .. } | GateKind::OpenUrl { tool, .. } = &mut self.kind {
            *tool = Some(id.into());
        }
        self
    }
}

/// What is to be decided.
#[derive(Clone, Debug, PartialEq)]
pub enum GateKind {
    /// Whether a tool may run.
    Permission {
        /// The tool call that waits.
        tool: ToolCall,
        /// What the user may choose, in this order. Never empty.
        controls: Vec<Control>,
    },
    /// What the user answers in a form.
    ///
    /// A client that shows no forms is not asked, and the gate is
    /// [declined](crate::GateAnswer::Declined) with a warning in the log; one that can
    /// be [answered elsewhere](Gate::answered_elsewhere) stays open until the host
    /// resolves it in its own way.
    Form {
        /// What is asked.
        form: UserForm,
        /// The tool call that asks.
        tool: Option<ToolId>,
    },
    /// Whether the user goes to an address. Asked as forms are.
    OpenUrl {
        /// Where to.
        url: OpenUrl,
        /// The tool call that asks.
        tool: Option<ToolId>,
    },
}

/// One choice of a permission gate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Control {
    /// What choosing it means.
    pub action: PermissionAction,
    /// What the user reads.
    pub label: String,
}

impl Control {
    /// Offers an action under a label.
    pub fn new(action: PermissionAction, label: impl Into<String>) -> Self {
        Self {
            action,
            label: label.into(),
        }
    }

    /// Allow once, always allow, reject.
    pub fn usual() -> Vec<Self> {
        vec![
            Self::new(PermissionAction::Approve, "Allow"),
            Self::new(PermissionAction::ApproveAlways, "Always allow here"),
            Self::new(PermissionAction::Deny, "Reject"),
        ]
    }
}

/// What may be decided about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PermissionAction {
    /// Run it this time.
    Approve,
    /// Run it, and its like in this workspace from now on.
    ApproveAlways,
    /// Do not run it.
    Deny,
}

impl PermissionAction {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::ApproveAlways => "approve_always_workspace",
            Self::Deny => "deny",
        }
    }

    /// Reads the stable word, exactly.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Approve, Self::ApproveAlways, Self::Deny]
            .into_iter()
            .find(|a| a.as_str() == word)
    }

    /// Whether the tool may run.
    pub fn is_approval(self) -> bool {
        self != Self::Deny
    }
}

/// The answer to a gate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GateResponse {
    /// The gate.
    pub gate: GateId,
    /// What was decided.
    pub answer: GateAnswer,
    /// Who decided.
    pub source: DecisionSource,
}

impl GateResponse {
    /// Answers a gate.
    pub fn new(gate: GateId, answer: GateAnswer, source: DecisionSource) -> Self {
        Self {
            gate,
            answer,
            source,
        }
    }
}

/// What was decided at a gate.
#[derive(Clone, Debug, PartialEq)]
pub enum GateAnswer {
    /// The answer to a permission gate.
    Permission(PermissionAction),
    /// What was answered in a form; it fits the form.
    Form(BTreeMap<String, FormValue>),
    /// The user is on the way to the address.
    Opened,
    /// The user does not want to answer a form, or go to an address.
    Declined,
    /// Nobody answered a form, or looked at an address.
    Dismissed,
}

/// Who decided at a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionSource {
    /// The user, through the client.
    User,
    /// A rule of the facade: the client was cancelled, gone, or answered
    /// something that was not offered. Such a decision never approves, and
    /// never answers a form.
    Policy {
        /// The rule.
        reason: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_exactly() {
        for action in [PermissionAction::Approve, PermissionAction::ApproveAlways] {
            assert_eq!(PermissionAction::from_word(action.as_str()), Some(action));
            assert!(action.is_approval());
        }
        assert!(!PermissionAction::Deny.is_approval());
        for word in ["", "Approve", "approve ", "allow"] {
            assert_eq!(PermissionAction::from_word(word), None, "{word:?}");
        }
    }
}
