//! Logging in, once an agent insists.

use std::time::SystemTime;

use acp_client::{Client, ClientError};
use acp_protocol::v1::{AuthMethod, AuthMethodId};

use super::{AuthRequired, HarnessError, Observer, TurnProgress};
use crate::files::FileError;
use crate::launch::AgentHome;
use crate::limits::MAX_LOGIN_METHODS;
use crate::login::{self, AuthPolicy, LoginMarker};
use crate::registry::AgentEntry;

/// Logs in to one agent, at most once in a turn.
pub(super) struct SignIn<'a> {
    pub(super) entry: &'a AgentEntry,
    pub(super) policy: AuthPolicy,
    pub(super) home: Option<&'a AgentHome>,
    /// The methods that were tried.
    pub(super) tried: Vec<AuthMethodId>,
    /// The one that succeeded.
    pub(super) by: Option<AuthMethodId>,
}

impl SignIn<'_> {
    /// Tells an agent that wants to know it that it has a key.
    pub(super) async fn announce(
        &mut self,
        client: &Client,
        tell: &mut Observer<'_>,
    ) -> Result<(), HarnessError> {
        let offered = client.agent()?.auth_methods.clone();
        match login::announcement(&offered, &self.entry.login, &self.policy) {
            Some(method) => match self.attempt(client, &method, tell).await? {
                None => Ok(()),
                Some(error) => Err(self.required(offered, error)),
            },
            None => Ok(()),
        }
    }

    /// Logs in, because the agent refused to go on without.
    pub(super) async fn log_in(
        &mut self,
        client: &Client,
        refusal: ClientError,
        tell: &mut Observer<'_>,
    ) -> Result<(), HarnessError> {
        self.forget_login();
        let offered = offered(&refusal);
        let mut last = refusal;
        let methods = login::methods(&offered, &self.entry.login, &self.policy);
        for method in methods.into_iter().take(MAX_LOGIN_METHODS) {
            match self.attempt(client, &method, tell).await? {
                None => return Ok(()),
                Some(error) => last = error,
            }
        }
        Err(self.required(offered, last))
    }

    /// Remembers that the login worked, as far as there is a place for that.
    pub(super) fn remember_login(&self) {
        if let (Some(home), Some(method)) = (self.home, &self.by) {
            let marker = LoginMarker::new(SystemTime::now(), method.as_str());
            warn_of(marker.write(home));
        }
    }

    /// Says that the agent still wants a login.
    pub(super) fn still_required(&mut self, refusal: ClientError) -> HarnessError {
        self.forget_login();
        self.required(offered(&refusal), refusal)
    }

    /// Tries a method; gives the error when the agent refused it.
    async fn attempt(
        &mut self,
        client: &Client,
        method: &AuthMethodId,
        tell: &mut Observer<'_>,
    ) -> Result<Option<ClientError>, HarnessError> {
        let mut told = |succeeded| {
            let method = method.clone();
            tell(TurnProgress::Login { method, succeeded });
        };
        told(None);
        self.tried.push(method.clone());
        let result = client.authenticate(method.clone()).await;
        told(Some(result.is_ok()));
        match result {
            Ok(()) => {
                self.by = Some(method.clone());
                Ok(None)
            }
            // A method that leads nowhere must not keep others from their turn.
            Err(
                error @ (ClientError::Refused { .. }
                | ClientError::AuthRequired { .. }
                | ClientError::TimedOut { .. }
                | ClientError::BadAnswer { .. }),
            ) => Ok(Some(error)),
            Err(error) => Err(error.into()),
        }
    }

    fn required(&self, methods: Vec<AuthMethod>, source: ClientError) -> HarnessError {
        HarnessError::AuthRequired(Box::new(AuthRequired {
            agent: self.entry.name.clone(),
            methods,
            tried: self.tried.clone(),
            hint: self.entry.login.hint.clone(),
            source: Some(Box::new(source)),
        }))
    }

    fn forget_login(&self) {
        if let Some(home) = self.home {
            warn_of(LoginMarker::remove(home));
        }
    }
}

/// The methods that a refusal offers.
fn offered(refusal: &ClientError) -> Vec<AuthMethod> {
    match refusal {
        ClientError::AuthRequired { methods, .. } => methods.clone(),
        _ => Vec::new(),
    }
}

/// Warns of a marker that is not as it should be: the turn goes on all the same.
fn warn_of(kept: Result<(), FileError>) {
    if let Err(error) = kept {
        let error = &error as &dyn std::error::Error;
        tracing::warn!(error, "a login is not remembered or forgotten");
    }
}
