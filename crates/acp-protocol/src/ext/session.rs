//! Sessions, turns and permissions.

use crate::v1::{
    ContentBlock, PermissionOption, PermissionOptionId, PermissionOptionKind, PromptResponse,
    ProtocolVersion, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, StopReason,
};

impl ProtocolVersion {
    /// Version 1, the one that these types speak.
    pub const V1: Self = Self(1);
}

impl StopReason {
    /// Tells whether the agent finished its answer, rather than being stopped.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::EndTurn)
    }

    /// Tells whether a limit ended the turn.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::MaxTokens | Self::MaxTurnRequests)
    }
}

impl From<StopReason> for PromptResponse {
    fn from(reason: StopReason) -> Self {
        Self::new(reason)
    }
}

impl PermissionOptionKind {
    /// Tells whether choosing such an option lets the tool run.
    ///
    /// A kind that this version does not name allows nothing.
    pub fn allows(&self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }

    /// Tells whether choosing such an option keeps the tool from running.
    pub fn rejects(&self) -> bool {
        matches!(self, Self::RejectOnce | Self::RejectAlways)
    }

    /// Tells whether the choice holds for later calls too.
    pub fn is_lasting(&self) -> bool {
        matches!(self, Self::AllowAlways | Self::RejectAlways)
    }
}

impl RequestPermissionOutcome {
    /// Chooses an option.
    pub fn selected(option: impl Into<PermissionOptionId>) -> Self {
        SelectedPermissionOutcome::new(option).into()
    }
}

impl From<&PermissionOption> for RequestPermissionResponse {
    fn from(option: &PermissionOption) -> Self {
        Self::new(RequestPermissionOutcome::selected(&option.option_id))
    }
}

impl SessionUpdate {
    /// Makes a chunk of the agent's answer.
    pub fn agent_text(text: impl Into<String>) -> Self {
        Self::AgentMessageChunk(crate::v1::ContentChunk::text(text))
    }

    /// Makes a chunk of the agent's thoughts.
    pub fn agent_thought(text: impl Into<String>) -> Self {
        Self::AgentThoughtChunk(crate::v1::ContentChunk::text(text))
    }

    /// Makes a chunk of what the user said.
    pub fn user_text(text: impl Into<String>) -> Self {
        Self::UserMessageChunk(crate::v1::ContentChunk::text(text))
    }

    /// Returns the text of a chunk of text, to be replaced.
    pub fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::AgentMessageChunk(chunk)
            | Self::AgentThoughtChunk(chunk)
            | Self::UserMessageChunk(chunk) => match &mut chunk.content {
                ContentBlock::Text(content) => Some(&mut content.text),
                _ => None,
            },
            _ => None,
        }
    }

    /// Addresses the update to a session.
    pub fn for_session(self, session: impl Into<SessionId>) -> SessionNotification {
        SessionNotification::new(session, self)
    }
}
