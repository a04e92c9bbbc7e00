//! What is remembered of a login.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::launch::AgentHome;
use crate::limits::MAX_LOGIN_MARKER;

/// Remembers that a user logged in to an agent: when, and how. No secret is in it.
///
/// It says that a login once worked, without anything being started to find out. It is
/// removed at a logout, and as soon as the agent asks for a login all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginMarker {
    /// When, to the second.
    pub at: SystemTime,
    /// By which method.
    pub method: String,
}

/// A marker cannot be read, written or removed.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}", .path.display())]
pub struct MarkerError {
    what: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// A marker as it is written.
#[derive(Deserialize, Serialize)]
struct Written {
    /// Seconds since 1970.
    at: u64,
    method: String,
}

impl LoginMarker {
    /// Makes a marker of a login.
    #[must_use]
    pub fn new(at: SystemTime, method: &str) -> Self {
        let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            at: UNIX_EPOCH + Duration::from_secs(seconds.as_secs()),
            method: acp_text::one_line(method, 200),
        }
    }

    /// Reads the marker of a home; `None` when nobody logged in, or nothing that makes
    /// sense is there.
    ///
    /// # Errors
    ///
    /// [`MarkerError`] when there is one that cannot be read.
    pub fn read(home: &AgentHome) -> Result<Option<Self>, MarkerError> {
        let path = home.login_marker();
        let content = match files::read(&path, MAX_LOGIN_MARKER) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            result => result.map_err(|error| failed("read the login marker", &path, error))?,
        };
        let written: Option<Written> =
            content.and_then(|content| serde_json::from_slice(&content).ok());
        Ok(written.and_then(|written| {
            let at = UNIX_EPOCH.checked_add(Duration::from_secs(written.at))?;
            Some(Self::new(at, &written.method))
        }))
    }

    /// Writes the marker into a home, in place of an earlier one.
    ///
    /// # Errors
    ///
    /// [`MarkerError`]; the earlier one is still there then.
    pub fn write(&self, home: &AgentHome) -> Result<(), MarkerError> {
        /// Two logins at once write two files.
        static NEXT: AtomicU64 = AtomicU64::new(0);

        let path = home.login_marker();
        let fail = |error| failed("write the login marker", &path, error);
        let seconds = self.at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let written = Written {
            at: seconds.as_secs(),
            method: self.method.clone(),
        };
        let content = serde_json::to_vec(&written).map_err(|error| fail(error.into()))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let new = path.with_extension(format!("{}-{number}.new", std::process::id()));
        files::replace(&path, &new, &content).map_err(fail)
    }

    /// Removes the marker of a home; one that is not there is removed already.
    ///
    /// # Errors
    ///
    /// [`MarkerError`] when it is still there.
    pub fn remove(home: &AgentHome) -> Result<(), MarkerError> {
        let path = home.login_marker();
        files::remove(&path).map_err(|error| failed("remove the login marker", &path, error))
    }
}

fn failed(what: &'static str, path: &Path, source: io::Error) -> MarkerError {
    let path = path.to_owned();
    MarkerError { what, path, source }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::launch::Isolation;

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
