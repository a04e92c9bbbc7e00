//! Why a child could not be started.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a child could not be started.
///
/// Whatever the reason, nothing is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The caller asked for something that cannot be started; nothing was.
    #[error(transparent)]
    Spec(#[from] SpawnSpecError),
    /// Children are not supervised on this system; nothing was started.
    #[error(transparent)]
    Platform(#[from] PlatformUnsupported),
    /// There is no tokio runtime with I/O here to serve the child's pipes.
    #[error("start {program:?}: call this within a tokio runtime that has I/O enabled")]
    NoRuntime {
        /// The program that was to be started.
        program: PathBuf,
    },
    /// The program could not be executed.
    #[error("start {program:?}")]
    Program {
        /// The program that was to be started.
        program: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The program is a script and its interpreter could not be found.
    #[error("start {program:?}: find its interpreter {interpreter:?}")]
    Interpreter {
        /// The script.
        program: PathBuf,
        /// The program its first line names.
        interpreter: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The working directory could not be entered.
    #[error("enter the working directory {cwd:?}")]
    WorkingDirectory {
        /// The directory.
        cwd: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The helper that ends the child when this process dies did not start.
    #[error("start the orphan guard /bin/sh (`OrphanGuard` has weaker guards that need no helper)")]
    OrphanGuard(#[source] io::Error),
    /// Pipes or threads for the child could not be made.
    #[error("prepare pipes and threads for {program:?}")]
    Resources {
        /// The program that was to be started.
        program: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Why a [`Launch`](super::Launch) cannot be started as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use {field} for a child: {reason}")]
pub struct SpawnSpecError {
    field: SpecField,
    reason: String,
}

impl SpawnSpecError {
    pub(crate) fn new(field: SpecField, reason: impl fmt::Display) -> Self {
        Self {
            field,
            reason: reason.to_string(),
        }
    }

    /// Returns which part is wrong.
    #[must_use]
    pub fn field(&self) -> SpecField {
        self.field
    }

    /// Returns what is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Names a part of a [`Launch`](super::Launch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecField {
    /// The program.
    Program,
    /// The arguments.
    Args,
    /// The environment.
    Environment,
    /// The working directory.
    Cwd,
}

impl fmt::Display for SpecField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program => "program",
            Self::Args => "args",
            Self::Environment => "environment",
            Self::Cwd => "cwd",
        })
    }
}

/// This system has no supervision of children as this crate promises it.
///
/// Supported are Linux and macOS. A weaker supervision is never taken instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("start a child: {os} is not supported, only Linux and macOS are")]
pub struct PlatformUnsupported {
    os: &'static str,
}

impl PlatformUnsupported {
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    pub(crate) fn here() -> Self {
        Self {
            os: std::env::consts::OS,
        }
    }

    /// Returns the name of this system.
    #[must_use]
    pub fn os(&self) -> &'static str {
        self.os
    }
}
