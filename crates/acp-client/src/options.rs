//! What a client can do, and therefore advertises.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use acp_protocol::rpc::{Flow, Limits};
use acp_protocol::v1::{
    AuthCapabilities, BooleanConfigOptionCapabilities, ClientCapabilities,
    ClientSessionCapabilities, CompactionCapabilities, FileSystemCapabilities, Implementation,
    NoticeCapabilities, SessionConfigOptionsCapabilities, methods,
};

use crate::elicitation::{AnswerQuestions, Elicitation, ElicitationModes};
use crate::files::{DynOpenFiles, DynReadFiles, DynWriteFiles, OpenFiles, ReadFiles, WriteFiles};
use crate::limits::{
    AUTHENTICATE_TIMEOUT, CANCEL_GRACE, FIRST_BYTE_TIMEOUT, INITIALIZE_PATIENCE,
    INITIALIZE_TIMEOUT, LOAD_TIMEOUT, NEW_SESSION_TIMEOUT, REQUEST_TIMEOUT, SPAWN_TIMEOUT,
};
use crate::permission::{AnswerPermissions, DecisionLog, DynAnswerPermissions};
use crate::terminal::{DynOpenTerminals, OpenTerminals};

/// What a client serves, and how long it waits.
///
/// What is configured is advertised, nothing else is; methods that are not
/// configured answer "method not found", and questions "invalid params", as the
/// protocol wants it (R209).
#[derive(Clone)]
pub struct ClientOptions {
    pub(crate) info: Option<Implementation>,
    pub(crate) permissions: PermissionsBy,
    pub(crate) decisions: DecisionLog,
    pub(crate) elicitation: Option<Elicitation>,
    pub(crate) read_files: Option<FilesBy<dyn DynReadFiles>>,
    pub(crate) write_files: Option<FilesBy<dyn DynWriteFiles>>,
    pub(crate) files: Option<Arc<dyn DynOpenFiles>>,
    pub(crate) terminals: Option<Arc<dyn DynOpenTerminals>>,
    pub(crate) notices: bool,
    pub(crate) compaction: bool,
    pub(crate) boolean_options: bool,
    pub(crate) terminal_logins: bool,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) flow: Flow,
    pub(crate) dedup: bool,
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

/// Who serves files in one direction.
pub(crate) enum FilesBy<T: ?Sized> {
    /// The same for all sessions.
    All(Arc<T>),
    /// What was opened for the session.
    Session,
}

/// How long the client waits for the agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) spawn: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) initialize: Duration,
    pub(crate) initialize_patience: Duration,
    pub(crate) new_session: Duration,
    pub(crate) load: Duration,
    pub(crate) authenticate: Duration,
    pub(crate) request: Duration,
    pub(crate) cancel_grace: Duration,
}

impl ClientOptions {
    /// Creates options that serve nothing and refuse every permission.
    #[must_use]
    pub fn new() -> Self {
        Self {
            info: None,
            permissions: PermissionsBy::Refusal,
            decisions: DecisionLog::new(),
            elicitation: None,
            read_files: None,
            write_files: None,
            files: None,
            terminals: None,
            notices: false,
            compaction: false,
            boolean_options: false,
            terminal_logins: false,
            timeouts: Timeouts {
                spawn: SPAWN_TIMEOUT,
                first_byte: FIRST_BYTE_TIMEOUT,
                initialize: INITIALIZE_TIMEOUT,
                initialize_patience: INITIALIZE_PATIENCE,
                new_session: NEW_SESSION_TIMEOUT,
                load: LOAD_TIMEOUT,
                authenticate: AUTHENTICATE_TIMEOUT,
                request: REQUEST_TIMEOUT,
                cancel_grace: CANCEL_GRACE,
            },
            limits: Limits::default(),
            flow: Flow::Lossless,
            dedup: true,
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
    /// Whoever reads a session must go on reading it, or its agent waits.
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
        self.elicitation = Some(Elicitation::by_handler(modes, handler));
        self
    }

    /// Lets the agent ask the user, in these ways, and puts the questions into the
    /// streams of the sessions, in their place among the updates.
    ///
    /// Questions that belong to no session, as one that is asked during a login, go to
    /// `outside`; [`Headless`](crate::Headless) is one. Whoever reads a session must go
    /// on reading it, or its agent waits.
    #[must_use]
    pub fn with_elicitation_in_stream(
        mut self,
        modes: ElicitationModes,
        outside: impl AnswerQuestions,
    ) -> Self {
        self.elicitation = Some(Elicitation::by_reader(modes, outside));
        self
    }

    /// Serves files in both directions, for each session its own:
    /// [`WorkspaceFiles`](crate::WorkspaceFiles) for one.
    #[must_use]
    pub fn with_files(mut self, files: impl OpenFiles) -> Self {
        self.files = Some(Arc::new(files));
        self.read_files = Some(FilesBy::Session);
        self.write_files = Some(FilesBy::Session);
        self
    }

    /// Serves files to read, for each session its own, and none to write.
    #[must_use]
    pub fn with_read_only_files(self, files: impl OpenFiles) -> Self {
        Self {
            write_files: None,
            ..self.with_files(files)
        }
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
        self.read_files = Some(FilesBy::All(Arc::new(files)));
        self
    }

    /// Serves `fs/write_text_file`, in the same way for all sessions.
    #[must_use]
    pub fn with_write_files(mut self, files: impl WriteFiles) -> Self {
        self.write_files = Some(FilesBy::All(Arc::new(files)));
        self
    }

    /// Asks for notices: agents that know them send warnings so, and not as text of
    /// the answer.
    #[must_use]
    pub fn with_notices(mut self) -> Self {
        self.notices = true;
        self
    }

    /// Asks to be told when the agent makes its memory of a session shorter.
    #[must_use]
    pub fn with_compaction(mut self) -> Self {
        self.compaction = true;
        self
    }

    /// Takes options that are on or off. Agents that know of it leave them out
    /// otherwise, or make them a choice of two.
    #[must_use]
    pub fn with_boolean_options(mut self) -> Self {
        self.boolean_options = true;
        self
    }

    /// Takes logins that run the agent on a terminal, which is then up to the program:
    /// they are no matter of the connection.
    #[must_use]
    pub fn with_terminal_logins(mut self) -> Self {
        self.terminal_logins = true;
        self
    }

    /// Sets how long starting the program may take. Default 10 seconds.
    #[must_use]
    pub fn with_spawn_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.spawn = timeout;
        self
    }

