//! Keys that the user gave to `acp login`, one for each agent.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::config::Surroundings;
use crate::exit::Exit;
use crate::outcome::Outcome;
use acp_harness::Secret;
use acp_harness::files::{self, FileError};
use acp_harness::registry::AgentEntry;

/// Bytes of a key. The longest tokens have some kilobytes.
pub(crate) const MAX_KEY: usize = 64 << 10;

/// The keys of one user: a file each, that only they may read.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    folder: PathBuf,
}

/// A key cannot be kept, or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("find the folder of your keys: neither XDG_DATA_HOME nor HOME says it")]
    NoHome,
    #[error(transparent)]
    File(#[from] FileError),
}

/// Where an agent gets its key from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyFound {
    /// A variable of the environment, by its name.
    Variable(String),
    /// The keys that were stored here.
    Stored,
    /// Nowhere.
    None,
}

impl Keys {
    /// Keeps keys where programs of this system keep their data:
    /// `$XDG_DATA_HOME/acp/keys`, or `~/.local/share/acp/keys`.
    pub(crate) fn of_user() -> Result<Self, KeyError> {
        let folder = Surroundings::of_process().folder("XDG_DATA_HOME", None, ".local/share");
        let folder = folder.ok_or(KeyError::NoHome)?;
        Ok(Self::in_folder(folder.join("keys")))
    }

    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the key of an agent, if one is stored.
    pub(crate) fn get(&self, agent: &AgentEntry) -> Result<Option<Secret>, KeyError> {
        let path = self.path(agent);
        match read(&path) {
            Ok(key) => Ok(Some(key)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::at("read", &path)(error).into()),
        }
    }

    /// Stores the key of an agent, in place of an earlier one.
    pub(crate) fn store(&self, agent: &AgentEntry, key: &Secret) -> Result<(), KeyError> {
        files::make_folder(&self.folder).map_err(FileError::at("make", &self.folder))?;
        let path = self.path(agent);
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let written = files::replace(&path, &new, key.expose().as_bytes());
        Ok(written.map_err(FileError::at("write", &path))?)
    }

    /// Forgets the key of an agent; tells whether there was one.
    pub(crate) fn forget(&self, agent: &AgentEntry) -> Result<bool, KeyError> {
        let path = self.path(agent);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(FileError::at("remove", &path)(error).into()),
        }
    }

    /// Finds where an agent gets its key from: a variable that is set comes first.
    pub(crate) fn find(&self, agent: &AgentEntry) -> Result<KeyFound, KeyError> {
        let set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if let Some(name) = agent.login.keys.iter().find(set) {
            return Ok(KeyFound::Variable(name.clone()));
        }
        Ok(match self.get(agent)? {
            Some(_) => KeyFound::Stored,
            None => KeyFound::None,
        })
    }

    /// Names of agents are names of files too: letters, digits and hyphens.
    fn path(&self, agent: &AgentEntry) -> PathBuf {
        self.folder.join(&agent.name)
    }
}

/// Reads a key from somebody who types or pipes it: one line, without its end.
pub(crate) fn read_key(input: impl Read) -> io::Result<Secret> {
    let mut text = String::new();
    input.take(MAX_KEY as u64 + 2).read_to_string(&mut text)?;
    let key = text.trim();
    let fits = !key.is_empty() && key.len() <= MAX_KEY && !key.contains(|c: char| c.is_control());
    match fits {
        true => Ok(Secret::from(key)),
        false => Err(io::Error::other("a key on one line is wanted")),
    }
}

fn read(path: &Path) -> io::Result<Secret> {
    match files::read(path, MAX_KEY as u64)? {
        Some(content) => read_key(&*content),
        None => Err(io::Error::other("it is no key")),
    }
}

impl From<KeyError> for Outcome {
    fn from(error: KeyError) -> Self {
        Self::failed(Exit::StartFailed, &error)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_kept_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let keys = Keys::in_folder(dir.path().join("a/keys"));
        let agent = AgentEntry::new("ada", "ada");
        assert!(!keys.forget(&agent).unwrap());
        assert_eq!(keys.get(&agent).unwrap(), None);
        keys.store(&agent, &Secret::from("first")).unwrap();
        keys.store(&agent, &Secret::from("s3cret")).unwrap();
        assert_eq!(keys.get(&agent).unwrap(), Some(Secret::from("s3cret")));
        assert_eq!(keys.find(&agent).unwrap(), KeyFound::Stored);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&dir.path().join("a/keys")), 0o700);
        assert_eq!(mode(&dir.path().join("a/keys/ada")), 0o600);
        assert_eq!(fs::read_dir(dir.path().join("a/keys")).unwrap().count(), 1);
        assert!(keys.forget(&agent).unwrap());
        assert_eq!(keys.find(&agent).unwrap(), KeyFound::None);
    }

    #[test]
    fn a_variable_comes_before_a_stored_key() {
        let dir = tempfile::tempdir().unwrap();
        let keys = Keys::in_folder(dir.path().to_owned());
        let mut agent = AgentEntry::new("ada", "ada");
        // Set wherever tests run.
        agent.login.keys = vec!["NO_SUCH_KEY_HERE".to_owned(), "PATH".to_owned()];
        keys.store(&agent, &Secret::from("s3cret")).unwrap();
        let found = keys.find(&agent).unwrap();
        assert_eq!(found, KeyFound::Variable("PATH".to_owned()));
    }

    #[test]
    fn keys_are_one_line() {
        let read = |text: &str| read_key(text.as_bytes()).ok();
        assert_eq!(read("  k3y\r\n"), Some(Secret::from("k3y")));
        for text in ["", "\n", "a\nb", "a\tb", &"x".repeat(MAX_KEY + 1)] {
            assert_eq!(read(text), None, "{} bytes", text.len());
        }
        assert_eq!(read(&"x".repeat(MAX_KEY)).unwrap().expose().len(), MAX_KEY);
    }
}
