//! `acp sessions history`.

use clap::Args;

use super::find::WhereArgs;
use super::words::ago;
use crate::outcome::Outcome;
use crate::sessions::key::SessionName;
use crate::sessions::record::{Record, Said, Turn};
use crate::show::Printed;

/// What `acp sessions history` is told.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The session [default: the one that was used last]
    name: Option<SessionName>,

    #[command(flatten)]
    place: WhereArgs,

    /// Show only so many turns, the newest
    #[arg(long, short = 'n', value_name = "NUMBER")]
    last: Option<usize>,

    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn history(args: &HistoryArgs) -> Result<Printed, Outcome> {
    let found = args.place.sessions()?;
    let record = found.last(args.name.as_ref())?;
    let first = args
        .last
        .map_or(0, |last| record.turns.len().saturating_sub(last));
    let turns = &record.turns[first..];
    Ok(match args.json {
        true => {
            let history = serde_json::json!({
                "version": 1,
                "name": record.name,
                "agent": record.agent,
                "leftOut": record.left_out + first as u64,
                "turns": turns,
            });
            Printed::json(history)
        }
        false => text(record, turns, first).into(),
    })
}

fn text(record: &Record, turns: &[Turn], first: usize) -> String {
    let mut text = String::new();
    let left_out = record.left_out + first as u64;
    if left_out > 0 {
        text.push_str(&format!("({left_out} turns before)\n\n"));
    }
    let mut chapter = turns.first().map_or(0, |turn| turn.chapter);
    for turn in turns {
        if turn.chapter != chapter {
            chapter = turn.chapter;
            text.push_str("(begun anew)\n\n");
        }
        text.push_str(&format!("({})\n", ago(turn.begun)));
        for asked in std::iter::once(&turn.prompt).chain(&turn.added) {
            quote(asked, &mut text);
        }
        if !turn.report.text.trim().is_empty() {
            text.push('\n');
            text.push_str(turn.report.text.trim_matches('\n'));
            text.push_str(if turn.report.cut { " …\n" } else { "\n" });
        }
        match turn.end() {
            "end_turn" => {}
            end => text.push_str(&format!("({end})\n")),
        }
        text.push('\n');
    }
    text
}

fn quote(asked: &Said, text: &mut String) {
    for line in asked.text.trim_matches('\n').split('\n') {
        text.push_str(if line.is_empty() { ">" } else { "> " });
        text.push_str(line);
        text.push('\n');
    }
    if asked.cut {
        text.push_str("> …\n");
    }
}
