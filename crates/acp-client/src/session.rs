//! One session of an agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use acp_protocol::v1::{
    McpServer, NewSessionRequest, PromptRequest, SessionConfigOption, SessionId, SessionModeState,
    methods,
};
use tokio::time::{Instant, sleep_until};

use crate::connection::{Connection, Lease};
use crate::reader::Reader;
use crate::served::Served;
use crate::session_state::SessionState;
use crate::settings::Settings;
use crate::slot::Busy;
use crate::{ClientError, Prompt, SessionControl, SessionFolders, Turn, Updates};

/// Describes a session to open.
///
/// A path does it; servers and further folders can be added.
#[derive(Debug, Clone)]
pub struct NewSession {
    cwd: PathBuf,
    mcp_servers: Vec<McpServer>,
    additional_directories: Vec<PathBuf>,
}

impl NewSession {
    /// Describes a session that works in `cwd`, an absolute path.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            mcp_servers: Vec::new(),
            additional_directories: Vec::new(),
        }
    }

    /// Gives the agent MCP servers to connect to.
    #[must_use]
    pub fn with_mcp_servers(mut self, servers: impl IntoIterator<Item = McpServer>) -> Self {
        self.mcp_servers.extend(servers);
        self
    }

    /// Adds folders the session may use besides, absolute paths.
    #[must_use]
    pub fn with_additional_directories<P: Into<PathBuf>>(
        mut self,
        folders: impl IntoIterator<Item = P>,
    ) -> Self {
        self.additional_directories
            .extend(folders.into_iter().map(Into::into));
        self
    }

    fn folders(&self) -> SessionFolders {
        SessionFolders::new(&self.cwd).with_additional(&self.additional_directories)
    }

    fn into_request(self, connection: &Connection) -> Result<NewSessionRequest, ClientError> {
        let agent = connection.agent().ok_or(ClientError::NotDialed)?;
        let offered = &agent.agent_capabilities;
        for server in &self.mcp_servers {
            let missing = match server {
                McpServer::Http(_) if !offered.mcp_capabilities.http => "mcpCapabilities.http",
                McpServer::Sse(_) if !offered.mcp_capabilities.sse => "mcpCapabilities.sse",
                _ => continue,
            };
            return Err(ClientError::Unsupported {
                capability: missing,
            });
        }
        let mut request = NewSessionRequest::new(text(self.cwd)?, self.mcp_servers);
        if !self.additional_directories.is_empty() {
            if offered
                .session_capabilities
                .additional_directories
                .is_none()
            {
                return Err(ClientError::Unsupported {
                    capability: "sessionCapabilities.additionalDirectories",
                });
            }
            let folders: Result<Vec<_>, _> =
                self.additional_directories.into_iter().map(text).collect();
            request = request.with_additional_directories(folders?);
        }
        Ok(request)
    }
}

impl<P: Into<PathBuf>> From<P> for NewSession {
    fn from(cwd: P) -> Self {
        Self::new(cwd)
    }
}

/// One session of an agent.
///
/// It runs one turn at a time. It can move to another task; what has to be done to it
/// from elsewhere goes through its [`control`](Self::control).
///
/// Dropping it forgets it here. The agent keeps it until it is told otherwise
/// ([`close`](Self::close)) or ends.
#[derive(Debug)]
pub struct Session {
    state: Arc<SessionState>,
    lease: Arc<Lease>,
}

impl Session {
    pub(crate) async fn open(lease: Arc<Lease>, new: NewSession) -> Result<Self, ClientError> {
        let connection = lease.connection();
        let folders = new.folders();
        let request = new.into_request(connection)?;
        let served = Served::open(connection.options(), &folders).await;
        let hold = connection.peer().hold_updates();
        let (facts, answer) = connection
            .call(&request, connection.options().timeouts.new_session)
            .await?;
        let duplicate = || ClientError::DuplicateSession {
            session: answer.session_id.clone(),
        };
        let mailbox = connection
            .peer()
            .open_mailbox(&answer.session_id)
            .map_err(|_| duplicate())?;
        drop(hold);
        let state = SessionState::new(
            answer.session_id.clone(),
            Arc::clone(connection),
            Reader::new(mailbox),
            Settings::new(answer.modes, answer.config_options, facts.response_seq),
            served,
        );
        if !connection.registry().insert(&state) {
            return Err(duplicate());
        }
        tracing::debug!(session.id = %state.id(), "a session was opened");
        Ok(Self { state, lease })
    }

