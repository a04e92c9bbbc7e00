//! Which session the turn runs in, and how it is set.

use std::path::PathBuf;

use acp_client::{Client, SessionFolders};
use acp_harness::login::AuthPolicy;
use acp_harness::model::{Demand, SessionSettings};
use acp_harness::turn::{HarnessError, Observer, Opening, Ready};
use acp_protocol::v1::McpServer;

use super::args::SessionArgs;
use super::mcp;
use crate::agent::{Agent, Origin, working_folder};
use crate::config::{Configuration, Setting, Word};
use crate::outcome::Outcome;
use crate::sessions::{Change, ClaimedSession};

/// What the command line and the configuration want of the session.
#[derive(Debug)]
pub(super) struct SessionRequest {
    pub(super) cwd: PathBuf,
    folders: Vec<PathBuf>,
    servers: Vec<McpServer>,
    /// What the command line says.
    settings: SessionSettings,
    /// What is chosen where neither the command line nor a kept session says anything.
    configured: SessionSettings,
}

impl SessionRequest {
    /// Understands what the command line says of the session, and what is configured where
    /// it says nothing.
    pub(super) fn new(
        args: SessionArgs,
        config: &Configuration,
        cwd: PathBuf,
    ) -> Result<Self, Outcome> {
        let folders = args.add_dir.iter();
        let folders = folders.map(|folder| working_folder(folder, "--add-dir"));
        let mut servers = mcp::servers(&args.mcp, &cwd)?;
        for server in config.mcp_servers()? {
            let name = mcp::name_of(&server);
            if servers.iter().all(|other| mcp::name_of(other) != name) {
                servers.push(server);
            }
        }
        let chosen = Option::unwrap_or_default;
        let settings = SessionSettings::new()
            .with_model(chosen(args.model), Demand::Require)
            .with_effort(chosen(args.effort), Demand::Require)
            .with_mode(chosen(args.mode), Demand::Require);
        let options = args.option.into_iter();
        let word = |setting: &Setting<Option<Word>>| {
            let word = setting.value.as_ref().map(Word::as_str);
            word.unwrap_or_default().to_owned()
        };
        Ok(Self {
            servers,
            cwd,
            folders: folders.collect::<Result<_, _>>()?,
            settings: options.fold(settings, |settings, (id, value)| {
                settings.with_option(id, value)
            }),
            // What is chosen for every agent is none of the choices of some.
            configured: SessionSettings::new()
                .with_model(word(&config.settings.model), Demand::Prefer)
                .with_effort(word(&config.settings.effort), Demand::Prefer)
                .with_mode(word(&config.settings.mode), Demand::Prefer),
        })
    }

    /// Returns the folders that the session uses besides its own.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Returns all folders of the session.
    pub(super) fn all_folders(&self) -> SessionFolders {
        SessionFolders::new(&self.cwd).with_additional(&self.folders)
    }

    /// Connects the agent and opens the session. Every way to a session leads through here.
    pub(super) async fn open(
        &self,
        agent: &Agent,
        client: &Client,
        kept: Option<&ClaimedSession>,
        tell: &mut Observer<'_>,
    ) -> Result<Ready, HarnessError> {
        let mut auth = AuthPolicy::new();
        if agent.has_key {
            auth = auth.having_key();
        }
        if agent.origin != Origin::Known {
            auth = auth.trying_only_configured();
        }
        let remembered = self.remembered(kept);
        let remembered = remembered.iter().map(SessionSettings::from);
        let remembered = remembered.fold(SessionSettings::new(), SessionSettings::or);
        let mut opening = Opening::new(&agent.entry, &self.cwd)
            .with_preflight(agent.preflight.clone())
            .with_auth(auth)
            .with_folders(&self.folders)
            .with_mcp_servers(self.servers.iter().cloned())
            .with_settings(
                self.settings
                    .clone()
                    .or(remembered)
                    .or(self.configured.clone()),
            );
        if let Some((known, no_other)) = kept.and_then(ClaimedSession::known) {
            opening = opening.going_on_in(known.clone());
            if no_other {
                opening = opening.or_failing();
            }
        }
        opening.open(client, tell).await
    }

    /// Returns what a kept session is set to, but for what the command line sets.
    pub(super) fn remembered(&self, kept: Option<&ClaimedSession>) -> Vec<Change> {
        let changes = kept.into_iter().flat_map(ClaimedSession::changes);
        let weaker = |change: &Change| !self.settings.sets(&change.into());
        changes.filter(weaker).collect()
    }

    /// Wants a new session in a folder, and nothing else.
    #[cfg(test)]
    pub(super) fn only(cwd: &std::path::Path) -> Self {
        let nothing = Configuration::default();
        Self::new(SessionArgs::default(), &nothing, cwd.to_owned()).expect("nothing is wanted")
    }
}
