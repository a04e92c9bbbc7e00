//! QuestionKind an agent whether it is ready, without a prompt.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use acp_client::{Client, ClientTimeouts, Session};
use acp_harness::login::AuthPolicy;
use acp_harness::turn::{HarnessError, Opening};
use acp_protocol::v1::{InitializeResponse, SessionConfigOption, SessionModeState};
use serde::Serialize;

use crate::agent::{Agent, client_options};
use crate::config::Time;
use crate::exit::Exit;
use crate::outcome::Outcome;

/// An agent that is asked.
pub(crate) struct Inquiry {
    agent: Agent,
    cwd: PathBuf,
    client: Client,
}

/// What came of it.
pub(crate) struct Answer {
    /// What the agent said of itself.
    pub(crate) agent: Option<Arc<InitializeResponse>>,
    /// What is known of its login.
    pub(crate) login: LoginState,
    /// What is different from a session that opened.
    pub(crate) failure: Option<Outcome>,
    pub(crate) modes: Option<SessionModeState>,
    pub(crate) options: Vec<SessionConfigOption>,
    /// How long it took.
    pub(crate) took: Duration,
}

/// What is known of a login when no prompt was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LoginState {
    /// A session opens. Agents may still want a login when they are asked something.
    NotAsked,
    /// A session opens only after a login.
    Required,
    /// It could not be found out.
    Unknown,
}

impl Inquiry {
    /// Prepares to ask; nothing is started yet.
    pub(crate) fn new(agent: Agent, cwd: PathBuf, start: Option<Time>) -> Self {
        let start = start.map(Duration::from);
        let options = client_options(ClientTimeouts::default(), start).with_terminal_logins();
        let client = Client::new(agent.launch.clone(), options);
        Self { agent, cwd, client }
    }

    /// Returns the agent that is asked.
    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the connection, which [`opens`](Self::opens) or `dial` brings up.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Does what a turn begins with, up to its prompt: says hello and opens a session,
    /// with the agent's key and no other login. The session is deleted again where the
    /// agent can.
    pub(crate) async fn opens(&self) -> Answer {
        let entry = &self.agent.entry;
        let mut auth = AuthPolicy::new().trying_only_configured();
        if self.agent.has_key {
            auth = auth.having_key();
            if let Some(method) = &entry.login.key_method {
                auth = auth.with_method(method);
            }
        }
        let start = Instant::now();
        let opened = Opening::new(entry, &self.cwd)
            .with_preflight(self.agent.preflight.clone())
            .with_auth(auth)
            .open(&self.client, &mut |_| {})
            .await;
        let took = start.elapsed();
        let mut answer = Answer {
            agent: self.client.agent().ok(),
            login: LoginState::Unknown,
            failure: None,
            modes: None,
            options: Vec::new(),
            took,
        };
        match opened {
            Ok(ready) => {
                answer.login = LoginState::NotAsked;
                answer.modes = ready.session.modes();
                answer.options = ready.session.config_options().unwrap_or_default();
                self.forget(ready.session, answer.agent.as_deref()).await;
            }
            Err(error) => {
                if matches!(error, HarnessError::AuthRequired(_)) {
                    answer.login = LoginState::Required;
                }
                let outcome = Outcome::from(error);
                answer.failure = Some(outcome.with_noise(self.client.noise()));
            }
        }
        answer
    }

    /// Ends the agent, and everything it started.
    pub(crate) async fn end(self) {
        self.client.close().await;
        self.client.kill().await;
    }

    /// Leaves nothing of a session that nobody wanted.
    async fn forget(&self, session: Session, agent: Option<&InitializeResponse>) {
        let id = session.id().clone();
        drop(session);
        let offered = agent.map(|agent| &agent.agent_capabilities.session_capabilities);
        if offered.is_some_and(|offered| offered.delete.is_some()) {
            // An empty session that stays is no reason to call the agent ill.
            let _ = self.client.delete_session(id).await;
        }
    }
}

/// Waits for some work, unless the user interrupts it.
pub(crate) async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Result<T, Outcome> {
    tokio::select! {
        done = work => Ok(done),
        interrupted = tokio::signal::ctrl_c() => match interrupted {
            Ok(()) => Err(Outcome::interrupted(None)),
            Err(error) => Err(error.into()),
        },
    }
}

impl Answer {
    /// Returns the exit code that this is worth.
    pub(crate) fn exit(&self) -> Exit {
        self.failure
            .as_ref()
            .map_or(Exit::EndOfTurn, |failure| failure.exit)
    }
}
