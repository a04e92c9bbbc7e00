//! Puts an agent together: what is registered is advertised, nothing else.

use std::sync::Arc;

use acp_host::{McpAcceptance, PromptContent, SessionHost, dynamic::DynSessionHost};
use acp_protocol::{rpc::Limits, v1::Implementation};

use crate::{agent::Agent, connection::Parts, limits::AgentLimits, setup::SetupPolicy};

/// Puts an agent together.
///
/// Each thing that an agent can do is one call here, and each call that is made
/// is advertised to the client: nothing is advertised and refused, nothing is
/// accepted that was not advertised.
///
/// ```
/// # use acp_agent::{AgentBuilder, demo::DemoAgent, host::PromptContent, kit::Kit};
/// let agent = AgentBuilder::new(Kit::new(DemoAgent::default()))
///     .info("librarian", "1.2.0")
///     .prompt_content(PromptContent::new().with_image())
///     .build()?;
/// # Ok::<(), acp_agent::BuildError>(())
/// ```
pub struct AgentBuilder {
    host: Box<dyn DynSessionHost>,
    info: Implementation,
    setup: SetupPolicy,
    prompt: PromptContent,
    limits: AgentLimits,
    connection_limits: Limits,
    stamps: bool,
}

/// Why no agent can be made of what was registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// [`AgentLimits::live_sessions`] is 0.
    #[error("build an agent: its limits allow no session at all")]
    NoSessions,
    /// The name or the version of the agent is empty.
    #[error("build an agent: its name or its version is empty")]
    NoName,
}

impl AgentBuilder {
    /// Starts with what every agent has: something that makes sessions.
    pub fn new(host: impl SessionHost) -> Self {
        Self {
            host: Box::new(host),
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            setup: SetupPolicy::default(),
            prompt: PromptContent::default(),
            limits: AgentLimits::default(),
            connection_limits: Limits::default(),
            stamps: true,
        }
    }

    /// Says what the agent is called, and which version of it this is (R029).
    /// Without it, it goes by the name of this crate.
    #[must_use]
    pub fn info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        let title = self.info.title.take();
        self.info = Implementation::new(name, version);
        self.info.title = title;
        self
    }

    /// Says what people call the agent.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Says what prompts may hold besides text and links.
    #[must_use]
    pub fn prompt_content(mut self, content: PromptContent) -> Self {
        self.prompt = content;
        self
    }

    /// Says which tool servers sessions connect to. By default those that are
    /// started as programs, which the protocol asks every agent to take (R081).
    #[must_use]
    pub fn mcp(mut self, acceptance: McpAcceptance) -> Self {
        self.setup.mcp = acceptance;
        self
    }

    /// Lets sessions use further folders besides the one they work in.
    #[must_use]
    pub fn additional_directories(mut self) -> Self {
        self.setup.additional_directories = true;
        self
    }

    /// Sets how much the agent holds and how long it waits.
    #[must_use]
    pub fn limits(mut self, limits: AgentLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the bounds of its connections.
    #[must_use]
    pub fn connection_limits(mut self, limits: Limits) -> Self {
        self.connection_limits = limits;
        self
    }

    /// Leaves out the names of events. Updates carry them under `_meta` (see
    /// `eventId` and `promptId` in the README), so that clients can tell an
    /// update that they have seen; it makes each update about 110 bytes longer.
    #[must_use]
    pub fn without_event_names(mut self) -> Self {
        self.stamps = false;
        self
    }

    /// Makes the agent.
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what does not go together.
    pub fn build(self) -> Result<Agent, BuildError> {
        if self.limits.live_sessions == 0 {
            return Err(BuildError::NoSessions);
        }
        if self.info.name.is_empty() || self.info.version.is_empty() {
            return Err(BuildError::NoName);
        }
        Ok(Agent::new(Parts {
            host: self.host,
            info: self.info,
            setup: self.setup,
            prompt: self.prompt,
            limits: Arc::new(self.limits),
            connection_limits: self.connection_limits,
            stamps: self.stamps,
        }))
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
