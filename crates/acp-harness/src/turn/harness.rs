//! Running turns.

use std::sync::Arc;

use acp_client::{
    Client, ClientOptions, ClientTimeouts, DecisionLog, Environment, Launch, LocalTerminals,
    MissingFiles, Policy, WorkspaceFiles,
};
use acp_conversation::limits::MAX_MESSAGE;
use acp_protocol::v1::{Implementation, ToolKind};
use derive_setters::Setters;
use tokio::io::{AsyncRead, AsyncWrite};

use super::ending::{end_of, stopped_before};
use super::prompting::prompt_of;
use super::reading::Reading;
use super::request::Conversation;
use super::running::Running;
use super::{
    AccessProfile, HarnessError, Observer, Opening, TurnBounds, TurnDriver, TurnEnding,
    TurnOutcome, TurnProgress, TurnRequest,
};
use crate::launch::{BuiltEnv, EnvPolicy, describe, preflight};
use crate::limits::HEADLESS_LOGIN_TIMEOUT;
use crate::registry::{AgentEntry, Registry};
use crate::version::Probe;

/// Runs turns on the agents of a registry.
///
/// Cheap to clone; turns run side by side.
#[derive(Setters, Clone, Debug)]
#[setters(generate = false, prefix = "with_")]
pub struct Harness {
    registry: Arc<Registry>,
    /// Takes this for the environment that agents get theirs out of, the search path
    /// included.
    #[setters(generate)]
    ambient: Environment,
    /// Says who is asking, instead of the name of this crate.
    #[setters(generate)]
    info: Implementation,
}

/// How an agent is reached.
struct Start<'a> {
    entry: &'a AgentEntry,
    /// Whether the agent was given a key.
    has_key: bool,
    preflight: Option<(Probe, Launch)>,
    connect: Box<dyn FnOnce(ClientOptions) -> Client + Send>,
}

impl Harness {
    /// Knows the built-in agents, and the environment of this process as it is now.
    #[must_use]
    pub fn new() -> Self {
        Self::with_registry(Registry::builtin().clone())
    }

    /// Knows the agents of this registry.
    #[must_use]
    pub fn with_registry(registry: Registry) -> Self {
        Self {
            registry: Arc::new(registry),
            ambient: Environment::inherited_all(),
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        }
    }

    /// Returns the agents it knows.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Runs one turn: starts the agent, asks, reads the answer to its end, ends the agent.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] when nothing came of it. What fails after there was output is an
    /// outcome that says so ([`TurnEnding::Failed`], [`TurnEnding::TimedOut`]), and so is a turn
    /// that was stopped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future kills the agent and everything it started.
    pub async fn run(&self, request: TurnRequest) -> Result<TurnOutcome, HarnessError> {
        let mut tell = tell_progress(&request);
        self.run_telling(request, &mut tell).await
    }

