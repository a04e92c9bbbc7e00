//! Gates on the wire: what is asked, and what an answer means.

use acp_host::{
    Control, DecisionSource, Gate, GateAnswer, GateKind, PermissionAction, ToolCall, ToolContent,
};
use acp_protocol::{
    RawJson,
    rpc::{CallError, ErrorCode, Fault},
    v1::{
        CreateElicitationResponse, ElicitationAction, PermissionOption, PermissionOptionKind,
        RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionId,
        ToolCallStatus, ToolCallUpdate,
    },
};

use crate::{fault, session::SessionCore, wire, wire::form};

/// Asks the client what is to be decided at a gate, and reads its answer.
pub(crate) async fn ask(core: &SessionCore, gate: &Gate) -> GateDecision {
    match &gate.kind {
        GateKind::Permission { tool, controls } => {
            let request = request(&core.id, gate, tool, controls);
            GateDecision::of_answer(gate, core.peer().call(&request).await)
        }
        GateKind::Form { form, tool } => {
            let request = form::form_request(&core.id, gate, form, tool.as_ref());
            GateDecision::of_elicitation(gate, core.peer().call(&request).await)
        }
        GateKind::OpenUrl { url, tool } => {
            let request = form::url_request(&core.id, gate, url, tool.as_ref());
            GateDecision::of_elicitation(gate, core.peer().call(&request).await)
        }
        _ => GateDecision::closed(gate, "the client cannot be asked"),
    }
}

fn request(
    session: &SessionId,
    gate: &Gate,
    tool: &ToolCall,
    controls: &[Control],
) -> RequestPermissionRequest {
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
    RequestPermissionRequest::new(session, update, options)
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
pub(crate) struct GateDecision {
    pub(crate) answer: GateAnswer,
    pub(crate) source: DecisionSource,
    /// Why the prompt cannot go on.
    pub(crate) broken: Option<Fault>,
}

impl GateDecision {
    /// A decision that the facade takes in the user's stead: never an approval,
    /// never an answer.
    pub(crate) fn closed(gate: &Gate, reason: &'static str) -> Self {
        let answer = match &gate.kind {
            GateKind::Form { .. } | GateKind::OpenUrl { .. } => GateAnswer::Dismissed,
            _ => GateAnswer::Permission(PermissionAction::Deny),
        };
        Self {
            answer,
            source: DecisionSource::Policy { reason },
            broken: None,
        }
    }

    /// A decision of the user.
    fn of_user(answer: GateAnswer) -> Self {
        Self {
            answer,
            source: DecisionSource::User,
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
            Err(error) => return Self::of_failure(gate, &error),
        };
        match outcome {
            RequestPermissionOutcome::Selected(selected) => {
                let chosen = PermissionAction::from_word(selected.option_id.as_str());
                match chosen.filter(|action| is_offered(gate, *action)) {
                    Some(action) => Self::of_user(GateAnswer::Permission(action)),
                    None => Self::closed(gate, "the client chose what was not offered"),
                }
            }
            RequestPermissionOutcome::Cancelled => Self::closed(gate, "the client cancelled"),
            _ => Self::closed(gate, "the client's answer is not understood"),
        }
    }

    /// What the client's answer to a form or an address means. Only values that
    /// fit the form are an answer.
    fn of_elicitation(gate: &Gate, answer: Result<CreateElicitationResponse, CallError>) -> Self {
        match answer.map(|response| response.action) {
            Ok(ElicitationAction::Accept(accepted)) => {
                match form::accepted(gate, accepted.content.unwrap_or_default()) {
                    Some(answer) => Self::of_user(answer),
                    None => Self::closed(gate, "the client's answer does not fit the form"),
                }
            }
            Ok(ElicitationAction::Decline) => Self::of_user(GateAnswer::Declined),
            Ok(ElicitationAction::Cancel) => Self::of_user(GateAnswer::Dismissed),
            Ok(_) => Self::closed(gate, "the client's answer is not understood"),
            // Without an answer the turn can go on: it asked, and was not told.
            Err(error) => Self {
                broken: None,
                ..Self::of_failure(gate, &error)
            },
        }
    }

    fn of_failure(gate: &Gate, error: &CallError) -> Self {
        let broken = |text| Some(fault::internal(fault::PROMPT, text));
        match error {
            // Agents take both forms of "cancelled", whichever side began.
            CallError::Peer(error) if error.code == ErrorCode::REQUEST_CANCELLED => {
                Self::closed(gate, "the client cancelled")
            }
            CallError::Cancelled => Self::closed(gate, "the client cancelled"),
            CallError::Closed(_) => Self::closed(gate, "the connection ended"),
            CallError::Decode { .. } | CallError::MalformedAnswer(_) | CallError::IdTypeChanged => {
                Self::closed(gate, "the client's answer is not understood")
            }
            CallError::Peer(_) => Self {
                broken: broken("the client refused to ask for permission"),
                ..Self::closed(gate, "the client refused to ask")
            },
            _ => Self {
                broken: broken("the client could not be asked for permission"),
                ..Self::closed(gate, "the client could not be asked")
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
