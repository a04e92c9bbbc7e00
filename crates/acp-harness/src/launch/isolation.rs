//! A home of its own for each user and agent.

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
            let agent = crate::text::one_line(agent, 80);
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

#[cfg(unix)]
mod folders {
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::fs::DirBuilderExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, open, openat};
    use rustix::io::Errno;
    use rustix::process::geteuid;

    use super::{IsolationError, inner};

    /// Makes what is missing. Every step is taken from the folder that was opened before
    /// it, and none follows a link, so what was looked at is what is used.
    pub(super) fn make(root: &Path, user: &str, agent: &str) -> Result<(), IsolationError> {
        let failed = |source| IsolationError::Io {
            path: root.to_owned(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .or_else(|error| match root.symlink_metadata() {
                // What it is comes out below.
                Ok(_) => Ok(()),
                Err(_) => Err(error),
            })
            .map_err(failed)?;
        let opened = open(root, FOLDER, Mode::empty()).map_err(|errno| told(root, errno))?;
        ours(opened.as_fd(), root, Mode::WGRP | Mode::WOTH)?;
        let (user_fd, path) = step(opened.as_fd(), root, user)?;
        keep_to_us(user_fd.as_fd(), &path)?;
        let (home, path) = step(user_fd.as_fd(), &path, agent)?;
        keep_to_us(home.as_fd(), &path)?;
        for steps in inner() {
            let mut path = path.clone();
            let mut at: Option<OwnedFd> = None;
            for name in steps {
                let from = at.as_ref().map_or(home.as_fd(), AsFd::as_fd);
                let (next, next_path) = step(from, &path, name)?;
                ours(next.as_fd(), &next_path, Mode::empty())?;
                at = Some(next);
                path = next_path;
            }
        }
        Ok(())
    }

    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);

    /// Makes a folder in another if it is missing, and opens it.
    fn step(
        from: BorrowedFd<'_>,
        path: &Path,
        name: &str,
    ) -> Result<(OwnedFd, PathBuf), IsolationError> {
        let path = path.join(name);
        match mkdirat(from, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(told(&path, errno)),
        }
        let opened = openat(from, name, FOLDER, Mode::empty());
        let opened = opened.map_err(|errno| told(&path, errno))?;
        Ok((opened, path))
    }

    /// Refuses a folder of others, and one for which they have any of these permissions.
    fn ours(folder: BorrowedFd<'_>, path: &Path, others: Mode) -> Result<(), IsolationError> {
        let facts = fstat(folder).map_err(|errno| told(path, errno))?;
        let shared = Mode::from_raw_mode(facts.st_mode).intersects(others);
        if facts.st_uid != geteuid().as_raw() || shared {
            let path = path.to_owned();
            return Err(IsolationError::NotOurs { path });
        }
        Ok(())
    }

    /// Takes from others what permissions they have for a folder of ours.
    fn keep_to_us(folder: BorrowedFd<'_>, path: &Path) -> Result<(), IsolationError> {
        ours(folder, path, Mode::empty())?;
        fchmod(folder, Mode::RWXU).map_err(|errno| told(path, errno))
    }

    fn told(path: &Path, errno: Errno) -> IsolationError {
        let path = path.to_owned();
        match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::MLINK => IsolationError::NotAFolder { path },
            _ => IsolationError::Io {
                path,
                source: errno.into(),
            },
        }
    }
}

#[cfg(not(unix))]
mod folders {
    use std::path::Path;

    use super::{IsolationError, inner};

