//! Puts an agent together: what is registered is advertised, nothing else.

use std::sync::Arc;

use acp_host::{
    AuthMethod, Authenticator, CatalogOrder, ConfigCatalog, ConfigController, LogoutHandler,
    McpAcceptance, PromptContent, SessionCatalog, SessionDeleter, SessionHost, SessionLoader,
    SessionResumer,
};
use acp_protocol::{rpc::Limits, v1::Implementation};

use super::{
    agent::Agent,
    failure::AgentFailure,
    list::cursor::CursorKey,
    registration::{ConfigAccess, LoginMethods, Registration},
    setup::SetupPolicy,
};
use crate::limits::AgentLimits;

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
pub struct AgentBuilder(Registration);

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
    /// An authenticator came without a way to log in.
    #[error("build an agent: it asks for a login, and names no way to log in")]
    NoAuthMethods,
    /// Everything is to wait for a login, and nobody can log in.
    #[error("build an agent: it is strict about logins, and has no authenticator")]
    NoAuthenticator,
    /// Two ways to log in have one id, or an id is empty.
    #[error("build an agent: the ids of its ways to log in are not unique")]
    AuthMethodIds,
    /// The command that shortens conversations is offered, and no session can do it.
    #[error(
        "build an agent: it offers /compact, and its sessions cannot shorten a conversation; register what does, with Kit::with_compactor for a kit"
    )]
    NoCompaction,
    /// The system gave no random bytes, which the lists of sessions need.
    #[error("build an agent: the system gives no random bytes")]
    NoRandomness,
}

impl AgentBuilder {
    /// Starts with what every agent has: something that makes sessions.
    pub fn new(host: impl SessionHost) -> Self {
        Self(Registration {
            host: Box::new(host),
            resumer: None,
            loader: None,
            catalog: None,
            catalog_order: CatalogOrder::default(),
            cursor_key: CursorKey::default(),
            deleter: None,
            config: ConfigAccess::None,
            login: None,
            strict_login: true,
            logout: None,
            compact_command: false,
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            setup: SetupPolicy::default(),
            prompt: PromptContent::default(),
            limits: Arc::default(),
            connection_limits: Limits::default(),
            has_event_ids: true,
            on_error: None,
        })
    }

