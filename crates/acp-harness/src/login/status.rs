//! Whether somebody is logged in, as far as one knows without starting anything.

use acp_client::ClientError;

use super::{LoginMarker, Logins};
use crate::files::FileError;
use crate::launch::AgentHome;

/// What is known of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginStatus {
    /// A login is under way.
    Pending,
    /// It worked once, and nothing has been heard since that says otherwise.
    LoggedIn(LoginMarker),
    /// Nobody logged in, or not since the last refusal.
    LoggedOut,
}

impl Logins {
    /// Returns what is known of the login of this user to this provider.
    ///
    /// # Errors
    ///
    /// [`FileError`]
    pub fn status(
        &self,
        owner: &str,
        provider: &str,
        home: &AgentHome,
    ) -> Result<LoginStatus, FileError> {
        if self.is_live(owner, provider) {
            return Ok(LoginStatus::Pending);
        }
        Ok(match LoginMarker::read(home)? {
            Some(marker) => LoginStatus::LoggedIn(marker),
            None => LoginStatus::LoggedOut,
        })
    }

    /// Forgets the login of this user to this provider, also one that is under way. What
    /// the agent itself keeps is the agent's: `logout` of a connection tells it.
    ///
    /// # Errors
    ///
    /// [`FileError`]
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, a login that is under way is cancelled, and the marker of
    /// an earlier one may be there still.
    pub async fn log_out(
        &self,
        owner: &str,
        provider: &str,
        home: &AgentHome,
    ) -> Result<(), FileError> {
        self.cancel(owner, provider).await;
        LoginMarker::remove(home)
    }
}

impl LoginMarker {
    /// Removes the marker of a home when the agent wants a login all the same; tells
    /// whether it does. Other errors say nothing of it.
    ///
    /// # Errors
    ///
    /// [`FileError`] when it is still there.
    pub fn forget_if_refused(home: &AgentHome, error: &ClientError) -> Result<bool, FileError> {
        let refused = matches!(error, ClientError::AuthRequired { .. });
        if refused {
            Self::remove(home)?;
        }
        Ok(refused)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::UNIX_EPOCH;

    use acp_protocol::rpc::{ErrorCode, WireError};

    use super::*;
    use crate::launch::Isolation;

    #[test]
    fn only_a_refusal_says_that_a_login_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let isolation = Isolation::new(dir.path().join("homes"));
        let home = isolation.home("ada", "grok").unwrap();
        let logins = Logins::new();
        let status = || logins.status("ada", "grok", &home).unwrap();
        let marker = LoginMarker::new(UNIX_EPOCH, "device code");
        marker.write(&home).unwrap();
        assert!(!LoginMarker::forget_if_refused(&home, &ClientError::Closed).unwrap());
        assert_eq!(status(), LoginStatus::LoggedIn(marker));
        let refused = ClientError::AuthRequired {
            method: "session/new",
            methods: Vec::new(),
            error: WireError::new(ErrorCode::AUTH_REQUIRED, "Authentication required"),
            facts: acp_client::CallFacts::default(),
        };
        assert!(LoginMarker::forget_if_refused(&home, &refused).unwrap());
        assert_eq!(status(), LoginStatus::LoggedOut);
    }
}
