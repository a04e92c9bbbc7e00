//! What can go wrong, sorted by who can do something about it.

mod serve;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use acp_process::{Exit, SpawnError};
use acp_protocol::rpc::{CallError, CallFacts, CloseCause, WireError};
use acp_protocol::v1::{AuthMethod, AuthMethodId, SessionId, SessionModeId};

use crate::limits::MAX_ID;

pub use serve::ServeError;

/// Why something did not succeed.
///
/// Messages complete the words "failed to". No text of the agent's standard error is
/// in them, because it may hold secrets; ask [`stderr_tail`](Self::stderr_tail).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    // The caller can do something about these.
    /// [`Client::dial`](crate::Client::dial) was not called, or did not succeed.
    #[error("use an agent that is not connected: dial it first")]
    NotDialed,
    /// The client was closed on this side.
    #[error("use a client that is closed")]
    Closed,
    /// A turn of this session has not ended yet.
    #[error("start a turn: another one runs in this session")]
    TurnInProgress,
    /// A turn was cancelled long ago and the agent does not end it. Close the session
    /// or the client.
    #[error("start a turn: the agent has not ended the one cancelled {} s ago", .cancelled_for.as_secs())]
    TurnStillRunning {
        /// How long ago it was cancelled.
        cancelled_for: Duration,
    },
    /// The session is open already on this connection.
    #[error("open a session that is open already")]
    DuplicateSession {
        /// Its id.
        session: SessionId,
    },
    /// A session of this id cannot be: it has no name.
    #[error("use a session whose id is empty")]
    EmptySessionId,
    /// The id of a session is longer than any that is taken: it would be written into
    /// every request and record.
    #[error("use a session whose id has {bytes} bytes: at most {MAX_ID} are taken")]
    SessionIdTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The session was closed or deleted on this side.
    #[error("use a session that is closed")]
    SessionClosed,
    /// The agent offers no such login to its clients; nothing was sent.
    #[error("log in by {method}: the agent offers no such method")]
    UnknownLogin {
        /// What was asked for.
        method: AuthMethodId,
        /// What the agent offers.
        offered: Vec<AuthMethodId>,
    },
    /// A prompt without content; at least one agent never answers those.
    #[error("send a prompt without content")]
    EmptyPrompt,
    /// The protocol wants absolute paths (R076), and text.
    #[error("work in {}: the path must be absolute, and UTF-8", .path.display())]
    UnusablePath {
        /// The path.
        path: PathBuf,
    },
    /// The agent does not offer this; nothing was sent.
    #[error("use `{capability}`, which the agent does not offer")]
    Unsupported {
        /// The capability as the protocol names it.
        capability: &'static str,
    },
    /// The agent has no such mode (R159); nothing was sent.
    #[error("set the mode {mode}: the agent has no such mode")]
    UnknownMode {
        /// What was asked for.
        mode: SessionModeId,
        /// What the agent has.
        offered: Vec<SessionModeId>,
    },

    /// The agent does not show that it knows `session/set_model`; nothing was sent. See
    /// [`SetModelProof`](crate::SetModelProof).
    #[error("set the model: the agent does not show that it can")]
    SetModelUnsupported,

    // Who runs the program can do something about these.
    /// The agent could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The agent wants a login first.
    #[error("{}: the agent wants a login first", Doing(.method))]
    AuthRequired {
        /// What was called.
        method: &'static str,
        /// The ways to log in that the agent told of.
        methods: Vec<AuthMethod>,
        /// What it answered.
        error: WireError,
        /// The facts of the call.
        facts: CallFacts,
    },

    // The agent is to blame for these.
    /// The agent went away.
    #[error("keep in touch with the agent")]
    Died(#[source] Arc<AgentDeath>),
    /// The agent speaks another version of the protocol.
    #[error("agree on a protocol version: the agent speaks {got}, this client 1")]
    VersionMismatch {
        /// What the agent answered.
        got: u16,
    },
    /// The agent answered with an error.
    #[error("{}: the agent answered {} ({})", Doing(.method), .error.message, .error.code)]
    Refused {
        /// What was called.
        method: &'static str,
        /// The answer.
        error: WireError,
        /// The facts of the call.
        facts: CallFacts,
    },
    /// The agent did not come up in time.
    #[error("{} within {} s", .stage, .after.as_secs())]
    StartTimeout {
        /// How far it came.
        stage: StartStage,
        /// How long was waited, from the start of that stage.
        after: Duration,
        /// The last lines of its standard error.
        stderr_tail: String,
    },
    /// The agent did not answer in time.
    #[error("{} within {} s", Doing(.method), .after.as_secs())]
    TimedOut {
        /// What was called.
        method: &'static str,
        /// How long was waited.
        after: Duration,
        /// The last lines of its standard error.
        stderr_tail: String,
    },
    /// The agent did not load a session in time.
    #[error("load a session within {} s", .after.as_secs())]
    LoadTimeout {
        /// The session.
        session: SessionId,
        /// How long was waited.
        after: Duration,
        /// The last lines of the agent's standard error.
        stderr_tail: String,
    },
    /// The agent's list of sessions goes round, or does not end.
    #[error("list the sessions: the list goes round after {pages} pages")]
    EndlessList {
        /// How many pages it gave.
        pages: usize,
    },
    /// The agent's list of sessions is larger than any that is taken.
    #[error("list the sessions: they have more than {max} bytes")]
    ListTooLarge {
        /// How many are taken.
        max: usize,
    },
    /// The agent answered with something that is no answer.
    #[error("{}: the answer makes no sense", Doing(.method))]
    BadAnswer {
        /// What was called.
        method: &'static str,
        /// Why not.
        #[source]
        source: CallError,
        /// The facts of the call.
        facts: CallFacts,
    },

    // These are about a single message of ours.
    /// The call could not be made.
    #[error("{}", Doing(.method))]
    NotSent {
        /// What was to be called.
        method: &'static str,
        /// Why not.
        #[source]
        source: CallError,
    },
}

