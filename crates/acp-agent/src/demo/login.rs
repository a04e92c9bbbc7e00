//! A login that always succeeds.

use acp_host::{AuthMethod, Authenticator, HostError, LogoutHandler};

use crate::AgentBuilder;

struct Doorman;

impl Authenticator for Doorman {
    async fn authenticate(&self, _: &str) -> Result<(), HostError> {
        Ok(())
    }
}

impl LogoutHandler for Doorman {
    async fn logout(&self) -> Result<(), HostError> {
        Ok(())
    }
}

/// Has the user log in before there are sessions.
pub(super) fn require(builder: AgentBuilder) -> AgentBuilder {
    let methods = vec![
        AuthMethod::new("knock", "Knock").with_description("The door is opened to everybody"),
        AuthMethod::new("wave", "Wave"),
    ];
    builder.authenticator(Doorman, methods).logout(Doorman)
}