    /// Runs one turn on an agent that is reached already, over these streams; they are
    /// closed in the end. The agent's entry says how it is treated.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the streams.
    pub async fn run_over<R, W>(
        &self,
        request: TurnRequest,
        reader: R,
        writer: W,
    ) -> Result<TurnOutcome, HarnessError>
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let start = Start {
            entry: self.registry.validate(&request.agent)?,
            has_key: request.key.is_some(),
            preflight: None,
            connect: Box::new(move |options| Client::over(reader, writer, options)),
        };
        let mut tell = tell_progress(&request);
        self.carry_out(request, start, &mut tell).await
    }

    /// Runs one turn, and tells what happens where it is read.
    pub(crate) async fn run_telling(
        &self,
        request: TurnRequest,
        tell: &mut Observer<'_>,
    ) -> Result<TurnOutcome, HarnessError> {
        let entry = self.registry.validate(&request.agent)?;
        let path = self.ambient.get("PATH").unwrap_or_default();
        let programs = self.registry.find(entry, path)?;
        let built = self.environment(&request, entry)?;
        let launch = describe(entry, &programs, &built, &request.cwd);
        let keys = &entry.login.keys;
        let start = Start {
            entry,
            has_key: keys.iter().any(|key| built.environment.get(key).is_some()),
            preflight: preflight(entry, &programs, &built),
            connect: Box::new(move |options| Client::new(launch, options)),
        };
        self.carry_out(request, start, tell).await
    }

    async fn carry_out(
        &self,
        mut request: TurnRequest,
        start: Start<'_>,
        tell: &mut Observer<'_>,
    ) -> Result<TurnOutcome, HarnessError> {
        let entry = start.entry;
        let bounds = TurnBounds::new(&request.stop)
            .with_idle(request.idle)
            .with_total(request.total)
            .with_grace(request.grace);
        let claim = match &request.conversation {
            Some(Conversation {
                records,
                key,
                patience,
            }) => {
                let claim = records.claim(&entry.name, key, *patience);
                match bounds.within(claim).await {
                    Ok(claim) => Some(Arc::new(claim?)),
                    Err(cause) => return stopped_before(cause),
                }
            }
            None => None,
        };
        let (options, decisions) = self.options(&mut request, entry);
        let running = Running::new((start.connect)(options), claim);
        let mut opening = Opening::new(entry, &request.cwd)
            .with_folders(&request.folders)
            .with_mcp_servers(request.mcp_servers.iter().cloned())
            .with_settings(request.settings.clone())
            .with_auth(match start.has_key {
                true => request.auth.clone().having_key(),
                false => request.auth.clone(),
            })
            .with_preflight(start.preflight);
        if let Some(claim) = running.claim() {
            opening = opening.of_conversation(claim);
        }
        if let Some(home) = &request.home {
            opening = opening.in_home(home);
        }
        if request.keeps_mode {
            opening = opening.keeping_mode();
        }
        let ready = bounds.within(opening.open(running.client(), tell)).await;
        let mut sign_in = opening.into_sign_in();
        let mut ready = match ready {
            Ok(Ok(ready)) => ready,
            Ok(Err(error)) => {
                running.end().await;
                return Err(error);
            }
            Err(cause) => {
                running.kill().await;
                return stopped_before(cause);
            }
        };
        let agent = running.client().agent().ok();
        let (prompt, history) = prompt_of(&request, ready.opened);
        let turn = match ready.session.prompt(prompt).await {
            Ok(turn) => turn,
            Err(error) => {
                running.end().await;
                return Err(error.into());
            }
        };
        let mut reading = Reading::default();
        let mut driver = TurnDriver::new(running.client(), turn, &bounds)
            .merging()
            .steered_by(request.steering.take(), entry, agent.as_deref());
        while let Some(event) = driver.next().await {
            reading.take(event, tell);
        }
        let driven = driver.end().await;
        reading.end(&driven);
        let session_id = ready.session.id().clone();
        drop(ready.session);
        // An agent that does not end its cancelled turn does not end itself either.
        let exit = match driven.answer {
            Some(_) => running.end().await,
            None => running.kill().await,
        };
        let end = end_of(driven, reading.conversation.turn.has_output(), &mut sign_in)?;
        let conversation = reading.conversation;
        let report = conversation.turn.report();
        Ok(TurnOutcome {
            said: conversation.turn.said(MAX_MESSAGE),
            report_is_whole: conversation.turn.report_is_whole(),
            report: report.map(|report| report.text.clone()).unwrap_or_default(),
            session_id: matches!(end, TurnEnding::Answered(_)).then_some(session_id),
            end,
            opened: Some(ready.opened),
            conversation,
            history,
            decisions: decisions.newest(),
            agent: agent.and_then(|agent| agent.agent_info.clone()),
            login: sign_in.by,
            exit: exit.map(|exit| exit.status()),
        })
    }

    /// Builds the environment of the agent.
    fn environment(
        &self,
        request: &TurnRequest,
        entry: &AgentEntry,
    ) -> Result<BuiltEnv, HarnessError> {
        let mut policy = match (&request.env, &request.home) {
            (Some(policy), _) => policy.clone(),
            (None, Some(_)) => EnvPolicy::new().allowing_network(),
            (None, None) => EnvPolicy::new().allowing_network().passing_keys_of(entry),
        }
        .speaking_of(&self.registry, entry);
        if let (Some(key), Some(name)) = (&request.key, entry.login.keys.first()) {
            policy = policy.with_key(name, key.clone());
        }
        if let (Some(model), Some(name)) = (request.settings.model(), &entry.model_env) {
            policy = policy.with(name, &model.value);
        }
        if let Some(home) = &request.home {
            policy = policy.in_home(home.clone());
        }
        Ok(policy.build(&self.ambient)?)
    }

    /// Says what the agent is offered, and where decisions about it are kept.
    fn options(
        &self,
        request: &mut TurnRequest,
        entry: &AgentEntry,
    ) -> (ClientOptions, DecisionLog) {
        let mut decisions = DecisionLog::new();
        if let Some(progress) = request.progress.take() {
            decisions = decisions.with_callback(move |decided| {
                progress.send(TurnProgress::Permission(decided.clone()));
            });
        }
        let careful = [
            ToolKind::Read,
            ToolKind::Search,
            ToolKind::Fetch,
            ToolKind::Think,
        ];
        let mut timeouts = ClientTimeouts {
            cancel_grace: request.grace,
            ..ClientTimeouts::default()
        };
        if !request.auth.allows_browser() {
            timeouts.authenticate = HEADLESS_LOGIN_TIMEOUT;
        }
        let mut options = ClientOptions::new()
            .with_info(self.info.clone())
            .with_notices()
            .with_permissions(Policy::allow_kinds(careful))
            .with_decision_log(decisions.clone())
            .with_timeouts(timeouts);
        if request.profile != AccessProfile::Isolated {
            let mut files = WorkspaceFiles::new();
            if entry.quirks.missing_file_reads_empty {
                files = files.with_missing_files(MissingFiles::Empty);
            }
            options = options.with_files(files);
        }
        if request.profile == AccessProfile::Full {
            options = options.with_terminals(LocalTerminals::new());
        }
        for change in std::mem::take(&mut request.options) {
            options = change(options);
        }
        (options, decisions)
    }
}

/// Sends what happens in a turn to who asked for its progress.
fn tell_progress(request: &TurnRequest) -> impl FnMut(TurnProgress) + Send + use<> {
    let progress = request.progress.clone();
    move |event| {
        if let Some(progress) = &progress {
            progress.send(event);
        }
    }
}

impl Default for Harness {
    fn default() -> Self {
        Self::new()
    }
}