impl ClientError {
    /// Returns the end of what the agent wrote to standard error, where the error
    /// is about an agent that failed; it may hold secrets.
    #[must_use]
    pub fn stderr_tail(&self) -> Option<&str> {
        let tail = match self {
            Self::Died(death) => death.stderr_tail(),
            Self::TimedOut { stderr_tail, .. }
            | Self::StartTimeout { stderr_tail, .. }
            | Self::LoadTimeout { stderr_tail, .. } => stderr_tail,
            _ => return None,
        };
        (!tail.is_empty()).then_some(tail)
    }

    /// Returns what is known of the call that failed: whether the agent may have acted on
    /// it, and the place of its answer on the receive clock.
    ///
    /// `None` where the error is not about one call, or the connection ended;
    /// [`Turn::end_with_facts`](crate::Turn::end_with_facts) tells for a prompt even then.
    #[must_use]
    pub fn facts(&self) -> Option<CallFacts> {
        match self {
            Self::AuthRequired { facts, .. }
            | Self::Refused { facts, .. }
            | Self::BadAnswer { facts, .. } => Some(*facts),
            Self::TimedOut { .. } | Self::LoadTimeout { .. } => Some(CallFacts {
                write_admitted: true,
                ..CallFacts::default()
            }),
            Self::NotSent { .. } => Some(CallFacts::default()),
            _ => None,
        }
    }
}

/// What an agent that comes up has to do, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartStage {
    /// To be started by the system.
    Spawn,
    /// To write its first byte.
    FirstByte,
    /// To answer `initialize`.
    Initialize,
}

impl fmt::Display for StartStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spawn => "start the agent",
            Self::FirstByte => "hear the first byte of the agent",
            Self::Initialize => "introduce ourselves to the agent",
        })
    }
}

/// How an agent went away.
///
/// Prints without what it wrote to standard error, which may hold secrets.
#[derive(Debug)]
pub struct AgentDeath {
    cause: CloseCause,
    exit: Option<Exit>,
    stderr_tail: String,
}

impl AgentDeath {
    pub(crate) fn new(cause: CloseCause, exit: Option<Exit>, stderr_tail: String) -> Self {
        Self {
            cause,
            exit,
            stderr_tail,
        }
    }

    /// Returns how the connection ended.
    #[must_use]
    pub fn cause(&self) -> &CloseCause {
        &self.cause
    }

    /// Returns how the process ended; `None` when it runs on without its output, or
    /// is not a child of ours.
    #[must_use]
    pub fn exit(&self) -> Option<&Exit> {
        self.exit.as_ref()
    }

    /// Returns the end of what it wrote to standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> &str {
        &self.stderr_tail
    }
}

impl fmt::Display for AgentDeath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.exit {
            Some(exit) => write!(f, "it ended: {}", exit.status()),
            None => write!(f, "{}", self.cause),
        }
    }
}

impl std::error::Error for AgentDeath {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.exit {
            Some(_) => None,
            // Printed as the cause itself.
            None => self.cause.source(),
        }
    }
}

/// Puts a method into words that complete "failed to".
struct Doing<'a>(&'a str);

impl fmt::Display for Doing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            "initialize" => "introduce ourselves to the agent",
            "authenticate" => "log in",
            "logout" => "log out",
            "session/new" => "open a session",
            "session/load" => "load a session",
            "session/resume" => "resume a session",
            "session/list" => "list the sessions",
            "session/delete" => "delete the session",
            "session/prompt" => "run a turn",
            "session/set_mode" => "set the mode",
            "session/set_model" => "set the model",
            "session/set_config_option" => "set an option",
            "session/close" => "close the session",
            other => return write!(f, "call {other}"),
        })
    }
}
