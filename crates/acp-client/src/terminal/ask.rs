//! A command that somebody is asked about.

use std::fmt;
use std::path::{Path, PathBuf};

use acp_process::Environment;
use acp_protocol::v1::SessionId;

/// A command that an agent wants to run.
///
/// Prints without arguments and values of variables: both carry secrets.
#[derive(Clone)]
pub struct CommandAsk {
    pub(super) session: SessionId,
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) environment: Environment,
}

impl CommandAsk {
    /// Returns the session that wants it.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session
    }

    /// Returns the program, an absolute path; `/bin/sh` for a line that is allowed
    /// to be one.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns what the program is told.
    #[must_use]
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Returns the folder it starts in, as the agent names it.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Returns the complete environment, with what the agent adds.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}

impl fmt::Debug for CommandAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandAsk")
            .field("session", &self.session)
            .field("program", &self.program)
            .field("args", &format_args!("({})", self.args.len()))
            .field("cwd", &self.cwd)
            .field("environment", &self.environment)
            .finish()
    }
}
