//! `acp sessions show`.

use std::fmt::Write as _;

use acp_text::one_line;
use clap::Args;

use super::find::WhereArgs;
use super::list::{described, state};
use super::words::{about, ago, names};
use crate::outcome::Outcome;
use crate::sessions::key::{AgentId, SessionName};
use crate::sessions::record::Record;
use crate::show::Printed;

/// What `acp sessions show` is told.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session [default: the one that was used last]
    name: Option<SessionName>,

    #[command(flatten)]
    place: WhereArgs,

    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn show(args: &ShowArgs) -> Result<Printed, Outcome> {
    let found = args.place.sessions()?;
    let record = found.last(args.name.as_ref())?;
    let state = state(&found.store, record).await;
    if args.json {
        let mut all = described(record, state);
        all["former"] = serde_json::json!(record.former);
        all["settings"] = serde_json::json!(record.wishes);
        all["version"] = 1.into();
        return Ok(Printed::json(all));
    }
    Ok(text(record, state).into())
}

fn text(record: &Record, state: &str) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:9} {value}");
    };
    line("name", record.name.as_str());
    line("agent", &agent(&record.agent));
    line("folder", &record.folder);
    if record.cwd != record.folder {
        line("works in", &record.cwd);
    }
    line("state", state);
    if let Some(id) = &record.session_id {
        line("session", &one_line(id.as_str(), LONGEST));
    }
    line("about", &about(record.about()));
    line("begun", &ago(record.created));
    line("used", &ago(record.used));
    line("turns", &record.count().to_string());
    if !record.wishes.is_empty() {
        let set: Vec<_> = record.wishes.changes().map(|it| it.to_string()).collect();
        line("set to", &names(set.iter().map(String::as_str)));
    }
    let offers = record.offers.in_words();
    for (what, offered) in &offers {
        line("offers", &format!("{what}: {offered}"));
    }
    let former = record
        .former
        .iter()
        .map(|former| former.session_id.as_str());
    let former = names(former);
    if !former.is_empty() {
        line("before", &one_line(&former, LONGEST));
    }
    text
}

/// Characters of an id, or of a few, that are shown.
const LONGEST: usize = 400;

fn agent(agent: &AgentId) -> String {
    match agent {
        AgentId::Command {
            label,
            argv: Some(argv),
            ..
        } => {
            format!("{label} ({})", one_line(&argv.join(" "), LONGEST))
        }
        AgentId::Command { label, .. } => {
            format!("{label} (its command is not kept: it looks as if a secret stood in it)")
        }
        other => other.label().to_owned(),
    }
}
