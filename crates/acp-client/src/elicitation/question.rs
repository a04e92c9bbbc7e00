//! What is asked.

use std::fmt;
use std::sync::Arc;

use acp_protocol::Meta;
use acp_protocol::rpc::{Fault, ReceiveSeq, RequestId};
use acp_protocol::v1::{
    CreateElicitationRequest, ElicitationId, ElicitationMode, ElicitationSchema, ElicitationScope,
    SessionId, ToolCallId,
};

use super::patterns::Patterns;
use super::{
    ElicitationAnswer, ElicitationForm, ElicitationLink, ElicitationModes, FormError, form,
};
use crate::bounds::within;
use crate::limits::{MAX_ID, MAX_LINK};

/// A question of the agent.
///
/// Cheap to clone. Its `Debug` tells neither what is asked nor an address.
#[derive(Clone)]
pub struct Question(Arc<Asked>);

struct Asked {
    message: String,
    meta: Option<Box<Meta>>,
    how: How,
    /// A session or a request.
    scope: ElicitationScope,
    after: ReceiveSeq,
}

enum How {
    Form(ElicitationSchema, Patterns),
    Link { id: ElicitationId, url: String },
}

/// How a question is asked.
#[derive(Debug, Clone, Copy)]
pub enum QuestionKind<'a> {
    /// With a form to fill in.
    Form(ElicitationForm<'a>),
    /// With an address to go to.
    Link(ElicitationLink<'a>),
}

impl Question {
    /// Takes what the agent sent, or says why it is refused: a way of asking that is
    /// not offered (R209), or that nobody knows (R220), or a form that is too large.
    pub(crate) fn new(
        request: CreateElicitationRequest,
        modes: ElicitationModes,
        after: ReceiveSeq,
    ) -> Result<Self, Fault> {
        let refused = Fault::invalid_params("this way of asking is not offered");
        let (how, scope) = match request.mode {
            ElicitationMode::Form(mode) if modes.form => {
                form::check_size(&mode.requested_schema)?;
                let form = How::Form(mode.requested_schema, Patterns::default());
                (form, mode.scope)
            }
            ElicitationMode::Url(mode) if modes.url => {
                let (id, url) = (mode.elicitation_id, mode.url);
                within("elicitationId", id.as_str(), MAX_ID)?;
                within("url", &url, MAX_LINK)?;
                (How::Link { id, url }, mode.scope)
            }
            _ => return Err(refused),
        };
        if let ElicitationScope::Unrecognized(_) = scope {
            let fault = "a question belongs to a session or to a request";
            return Err(Fault::invalid_params(fault));
        }
        if let ElicitationScope::Session(scope) = &scope
            && let Some(id) = &scope.tool_call_id
        {
            within("toolCallId", id.as_str(), MAX_ID)?;
        }
        Ok(Self(Arc::new(Asked {
            message: request.message,
            meta: request.meta,
            how,
            scope,
            after,
        })))
    }

    /// Returns what the agent says it wants to know. Text of the agent: show it as
    /// such, without making links of it (R218).
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns how it is asked.
    #[must_use]
    pub fn kind(&self) -> QuestionKind<'_> {
        match &self.0.how {
            How::Form(schema, patterns) => {
                QuestionKind::Form(ElicitationForm::new(schema).with_patterns(patterns))
            }
            How::Link { id, url } => QuestionKind::Link(ElicitationLink::new(id, url)),
        }
    }

    /// Returns the form, if there is one.
    #[must_use]
    pub fn form(&self) -> Option<ElicitationForm<'_>> {
        match self.kind() {
            QuestionKind::Form(form) => Some(form),
            QuestionKind::Link(_) => None,
        }
    }

    /// Returns the link, if there is one.
    #[must_use]
    pub fn link(&self) -> Option<ElicitationLink<'_>> {
        match self.kind() {
            QuestionKind::Form(_) => None,
            QuestionKind::Link(link) => Some(link),
        }
    }

    /// Returns the session it belongs to, if it belongs to one.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        match &self.0.scope {
            ElicitationScope::Session(scope) => Some(&scope.session_id),
            _ => None,
        }
    }

    /// Returns the tool call it belongs to, if the agent tells of one.
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&ToolCallId> {
        match &self.0.scope {
            ElicitationScope::Session(scope) => scope.tool_call_id.as_ref(),
            _ => None,
        }
    }

    /// Returns the request of ours it belongs to, if it belongs to one.
    #[must_use]
    pub fn request_id(&self) -> Option<&RequestId> {
        match &self.0.scope {
            ElicitationScope::Request(scope) => Some(&scope.request_id),
            _ => None,
        }
    }

    /// Returns what the agent added.
    #[must_use]
    pub fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_deref()
    }

    /// Returns the place on the receive clock after which it was asked.
    #[must_use]
    pub fn after(&self) -> ReceiveSeq {
        self.0.after
    }

    /// Checks an answer: the fields of a form must fit it, a link has none.
    ///
    /// # Errors
    ///
    /// What does not fit, field by field.
    pub fn check(&self, answer: &ElicitationAnswer) -> Result<(), Vec<FormError>> {
        match self.kind() {
            QuestionKind::Form(form) => form.check(answer),
            QuestionKind::Link(link) => link.check(answer),
        }
    }

    /// Makes the answer of one who is not there: forms are declined, links cancelled.
    #[must_use]
    pub fn refusal(&self) -> ElicitationAnswer {
        match self.kind() {
            QuestionKind::Form(_) => ElicitationAnswer::decline(),
            QuestionKind::Link(_) => ElicitationAnswer::cancel(),
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.0.how {
            How::Form(..) => "form",
            How::Link { .. } => "url",
        };
        f.debug_struct("Question")
            .field("mode", &mode)
            .field("session", &self.session_id())
            .field("after", &self.0.after)
            .finish_non_exhaustive()
    }
}
