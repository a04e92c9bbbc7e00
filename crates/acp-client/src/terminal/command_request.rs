//! A command that somebody is asked about.

use std::fmt;
use std::path::PathBuf;

use acp_process::Environment;
use acp_protocol::v1::SessionId;

/// A command that an agent wants to run.
///
/// Prints without arguments and values of variables: both carry secrets.
#[derive(Clone)]
#[non_exhaustive]
pub struct CommandRequest {
    /// The session that wants it.
    pub session_id: SessionId,
    /// The program, an absolute path; `/bin/sh` for a line that is allowed to be one.
    pub program: PathBuf,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The folder it starts in, as the agent names it.
    pub cwd: PathBuf,
    /// The complete environment, with what the agent adds.
    pub environment: Environment,
}

impl fmt::Debug for CommandRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandRequest")
            .field("session", &self.session_id)
            .field("program", &self.program)
            .field("args", &format_args!("({})", self.args.len()))
            .field("cwd", &self.cwd)
            .field("environment", &self.environment)
            .finish()
    }
}
