//! What an agent may offer and must be asked for only when it does.

use acp_protocol::v1::AgentCapabilities;

use crate::error::ClientError;

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
    /// Checks that the agent has it.
    pub(super) fn require_in(self, offered: &AgentCapabilities) -> Result<(), ClientError> {
        let session = &offered.session_capabilities;
        let (capability, is_offered) = match self {
            Self::Load => ("loadSession", offered.load_session),
            Self::Resume => ("sessionCapabilities.resume", session.resume.is_some()),
            Self::List => ("sessionCapabilities.list", session.list.is_some()),
            Self::Close => ("sessionCapabilities.close", session.close.is_some()),
            Self::Delete => ("sessionCapabilities.delete", session.delete.is_some()),
            Self::Logout => ("auth.logout", offered.auth.logout.is_some()),
        };
        match is_offered {
            true => Ok(()),
            false => Err(ClientError::Unsupported { capability }),
        }
    }
}
