//! What can go wrong with a login.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use acp_process::{ExitStatus, SpawnError};

use crate::files::FileError;

/// Why somebody is not logged in. What a command printed is never shown: it may hold codes.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// There is no command for it, or it is not installed.
    #[error("log in to {agent} by device code: no command for it is there")]
    NoCommand {
        /// The agent.
        agent: String,
    },
    /// As many logins as may run are running.
    #[error("log in: {max} others do, which is as many as may at a time")]
    TooMany {
        /// How many may run.
        max: usize,
    },
    /// The command cannot be started.
    #[error("start the login")]
    Spawn(#[source] Arc<SpawnError>),
    /// The command ended before it showed an address and a code.
    #[error("get a code to log in with: the command ended first, {status}")]
    EndedFirst {
        /// How.
        status: ExitStatus,
    },
    /// The command showed no address and code in time.
    #[error("get a code to log in with: none was shown within {} s", .bound.as_secs_f32())]
    NoCode {
        /// How long it had.
        bound: Duration,
    },
    /// Nobody entered the code in time.
    #[error("log in: the code was not entered within {} s", .bound.as_secs_f32())]
    NotEntered {
        /// How long there was.
        bound: Duration,
    },
    /// All of it took too long.
    #[error("log in: it was not done within {} s", .bound.as_secs_f32())]
    TimedOut {
        /// How long there was.
        bound: Duration,
    },
    /// The command says that it did not work.
    #[error("log in: the command ended with {status}")]
    Failed {
        /// How it ended.
        status: ExitStatus,
    },
    /// The same user began another one.
    #[error("log in: another login was begun")]
    Replaced,
    /// It was cancelled, or nobody waits for it any more.
    #[error("log in: it was cancelled")]
    Cancelled,
    /// What the person sees cannot be shown, or read.
    #[error("show the terminal of a login")]
    Terminal(#[source] Arc<io::Error>),
    /// It worked, and cannot be remembered.
    #[error(transparent)]
    Marker(#[from] Arc<FileError>),
}

impl From<SpawnError> for LoginError {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(Arc::new(error))
    }
}

impl From<FileError> for LoginError {
    fn from(error: FileError) -> Self {
        Self::Marker(Arc::new(error))
    }
}
