//! Bringing an agent to where it can be asked.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use acp_client::{Client, ClientError, Launch, Session, SessionControl, SessionSetup};
use acp_protocol::v1::{McpServer, SessionId};
use derive_setters::Setters;

use super::ladder::{Ladder, NoSession};
use super::sign_in::SignIn;
use super::{HarnessError, Observer, Opened, TurnProgress};
use crate::launch::AgentHome;
use crate::login::AuthPolicy;
use crate::model::{Demand, SessionSettings, SettingStep};
use crate::record::Claim;
use crate::registry::AgentEntry;
use crate::version::{ChildRunner, Probe, Version};

/// Brings an agent to where it can be asked, as its entry says: its version is judged, it
/// is connected and told of its key, the session is opened (the one the conversation went on
/// in, if there is one), it is logged in to where it insists, and its model, effort and mode
/// are set.
///
/// A [`Harness`](super::Harness) does this for each turn; whoever wants to drive the turn
/// themselves begins here.
///
/// ```no_run
/// use acp_client::{Client, ClientOptions};
/// use acp_harness::registry::AgentEntry;
/// use acp_harness::turn::Opening;
///
/// # async fn example(client: &Client, agent: &AgentEntry) -> Result<(), Box<dyn std::error::Error>> {
/// let mut opening = Opening::new(agent, "/home/ada/project");
/// let mut ready = opening.open(client, &mut |event| println!("{event:?}")).await?;
/// let turn = ready.session.prompt("Which tests fail?").await?;
/// # drop(turn);
/// # Ok(())
/// # }
/// ```
#[derive(Setters)]
#[setters(generate = false, prefix = "with_")]
pub struct Opening<'a> {
    sign_in: SignIn<'a>,
    cwd: PathBuf,
    setup: SessionSetup,
    /// Goes on in the session of a conversation, and records there which one it is.
    #[setters(generate, strip_option, rename = "of_conversation")]
    claim: Option<Arc<Claim>>,
    /// Goes on in this session of the agent, if it does; nothing is recorded. For whoever
    /// keeps records themselves.
    #[setters(generate, strip_option, into, rename = "going_on_in")]
    known: Option<SessionId>,
    /// Fails where the agent does not go on in the session, instead of opening a new one.
    #[setters(generate, bool, rename = "or_failing")]
    no_other: bool,
    /// Chooses model, effort, mode and options.
    #[setters(generate)]
    settings: SessionSettings,
    /// Leaves the agent in the mode in which it starts, also where it does not ask in it.
    #[setters(generate, bool, rename = "keeping_mode")]
    keeps_mode: bool,
    /// Asks the program for its version before it is started; see
    /// [`preflight`](crate::launch::preflight).
    #[setters(generate)]
    preflight: Option<(Probe, Launch)>,
}

/// An agent that is ready for its prompt.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ready {
    /// The session, with nothing of its updates read.
    pub session: Session,
    /// How it came to be.
    pub opened: Opened,
    /// Why a new one was opened although there was one to go on in: what the agent said
    /// last. `None` also when it can go on in none.
    pub refusal: Option<ClientError>,
}

