//! Which files of projects the user trusts, and as what.
//!
//! A person trusts a file that they have read, not all that may come to stand in it. So
//! trust goes with the path of the file, the hash of its text, its owner and its mode; a
//! file that differs in any of these is a stranger's again.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use acp_harness::files::{self, FileError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::ConfigError;
use super::file::{ConfigScope, Source};
use super::limits::MAX_TRUST;
use super::load::without_failed;
use super::locations::{Surroundings, project_file};

/// A file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileState {
    path: PathBuf,
    sha256: String,
    owner: u32,
    mode: u32,
}

/// Whether a project's file is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    Trusted,
    /// Nobody said so.
    Never,
    /// It is no longer what was trusted: this differs.
    Changed(&'static str),
    /// Others could change it, for this reason, so nobody can trust it.
    Unsafe(String),
}

impl FileState {
    /// Describes a file that was read.
    pub(super) fn new(path: &Path, text: &str, metadata: &std::fs::Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        #[cfg(not(unix))]
        let _ = metadata;
        Self {
            path: path.to_owned(),
            sha256: format!("{:x}", Sha256::digest(text)),
            #[cfg(unix)]
            owner: metadata.uid(),
            #[cfg(unix)]
            mode: metadata.mode() & 0o7777,
            #[cfg(not(unix))]
            owner: 0,
            #[cfg(not(unix))]
            mode: 0,
        }
    }

    fn difference(&self, now: &Self) -> Option<&'static str> {
        match () {
            () if self.path != now.path => Some("its path"),
            () if self.sha256 != now.sha256 => Some("its text"),
            () if self.owner != now.owner => Some("its owner"),
            () if self.mode != now.mode => Some("its mode"),
            () => None,
        }
    }
}

/// What the user trusts: a small file for each, in the folder of this program's state.
#[derive(Debug)]
pub(crate) struct TrustStore(Option<PathBuf>);

impl TrustStore {
    /// Finds it: `$XDG_STATE_HOME/acp/trust`, or `~/.local/state/acp/trust`; on Windows
    /// `%LOCALAPPDATA%\acp\trust`.
    pub(crate) fn of(surroundings: &Surroundings) -> Self {
        let folder = surroundings.folder("XDG_STATE_HOME", Some("LOCALAPPDATA"), ".local/state");
        Self(folder.map(|folder| folder.join("trust")))
    }

    /// Tells whether a file is trusted as it is now.
    pub(super) fn judge(&self, now: &FileState) -> Trust {
        if let Some(why) = unsafe_because(&now.path) {
            return Trust::Unsafe(why);
        }
        match self.read(&now.path) {
            None => Trust::Never,
            Some(trusted) => match trusted.difference(now) {
                None => Trust::Trusted,
                Some(what) => Trust::Changed(what),
            },
        }
    }

    /// Remembers that the user trusts a file as it is now.
    pub(crate) fn trust(&self, state: &FileState) -> Result<(), FileError> {
        let (folder, path) = self.place(&state.path)?;
        files::make_folder(&folder).map_err(FileError::at("use the folder", &folder))?;
        let failed = FileError::at("write", &path);
        let record = serde_json::to_vec(state).map_err(|error| failed(error.into()))?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        files::replace(&path, &new, &record).map_err(failed)
    }

    /// Forgets a file.
    pub(crate) fn forget(&self, file: &Path) -> Result<(), FileError> {
        let (_, path) = self.place(file)?;
        files::remove(&path).map_err(FileError::at("delete", &path))
    }

    /// Reads what is remembered of a file. A record that others could have written counts
    /// for nothing.
    fn read(&self, file: &Path) -> Option<FileState> {
        let (folder, path) = self.place(file).ok()?;
        files::check_folder(&folder).ok()?;
        let record = files::read(&path, MAX_TRUST).ok()??;
        serde_json::from_slice(&record).ok()
    }

    /// Where a file is remembered: the folder, and the file in it.
    fn place(&self, file: &Path) -> Result<(PathBuf, PathBuf), FileError> {
        let Some(folder) = &self.0 else {
            let homeless = io::Error::other("neither XDG_STATE_HOME nor HOME names a folder");
            return Err(FileError::at("remember", file)(homeless));
        };
        let name = Sha256::digest(file.as_os_str().as_encoded_bytes());
        Ok((folder.clone(), folder.join(format!("{name:x}.json"))))
    }
}

/// Trusts the file of the project that a folder belongs to, and says so.
pub(crate) fn trust(folder: &Path) -> Result<String, ConfigError> {
    let path = project(folder)?;
    let store = TrustStore::of(&Surroundings::of_process());
    let Some((source, document)) = Source::read(&path, ConfigScope::Project)? else {
        return Err(ConfigError::unreadable(
            &path,
            io::ErrorKind::NotFound.into(),
        ));
    };
    let state = source.state.ok_or_else(|| no_file(folder))?;
    if let Some(why) = unsafe_because(&path) {
        let what = format!("trust {}: {why}", path.display());
        return Err(ConfigError::new(what, "see that only you can change it"));
    }
    store.trust(&state).map_err(|error| not_kept(&error))?;
    let says = document.names().collect::<Vec<_>>().join(", ");
    Ok(format!(
        "{} is trusted as it is now (sha256 {}); it sets {}\n",
        path.display(),
        state.sha256,
        if says.is_empty() { "nothing" } else { &says }
    ))
}

/// Trusts the file of the project that a folder belongs to no longer, and says so.
pub(crate) fn untrust(folder: &Path) -> Result<String, ConfigError> {
    let path = project(folder)?;
    let store = TrustStore::of(&Surroundings::of_process());
    store.forget(&path).map_err(|error| not_kept(&error))?;
    Ok(format!("{} is not trusted\n", path.display()))
}

fn project(folder: &Path) -> Result<PathBuf, ConfigError> {
    let real = folder.canonicalize();
    let real = real.map_err(|error| ConfigError::unreadable(folder, error))?;
    project_file(&real).ok_or_else(|| no_file(folder))
}

fn no_file(folder: &Path) -> ConfigError {
    let what = format!("find a project's .acp.toml for {}", folder.display());
    ConfigError::new(what, "`acp config init --project` writes one")
}

fn not_kept(error: &FileError) -> ConfigError {
    ConfigError::new(
        without_failed(error),
        "see that only this user can write there",
    )
}

/// Says why others could change a file, or put another one in its place.
fn unsafe_because(path: &Path) -> Option<String> {
    [Some(path), path.parent()]
        .into_iter()
        .flatten()
        .find_map(|path| {
            let metadata = path.symlink_metadata().ok()?;
            let why = files::exposure(&metadata)?;
            Some(format!("{why}: {}", path.display()))
        })
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trusted => f.write_str("trusted"),
            Self::Never => f.write_str("not trusted"),
            Self::Changed(what) => write!(f, "not trusted: {what} has changed since it was"),
            Self::Unsafe(why) => write!(f, "not trusted: {why}"),
        }
    }
}
