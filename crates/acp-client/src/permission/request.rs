//! A permission request and its one answer.

use std::sync::{Arc, OnceLock};

use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::{
    PermissionOption, PermissionOptionId, RequestPermissionOutcome, RequestPermissionRequest,
    SessionId,
};

use super::decision::{rejection, selecting};
use super::{DecidedBy, Decision, Reason, ToolCallState};
use crate::folders::SessionFolders;
use crate::pending::{AgentQuestion, Pending};

/// What an agent asks. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PermissionRequest {
    request: Arc<RequestPermissionRequest>,
    tool: Arc<ToolCallState>,
    after: ReceiveSeq,
    folders: Arc<SessionFolders>,
    /// An update about the tool may still wait to be read.
    unread: bool,
    /// Shared by the clones: whoever answers may tell why.
    reason: Arc<OnceLock<Reason>>,
}

impl PermissionRequest {
    pub(crate) fn new(
        request: RequestPermissionRequest,
        tool: ToolCallState,
        after: ReceiveSeq,
        folders: Arc<SessionFolders>,
    ) -> Self {
        Self {
            request: Arc::new(request),
            tool: Arc::new(tool),
            after,
            folders,
            unread: false,
            reason: Arc::default(),
        }
    }

    /// Creates one of which nothing is known but the request itself.
    #[cfg(test)]
    pub(crate) fn without_session(request: RequestPermissionRequest, after: ReceiveSeq) -> Self {
        let tool = ToolCallState::from(&request.tool_call);
        let folders = Arc::new(SessionFolders::new("/"));
        Self::new(request, tool, after, folders)
    }

    /// Returns the session it belongs to.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.request.session_id
    }

    /// Returns the folders that the session works in.
    #[must_use]
    pub fn folders(&self) -> &SessionFolders {
        &self.folders
    }

    /// Returns what is known of the tool call: what the request says, over what the
    /// session's updates said before.
    #[must_use]
    pub fn tool(&self) -> &ToolCallState {
        &self.tool
    }

    /// Returns the options in the agent's order.
    #[must_use]
    pub fn options(&self) -> &[PermissionOption] {
        &self.request.options
    }

    /// Returns the request as it came.
    #[must_use]
    pub fn raw(&self) -> &RequestPermissionRequest {
        &self.request
    }

    /// Returns the place on the receive clock after which it was asked.
    #[must_use]
    pub fn after(&self) -> ReceiveSeq {
        self.after
    }

    /// Makes the answer that picks one option.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the agent offers no option of this id (R132), or offers options
    /// of different kinds under one id.
    pub fn select(
        &self,
        option: &PermissionOptionId,
    ) -> Result<RequestPermissionOutcome, NotOffered> {
        match self.option(option) {
            Some(option) => Ok(selecting(Some(option))),
            None => Err(NotOffered {
                option: option.clone(),
            }),
        }
    }

    /// Makes the answer that refuses: the first `reject_once`, else the first
    /// `reject_always`, else `cancelled`.
    #[must_use]
    pub fn reject(&self) -> RequestPermissionOutcome {
        selecting(rejection(self.options()))
    }

    /// Notes why it is answered as it is, for the
    /// [`DecisionLog`](super::DecisionLog); only the first reason counts.
    pub fn explain(&self, reason: Reason) {
        // A second one is none.
        let _ = self.reason.set(reason);
    }

    /// Finds an option by its id; none where ids are ambiguous.
    pub(crate) fn option(&self, id: &PermissionOptionId) -> Option<&PermissionOption> {
        let mut options = self.options().iter();
        let found = options.find(|offered| offered.option_id == *id);
        found.filter(|_| !is_ambiguous(self.options()))
    }

    /// Tells whether an update about the tool may still wait to be read.
    pub(super) fn is_unread(&self) -> bool {
        self.unread
    }

    pub(crate) fn set_unread(&mut self) {
        self.unread = true;
    }

    /// Tells who decided: a policy, if a reason was given, else `answerer`.
    pub(crate) fn decided_by(&self, answerer: DecidedBy) -> DecidedBy {
        self.reason
            .get()
            .map_or(answerer, |reason| DecidedBy::Policy(reason.clone()))
    }

    pub(crate) fn set_tool(&mut self, tool: ToolCallState) {
        self.tool = Arc::new(tool);
    }

    pub(crate) fn offers(&self, outcome: &RequestPermissionOutcome) -> bool {
        match outcome {
            RequestPermissionOutcome::Selected(selected) => {
                self.option(&selected.option_id).is_some()
            }
            RequestPermissionOutcome::Cancelled => true,
            _ => false,
        }
    }
}

/// Whether options of different kinds share an id: an answer that picks it may be taken
/// for either, so nothing but `cancelled` is safe.
pub(super) fn is_ambiguous(options: &[PermissionOption]) -> bool {
    options.iter().enumerate().any(|(at, option)| {
        let mut rest = options[at + 1..].iter();
        rest.any(|other| other.option_id == option.option_id && other.kind != option.kind)
    })
}

/// The answer names an option that was not offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("pick option {option}: the agent does not offer it")]
pub struct NotOffered {
    /// The option that was to be picked.
    pub option: PermissionOptionId,
}

/// A permission request that waits for its answer.
///
/// Dropped without one, it is refused as [`PermissionRequest::reject`] does.
pub type PendingPermission = Pending<PermissionRequest>;

impl AgentQuestion for PermissionRequest {
    type Answer = RequestPermissionOutcome;

    fn refusal(&self) -> RequestPermissionOutcome {
        self.reject()
    }
}

impl PendingPermission {
    /// Answers by picking an option.
    ///
    /// # Errors
    ///
    /// [`NotOffered`] when the agent offers no option of this id; the request is
    /// then refused.
    pub fn select(self, option: &PermissionOptionId) -> Result<(), NotOffered> {
        let outcome = self.request().select(option)?;
        self.send(outcome);
        Ok(())
    }

    /// Answers as a policy decided.
    pub fn decide(self, decision: &Decision) {
        let outcome = decision.outcome();
        if self.request().offers(&outcome) {
            self.request().explain(decision.reason.clone());
            self.send(outcome);
        }
    }

    /// Refuses.
    pub fn reject(self) {
        drop(self);
    }

    pub(crate) fn set_tool(&mut self, tool: ToolCallState) {
        self.request_mut().set_tool(tool);
    }
}
