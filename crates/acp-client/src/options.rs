//! What a client can do, and therefore advertises.

use std::fmt;
use std::sync::Arc;

use acp_protocol::rpc::{Flow, Limits};
use acp_protocol::v1::{
    AuthCapabilities, BooleanConfigOptionCapabilities, ClientCapabilities,
    ClientSessionCapabilities, CompactionCapabilities, FileSystemCapabilities, Implementation,
    InitializeRequest, NoticeCapabilities, ProtocolVersion, SessionConfigOptionsCapabilities,
    methods,
};

use crate::connection::ClientTimeouts;
use crate::elicitation::{
    AnswerQuestions, DynAnswerQuestions, ElicitationModes, ElicitationOptions,
};
use crate::files::{DynOpenFiles, DynReadFiles, DynWriteFiles, OpenFiles, ReadFiles, WriteFiles};
use crate::permission::{AnswerPermissions, DecisionLog, DynAnswerPermissions};
use crate::terminal::{DynOpenTerminals, OpenTerminals};

/// The protocol version this client speaks.
const VERSION: ProtocolVersion = ProtocolVersion(1);

/// What a client serves, and how long it waits.
///
/// What is configured is advertised, nothing else is; methods that are not
/// configured answer "method not found", and questions "invalid params", as the
/// protocol wants it (R209).
#[derive(Clone)]
pub struct ClientOptions {
    pub(crate) permissions: PermissionsBy,
    pub(crate) decisions: DecisionLog,
    pub(crate) elicitation: Option<ElicitationOptions>,
    /// Serves all sessions alike, and goes before the files of a session.
    pub(crate) read_files: Option<Arc<dyn DynReadFiles>>,
    pub(crate) write_files: Option<Arc<dyn DynWriteFiles>>,
    pub(crate) session_files: Option<SessionFiles>,
    pub(crate) terminals: Option<Arc<dyn DynOpenTerminals>>,
    pub(crate) timeouts: ClientTimeouts,
    pub(crate) limits: Limits,
    pub(crate) flow: Flow,
    pub(crate) dedup: bool,
    info: Option<Implementation>,
    session: ClientSessionCapabilities,
    auth: AuthCapabilities,
}

/// Who answers permission requests.
#[derive(Clone)]
pub(crate) enum PermissionsBy {
    /// Nobody: everything is refused.
    Refusal,
    /// A handler, at once.
    Handler(Arc<dyn DynAnswerPermissions>),
    /// Whoever reads the session.
    Reader,
}

impl fmt::Debug for PermissionsBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refusal => "Refusal",
            Self::Handler(_) => "Handler",
            Self::Reader => "Reader",
        })
    }
}

/// Files that are opened for each session.
#[derive(Clone)]
pub(crate) struct SessionFiles {
    pub(crate) open: Arc<dyn DynOpenFiles>,
    pub(crate) writable: bool,
}

impl ClientOptions {
    /// Creates options that serve nothing and refuse every permission.
    #[must_use]
    pub fn new() -> Self {
        Self {
            permissions: PermissionsBy::Refusal,
            decisions: DecisionLog::new(),
            elicitation: None,
            read_files: None,
            write_files: None,
            session_files: None,
            terminals: None,
            timeouts: ClientTimeouts::default(),
            limits: Limits::default(),
            flow: Flow::Lossless,
            dedup: true,
            info: None,
            session: ClientSessionCapabilities::new(),
            auth: AuthCapabilities::new(),
        }
    }

    /// Says who we are (R026).
    #[must_use]
    pub fn with_info(mut self, info: Implementation) -> Self {
        self.info = Some(info);
        self
    }

    /// Lets `handler` answer permission requests as they come.
    #[must_use]
    pub fn with_permissions(mut self, handler: impl AnswerPermissions) -> Self {
        self.permissions = PermissionsBy::Handler(Arc::new(handler));
        self
    }

    /// Puts permission requests into the streams of the sessions, in their place
    /// among the updates.
    ///
    /// A caller that reads a session must go on reading it, or its agent waits. A question
    /// between turns while nobody reads is refused after [`ClientTimeouts::unread`].
    #[must_use]
    pub fn with_permissions_in_stream(mut self) -> Self {
        self.permissions = PermissionsBy::Reader;
        self
    }

    /// Notes every decision about permissions in `log`.
    ///
    /// Without it they are noted too, in a log of the client's own. Clones of the
    /// options share their log.
    #[must_use]
    pub fn with_decision_log(mut self, log: DecisionLog) -> Self {
        self.decisions = log;
        self
    }

    /// Lets the agent ask the user, in these ways, and `handler` answer as the questions
    /// come. See [`elicitation`](crate::elicitation).
    ///
    /// Without it, or in another way, questions are refused (R209).
    #[must_use]
    pub fn with_elicitation(
        mut self,
        modes: ElicitationModes,
        handler: impl AnswerQuestions,
    ) -> Self {
        let handler: Arc<dyn DynAnswerQuestions> = Arc::new(handler);
        self.elicitation = Some(ElicitationOptions {
            modes,
            in_sessions: Some(Arc::clone(&handler)),
            outside: handler,
        });
        self
    }

