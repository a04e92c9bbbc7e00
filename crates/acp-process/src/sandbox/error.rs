//! Why a child cannot be held in a sandbox.

use std::io;
use std::path::PathBuf;

/// Why a child cannot be held in a sandbox; it was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A path that is to be granted, or the home folder, is not there.
    #[error("grant {path:?} to a sandbox")]
    Missing {
        /// The path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A grant holds the home folder, and with it all that is to be hidden.
    #[error("grant {path:?} to a sandbox: it holds the home folder; choose a folder within")]
    TooWide {
        /// The path.
        path: PathBuf,
    },
    /// A grant holds, or is within, a folder of keys.
    #[error("grant {path:?} to a sandbox: {secret:?} is never shown in one")]
    Secret {
        /// The path.
        path: PathBuf,
        /// The folder of keys.
        secret: PathBuf,
    },
    /// The child's working directory is not granted.
    #[error("start in {cwd:?} in a sandbox: the folder is not granted")]
    WorkingDirectory {
        /// The directory.
        cwd: PathBuf,
    },
    /// The program, or what executes it, is not shown by any grant.
    #[error(
        "start {program:?} in a sandbox: the program or its interpreter is in a folder that is \
         not granted"
    )]
    Program {
        /// The program.
        program: PathBuf,
    },
    /// The system has not what is needed; a weaker sandbox is never taken instead.
    #[error("make a sandbox: {missing}")]
    Unsupported {
        /// What is needed and not there.
        missing: String,
    },
    /// The system refused a step.
    #[error("make a sandbox: {step}")]
    Step {
        /// The step.
        step: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}
