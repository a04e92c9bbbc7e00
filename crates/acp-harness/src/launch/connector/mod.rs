//! How agents are told of a proxy, or of there being none.

mod claude;
mod codex;
mod gemini;

use acp_process::{Launch, SpawnSpecError};

pub use claude::ClaudeConnector;
pub use codex::{Approval, CodexConnector, Sandbox};
pub use gemini::GeminiConnector;

use super::proxy::{BoxError, ProxyBinding};
use super::{ConflictingEnv, EnvError, EnvOverlay};

/// Tells an agent to speak with its model through a proxy.
///
/// The launch that is given is not changed; the one that is returned is complete.
pub trait Connector: Send + Sync + 'static {
    /// Finds what is wrong before anything is started.
    ///
    /// # Errors
    ///
    /// [`ConnectError`], as [`configure`](Self::configure) would tell it.
    fn check(&self, launch: &Launch) -> Result<(), ConnectError>;

    /// Returns the launch of an agent that uses this proxy.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    fn configure(&self, launch: &Launch, binding: &ProxyBinding) -> Result<Launch, ConnectError>;
}

/// Starts an agent with its own way to its model, and makes sure that it is its own.
pub trait NativeConnector: Send + Sync + 'static {
    /// Returns the launch of an agent that uses no proxy.
    ///
    /// # Errors
    ///
    /// [`ConnectError`]
    fn configure_native(&self, launch: &Launch) -> Result<Launch, ConnectError>;
}

/// Why an agent cannot be told. Nothing that is secret is shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Its environment holds what it must not, or cannot hold what it must.
    #[error(transparent)]
    Environment(#[from] EnvError),
    /// Its launch is not one.
    #[error(transparent)]
    Launch(#[from] SpawnSpecError),
    /// Something was not said that has to be.
    #[error("connect the agent: {what} is not said")]
    Missing {
        /// What.
        what: &'static str,
    },
    /// One of two things was said that go together.
    #[error("connect the agent: a model is said and no effort, or an effort and no model")]
    HalfAPair,
    /// A program is not named by an absolute path.
    #[error("connect the agent: {what} is not an absolute path")]
    NotAbsolute {
        /// Which.
        what: &'static str,
    },
    /// What the proxy says of itself makes no sense.
    #[error("connect the agent to a model proxy: {reason}")]
    Binding {
        /// What is wrong, without its address.
        reason: &'static str,
    },
    /// A connector from elsewhere says so.
    #[error("connect the agent")]
    Other(#[source] BoxError),
}

impl From<ConflictingEnv> for ConnectError {
    fn from(conflict: ConflictingEnv) -> Self {
        Self::Environment(conflict.into())
    }
}

/// Lays variables over those of a launch.
fn overlaid(launch: &Launch, overlay: &EnvOverlay) -> Result<Launch, ConnectError> {
    launch.validate()?;
    let environment = overlay.over(launch.environment())?;
    Ok(launch.clone().with_environment(environment))
}

/// As [`overlaid`], for a proxy whose token is in the variables: it is hidden where the
/// agent shows it.
fn bound(
    launch: &Launch,
    overlay: &EnvOverlay,
    binding: &ProxyBinding,
) -> Result<Launch, ConnectError> {
    if let Some(reason) = binding.fault() {
        return Err(ConnectError::Binding { reason });
    }
    let redactor = acp_text::Redactor::new()
        .hiding_addresses()
        .with_secret(binding.token.clone());
    Ok(overlaid(launch, overlay)?.with_stderr_redactor(&redactor))
}

#[cfg(test)]
mod tests;
