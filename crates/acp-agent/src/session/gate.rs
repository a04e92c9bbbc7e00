//! Decisions at gates: the client is asked, and its answer read.

use acp_host::{DecisionSource, Gate, GateAnswer, GateKind, GateResponse, PermissionAction};
use acp_protocol::{
    rpc::{CallError, ErrorCode, Fault},
    v1::{
        CreateElicitationResponse, ElicitationAction, RequestPermissionOutcome,
        RequestPermissionResponse,
    },
};

use super::SessionCore;
use crate::{
    fault,
    wire::{form, permission},
};

/// Asks the client what is to be decided at a gate.
pub(super) async fn ask(core: &SessionCore, gate: &Gate) -> GateDecision {
    match &gate.kind {
        GateKind::Permission { tool, controls } => {
            let request = permission::request(&core.id, gate, tool, controls);
            GateDecision::of_permission(gate, core.peer().call(&request).await)
        }
        GateKind::Form { form, tool } => {
            let request = form::form_request(&core.id, gate, form, tool.as_ref());
            GateDecision::of_elicitation(gate, core.peer().call(&request).await)
        }
        GateKind::OpenUrl { url, tool } => {
            let request = form::url_request(&core.id, gate, url, tool.as_ref());
            GateDecision::of_elicitation(gate, core.peer().call(&request).await)
        }
    }
}

/// A decision at a gate, and its source.
#[derive(Debug)]
pub(super) struct GateDecision {
    pub(super) answer: GateAnswer,
    pub(super) source: DecisionSource,
    /// Why the prompt cannot go on.
    pub(super) broken: Option<Fault>,
}

impl GateDecision {
    /// A decision of the facade in the user's place: never an approval, never an
    /// answer.
    pub(super) fn closed(gate: &Gate, reason: &'static str) -> Self {
        let answer = match &gate.kind {
            GateKind::Form { .. } | GateKind::OpenUrl { .. } => GateAnswer::Dismissed,
            GateKind::Permission { .. } => GateAnswer::Permission(PermissionAction::Deny),
        };
        Self {
            answer,
            source: DecisionSource::Policy { reason },
            broken: None,
        }
    }

    /// The decision at a gate at which the client cannot be asked.
    pub(super) fn declined(gate: &Gate) -> Self {
        let closed = Self::closed(gate, "the client cannot be asked this");
        match &gate.kind {
            GateKind::Form { .. } | GateKind::OpenUrl { .. } => Self {
                answer: GateAnswer::Declined,
                ..closed
            },
            GateKind::Permission { .. } => closed,
        }
    }

    /// Makes it a response for the host.
    pub(super) fn into_response(self, gate: &Gate) -> GateResponse {
        GateResponse::new(gate.id.clone(), self.answer, self.source)
    }

    fn of_user(answer: GateAnswer) -> Self {
        Self {
            answer,
            source: DecisionSource::User,
            broken: None,
        }
    }

    /// Only an option that was offered can approve anything (R132).
    pub(super) fn of_permission(
        gate: &Gate,
        answer: Result<RequestPermissionResponse, CallError>,
    ) -> Self {
        match answer.map(|response| response.outcome) {
            Ok(RequestPermissionOutcome::Selected(selected)) => {
                let chosen = PermissionAction::from_word(selected.option_id.as_str());
                match chosen.filter(|action| is_offered(gate, *action)) {
                    Some(action) => Self::of_user(GateAnswer::Permission(action)),
                    None => Self::closed(gate, "the client chose what was not offered"),
                }
            }
            Ok(RequestPermissionOutcome::Cancelled) => Self::closed(gate, CANCELLED),
            Ok(_) => Self::closed(gate, NOT_UNDERSTOOD),
            Err(error) => Self::of_failure(gate, &error),
        }
    }

    /// Only values that fit the form are an answer.
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
            Ok(_) => Self::closed(gate, NOT_UNDERSTOOD),
            // The turn can go on without an answer to its question.
            Err(error) => Self {
                broken: None,
                ..Self::of_failure(gate, &error)
            },
        }
    }

    fn of_failure(gate: &Gate, error: &CallError) -> Self {
        let (reason, broken) = match error {
            // Agents take both forms of "cancelled", whichever side began.
            CallError::Cancelled => (CANCELLED, None),
            CallError::Peer(error) if error.code == ErrorCode::REQUEST_CANCELLED => {
                (CANCELLED, None)
            }
            CallError::Closed(_) => ("the connection ended", None),
            CallError::Decode { .. } | CallError::MalformedAnswer(_) | CallError::IdTypeChanged => {
                (NOT_UNDERSTOOD, None)
            }
            CallError::Peer(_) => (
                "the client refused to ask",
                Some("the client refused to ask for permission"),
            ),
            _ => (
                "the client could not be asked",
                Some("the client could not be asked for permission"),
            ),
        };
        Self {
            broken: broken.map(|text| fault::internal(fault::PROMPT, text)),
            ..Self::closed(gate, reason)
        }
    }
}

const CANCELLED: &str = "the client cancelled";
const NOT_UNDERSTOOD: &str = "the client's answer is not understood";

fn is_offered(gate: &Gate, action: PermissionAction) -> bool {
    match &gate.kind {
        GateKind::Permission { controls, .. } => controls.iter().any(|c| c.action == action),
        _ => false,
    }
}
