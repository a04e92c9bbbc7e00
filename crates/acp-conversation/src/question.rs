//! The questions an agent asks the user: permission requests and elicitations.

use acp_protocol::v1::{
    CreateElicitationRequest, ElicitationAction, ElicitationId, ElicitationMode, ElicitationScope,
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ToolCallId,
};
use acp_text::cut_bytes;

use crate::limits::{MAX_ID, MAX_LINE, MAX_NAME, MAX_QUESTION_OPTIONS, MAX_TITLE, short_name};

/// The number of a question in its conversation; they rise, and none is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionNumber(pub(crate) u64);

/// A question of an agent to the user, and its outcome.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionState {
    /// Its number in the conversation.
    pub number: QuestionNumber,
    /// The tool call it belongs to, if the agent names one whose id is not too long.
    pub tool_call: Option<ToolCallId>,
    /// The agent's message to the user; a permission request has none.
    pub message: Option<String>,
    /// What the agent asks for.
    pub subject: QuestionSubject,
    /// How it was answered; `None` while it is open.
    pub outcome: Option<QuestionOutcome>,
}

/// What an agent asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuestionSubject {
    /// Permission to run a tool call.
    Permission {
        /// The options that were offered, in the agent's order.
        options: Vec<PermissionOption>,
        /// Options that are not kept.
        more_options: usize,
    },
    /// A form to fill in.
    Form,
    /// An address to visit.
    Url {
        /// The address; `None` where it is too long, because its beginning would lead
        /// elsewhere.
        url: Option<String>,
        /// The id by which the agent reports the completion, if it is not too long.
        id: Option<ElicitationId>,
        /// Whether the agent reported the completion.
        is_complete: bool,
    },
    /// A kind of elicitation that this version of the protocol does not name.
    Unrecognized(String),
}

/// How a question was answered. The content of a form is not kept: it may be private, and
/// belongs to the agent alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuestionOutcome {
    /// This option of a permission request was selected.
    Selected(PermissionOption),
    /// An option was selected that was not offered, or is not kept.
    UnknownOption,
    /// The form was filled in, or the user agreed to visit the address.
    Accepted,
    /// The user declined.
    Declined,
    /// The user dismissed the question, or cancelled the turn.
    Cancelled,
    /// The agent withdrew the question, or ended its turn, before there was an answer.
    Withdrawn,
    /// An answer that this version of the protocol does not name.
    Unrecognized(String),
}

impl QuestionState {
    pub(crate) fn permission(number: QuestionNumber, request: &RequestPermissionRequest) -> Self {
        let short = |option: &&PermissionOption| option.option_id.as_str().len() <= MAX_ID;
        let kept = request.options.iter().filter(short);
        let kept = kept.take(MAX_QUESTION_OPTIONS).map(|option| {
            PermissionOption::new(
                option.option_id.clone(),
                cut_bytes(&option.name, MAX_TITLE),
                short_name(&option.kind, option.kind.as_str()),
            )
        });
        let options: Vec<_> = kept.collect();
        Self {
            number,
            tool_call: short_id(&request.tool_call.tool_call_id),
            message: None,
            subject: QuestionSubject::Permission {
                more_options: request.options.len() - options.len(),
                options,
            },
            outcome: None,
        }
    }

    pub(crate) fn elicitation(number: QuestionNumber, request: &CreateElicitationRequest) -> Self {
        let (subject, scope) = match &request.mode {
            ElicitationMode::Form(form) => (QuestionSubject::Form, Some(&form.scope)),
            ElicitationMode::Url(link) => {
                let id = &link.elicitation_id;
                let subject = QuestionSubject::Url {
                    url: (link.url.len() <= MAX_TITLE).then(|| link.url.clone()),
                    id: (id.as_str().len() <= MAX_ID).then(|| id.clone()),
                    is_complete: false,
                };
                (subject, Some(&link.scope))
            }
            other => {
                let mode = cut_bytes(other.tag(), MAX_NAME).to_owned();
                (QuestionSubject::Unrecognized(mode), None)
            }
        };
        let tool_call = match scope {
            Some(ElicitationScope::Session(scope)) => scope.tool_call_id.as_ref(),
            _ => None,
        };
        Self {
            number,
            tool_call: tool_call.and_then(short_id),
            message: Some(cut_bytes(&request.message, MAX_LINE).to_owned()),
            subject,
            outcome: None,
        }
    }

    pub(crate) fn permission_outcome(&self, answer: &RequestPermissionOutcome) -> QuestionOutcome {
        match (answer, &self.subject) {
            (RequestPermissionOutcome::Cancelled, _) => QuestionOutcome::Cancelled,
            (
                RequestPermissionOutcome::Selected(selected),
                QuestionSubject::Permission { options, .. },
            ) => {
                let is_selected = |it: &&PermissionOption| it.option_id == selected.option_id;
                let option = options.iter().find(is_selected).cloned();
                option.map_or(QuestionOutcome::UnknownOption, QuestionOutcome::Selected)
            }
            (other, _) => QuestionOutcome::unrecognized(other.tag()),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        let size = |option: &PermissionOption| {
            size_of_val(option)
                + option.option_id.as_str().len()
                + option.name.len()
                + option.kind.as_str().len()
        };
        let subject = match &self.subject {
            QuestionSubject::Permission { options, .. } => options.iter().map(size).sum(),
            QuestionSubject::Form => 0,
            QuestionSubject::Url { url, id, .. } => {
                let id = id.as_ref().map_or(0, |id| id.as_str().len());
                id + url.as_ref().map_or(0, String::len)
            }
            QuestionSubject::Unrecognized(mode) => mode.len(),
        };
        let outcome = match &self.outcome {
            Some(QuestionOutcome::Selected(option)) => size(option),
            Some(QuestionOutcome::Unrecognized(name)) => name.len(),
            _ => 0,
        };
        let tool_call = self.tool_call.as_ref().map_or(0, |id| id.as_str().len());
        let message = self.message.as_ref().map_or(0, String::len);
        size_of::<Self>() + tool_call + message + subject + outcome
    }
}

impl QuestionOutcome {
    /// Tells whether the user agreed: an option that allows was selected, or an
    /// elicitation was accepted.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        match self {
            Self::Selected(option) => matches!(
                option.kind,
                PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways
            ),
            other => *other == Self::Accepted,
        }
    }

    pub(crate) fn unrecognized(name: &str) -> Self {
        Self::Unrecognized(cut_bytes(name, MAX_NAME).to_owned())
    }
}

impl From<&ElicitationAction> for QuestionOutcome {
    fn from(action: &ElicitationAction) -> Self {
        match action {
            ElicitationAction::Accept(_) => Self::Accepted,
            ElicitationAction::Decline => Self::Declined,
            ElicitationAction::Cancel => Self::Cancelled,
            other => Self::unrecognized(other.tag()),
        }
    }
}

fn short_id(id: &ToolCallId) -> Option<ToolCallId> {
    (id.as_str().len() <= MAX_ID).then(|| id.clone())
}
