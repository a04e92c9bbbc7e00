//! A home of its own for each user and agent.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod folders;

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::registry::is_name;

/// Keeps users and agents apart: each pair has a home of its own below one folder.
///
/// A home is `FOLDER/USER/AGENT`, where `USER` is a hash of the user's id, so no id can
/// lead elsewhere. All of it is for this process's user alone (0700). A folder that is
/// there and is a link, or somebody else's, is refused: nothing is created or read beyond.
#[derive(Clone, Debug)]
pub struct Isolation {
    root: PathBuf,
}

/// The home of one agent of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHome {
    path: PathBuf,
}

/// Why there is no home.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolationError {
    /// The folder of homes is not said by an absolute path.
    #[error("make a home in {}: an absolute path is wanted", .root.display())]
    NotAbsolute {
        /// The folder.
        root: PathBuf,
    },
    /// There is no user to make a home for.
    #[error("make a home: the user has no id")]
    NoUser,
    /// The name of the agent is none.
    #[error("make a home for the agent {agent:?}: this is no name")]
    BadAgent {
        /// The name.
        agent: String,
    },
    /// Something is there that is no folder, or that leads elsewhere.
    #[error("make a home in {}: it is a link, or no folder", .path.display())]
    NotAFolder {
        /// Where.
        path: PathBuf,
    },
    /// A folder is there that others own, or may change.
    #[error("make a home in {}: others own it, or may write to it", .path.display())]
    NotOurs {
        /// Where.
        path: PathBuf,
    },
    /// The system refused.
    #[error("make a home in {}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
}

/// The variables that lead to what a home has, and the folders they name.
const FOLDERS: &[(&str, &[&str])] = &[
    ("HOME", &[]),
    ("XDG_CACHE_HOME", &[".cache"]),
    ("XDG_CONFIG_HOME", &[".config"]),
    ("XDG_DATA_HOME", &[".local", "share"]),
    ("XDG_STATE_HOME", &[".local", "state"]),
];

/// Where the records of sessions are.
const SESSIONS: &str = "sessions";

/// Hexadecimal digits of the hash of a user's id: 128 bits, beyond any chance of meeting.
const USER_DIGITS: usize = 32;

impl Isolation {
    /// Has homes below this folder, which is made if it is missing.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Makes the home of one agent of one user, or finds the one that is there.
    ///
    /// # Errors
    ///
    /// [`IsolationError`]; there is no way around it but another folder.
    pub fn home(&self, user: &str, agent: &str) -> Result<AgentHome, IsolationError> {
        if !self.root.is_absolute() {
            let root = self.root.clone();
            return Err(IsolationError::NotAbsolute { root });
        }
        if user.is_empty() {
            return Err(IsolationError::NoUser);
        }
        if !is_name(agent) {
            let agent = acp_text::one_line(agent, 80);
            return Err(IsolationError::BadAgent { agent });
        }
        let user = hashed(user);
        folders::make(&self.root, &user, agent)?;
        let path = self.root.join(user).join(agent);
        Ok(AgentHome { path })
    }
}

impl AgentHome {
    /// Returns the folder that is the agent's `HOME`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder in which the sessions of conversations are recorded.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.path.join(SESSIONS)
    }

    /// Returns the file that says when and how somebody logged in.
    #[must_use]
    pub fn login_marker(&self) -> PathBuf {
        self.path.join("login.json")
    }

    /// Walks over the variables that put an agent into this home.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, PathBuf)> + '_ {
        FOLDERS.iter().map(|(name, steps)| {
            let mut path = self.path.clone();
            path.extend(*steps);
            (*name, path)
        })
    }
}

/// A name that says nothing of the user, and leads nowhere else.
fn hashed(user: &str) -> String {
    let mut name = String::new();
    for byte in Sha256::digest(user) {
        if name.len() == USER_DIGITS {
            break;
        }
        name.push_str(&format!("{byte:02x}"));
    }
    name
}

/// All folders below that of one user and agent.
fn inner() -> impl Iterator<Item = &'static [&'static str]> {
    FOLDERS
        .iter()
        .map(|(_, steps)| *steps)
        .chain([&[SESSIONS][..]])
}

#[cfg(all(test, unix))]
mod tests;