    /// Returns the agent's name for the session.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        self.state.id()
    }

    /// Returns a handle for what is to be done from elsewhere.
    #[must_use]
    pub fn control(&self) -> SessionControl {
        SessionControl::new(Arc::clone(&self.state))
    }

    /// Returns the newest known modes, `None` when the agent told of none.
    #[must_use]
    pub fn modes(&self) -> Option<SessionModeState> {
        self.state.settings().modes().cloned()
    }

    /// Returns the newest known configuration options, `None` when the agent told of
    /// none.
    #[must_use]
    pub fn config_options(&self) -> Option<Vec<SessionConfigOption>> {
        self.state.settings().options().map(<[_]>::to_vec)
    }

    /// Starts a turn; a string is enough for a prompt.
    ///
    /// Resolves as soon as the prompt is on its way.
    ///
    /// # Errors
    ///
    /// [`ClientError::TurnInProgress`] while a turn runs, also one that was dropped
    /// and that the agent has not answered; [`ClientError::TurnStillRunning`] when it
    /// has not within the grace of a cancel; [`ClientError::EmptyPrompt`] and
    /// [`ClientError::Unsupported`] for content the agent does not take.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it resolves, no turn was started.
    pub async fn prompt(&mut self, prompt: impl Into<Prompt>) -> Result<Turn, ClientError> {
        self.start(prompt.into()).await
    }

    /// Starts a turn as soon as no other one runs.
    ///
    /// # Errors
    ///
    /// As [`prompt`](Self::prompt), without [`ClientError::TurnInProgress`].
    ///
    /// # Cancel safety
    ///
    /// Dropped before it resolves, no turn was started.
    pub async fn prompt_when_idle(
        &mut self,
        prompt: impl Into<Prompt>,
    ) -> Result<Turn, ClientError> {
        let prompt = prompt.into();
        let mut slot = self.state.slot().subscribe();
        loop {
            let now = *slot.borrow_and_update();
            let stuck_at = now.stuck_at(self.cancel_grace());
            match self.start(prompt.clone()).await {
                Err(ClientError::TurnInProgress) => {}
                other => return other,
            }
            match stuck_at {
                Some(stuck_at) => tokio::select! {
                    _ = slot.changed() => {}
                    () = sleep_until(stuck_at) => {}
                },
                // An error means that the sender, which we hold, is gone.
                None => _ = slot.changed().await,
            }
        }
    }

    /// Reads what comes while no turn runs: titles, commands, late words.
    ///
    /// What nobody reads here comes at the beginning of the next turn, marked as
    /// [`TurnEvent::Earlier`](crate::TurnEvent::Earlier); of it the newest 512 updates are kept.
    pub fn updates(&mut self) -> Updates<'_> {
        Updates::new(self)
    }

    /// Tells the agent to close the session and forget what runs in it.
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
        self.state.close().await
    }

    pub(crate) fn state(&self) -> &SessionState {
        &self.state
    }

    async fn start(&self, prompt: Prompt) -> Result<Turn, ClientError> {
        let connection = self.lease.connection();
        if let Some(agent) = connection.agent() {
            prompt.check(&agent.agent_capabilities)?;
        }
        let slot = self.state.slot();
        let mut begun = Err(Busy::InProgress);
        slot.send_if_modified(|slot| {
            begun = slot.begin(Instant::now(), self.cancel_grace());
            begun.is_ok()
        });
        let number = begun?;
        let request = PromptRequest::new(self.state.id().clone(), prompt.into_blocks());
        let Ok(mut reader) = Arc::clone(self.state.reader()).try_lock_owned() else {
            // Nobody reads while the slot is free and `updates` is not in use.
            slot.send_modify(|slot| slot.end(number));
            return Err(ClientError::TurnInProgress);
        };
        if let Err(error) = reader.start_turn(&request, connection.peer().received()) {
            slot.send_modify(|slot| slot.end(number));
            return Err(connection.explain(methods::SESSION_PROMPT, error).await);
        }
        let state = Arc::clone(&self.state);
        Ok(Turn::new(state, number, reader, Arc::clone(&self.lease)))
    }

    fn cancel_grace(&self) -> Duration {
        self.lease.connection().options().timeouts.cancel_grace
    }
}

/// Turns a path into what the protocol takes.
fn text(path: PathBuf) -> Result<String, ClientError> {
    if !path.is_absolute() {
        return Err(ClientError::UnusablePath { path });
    }
    path.into_os_string()
        .into_string()
        .map_err(|path| ClientError::UnusablePath { path: path.into() })
}