    /// Sets the name and the version of the agent (R029).
    /// Without it, it goes by the name of this crate.
    #[must_use]
    pub fn info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        let title = self.0.info.title.take();
        self.0.info = Implementation::new(name, version);
        self.0.info.title = title;
        self
    }

    /// Sets the name that people read.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.0.info.title = Some(title.into());
        self
    }

    /// Resumes sessions: `sessionCapabilities.resume`.
    #[must_use]
    pub fn resumer(mut self, resumer: impl SessionResumer) -> Self {
        self.0.resumer = Some(Box::new(resumer));
        self
    }

    /// Loads sessions and replays their conversation: `loadSession`.
    #[must_use]
    pub fn loader(mut self, loader: impl SessionLoader) -> Self {
        self.0.loader = Some(Box::new(loader));
        self
    }

    /// Lists sessions: `sessionCapabilities.list`.
    #[must_use]
    pub fn catalog(mut self, catalog: impl SessionCatalog) -> Self {
        self.0.catalog = Some(Box::new(catalog));
        self
    }

    /// Sets in which order sessions are listed. Without it, the session in which
    /// something happened last comes first.
    #[must_use]
    pub fn catalog_order(mut self, order: CatalogOrder) -> Self {
        self.0.catalog_order = order;
        self
    }

    /// Deletes sessions: `sessionCapabilities.delete`.
    #[must_use]
    pub fn deleter(mut self, deleter: impl SessionDeleter) -> Self {
        self.0.deleter = Some(Box::new(deleter));
        self
    }

    /// Lets clients set options: `session/set_config_option`, and
    /// `session/set_mode` for the option with the id `mode`. Sessions show their
    /// options when they begin.
    #[must_use]
    pub fn config(mut self, controller: impl ConfigController) -> Self {
        self.0.config = ConfigAccess::Settable(Box::new(controller));
        self
    }

    /// Shows options that clients cannot set.
    #[must_use]
    pub fn shown_config(mut self, catalog: impl ConfigCatalog) -> Self {
        self.0.config = ConfigAccess::ReadOnly(Box::new(catalog));
        self
    }

    /// Asks users to log in, in one of these ways, before anything else: `authMethods`.
    ///
    /// A client that is not logged in can neither begin, resume, load, list or delete sessions, nor
    /// send prompts or set options, and reads -32000. After a logout, live sessions can be
    /// cancelled and closed, and do nothing else that is new.
    #[must_use]
    pub fn authenticator(
        mut self,
        authenticator: impl Authenticator,
        methods: impl IntoIterator<Item = AuthMethod>,
    ) -> Self {
        self.0.login = Some(LoginMethods {
            authenticator: Box::new(authenticator),
            methods: methods.into_iter().collect(),
        });
        self
    }

    /// Lets anybody who reaches the agent list and delete sessions, send prompts to live
    /// ones and set their options, and has only the beginning, resuming and loading of
    /// sessions wait for a login. Right where sessions are nobody's secret and live on
    /// after a logout.
    #[must_use]
    pub fn lenient_login(mut self) -> Self {
        self.0.strict_login = false;
        self
    }

    /// Lets users log out: `auth.logout`.
    #[must_use]
    pub fn logout(mut self, handler: impl LogoutHandler) -> Self {
        self.0.logout = Some(Box::new(handler));
        self
    }

    /// Offers the command `/compact`, by which the user has the conversation
    /// shortened; sessions get it by
    /// [`LiveSession::compact`](acp_host::LiveSession::compact).
    #[must_use]
    pub fn compact_command(mut self) -> Self {
        self.0.compact_command = true;
        self
    }

    /// Sets what prompts may hold besides text and links.
    #[must_use]
    pub fn prompt_content(mut self, content: PromptContent) -> Self {
        self.0.prompt = content;
        self
    }

    /// Sets which tool servers sessions connect to. By default those that are
    /// started as programs, which the protocol asks every agent to take (R081).
    #[must_use]
    pub fn mcp(mut self, acceptance: McpAcceptance) -> Self {
        self.0.setup.mcp = acceptance;
        self
    }

    /// Lets sessions use further folders besides the one they work in.
    #[must_use]
    pub fn additional_directories(mut self) -> Self {
        self.0.setup.additional_directories = true;
        self
    }

    /// Sets how much the agent holds and how long it waits.
    #[must_use]
    pub fn limits(mut self, limits: AgentLimits) -> Self {
        self.0.limits = Arc::new(limits);
        self
    }

    /// Sets the bounds of its connections.
    #[must_use]
    pub fn connection_limits(mut self, limits: Limits) -> Self {
        self.0.connection_limits = limits;
        self
    }

    /// Leaves out the ids of events. Updates carry them under `_meta` (see
    /// `eventId` and `promptId` in the README), so that clients recognise an
    /// update that they have seen; it makes each update about 110 bytes longer.
    #[must_use]
    pub fn without_event_names(mut self) -> Self {
        self.0.has_event_ids = false;
        self
    }

    /// Calls `hook` with each request that fails inside of the agent (-32603), before the
    /// client gets its answer: to count them, or to report them elsewhere with their cause.
    ///
    /// The log has each failure with its id and its causes in any case. There the causes
    /// are cut, and without what looks like a secret; the hook gets them as they are.
    ///
    /// ```
    /// # use acp_agent::{AgentBuilder, demo::DemoAgent, kit::Kit};
    /// let agent = AgentBuilder::new(Kit::new(DemoAgent::default()))
    ///     .on_error(|failure| eprintln!("{} {}", failure.correlation_id(), failure.method()))
    ///     .build()?;
    /// # Ok::<(), acp_agent::BuildError>(())
    /// ```
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&AgentFailure<'_>) + Send + Sync + 'static) -> Self {
        self.0.on_error = Some(Box::new(hook));
        self
    }

    /// Makes the agent.
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what does not go together.
    pub fn build(self) -> Result<Agent, BuildError> {
        let Self(mut agent) = self;
        if agent.limits.live_sessions == 0 {
            return Err(BuildError::NoSessions);
        }
        if agent.compact_command && !agent.host.compacts() {
            return Err(BuildError::NoCompaction);
        }
        if agent.info.name.is_empty() || agent.info.version.is_empty() {
            return Err(BuildError::NoName);
        }
        match &agent.login {
            Some(login) => check_methods(&login.methods)?,
            None if !agent.strict_login => return Err(BuildError::NoAuthenticator),
            None => agent.strict_login = false,
        }
        if agent.catalog.is_some() {
            agent.cursor_key = CursorKey::random().ok_or(BuildError::NoRandomness)?;
        }
        Ok(Agent(Arc::new(agent)))
    }
}

fn check_methods(methods: &[AuthMethod]) -> Result<(), BuildError> {
    if methods.is_empty() {
        return Err(BuildError::NoAuthMethods);
    }
    let mut ids = std::collections::BTreeSet::new();
    let is_unique = |method: &AuthMethod| !method.id.is_empty() && ids.insert(method.id.clone());
    if methods.iter().all(is_unique) {
        Ok(())
    } else {
        Err(BuildError::AuthMethodIds)
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("info", &self.0.info)
            .finish_non_exhaustive()
    }
}
