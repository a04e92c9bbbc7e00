//! The agent under test, as often as it is started.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use acp_client::{Client, ClientOptions, Launch, Session};
use acp_process::KillLadder;
use acp_protocol::v1::Implementation;

use crate::report::{Trouble, failed};

/// How long an agent may take to end by itself: some put twenty sessions in order.
const EOF: Duration = Duration::from_secs(6);

/// What is driven, and how.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    /// The session mode in which the agent asks before it acts.
    pub(crate) asking_mode: Option<String>,
    /// The option that makes the agent ask questions, and its value.
    pub(crate) question_option: Option<(String, String)>,
    /// What the agent answers to a prompt without a word that it knows.
    pub(crate) hello: String,
    /// Where its sessions work.
    pub(crate) folder: PathBuf,
}

/// A running agent.
pub(crate) struct Peer {
    pub(crate) client: Client,
    pub(crate) plan: Plan,
}

impl Plan {
    /// Makes a plan for an agent that works in the current folder.
    pub(crate) fn new(command: &[OsString]) -> Result<Self, String> {
        let (program, args) = command.split_first().ok_or("no agent is named")?;
        Ok(Self {
            program: find(program)?,
            args: args.to_vec(),
            asking_mode: None,
            question_option: None,
            hello: String::new(),
            folder: env::current_dir().map_err(|error| format!("no current folder: {error}"))?,
        })
    }

    /// Returns what the client offers in every connection.
    pub(crate) fn options() -> ClientOptions {
        ClientOptions::new()
            .with_info(Implementation::new(
                "interop-driver",
                env!("CARGO_PKG_VERSION"),
            ))
            .with_permissions_in_stream()
            .with_notices()
    }

    /// Starts the agent, and makes a client of it that is not connected yet.
    pub(crate) fn peer(&self, options: ClientOptions) -> Peer {
        let launch = Launch::new(&self.program)
            .with_args(&self.args)
            .with_inherited_env()
            .with_cwd(&self.folder)
            .with_kill_ladder(KillLadder::default().with_orderly_eof_grace(EOF));
        Peer {
            client: Client::new(launch, options),
            plan: self.clone(),
        }
    }

    /// Starts the agent and connects to it.
    pub(crate) async fn dial(&self, options: ClientOptions) -> Result<Peer, Trouble> {
        let peer = self.peer(options);
        peer.client.dial().await?;
        Ok(peer)
    }
}

/// Finds a program as a shell would, and spells it in full.
pub(crate) fn find(program: &OsStr) -> Result<PathBuf, String> {
    let found = which::which(program);
    let found = found.map_err(|error| format!("{}: {error}", program.display()))?;
    std::path::absolute(found).map_err(|error| error.to_string())
}

impl Peer {
    /// Opens a session in which the agent asks before it acts.
    pub(crate) async fn open(&self) -> Result<Session, Trouble> {
        let session = self.client.new_session(&self.plan.folder).await?;
        self.set_asking_mode(&session).await?;
        Ok(session)
    }

    /// Has the agent ask before it acts.
    pub(crate) async fn set_asking_mode(&self, session: &Session) -> Result<(), Trouble> {
        if let Some(mode) = &self.plan.asking_mode {
            session.control().set_mode(mode.as_str()).await?;
        }
        Ok(())
    }

    /// Returns where the sessions work, for a prompt.
    pub(crate) fn folder(&self) -> Result<&str, Trouble> {
        let folder: &Path = &self.plan.folder;
        folder
            .to_str()
            .ok_or_else(|| failed("the folder is no text"))
    }
}
