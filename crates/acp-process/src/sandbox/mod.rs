//! What a child may see and change of the system it runs on.
//!
//! A [`OsSandbox`] is a list of grants: everything that is not granted is not there.
//! On Linux the child gets a root of its own that is made of the granted folders, in
//! namespaces of its own; on macOS a profile for `sandbox-exec` says the same.

mod error;
#[cfg(any(target_os = "linux", test))]
mod plan;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod toolchains;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use error::SandboxError;
#[cfg(target_os = "linux")]
pub(crate) use plan::{Plan, Step};
#[cfg(target_os = "macos")]
pub(crate) use seatbelt::{SANDBOX_EXEC, profile};

/// Says what a child may see and change: its folders, the system, the network.
///
/// * Writable: the folders of [`with_writable`](Self::with_writable), and a home
///   folder, `/tmp` and `/dev/shm` of its own that are empty at its start and gone at
///   its end.
/// * Readable: the system's programs and settings (`/usr`, `/etc`, …), the folders of
///   tools in the home folder that `PATH` leads to, the program itself, and the folders of
///   [`with_readable`](Self::with_readable).
/// * Everything else is not there: the rest of the home folder with all keys and tokens,
///   other users' folders, `/run` with the sockets of the desktop and of services, all
///   processes outside the sandbox.
///
/// A child that cannot be held so is not started: see [`SandboxError`].
///
/// # Examples
///
/// ```no_run
/// use acp_process::{Launch, OsSandbox};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = OsSandbox::new("/home/ada")
///     .with_writable("/home/ada/project")
///     .without_network();
/// let child = Launch::new("/opt/agents/ada")
///     .with_cwd("/home/ada/project")
///     .with_sandbox(sandbox)
///     .spawn()?;
/// # drop(child);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsSandbox {
    home: PathBuf,
    writable: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    network: bool,
}

/// A path as the system knows it, without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) path: PathBuf,
    pub(crate) writable: bool,
    pub(crate) is_folder: bool,
}

impl OsSandbox {
    /// Describes a sandbox for a user with this home folder, with nothing writable yet
    /// and with network.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            writable: Vec::new(),
            readable: Vec::new(),
            network: true,
        }
    }

    /// Grants a file or folder with all below it for reading and writing.
    ///
    /// For the folders of a session, and the agent's own settings and credentials.
    #[must_use]
    pub fn with_writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }

    /// Grants a file or folder with all below it for reading.
    #[must_use]
    pub fn with_readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Leaves the child nothing but a loopback interface of its own.
    #[must_use]
    pub fn without_network(mut self) -> Self {
        self.network = false;
        self
    }

    /// Tells whether the child has network.
    #[must_use]
    pub fn network(&self) -> bool {
        self.network
    }

    /// Returns the home folder that is hidden.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the home folder without links.
    fn real_home(&self) -> Result<PathBuf, SandboxError> {
        real(&self.home)
    }

    /// Returns what is granted by name. A grant that would show the home folder itself
    /// is refused: what is hidden is hidden by that folder.
    pub(crate) fn grants(&self) -> Result<Vec<Grant>, SandboxError> {
        let home = self.real_home()?;
        let writable = self.writable.iter().map(|path| (path, true));
        let readable = self.readable.iter().map(|path| (path, false));
        let mut grants = Vec::new();
        for (path, writable) in writable.chain(readable) {
            let real = real(path)?;
            if home.starts_with(&real) {
                return Err(SandboxError::TooWide { path: path.clone() });
            }
            if let Some(secret) = toolchains::secret_within(&home, &real) {
                return Err(SandboxError::Secret {
                    path: path.clone(),
                    secret,
                });
            }
            grants.push(grant(real, writable)?);
        }
        Ok(grants)
    }

    /// Returns all that is granted to a child that runs `program` and searches this `PATH`.
    pub(crate) fn grants_for(
        &self,
        program: &Path,
        searched: Option<&OsStr>,
    ) -> Result<Vec<Grant>, SandboxError> {
        let home = self.real_home()?;
        let mut grants = self.grants()?;
        for path in toolchains::of(&home, program, searched) {
            if let Ok(grant) = real(&path).and_then(|path| grant(path, false)) {
                grants.push(grant);
            }
        }
        Ok(grants)
    }
}

fn grant(path: PathBuf, writable: bool) -> Result<Grant, SandboxError> {
    match std::fs::metadata(&path) {
        Ok(found) => Ok(Grant {
            is_folder: found.is_dir(),
            path,
            writable,
        }),
        Err(source) => Err(SandboxError::Missing { path, source }),
    }
}

fn real(path: &Path) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|source| SandboxError::Missing {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests;
