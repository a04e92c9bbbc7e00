//! The ways of asking that a client offers, and who answers.

use std::sync::Arc;

use acp_connection::{BoxFuture, IncomingRequest};
use acp_protocol::v1::{
    ElicitationCapabilities, ElicitationFormCapabilities, ElicitationUrlCapabilities,
};

use super::{AnswerQuestions, DynAnswerQuestions};
use crate::serve::Dispatch;

/// The ways in which an agent may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElicitationModes {
    form: bool,
    url: bool,
}

impl ElicitationModes {
    /// Forms alone.
    pub const FORM: Self = Self {
        form: true,
        url: false,
    };
    /// Links alone.
    pub const URL: Self = Self {
        form: false,
        url: true,
    };
    /// Forms and links.
    pub const BOTH: Self = Self {
        form: true,
        url: true,
    };

    /// Tells whether forms are offered.
    #[must_use]
    pub fn has_form(self) -> bool {
        self.form
    }

    /// Tells whether links are offered.
    #[must_use]
    pub fn has_url(self) -> bool {
        self.url
    }
}

/// How an agent may ask, and who answers.
#[derive(Clone)]
pub(crate) struct Elicitation {
    pub(crate) modes: ElicitationModes,
    pub(crate) in_sessions: QuestionsBy,
    /// Answers questions that belong to no session.
    pub(crate) outside: Arc<dyn DynAnswerQuestions>,
    /// Serves a question in these ways.
    pub(crate) serve: fn(&Dispatch, &Self, IncomingRequest) -> Option<BoxFuture>,
}

/// Who answers the questions of sessions.
#[derive(Clone)]
pub(crate) enum QuestionsBy {
    /// A handler, at once.
    Handler(Arc<dyn DynAnswerQuestions>),
    /// Whoever reads the session.
    Reader,
}

impl Elicitation {
    pub(crate) fn by_handler(modes: ElicitationModes, handler: impl AnswerQuestions) -> Self {
        let handler: Arc<dyn DynAnswerQuestions> = Arc::new(handler);
        Self {
            modes,
            in_sessions: QuestionsBy::Handler(Arc::clone(&handler)),
            outside: handler,
            serve: Dispatch::question,
        }
    }

    pub(crate) fn by_reader(modes: ElicitationModes, outside: impl AnswerQuestions) -> Self {
        Self {
            modes,
            in_sessions: QuestionsBy::Reader,
            outside: Arc::new(outside),
            serve: Dispatch::question,
        }
    }

    /// Returns what is advertised.
    pub(crate) fn capabilities(&self) -> ElicitationCapabilities {
        let mut capabilities = ElicitationCapabilities::new();
        capabilities.form = self.modes.form.then(ElicitationFormCapabilities::new);
        capabilities.url = self.modes.url.then(ElicitationUrlCapabilities::new);
        capabilities
    }
}
