//! `acp sessions agent`, and starting an agent without a turn.

use std::path::Path;

use acp_client::{Client, ClientTimeouts};
use acp_protocol::v1::SessionInfo;
use acp_text::clean;
use clap::Args;
use serde_json::json;

use super::words::about;
use crate::agent::{Agent, AgentArgs, ask, client_options, let_remember, working_folder};
use crate::outcome::Outcome;
use crate::sessions::key::scope_of;
use crate::sessions::record::Record;
use crate::sessions::store::Store;
use crate::sessions::target::text_of;
use crate::show::{Printed, tell};
use crate::table::{Table, width};

/// What `acp sessions agent` is told.
#[derive(Debug, Args)]
pub(crate) struct AgentListArgs {
    /// List those of all folders
    #[arg(long)]
    all: bool,

    /// Write one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    agent: AgentArgs,
}

/// An agent that was started to be asked something besides turns.
pub(super) struct Connected {
    client: Client,
}

impl Connected {
    /// Starts the agent of a session.
    pub(super) async fn to(record: &Record) -> Result<Self, Outcome> {
        let mut args = AgentArgs::default();
        ask(&mut args, &record.agent)?;
        let folder = [&record.cwd, &record.folder].map(Path::new);
        let folder = folder.into_iter().find(|folder| folder.is_dir());
        let folder = working_folder(folder.unwrap_or(Path::new(".")), "--cwd")?;
        Self::start(&args, &folder).await
    }

    async fn start(args: &AgentArgs, folder: &Path) -> Result<Self, Outcome> {
        let mut agent = Agent::of_args(args, folder)?;
        if let Ok(store) = Store::of_user()
            && store.folder().is_dir()
        {
            let_remember(&mut agent, store.folder());
        }
        let options = client_options(ClientTimeouts::default(), args.start_timeout);
        let client = Client::new(agent.launch, options);
        match client.dial().await {
            Ok(_) => Ok(Self { client }),
            Err(error) => {
                let outcome = Outcome::from(error).with_noise(client.noise());
                client.kill().await;
                Err(outcome)
            }
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) async fn end(self) {
        self.client.close().await;
    }
}

pub(super) async fn list(args: &AgentListArgs) -> Result<Printed, Outcome> {
    let cwd = args.agent.cwd.as_deref().unwrap_or(Path::new("."));
    let cwd = working_folder(cwd, "--cwd")?;
    let kept = kept(&cwd)?;
    let connected = Connected::start(&args.agent, &cwd).await?;
    let mut list = connected.client().list_sessions();
    if !args.all {
        list = list.with_cwd(&cwd);
    }
    let mut listed = Vec::new();
    let ended = loop {
        match list.next().await {
            Ok(Some(session)) => listed.push(session),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    connected.end().await;
    ended?;
    if list.left_out() > 0 {
        let note = clean!(
            "{} sessions are left out: the agent does not say in which folder they work",
            list.left_out()
        );
        tell(&note);
    }
    let name = |session: &SessionInfo| {
        let id = &session.session_id;
        let record = kept
            .iter()
            .find(|record| record.session_ids().any(|known| known == id));
        record.map(|record| record.name.to_string())
    };
    if args.json {
        let all: Vec<_> = listed
            .iter()
            .map(|session| json!({"session": session, "name": name(session)}))
            .collect();
        return Ok(Printed::json(json!({"version": 1, "sessions": all})));
    }
    if listed.is_empty() {
        return Ok("the agent remembers no sessions\n".into());
    }
    let mut table = Table::new(["id", "updated", "name here", "folder", "title"]);
    for session in &listed {
        table.row([
            about(session.session_id.as_str()),
            about(session.updated_at.as_deref().unwrap_or_default()),
            name(session).unwrap_or_default(),
            about(&session.cwd),
            about(session.title.as_deref().unwrap_or_default()),
        ]);
    }
    Ok(table
        .fitted(width(acp_process::stdio::stdout_is_terminal()))
        .into())
}

/// The sessions that are kept of a folder.
fn kept(cwd: &Path) -> Result<Vec<Record>, Outcome> {
    let folder = text_of(scope_of(cwd))?;
    let store = Store::of_user()?;
    let listing = store.list(Some(&folder));
    Ok(listing?.records)
}
