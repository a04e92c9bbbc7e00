//! Why a child could not be started.

use std::io;
use std::path::PathBuf;

use crate::sandbox::SandboxError;

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
    /// The child could not be held as its sandbox says.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
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
#[non_exhaustive]
pub struct SpawnSpecError {
    /// The part that is wrong: `program`, `args`, `environment` or `cwd`.
    pub field: &'static str,
    /// What is wrong with it.
    pub reason: String,
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
