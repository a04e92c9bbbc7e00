//! What an agent may offer and must be asked for only when it does.

use acp_protocol::v1::AgentCapabilities;

use crate::ClientError;

/// A method that agents need not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capability {
    Load,
    Resume,
    List,
    Close,
    Delete,
    Logout,
}

impl Capability {
    /// Tells whether the agent has it.
    pub(crate) fn is_in(self, offered: &AgentCapabilities) -> bool {
        let session = &offered.session_capabilities;
        match self {
            Self::Load => offered.load_session,
            Self::Resume => session.resume.is_some(),
            Self::List => session.list.is_some(),
            Self::Close => session.close.is_some(),
            Self::Delete => session.delete.is_some(),
            Self::Logout => offered.auth.logout.is_some(),
        }
    }

    /// Checks that the agent has it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`].
    pub(crate) fn require_in(self, offered: &AgentCapabilities) -> Result<(), ClientError> {
        if self.is_in(offered) {
            return Ok(());
        }
        Err(ClientError::Unsupported {
            capability: self.name(),
        })
    }

    /// Its name in the protocol.
    fn name(self) -> &'static str {
        match self {
            Self::Load => "loadSession",
            Self::Resume => "sessionCapabilities.resume",
            Self::List => "sessionCapabilities.list",
            Self::Close => "sessionCapabilities.close",
            Self::Delete => "sessionCapabilities.delete",
            Self::Logout => "auth.logout",
        }
    }
}
