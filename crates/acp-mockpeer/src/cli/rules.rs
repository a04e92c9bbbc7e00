//! The command `rules`: what the protocol demands, and what tries it.

use std::io::Write;

use serde_json::{Value, json};

use super::{Misuse, RulesArgs};
use crate::rules::{Rule, Rules};
use crate::suite::{self, Coverage};
use acp_recording::PeerSide;

/// How rules are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Human,
    Json,
    Markdown,
}

pub(super) fn run(args: &RulesArgs) -> Result<u8, Misuse> {
    let mut chosen = Vec::new();
    for id in &args.rules {
        let rule = Rules::get(id).ok_or_else(|| Misuse(format!("there is no rule {id}")))?;
        chosen.push(rule);
    }
    if chosen.is_empty() {
        chosen.extend(Rules::all());
    }
    let text = match args.format {
        Format::Markdown => suite::markdown(),
        Format::Json => {
            let all: Vec<Value> = chosen.into_iter().map(value).collect();
            format!("{:#}\n", Value::Array(all))
        }
        Format::Human => chosen.into_iter().map(shown).collect(),
    };
    super::print(|to| to.write_all(text.as_bytes()))
}

fn covered(rule: &Rule) -> impl Iterator<Item = &'static Coverage> {
    suite::coverage().iter().filter(move |all| all.rule == rule)
}

fn sides(rule: &Rule) -> Vec<&'static str> {
    rule.sides.iter().map(|side| side.name()).collect()
}

fn shown(rule: &'static Rule) -> String {
    let mut text = format!(
        "{rule} {} {}: {} [{}]\n",
        rule.level,
        sides(rule).join(" and "),
        rule.text,
        rule.source,
    );
    let mut line = |name: &str, what: String| {
        if !what.is_empty() {
            text.push_str(&format!("  {name:<9} {what}\n"));
        }
    };
    line("about", rule.topic.to_owned());
    line("twins", rule.twins.join(" "));
    line("kit", rule.tck.join(" "));
    for all in covered(rule) {
        line("scenarios", all.scenarios.join(" "));
        if let Some(why) = all.reason() {
            line("not tried", format!("{}: {why}", all.side));
        }
    }
    text
}

fn value(rule: &'static Rule) -> Value {
    let of = |side: PeerSide| {
        let all = covered(rule).find(|all| all.side == side)?;
        Some(json!({
            "scenarios": all.scenarios,
            "mutants": all.mutants.len(),
            "why_not": all.reason(),
        }))
    };
    json!({
        "id": rule.id,
        "level": rule.level.name(),
        "sides": sides(rule),
        "topic": rule.topic,
        "text": rule.text,
        "source": rule.source,
        "decided_by": <&str>::from(rule.decided_by),
        "twins": rule.twins,
        "tck": rule.tck,
        "agent": of(PeerSide::Agent),
        "client": of(PeerSide::Client),
    })
}