impl<'a> Opening<'a> {
    /// Wants a session that works in a folder, given by its absolute path.
    #[must_use]
    pub fn new(entry: &'a AgentEntry, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            sign_in: SignIn {
                entry,
                policy: AuthPolicy::new(),
                home: None,
                tried: Vec::new(),
                by: None,
            },
            setup: SessionSetup::new(&cwd),
            cwd,
            claim: None,
            known: None,
            no_other: false,
            settings: SessionSettings::new(),
            keeps_mode: false,
            preflight: None,
        }
    }

    /// Adds folders the session may use besides, by absolute paths.
    #[must_use]
    pub fn with_folders<P: Into<PathBuf>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.setup = self.setup.with_additional_directories(folders);
        self
    }

    /// Gives the agent MCP servers to connect to.
    #[must_use]
    pub fn with_mcp_servers(mut self, servers: impl IntoIterator<Item = McpServer>) -> Self {
        self.setup = self.setup.with_mcp_servers(servers);
        self
    }

    /// Says what may be tried to log in.
    #[must_use]
    pub fn with_auth(mut self, policy: AuthPolicy) -> Self {
        self.sign_in.policy = policy;
        self
    }

    /// Remembers logins in the agent's home.
    #[must_use]
    pub fn in_home(mut self, home: &'a AgentHome) -> Self {
        self.sign_in.home = Some(home);
        self
    }

    /// Opens it, and tells what happens meanwhile: the connection, logins, the session.
    ///
    /// # Errors
    ///
    /// [`HarnessError`], as [`Harness::run`](super::Harness::run) gives it. The client may be
    /// connected then; whoever made it ends it.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, a session that is being opened is closed again where the
    /// agent knows how to.
    pub async fn open(
        &mut self,
        client: &Client,
        tell: &mut Observer<'_>,
    ) -> Result<Ready, HarnessError> {
        if let Some((probe, command)) = self.preflight.take() {
            let forever = std::future::pending();
            probe.run(&ChildRunner, &command, forever).await?;
        }
        let entry = self.sign_in.entry;
        let agent = client.dial().await?;
        if let Some(minimum) = entry.min_version {
            let said = agent.agent_info.as_ref().map(|info| info.version.as_str());
            Version::accept(said.unwrap_or_default(), minimum)?;
        }
        tell(TurnProgress::Connected {
            agent: agent.agent_info.clone(),
        });
        self.sign_in.announce(client, tell).await?;
        let cwd = self.cwd.to_str();
        let ladder = Ladder {
            agent: &entry.name,
            cwd: cwd.ok_or_else(|| ClientError::UnusablePath {
                path: self.cwd.clone(),
            })?,
            setup: self.setup.clone(),
            claim: self.claim.as_deref(),
            known: self.known.as_ref(),
            no_other: self.no_other,
        };
        let mut climbed = ladder.climb(client).await;
        // Once: an agent that asks again would ask for ever.
        if let Err(NoSession::LoginFirst(refusal)) = climbed {
            self.sign_in.log_in(client, refusal, tell).await?;
            climbed = ladder.climb(client).await;
        }
        let ready = climbed.map_err(|error| match error {
            NoSession::Failed(error) => error,
            NoSession::LoginFirst(refusal) => self.sign_in.still_required(refusal),
        })?;
        self.sign_in.remember_login();
        tell(TurnProgress::Session {
            id: ready.session.id().clone(),
            opened: ready.opened,
        });
        set(&ready.session.control(), &self.wanted()).await?;
        Ok(ready)
    }

    /// Returns what is known of the login.
    pub(super) fn into_sign_in(self) -> SignIn<'a> {
        self.sign_in
    }

    /// What the session is set to: what was chosen, and what the agent's entry says where
    /// nothing was.
    fn wanted(&self) -> SessionSettings {
        let entry = self.sign_in.entry;
        let mut wanted = self.settings.clone();
        let mut others = SessionSettings::new();
        if let (Some(model), Some(_)) = (wanted.model(), &entry.model_env)
            && model.demand == Demand::Require
        {
            // It is set already, where there is no choice of it.
            let value = model.value.clone();
            wanted = SessionSettings::new()
                .with_model(value, Demand::Prefer)
                .or(wanted);
        }
        if let Some(model) = &entry.model {
            others = others.with_model(model, Demand::Suggest);
        }
        if let (Some(mode), false) = (&entry.quirks.asking_mode, self.keeps_mode) {
            others = others.with_mode(mode, Demand::Prefer);
        }
        wanted.or(others)
    }
}

impl fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening")
            .field("agent", &self.sign_in.entry.name)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// Sets model, effort and mode of a session, each by what the agent offers after the one
/// before.
///
/// # Errors
///
/// [`HarnessError::Setting`] when the agent does not offer what is wanted; what came before it
/// is set. Else as [`SessionControl::set_config_option`].
///
/// # Cancel safety
///
/// Dropped while it waits, some of it may be set.
pub async fn set(control: &SessionControl, settings: &SessionSettings) -> Result<(), HarnessError> {
    let mut plan = settings.plan();
    loop {
        let options = control.config_options().unwrap_or_default();
        match plan.next(&options, control.modes().as_ref())? {
            Some(SettingStep::Option { option, value }) => {
                control.set_config_option(option, value).await?;
            }
            Some(SettingStep::Mode(mode)) => control.set_mode(mode).await?,
            None => return Ok(()),
        }
    }
}
