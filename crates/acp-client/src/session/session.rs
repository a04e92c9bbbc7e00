//! One session of an agent.

use std::sync::Arc;

use acp_protocol::v1::{AvailableCommand, SessionConfigOption, SessionId, SessionModeState};

use super::{Lease, SessionControl, SessionCounters, SessionState};
use crate::error::ClientError;

/// One session of an agent.
///
/// It runs one turn at a time. It can move to another task; what has to be done to it
/// from elsewhere goes through its [`control`](Self::control).
///
/// Dropping it forgets it here. The agent keeps it until it is told otherwise
/// ([`close`](Self::close)) or ends.
#[derive(Debug)]
pub struct Session {
    pub(crate) state: Arc<SessionState>,
    pub(crate) lease: Arc<Lease>,
}

impl Session {
    pub(crate) fn new(state: Arc<SessionState>, lease: Arc<Lease>) -> Self {
        Self { state, lease }
    }

    /// Returns the agent's name for the session.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.state.id
    }

    /// Returns a handle for what is to be done from elsewhere. It does not keep the
    /// session open.
    #[must_use]
    pub fn control(&self) -> SessionControl {
        SessionControl::new(&self.state)
    }

    /// Returns the newest known modes, `None` when the agent sent none.
    ///
    /// Modes, options, commands and title are known as soon as they are received, whether
    /// or not anybody reads the updates that change them. Lists of more than
    /// [`MAX_SETTINGS`](crate::limits::MAX_SETTINGS) bytes are not kept.
    #[must_use]
    pub fn modes(&self) -> Option<SessionModeState> {
        self.control().modes()
    }

    /// Returns the newest known configuration options, `None` when the agent sent none.
    ///
    /// Older agents name their models in an object of its own. It is shown as an option of
    /// the id and the category `model`, and set as any other.
    #[must_use]
    pub fn config_options(&self) -> Option<Vec<SessionConfigOption>> {
        self.control().config_options()
    }

    /// Returns the newest known commands, which a prompt begins with (`/name`); `None` when
    /// the agent sent none.
    #[must_use]
    pub fn commands(&self) -> Option<Vec<AvailableCommand>> {
        self.control().commands()
    }

    /// Returns the newest known title of the session, `None` when it has none.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        self.control().title()
    }

    /// Returns what became of the updates of the session so far.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        self.state.counters()
    }

    /// Tells the agent to close the session and forget what runs in it. Commands that
    /// the agent runs through this client end.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] when the agent does not offer that (R069); the
    /// session is forgotten here all the same. Else as any request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent may have closed the session.
    pub async fn close(self) -> Result<(), ClientError> {
        self.state.close(None).await
    }
}
