//! `acp sessions list`.

use clap::Args;
use serde_json::{Value, json};

use super::find::WhereArgs;
use super::words::{about, ago};
use crate::outcome::Outcome;
use crate::sessions::control::Caller;
use crate::sessions::record::Record;
use crate::sessions::store::{Listing, Store};
use crate::show::Printed;
use crate::table::{Table, width};

/// What `acp sessions list` is told.
#[derive(Debug, Default, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    place: WhereArgs,

    /// List those of all folders
    #[arg(long, conflicts_with = "cwd")]
    all: bool,

    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn list(args: &ListArgs) -> Result<Printed, Outcome> {
    let (store, mut listing) = match args.all {
        true => {
            let store = Store::of_user()?;
            let listing = store.list(None);
            (store, listing?)
        }
        false => {
            let found = args.place.sessions()?;
            (found.store, found.listing)
        }
    };
    listing
        .records
        .retain(|record| args.place.means(record.agent.label()));
    let mut states = Vec::new();
    for record in &listing.records {
        states.push(state(&store, record).await);
    }
    Ok(match args.json {
        true => {
            let all = listing.records.iter().zip(&states);
            let all: Vec<_> = all
                .map(|(record, state)| described(record, state))
                .collect();
            let list = json!({"version": 1, "sessions": all, "unreadable": listing.unreadable});
            Printed::json(list)
        }
        false => text(&listing, &states, args.all).into(),
    })
}

fn text(listing: &Listing, states: &[&str], all: bool) -> String {
    let mut text = String::new();
    let width = width(acp_process::stdio::stdout_is_terminal());
    if listing.records.is_empty() {
        text.push_str("no sessions; `acp run --session NAME` begins one\n");
    } else if all {
        let mut table = Table::new(["name", "agent", "used", "turns", "state", "folder", "about"]);
        for (record, state) in listing.records.iter().zip(states) {
            let [name, agent, used, turns, state, about] = cells(record, state);
            table.row([
                name,
                agent,
                used,
                turns,
                state,
                record.folder.clone(),
                about,
            ]);
        }
        text = table.fitted(width);
    } else {
        let mut table = Table::new(["name", "agent", "used", "turns", "state", "about"]);
        for (record, state) in listing.records.iter().zip(states) {
            table.row(cells(record, state));
        }
        text = table.fitted(width);
    }
    for path in &listing.unreadable {
        text.push_str(&format!("{} cannot be read\n", path.display()));
    }
    text
}

fn cells(record: &Record, state: &str) -> [String; 6] {
    [
        record.name.to_string(),
        record.agent.label().to_owned(),
        ago(record.used),
        record.count().to_string(),
        state.to_owned(),
        about(record.about()),
    ]
}

/// Tells what goes on in a session.
pub(super) async fn state(store: &Store, record: &Record) -> &'static str {
    match (
        Caller::call(&store.socket(&record.key())).await,
        record.closed,
    ) {
        (Ok(Some(_)), _) => "running",
        (_, Some(_)) => "closed",
        _ => "idle",
    }
}

/// Describes a session for programs.
pub(super) fn described(record: &Record, state: &str) -> Value {
    json!({
        "name": record.name,
        "agent": record.agent,
        "folder": record.folder,
        "cwd": record.cwd,
        "sessionId": record.session_id,
        "title": record.title,
        "about": about(record.about()),
        "created": record.created,
        "used": record.used,
        "closed": record.closed,
        "turns": record.count(),
        "state": state,
    })
}
