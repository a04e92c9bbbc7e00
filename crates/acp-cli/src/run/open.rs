//! Which session the turn runs in, and how it is set.

use std::path::PathBuf;

use acp_client::Client;
use acp_harness::login::AuthPolicy;
use acp_harness::model::{Demand, Settings};
use acp_harness::turn::{Observer, Opening, Ready, TurnError};
use acp_protocol::v1::McpServer;

use super::args::SessionArgs;
use super::keep::as_settings;
use super::mcp;
use crate::agent::{Agent, Origin, working_folder};
use crate::config::{Configuration, Setting, Word};
use crate::outcome::Outcome;
use crate::sessions::{Change, Kept};

/// What is wanted of the session.
#[derive(Debug)]
pub(super) struct Wishes {
    pub(super) cwd: PathBuf,
    folders: Vec<PathBuf>,
    servers: Vec<McpServer>,
    settings: Settings,
    /// What is chosen where neither the command line nor a kept session says anything.
    configured: Settings,
    options: Vec<(String, String)>,
    sets_model: bool,
    sets_mode: bool,
}

impl Wishes {
    /// Understands what the command line says of the session.
    pub(super) fn new(args: SessionArgs, cwd: PathBuf) -> Result<Self, Outcome> {
        let folders = args.add_dir.iter();
        let folders = folders.map(|folder| working_folder(folder, "--add-dir"));
        let chosen = Option::unwrap_or_default;
        Ok(Self {
            sets_model: args.model.is_some(),
            sets_mode: args.mode.is_some(),
            servers: mcp::servers(&args.mcp, &cwd)?,
            cwd,
            folders: folders.collect::<Result<_, _>>()?,
            settings: Settings::new()
                .with_model(chosen(args.model), Demand::Require)
                .with_effort(chosen(args.effort), Demand::Require)
                .with_mode(chosen(args.mode), Demand::Require),
            configured: Settings::new(),
            options: args.option,
        })
    }

    /// Takes what is configured where nothing else is said.
    pub(super) fn or_configured(mut self, config: &Configuration) -> Result<Self, Outcome> {
        let word = |setting: &Setting<Option<Word>>| {
            let word = setting.value.as_ref().map(Word::as_str);
            word.unwrap_or_default().to_owned()
        };
        // What is chosen for every agent is none of the choices of some.
        self.configured = Settings::new()
            .with_model(word(&config.settings.model), Demand::Prefer)
            .with_effort(word(&config.settings.effort), Demand::Prefer)
            .with_mode(word(&config.settings.mode), Demand::Prefer);
        let servers = config.mcp_servers();
        for server in servers.map_err(|error| Outcome::of_config(&error))? {
            let name = mcp::name_of(&server);
            if self.servers.iter().all(|other| mcp::name_of(other) != name) {
                self.servers.push(server);
            }
        }
        Ok(self)
    }

    /// Connects the agent and opens the session. Every way to a session leads through here.
    pub(super) async fn open(
        &self,
        agent: &Agent,
        client: &Client,
        kept: Option<&Kept>,
        tell: &mut Observer<'_>,
    ) -> Result<Ready, TurnError> {
        let mut auth = AuthPolicy::new();
        if agent.has_key {
            auth = auth.having_key();
        }
        if agent.origin != Origin::Known {
            auth = auth.trying_only_configured();
        }
        let (settings, options) = as_settings(&self.wanted(kept));
        let mut opening = Opening::new(&agent.entry, &self.cwd)
            .with_preflight(agent.preflight.clone())
            .with_auth(auth)
            .with_folders(&self.folders)
            .with_mcp_servers(self.servers.iter().cloned())
            .with_settings(
                self.settings
                    .clone()
                    .or(settings)
                    .or(self.configured.clone()),
            )
            .with_options(options)
            .with_options(self.options.iter().cloned());
        if let Some((known, no_other)) = kept.and_then(Kept::known) {
            opening = opening.going_on_in(known.clone());
            if no_other {
                opening = opening.or_failing();
            }
        }
        opening.open(client, tell).await
    }

    /// Returns what a kept session is set to, but for what the command line sets.
    pub(super) fn wanted(&self, kept: Option<&Kept>) -> Vec<Change> {
        let changes = kept.into_iter().flat_map(Kept::changes);
        let is_left = |change: &Change| match change {
            Change::Model { .. } => !self.sets_model,
            Change::Mode { .. } => !self.sets_mode,
            Change::Option { id, .. } => self.options.iter().all(|(set, _)| set != id),
        };
        changes.filter(is_left).collect()
    }

    /// Wants a new session in a folder, and nothing else.
    #[cfg(test)]
    pub(super) fn only(cwd: &std::path::Path) -> Self {
        Self::new(SessionArgs::default(), cwd.to_owned()).expect("nothing is wanted")
    }
}