    /// Makes what is missing, and refuses links; permissions are those of the folder above.
    pub(super) fn make(root: &Path, user: &str, agent: &str) -> Result<(), IsolationError> {
        let user = root.join(user);
        let home = user.join(agent);
        for path in [root, &user, &home] {
            let io = |source| IsolationError::Io {
                path: path.to_owned(),
                source,
            };
            std::fs::create_dir_all(path).map_err(io)?;
            if !path.symlink_metadata().map_err(io)?.is_dir() {
                let path = path.to_owned();
                return Err(IsolationError::NotAFolder { path });
            }
        }
        for steps in inner() {
            let mut path = home.clone();
            path.extend(steps);
            std::fs::create_dir_all(&path).map_err(|source| IsolationError::Io { path, source })?;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use tempfile::TempDir;

    fn root() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
        dir
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[track_caller]
    fn refused(isolation: &Isolation, user: &str, agent: &str, expected: &str) {
        let error = isolation.home(user, agent).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn a_home_has_all_its_folders_for_us_alone() {
        let dir = root();
        let homes = dir.path().join("deep/homes");
        let home = Isolation::new(&homes)
            .home("ada@example.com", "codex")
            .unwrap();
        let parts: Vec<_> = home.path().strip_prefix(&homes).unwrap().iter().collect();
        assert_eq!(
            (parts.len(), parts[0].len(), parts[1]),
            (2, 32, "codex".as_ref())
        );
        let shown: Vec<_> = home
            .variables()
            .map(|(name, path)| {
                assert!(path.is_dir(), "{}", path.display());
                let path = path.strip_prefix(home.path()).unwrap().to_owned();
                format!("{name}={}", path.display())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "HOME=",
                "XDG_CACHE_HOME=.cache",
                "XDG_CONFIG_HOME=.config",
                "XDG_DATA_HOME=.local/share",
                "XDG_STATE_HOME=.local/state"
            ]
        );
        for path in [
            &*homes,
            home.path().parent().unwrap(),
            home.path(),
            &home.sessions(),
        ] {
            assert_eq!(mode(path), 0o700, "{}", path.display());
        }
        assert_eq!(home.login_marker(), home.path().join("login.json"));
    }

    #[test]
    fn a_home_is_found_again_and_belongs_to_one_pair() {
        let dir = root();
        let isolation = Isolation::new(dir.path());
        let home = isolation.home("ada", "codex").unwrap();
        fs::write(home.path().join("note"), "kept").unwrap();
        assert_eq!(isolation.home("ada", "codex").unwrap(), home);
        assert!(home.path().join("note").exists());
        let others = [
            isolation.home("eve", "codex").unwrap(),
            isolation.home("ada", "gemini").unwrap(),
            isolation.home("ada ", "codex").unwrap(),
        ];
        for other in others {
            assert_ne!(other, home);
        }
    }

    #[test]
    fn no_id_leads_elsewhere() {
        let dir = root();
        let isolation = Isolation::new(dir.path());
        for user in [
            "../eve",
            "/etc",
            "..",
            ".",
            "a/b",
            "\0",
            "ä\n",
            &"x".repeat(9999),
        ] {
            let home = isolation.home(user, "codex").unwrap();
            let inside = home.path().strip_prefix(dir.path()).unwrap();
            assert_eq!(inside.components().count(), 2, "{user:?}");
        }
        refused(&isolation, "", "codex", "the user has no id");
        for agent in ["", "..", "a/b", "Codex", ".ssh"] {
            refused(&isolation, "ada", agent, "this is no name");
        }
        refused(
            &Isolation::new("homes"),
            "ada",
            "codex",
            "an absolute path is wanted",
        );
    }

    #[test]
    fn links_are_refused_wherever_they_are() {
        let elsewhere = root();
        let told = "it is a link, or no folder";

        let dir = root();
        let link = dir.path().join("homes");
        symlink(elsewhere.path(), &link).unwrap();
        refused(&Isolation::new(&link), "ada", "codex", told);
        let dangling = dir.path().join("dangling");
        symlink("/no/such/place", &dangling).unwrap();
        refused(&Isolation::new(&dangling), "ada", "codex", told);

        for depth in [
            "",
            "codex",
            "codex/.config",
            "codex/.local/share",
            "codex/sessions",
        ] {
            let dir = root();
            let isolation = Isolation::new(dir.path());
            let home = isolation.home("ada", "codex").unwrap();
            let path = home.path().parent().unwrap().join(depth);
            fs::remove_dir_all(&path).unwrap();
            let path = path.to_str().unwrap().trim_end_matches('/');
            symlink(elsewhere.path(), path).unwrap();
            refused(&isolation, "ada", "codex", told);
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);

        let dir = root();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        refused(&Isolation::new(&file), "ada", "codex", told);
    }

    #[test]
    fn others_are_kept_out() {
        let dir = root();
        let isolation = Isolation::new(dir.path());
        let home = isolation.home("ada", "codex").unwrap();
        // What they were given meanwhile is taken from them.
        let open = PermissionsExt::from_mode(0o755);
        fs::set_permissions(home.path(), open).unwrap();
        isolation.home("ada", "codex").unwrap();
        assert_eq!(mode(home.path()), 0o700);
        // A folder of homes that they may write to is none.
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
        refused(
            &isolation,
            "ada",
            "codex",
            "others own it, or may write to it",
        );
    }
}