    /// Lets the agent ask the user, in these ways, and puts the questions into the
    /// streams of the sessions, in their place among the updates.
    ///
    /// Questions that belong to no session, as one that is asked during a login, go to
    /// `outside`; [`Headless`](crate::Headless) is one. Whoever reads a session must go
    /// on reading it, or its agent waits. What is asked between turns while nobody reads is
    /// refused after [`ClientTimeouts::unread`].
    #[must_use]
    pub fn with_elicitation_in_stream(
        mut self,
        modes: ElicitationModes,
        outside: impl AnswerQuestions,
    ) -> Self {
        self.elicitation = Some(ElicitationOptions {
            modes,
            in_sessions: None,
            outside: Arc::new(outside),
        });
        self
    }

    /// Serves files in both directions, for each session its own:
    /// [`WorkspaceFiles`](crate::WorkspaceFiles) for one.
    #[must_use]
    pub fn with_files(self, files: impl OpenFiles) -> Self {
        self.with_session_files(files, true)
    }

    /// Serves files to read, for each session its own, and none to write.
    #[must_use]
    pub fn with_read_only_files(self, files: impl OpenFiles) -> Self {
        self.with_session_files(files, false)
    }

    fn with_session_files(mut self, files: impl OpenFiles, writable: bool) -> Self {
        let open = Arc::new(files);
        self.session_files = Some(SessionFiles { open, writable });
        self.read_files = None;
        self.write_files = None;
        self
    }

    /// Serves terminals, for each session its own:
    /// [`LocalTerminals`](crate::LocalTerminals) for one.
    #[must_use]
    pub fn with_terminals(mut self, terminals: impl OpenTerminals) -> Self {
        self.terminals = Some(Arc::new(terminals));
        self
    }

    /// Serves `fs/read_text_file`, in the same way for all sessions.
    #[must_use]
    pub fn with_read_files(mut self, files: impl ReadFiles) -> Self {
        self.read_files = Some(Arc::new(files));
        self
    }

    /// Serves `fs/write_text_file`, in the same way for all sessions.
    #[must_use]
    pub fn with_write_files(mut self, files: impl WriteFiles) -> Self {
        self.write_files = Some(Arc::new(files));
        self
    }

    /// Asks for notices: agents that know them send warnings so, and not as text of
    /// the answer.
    #[must_use]
    pub fn with_notices(mut self) -> Self {
        self.session.notices = Some(NoticeCapabilities::new());
        self
    }

    /// Asks to be told when the agent makes its memory of a session shorter.
    #[must_use]
    pub fn with_compaction(mut self) -> Self {
        self.session.compaction = Some(CompactionCapabilities::new());
        self
    }

    /// Takes options that are on or off. Agents that know of it leave them out
    /// otherwise, or make them a choice of two.
    #[must_use]
    pub fn with_boolean_options(mut self) -> Self {
        let boolean = BooleanConfigOptionCapabilities::new();
        self.session.config_options =
            Some(SessionConfigOptionsCapabilities::new().with_boolean(boolean));
        self
    }

    /// Takes logins that run the agent on a terminal, which is then up to the program:
    /// they are no matter of the connection.
    #[must_use]
    pub fn with_terminal_logins(mut self) -> Self {
        self.auth.terminal = true;
        self
    }

    /// Sets how long the client waits for its agent.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: ClientTimeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Chooses what happens to updates that come faster than they are read. By default
    /// the agent waits, and nothing is lost below the bounds of [`Limits`].
    #[must_use]
    pub fn with_flow(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }

    /// Gives every update, also those that tell of an event that was told of before.
    ///
    /// Events are compared by the `eventId` some agents put into `_meta`; history is
    /// never taken for a repetition.
    #[must_use]
    pub fn without_deduplication(mut self) -> Self {
        self.dedup = false;
        self
    }

    /// Sets the bounds of the connection.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns what these options advertise.
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        let files = FileSystemCapabilities::new()
            .with_read_text_file(self.serves(methods::FS_READ_TEXT_FILE))
            .with_write_text_file(self.serves(methods::FS_WRITE_TEXT_FILE));
        let mut capabilities = ClientCapabilities::new()
            .with_fs(files)
            .with_terminal(self.terminals.is_some());
        if let Some(elicitation) = &self.elicitation {
            capabilities = capabilities.with_elicitation(elicitation.capabilities());
        }
        if self.session != ClientSessionCapabilities::new() {
            capabilities = capabilities.with_session(self.session.clone());
        }
        if self.auth != AuthCapabilities::new() {
            capabilities = capabilities.with_auth(self.auth.clone());
        }
        capabilities
    }

    /// Introduces this client.
    pub(crate) fn initialize_request(&self) -> InitializeRequest {
        let mut request =
            InitializeRequest::new(VERSION).with_client_capabilities(self.capabilities());
        request.client_info = self.info.clone();
        request
    }

    /// Tells whether a method is served.
    pub(crate) fn serves(&self, method: &str) -> bool {
        let files = self.session_files.as_ref();
        match method {
            methods::SESSION_REQUEST_PERMISSION => true,
            methods::ELICITATION_CREATE => self.elicitation.is_some(),
            methods::FS_READ_TEXT_FILE => self.read_files.is_some() || files.is_some(),
            methods::FS_WRITE_TEXT_FILE => {
                self.write_files.is_some() || files.is_some_and(|files| files.writable)
            }
            methods::TERMINAL_CREATE
            | methods::TERMINAL_OUTPUT
            | methods::TERMINAL_WAIT_FOR_EXIT
            | methods::TERMINAL_KILL
            | methods::TERMINAL_RELEASE => self.terminals.is_some(),
            _ => false,
        }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("info", &self.info)
            .field("capabilities", &self.capabilities())
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
