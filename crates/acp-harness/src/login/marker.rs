//! What is remembered of a login.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::launch::AgentHome;
use crate::limits::MAX_LOGIN_MARKER;
use crate::seconds;

/// Remembers that a user logged in to an agent: when, and how. No secret is in it.
///
/// It says that a login once worked, without anything being started to find out. It is
/// removed at a logout, and as soon as the agent asks for a login all the same.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct LoginMarker {
    /// When, to the second.
    #[serde(with = "seconds")]
    pub at: SystemTime,
    /// By which method.
    pub method: String,
}

/// A marker cannot be read, written or removed.
impl LoginMarker {
    /// Makes a marker of a login.
    #[must_use]
    pub fn new(at: SystemTime, method: &str) -> Self {
        Self {
            at: seconds::whole(at),
            method: acp_text::one_line(method, 200),
        }
    }

    /// Reads the marker of a home; `None` when nobody logged in, or nothing that makes
    /// sense is there.
    ///
    /// # Errors
    ///
    /// [`FileError`] when there is one that cannot be read.
    pub fn read(home: &AgentHome) -> Result<Option<Self>, FileError> {
        let path = home.login_marker();
        let content = match files::read(&path, MAX_LOGIN_MARKER) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result.map_err(FileError::at("read the login marker", &path))?,
        };
        let written: Option<Self> =
            content.and_then(|content| serde_json::from_slice(&content).ok());
        Ok(written.map(|written| Self::new(written.at, &written.method)))
    }

    /// Writes the marker into a home, in place of an earlier one.
    ///
    /// # Errors
    ///
    /// [`FileError`]; the earlier one is still there then.
    pub fn write(&self, home: &AgentHome) -> Result<(), FileError> {
        /// Two logins at once write two files.
        static NEXT: AtomicU64 = AtomicU64::new(0);

        let path = home.login_marker();
        let fail = FileError::at("write the login marker", &path);
        let content = serde_json::to_vec(self).map_err(|error| fail(error.into()))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let new = path.with_extension(format!("{}-{number}.new", std::process::id()));
        files::replace(&path, &new, &content).map_err(fail)
    }

    /// Removes the marker of a home; one that is not there is removed already.
    ///
    /// # Errors
    ///
    /// [`FileError`] when it is still there.
    pub fn remove(home: &AgentHome) -> Result<(), FileError> {
        let path = home.login_marker();
        files::remove(&path).map_err(FileError::at("remove the login marker", &path))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::launch::Isolation;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_marker_is_cut_when_it_is_written_and_bounded_when_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let isolation = Isolation::new(dir.path().join("homes"));
        let home = isolation.home("ada", "grok").unwrap();
        LoginMarker::new(UNIX_EPOCH, &"k".repeat(1 << 20))
            .write(&home)
            .unwrap();
        let kept = LoginMarker::read(&home).unwrap().unwrap();
        assert!((kept.method.len() as u64) < MAX_LOGIN_MARKER);
        let mut long = std::fs::read(home.login_marker()).unwrap();
        long.resize(usize::try_from(MAX_LOGIN_MARKER).unwrap() + 1, b' ');
        std::fs::write(home.login_marker(), long).unwrap();
        assert_eq!(LoginMarker::read(&home).unwrap(), None);
    }

    #[test]
    fn a_login_is_remembered_until_it_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let isolation = Isolation::new(dir.path().join("homes"));
        let home = isolation.home("ada", "grok").unwrap();
        assert_eq!(LoginMarker::read(&home).unwrap(), None);
        let at = UNIX_EPOCH + Duration::from_millis(1_795_990_146_133);
        let marker = LoginMarker::new(at, "device code\u{1b}[0m");
        assert_eq!(marker.method, "device code");
        marker.write(&home).unwrap();
        LoginMarker::new(UNIX_EPOCH, "key").write(&home).unwrap();
        marker.write(&home).unwrap();
        assert_eq!(LoginMarker::read(&home).unwrap(), Some(marker));
        let content = std::fs::read_to_string(home.login_marker()).unwrap();
        assert_eq!(content, r#"{"at":1795990146,"method":"device code"}"#);
        let names = |home: &AgentHome| std::fs::read_dir(home.path()).unwrap().count();
        let before = names(&home);
        LoginMarker::remove(&home).unwrap();
        LoginMarker::remove(&home).unwrap();
        assert_eq!(LoginMarker::read(&home).unwrap(), None);
        assert_eq!(names(&home), before - 1, "nothing else is left");
    }

    #[test]
    fn what_makes_no_sense_is_no_login() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let isolation = Isolation::new(dir.path().join("homes"));
        let home = isolation.home("ada", "grok").unwrap();
        for nonsense in [
            "",
            "{}",
            "yes",
            r#"{"at":18446744073709551615,"method":"m"}"#,
        ] {
            std::fs::write(home.login_marker(), nonsense).unwrap();
            assert_eq!(LoginMarker::read(&home).unwrap(), None, "{nonsense}");
        }
        std::fs::write(home.login_marker(), r#"{"at":1,"method":"m"}"#).unwrap();
        assert!(LoginMarker::read(&home).unwrap().is_some());
        let elsewhere = dir.path().join("elsewhere");
        std::fs::rename(home.login_marker(), &elsewhere).unwrap();
        symlink(&elsewhere, home.login_marker()).unwrap();
        assert_eq!(
            LoginMarker::read(&home).unwrap(),
            None,
            "links are not followed"
        );
    }
}