    /// Sets how long the agent may be silent before its first byte, whatever
    /// [`with_initialize_patience`](Self::with_initialize_patience) says. Default 30
    /// seconds.
    #[must_use]
    pub fn with_first_byte_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.first_byte = timeout;
        self
    }

    /// Sets how long the agent may take to answer `initialize`, whatever it does
    /// meanwhile.
    #[must_use]
    pub fn with_initialize_timeout(self, timeout: Duration) -> Self {
        self.with_initialize_patience(timeout, timeout)
    }

    /// Sets how long the agent may be silent before its first byte, how long from there
    /// until it answers `initialize`, and how long both may take in all while it keeps
    /// writing to standard error. Default 30 seconds each, and 120 in all.
    #[must_use]
    pub fn with_initialize_patience(mut self, silent: Duration, in_all: Duration) -> Self {
        self.timeouts.first_byte = silent;
        self.timeouts.initialize = silent;
        self.timeouts.initialize_patience = in_all;
        self
    }

    /// Sets how long the agent may take to open or resume a session. Default 120
    /// seconds.
    #[must_use]
    pub fn with_new_session_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.new_session = timeout;
        self
    }

    /// Sets how long the agent may take to load a session, not counting the time that
    /// is taken to read its history. Default 90 seconds.
    #[must_use]
    pub fn with_load_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.load = timeout;
        self
    }

    /// Sets how long a login may take. Default 10 minutes.
    #[must_use]
    pub fn with_authenticate_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.authenticate = timeout;
        self
    }

    /// Sets how long short requests may take: modes, options, close. Default 30
    /// seconds.
    #[must_use]
    pub fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.request = timeout;
        self
    }

    /// Sets after how long a cancelled turn that does not end counts as stuck.
    /// Default 30 seconds.
    #[must_use]
    pub fn with_cancel_grace(mut self, grace: Duration) -> Self {
        self.timeouts.cancel_grace = grace;
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
            .with_read_text_file(self.read_files.is_some())
            .with_write_text_file(self.write_files.is_some());
        let mut capabilities = ClientCapabilities::new()
            .with_fs(files)
            .with_terminal(self.terminals.is_some());
        if let Some(elicitation) = &self.elicitation {
            capabilities = capabilities.with_elicitation(elicitation.capabilities());
        }
        let mut session = ClientSessionCapabilities::new();
        if self.notices {
            session = session.with_notices(NoticeCapabilities::new());
        }
        if self.compaction {
            session = session.with_compaction(CompactionCapabilities::new());
        }
        if self.boolean_options {
            let boolean = BooleanConfigOptionCapabilities::new();
            session = session
                .with_config_options(SessionConfigOptionsCapabilities::new().with_boolean(boolean));
        }
        if session != ClientSessionCapabilities::new() {
            capabilities = capabilities.with_session(session);
        }
        if self.terminal_logins {
            capabilities = capabilities.with_auth(AuthCapabilities::new().with_terminal(true));
        }
        capabilities
    }

    /// Tells whether a method of files or terminals is configured.
    pub(crate) fn serves(&self, method: &str) -> bool {
        match method {
            methods::FS_READ_TEXT_FILE => self.read_files.is_some(),
            methods::FS_WRITE_TEXT_FILE => self.write_files.is_some(),
            methods::TERMINAL_CREATE
            | methods::TERMINAL_OUTPUT
            | methods::TERMINAL_WAIT_FOR_EXIT
            | methods::TERMINAL_KILL
            | methods::TERMINAL_RELEASE => self.terminals.is_some(),
            _ => false,
        }
    }
}

impl<T: ?Sized> Clone for FilesBy<T> {
    fn clone(&self) -> Self {
        match self {
            Self::All(files) => Self::All(Arc::clone(files)),
            Self::Session => Self::Session,
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
