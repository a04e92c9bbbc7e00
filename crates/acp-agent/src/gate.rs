//! Permission gates on the wire: what is asked, and what an answer means.

use acp_host::{Control, DecisionSource, Gate, GateKind, PermissionAction, ToolContent};
use acp_protocol::{
    RawJson,
    rpc::{CallError, ErrorCode, Fault},
    v1::{
        PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
        RequestPermissionResponse, SessionId, ToolCallStatus, ToolCallUpdate,
    },
};

use crate::{fault, wire};

/// What is asked at a gate. `None` if the client cannot be asked: the gate
/// stays with the host.
pub(crate) fn request(session: &SessionId, gate: &Gate) -> Option<RequestPermissionRequest> {
    let GateKind::Permission { tool, controls } = &gate.kind else {
        return None;
    };
    if controls.is_empty() {
        return None;
    }
    let mut update = ToolCallUpdate::new(tool.id.to_shared());
    update.title = Some(gate.title.clone().unwrap_or_else(|| tool.title.clone()));
    update.name = Some(tool.name.clone());
    update.kind = Some(wire::tool_kind(tool.kind));
    update.status = Some(ToolCallStatus::Pending);
    let body = gate
        .body
        .iter()
        .map(|text| ToolContent::text(text.as_str()));
    let content: Vec<_> = body
        .chain(tool.content.iter().cloned())
        .map(wire::tool_content)
        .collect();
    update.content = (!content.is_empty()).then_some(content);
    update.locations = (!tool.locations.is_empty())
        .then(|| tool.locations.iter().cloned().map(wire::location).collect());
    update.raw_input = tool
        .input
        .clone()
        .map(|input| RawJson::from(input.into_raw()));
    let options = controls.iter().map(option);
    Some(RequestPermissionRequest::new(session, update, options))
}

fn option(control: &Control) -> PermissionOption {
    let kind = match control.action {
        PermissionAction::Approve => PermissionOptionKind::AllowOnce,
        PermissionAction::ApproveAlways => PermissionOptionKind::AllowAlways,
        PermissionAction::Deny | _ => PermissionOptionKind::RejectOnce,
    };
    let word = control.action.as_str();
    let name = if control.label.is_empty() {
        word
    } else {
        &control.label
    };
    PermissionOption::new(word, name, kind)
}

/// What was decided at a gate, and by whom.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) action: PermissionAction,
    pub(crate) source: DecisionSource,
    /// Why the prompt cannot go on.
    pub(crate) broken: Option<Fault>,
}

impl Decision {
    /// A decision that the facade takes in the user's stead: never an approval.
    pub(crate) fn deny(reason: &'static str) -> Self {
        Self {
            action: PermissionAction::Deny,
            source: DecisionSource::Policy { reason },
            broken: None,
        }
    }

    /// What the client's answer means. Only an option that was offered can
    /// approve anything (R132).
    pub(crate) fn of_answer(
        gate: &Gate,
        answer: Result<RequestPermissionResponse, CallError>,
    ) -> Self {
        let outcome = match answer {
            Ok(response) => response.outcome,
            Err(error) => return Self::of_failure(&error),
        };
        match outcome {
            RequestPermissionOutcome::Selected(selected) => {
                let chosen = PermissionAction::from_word(selected.option_id.as_str());
                match chosen.filter(|action| is_offered(gate, *action)) {
                    Some(action) => Self {
                        action,
                        source: DecisionSource::User,
                        broken: None,
                    },
                    None => Self::deny("the client chose what was not offered"),
                }
            }
            RequestPermissionOutcome::Cancelled => Self::deny("the client cancelled"),
            _ => Self::deny("the client's answer is not understood"),
        }
    }

    fn of_failure(error: &CallError) -> Self {
        let broken = |text| Some(fault::internal(fault::PROMPT, text));
        match error {
            // Agents take both forms of "cancelled", whichever side began.
            CallError::Peer(error) if error.code == ErrorCode::REQUEST_CANCELLED => {
                Self::deny("the client cancelled")
            }
            CallError::Cancelled => Self::deny("the client cancelled"),
            CallError::Closed(_) => Self::deny("the connection ended"),
            CallError::Decode { .. } | CallError::MalformedAnswer(_) | CallError::IdTypeChanged => {
                Self::deny("the client's answer is not understood")
            }
            CallError::Peer(_) => Self {
                broken: broken("the client refused to ask for permission"),
                ..Self::deny("the client refused to ask")
            },
            _ => Self {
                broken: broken("the client could not be asked for permission"),
                ..Self::deny("the client could not be asked")
            },
        }
    }
}

fn is_offered(gate: &Gate, action: PermissionAction) -> bool {
    match &gate.kind {
        GateKind::Permission { controls, .. } => controls.iter().any(|c| c.action == action),
        _ => false,
    }
}
