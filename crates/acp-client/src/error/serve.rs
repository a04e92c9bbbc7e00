//! Why serving a request of the agent did not succeed.

use std::io;
use std::path::PathBuf;

use acp_process::SpawnError;
use acp_protocol::rpc::Fault;

use crate::protected::ProtectedPath;

/// Why serving a request of the agent did not succeed.
///
/// The agent is told what it can do something about, in fixed words; names of this
/// machine and what the system said stay on this side. [`Fault`](Self::Fault) alone says
/// something of your own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    // The agent asked for something that cannot be.
    /// There is no such thing.
    #[error("find {}", .path.display())]
    NotFound {
        /// What the agent named.
        path: PathBuf,
    },
    /// The path lies outside of what the session may use.
    #[error("use {}: it lies outside the folders of this session", .path.display())]
    OutsideRoots {
        /// What the agent named.
        path: PathBuf,
    },
    /// The path leads through a symbolic link to something that does not exist.
    #[error("use {}: it leads through a link to nowhere", .path.display())]
    DanglingLink {
        /// What the agent named.
        path: PathBuf,
    },
    /// The path grants rights or runs code, and no person allowed the write.
    #[error("write {}: it is protected, and only a person can allow it: {}", .0.path.display(), .0.reason)]
    Protected(ProtectedPath),
    /// It is a folder, a pipe, a device or a socket.
    #[error("use {}: it is no regular file", .path.display())]
    NotAFile {
        /// What the agent named.
        path: PathBuf,
    },
    /// What was asked for is no UTF-8 text.
    #[error("read {}: it is no UTF-8 text", .path.display())]
    NotText {
        /// What the agent named.
        path: PathBuf,
    },
    /// What was asked for, or was to be written, is too long.
    #[error("use {}: more than {limit} bytes", .path.display())]
    TooLarge {
        /// What the agent named.
        path: PathBuf,
        /// The most that is read or written at once.
        limit: u64,
    },
    /// The lines asked for lie too far behind the start of the file.
    #[error("read {}: the lines lie behind the first {limit} bytes", .path.display())]
    TooFar {
        /// What the agent named.
        path: PathBuf,
        /// How far is looked for lines.
        limit: u64,
    },
    /// There is no such program.
    #[error("find the program {program:?} in {searched:?}")]
    NoSuchProgram {
        /// What the agent named.
        program: String,
        /// Where it was looked for: the `PATH` of the command.
        searched: String,
    },
    /// The command is a line for a shell, and those are not run here.
    #[error("run a shell line: this needs `ShellLines::Allow`")]
    ShellLine,
    /// A variable has an unusable name or value.
    #[error("set the environment of a command")]
    Environment,
    /// The session has as many terminals as it may have.
    #[error("open another terminal beside the {limit} there are")]
    TooManyTerminals {
        /// The most it may have.
        limit: usize,
    },
    /// The session has no such terminal, or it was released.
    #[error("find a terminal of this session")]
    NoSuchTerminal,

    // The user decided so.
    /// The user, or a rule of the user, refused.
    #[error("do it: the user refused")]
    Denied,

    // A handler of the host's own decided so.
    /// The agent gets this code, message and data as they are. For handlers of your own.
    ///
    /// ```
    /// use acp_client::{ErrorCode, Fault, ReadFiles, ServeError};
    /// use acp_protocol::v1::{ReadTextFileRequest, ReadTextFileResponse};
    ///
    /// struct Locked;
    ///
    /// impl ReadFiles for Locked {
    ///     async fn read(&self, _: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
    ///         let fault = Fault::new(ErrorCode(-32010), "the file is locked by its editor");
    ///         Err(fault.with_data(&"try again in a second").into())
    ///     }
    /// }
    /// ```
    #[error(transparent)]
    Fault(#[from] Fault),

    // The system failed.
    /// A program could not be started; the agent is told no details.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The system failed; the agent is told no details.
    #[error("serve the agent")]
    Io(#[from] io::Error),
}

impl From<ServeError> for Fault {
    fn from(error: ServeError) -> Self {
        let error = match error {
            ServeError::Fault(fault) => return fault,
            error => error,
        };
        let fault = match &error {
            ServeError::NotFound { .. } => Self::not_found("no such file or folder"),
            ServeError::OutsideRoots { .. } => {
                Self::invalid_params("the path lies outside the folders of this session")
            }
            ServeError::DanglingLink { .. } => {
                Self::invalid_params("the path leads through a link to nowhere")
            }
            ServeError::Protected(ProtectedPath { reason, .. }) => Self::invalid_request(format!(
                "the path is protected, and only the user can allow a write to it: {reason}"
            )),
            ServeError::NotAFile { .. } => Self::invalid_params("the path is no regular file"),
            ServeError::NotText { .. } => Self::invalid_params("the file is no UTF-8 text"),
            ServeError::TooLarge { limit, .. } => {
                Self::invalid_params(format!("more than {limit} bytes at once"))
            }
            ServeError::TooFar { limit, .. } => {
                Self::invalid_params(format!("the lines lie behind the first {limit} bytes"))
            }
            ServeError::NoSuchProgram { .. } => Self::not_found("no such program"),
            ServeError::ShellLine => Self::invalid_params(
                "no such program: shell lines are not run here, give a program in `command` and what it gets in `args`",
            ),
            ServeError::Environment => {
                Self::invalid_params("a variable has an unusable name or value")
            }
            ServeError::TooManyTerminals { limit } => Self::invalid_request(format!(
                "the session has {limit} terminals already: release one first"
            )),
            ServeError::NoSuchTerminal => Self::not_found("no such terminal"),
            ServeError::Denied => Self::invalid_request("the user refused"),
            ServeError::Spawn(SpawnError::Spec(_)) => {
                Self::invalid_params("the command holds what no command can")
            }
            ServeError::Spawn(SpawnError::Interpreter { .. }) => {
                Self::not_found("no interpreter of this program")
            }
            ServeError::Spawn(SpawnError::Program { source, .. })
                if source.kind() == io::ErrorKind::ArgumentListTooLong =>
            {
                Self::invalid_params("the arguments and the environment are too long for a program")
            }
            ServeError::Spawn(_) | ServeError::Io(_) | ServeError::Fault(_) => Self::internal(),
        };
        fault.with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_too_long_are_the_fault_of_the_agent() {
        let error = |kind: io::ErrorKind| {
            let (program, source) = (PathBuf::from("/bin/true"), kind.into());
            Fault::from(ServeError::Spawn(SpawnError::Program { program, source }))
        };
        let fault = error(io::ErrorKind::ArgumentListTooLong);
        assert_eq!(fault.code().to_string(), "-32602");
        assert_eq!(error(io::ErrorKind::Other).code().to_string(), "-32603");
    }
}
