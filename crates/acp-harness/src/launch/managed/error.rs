//! What can go wrong between an agent, its proxy and us.

use std::fmt;

use acp_client::ClientError;
use acp_process::ExitError;

use crate::launch::connector::ConnectError;
use crate::launch::proxy::ProxyFault;

/// Why an agent was not started, and what was not ended well afterwards.
#[derive(Debug)]
pub struct ManagedError {
    cause: ManagedCause,
    unwinding: Option<ProxyFault>,
}

/// Why an agent was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedCause {
    /// It cannot be told of its model.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The proxy did not start.
    #[error("start the model proxy")]
    ProxyStart(#[source] ProxyFault),
    /// The proxy started, and does not say where it is.
    #[error("start the model proxy: it is not ready")]
    ProxyNotReady,
    /// The agent did not start, or did not introduce itself.
    #[error(transparent)]
    Agent(#[from] ClientError),
}

impl ManagedError {
    pub(super) fn new(cause: ManagedCause, unwinding: Option<ProxyFault>) -> Self {
        Self { cause, unwinding }
    }

    /// Returns why.
    #[must_use]
    pub fn cause(&self) -> &ManagedCause {
        &self.cause
    }

    /// Returns why, for who wants it as it is.
    #[must_use]
    pub fn into_cause(self) -> ManagedCause {
        self.cause
    }

    /// Returns what went wrong when the proxy was closed again.
    #[must_use]
    pub fn unwinding(&self) -> Option<&ProxyFault> {
        self.unwinding.as_ref()
    }
}

impl fmt::Display for ManagedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        match &self.unwinding {
            Some(fault) => write!(f, " (and close the model proxy: {fault})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ManagedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}

/// What did not end well: the agent, its proxy, or both.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CloseError {
    /// How the agent ended.
    pub connection: Option<ExitError>,
    /// What went wrong with the proxy.
    pub proxy: Option<ProxyFault>,
}

impl CloseError {
    /// Joins what went wrong; `None` when nothing did.
    pub(super) fn of(connection: Option<ExitError>, proxy: Option<ProxyFault>) -> Option<Self> {
        let error = Self { connection, proxy };
        (error.connection.is_some() || error.proxy.is_some()).then_some(error)
    }
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = self.connection.as_ref();
        let agent = agent.map(|error| format!("close the agent: {error}"));
        let proxy = self.proxy.as_ref();
        let proxy = proxy.map(|fault| format!("close the model proxy: {fault}"));
        let all: Vec<_> = agent.into_iter().chain(proxy).collect();
        f.write_str(&all.join("; "))
    }
}

impl std::error::Error for CloseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match (&self.connection, &self.proxy) {
            (Some(error), _) => Some(error),
            (None, Some(fault)) => Some(fault),
            (None, None) => None,
        }
    }
}
