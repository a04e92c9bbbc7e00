//! Members of parameters that decoding takes and the agent does not.

use std::borrow::Cow;

use acp_protocol::rpc::Fault;
use serde::Serialize;

/// A member that cannot be used: where it stands, what is wrong with it, and what was
/// expected. None of it quotes the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RefusedMember {
    path: String,
    expected: Cow<'static, str>,
    #[serde(skip)]
    problem: Cow<'static, str>,
}

impl RefusedMember {
    pub(crate) fn new(
        path: impl Into<String>,
        problem: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            path: path.into(),
            expected: expected.into(),
            problem: problem.into(),
        }
    }

    /// Puts where its object stands in front of the path.
    pub(crate) fn within(mut self, object: &str) -> Self {
        let separator = if self.path.is_empty() { "" } else { "." };
        self.path = [object, separator, &self.path].concat();
        self
    }

    /// -32602, with the path and what was expected as data.
    pub(crate) fn into_fault(self, method: &str) -> Fault {
        let Self { path, problem, .. } = &self;
        Fault::invalid_params(format!("{method}: {path}: {problem}")).with_data(&self)
    }
}
