//! The ways of asking that a client offers, and who answers.

use std::sync::Arc;

use acp_protocol::v1::{
    ElicitationCapabilities, ElicitationFormCapabilities, ElicitationUrlCapabilities,
};

use super::DynAnswerQuestions;

/// The ways in which an agent may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationModes {
    /// With a form to fill in.
    pub form: bool,
    /// With an address to go to.
    pub url: bool,
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
}

/// How an agent may ask, and who answers.
#[derive(Clone)]
pub(crate) struct ElicitationOptions {
    pub(crate) modes: ElicitationModes,
    /// Answers the questions of sessions, at once; `None` when whoever reads the session
    /// does.
    pub(crate) in_sessions: Option<Arc<dyn DynAnswerQuestions>>,
    /// Answers questions that belong to no session.
    pub(crate) outside: Arc<dyn DynAnswerQuestions>,
}

impl ElicitationOptions {
    /// Returns what is advertised.
    pub(crate) fn capabilities(&self) -> ElicitationCapabilities {
        let mut capabilities = ElicitationCapabilities::new();
        capabilities.form = self.modes.form.then(ElicitationFormCapabilities::new);
        capabilities.url = self.modes.url.then(ElicitationUrlCapabilities::new);
        capabilities
    }
}
