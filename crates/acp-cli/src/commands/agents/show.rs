//! How agents are shown.

use std::fmt::Write as _;

use acp_harness::registry::AgentOrigin;
use serde_json::{Value, json};

use super::{Seen, SeenVersion};
use crate::agent::keys::KeyFound;
use crate::config::{self, Agent, Configuration};
use crate::table::Table;

/// Shows all agents: those that are installed first.
pub(super) fn all(configuration: &Configuration, seen: &[Seen], width: Option<usize>) -> String {
    let mut here = Table::new(["agent", "version", "login", "program"]);
    let mut missing = Table::new(["not installed", "missing", "to install"]);
    let (mut installed, mut others) = (0, 0);
    for seen in seen {
        let entry = &seen.entry;
        match &seen.programs {
            Ok(programs) => {
                installed += 1;
                let mark = if is_chosen(configuration, seen) {
                    "*"
                } else {
                    ""
                };
                here.row([
                    format!("{}{mark}", entry.name),
                    seen.version.shown(),
                    login(seen),
                    programs.command().display().to_string(),
                ]);
            }
            Err(error) => {
                others += 1;
                missing.row([
                    entry.name.clone(),
                    error.missing.join(", "),
                    or_dash(&entry.install).to_owned(),
                ]);
            }
        }
    }
    let mut text = String::new();
    if installed > 0 {
        text.push_str(&here.fitted(width));
        text.push('\n');
    }
    if others > 0 {
        text.push_str(&missing.fitted(width));
        text.push('\n');
    }
    let agent = &configuration.agent;
    let _ = match &agent.value {
        Agent::Known(name) => writeln!(text, "* chosen here: {name} ({})", agent.origin),
        _ if installed == 0 => writeln!(
            text,
            "None is installed. The built-in demo agent answers: acp run \"hello\""
        ),
        _ => writeln!(
            text,
            "None is chosen: acp run --agent NAME, or `agent` in the configuration (acp config init)"
        ),
    };
    text
}

/// Shows all that is known of one.
pub(super) fn one(configuration: &Configuration, seen: &Seen) -> String {
    let entry = &seen.entry;
    let mut text = format!("{} ({})\n\n", entry.title, entry.name);
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:11} {value}");
        }
    };
    let origin = match entry.origin {
        AgentOrigin::User => "your configuration",
        AgentOrigin::Imported => "the registry's document of your configuration",
        _ => "built in",
    };
    line("known from", origin);
    line("also called", &entry.aliases.join(", "));
    match &seen.programs {
        Ok(programs) => line("installed", &programs.command().display().to_string()),
        Err(error) => line("missing", &error.missing.join(", ")),
    }
    line("started by", &entry.invocation());
    line("version", &seen.version.shown());
    if let Some(minimum) = entry.min_version {
        line("at least", &minimum.to_string());
    }
    line("login", &login(seen));
    line("to log in", &entry.login.hint);
    line("keys", &entry.login.keys.join(", "));
    line("model", entry.model.as_deref().unwrap_or_default());
    line("to install", &entry.install);
    line("described", &entry.docs);
    if entry.quirks.unasked_tools {
        let asks = match &entry.quirks.asking_mode {
            Some(mode) => format!("runs tools without asking, unless in the mode {mode}"),
            None => "runs tools without asking".to_owned(),
        };
        line("beware", &asks);
    }
    if is_chosen(configuration, seen) {
        line("chosen by", &configuration.agent.origin.to_string());
    }
    let next = match &seen.programs {
        Ok(_) => format!("acp doctor {} asks it whether all is well", entry.name),
        Err(_) => format!("install it, and then: acp doctor {}", entry.name),
    };
    let _ = writeln!(text, "\n{next}");
    text
}

/// Shows all of them to a program.
pub(super) fn all_json(configuration: &Configuration, seen: &[Seen]) -> Value {
    let agents: Vec<_> = seen.iter().map(|seen| json(configuration, seen)).collect();
    json!({ "agents": agents })
}

/// Shows one to a program.
pub(super) fn json(configuration: &Configuration, seen: &Seen) -> Value {
    let entry = &seen.entry;
    let (program, missing) = match &seen.programs {
        Ok(programs) => (Some(programs.command()), Vec::new()),
        Err(error) => (None, error.missing.clone()),
    };
    let (key, variable) = match &seen.key {
        Some(KeyFound::Variable(name)) => ("variable", Some(name)),
        Some(KeyFound::Stored) => ("stored", None),
        Some(KeyFound::None) => ("none", None),
        None => ("unknown", None),
    };
    let version = match &seen.version {
        SeenVersion::Told(version) => json!({ "state": "told", "version": version }),
        SeenVersion::TooOld { found, minimum } => {
            json!({ "state": "too_old", "version": found, "minimum": minimum })
        }
        SeenVersion::Said(said) => json!({ "state": "unclear", "said": said }),
        SeenVersion::Silent(reason) => json!({ "state": "silent", "reason": reason }),
        SeenVersion::Fetched(version) => json!({ "state": "fetched", "version": version }),
        SeenVersion::Unknown => json!({ "state": "unknown" }),
    };
    json!({
        "name": entry.name,
        "title": entry.title,
        "aliases": entry.aliases,
        "origin": entry.origin,
        "chosen": is_chosen(configuration, seen),
        "installed": seen.programs.is_ok(),
        "program": program,
        "missing": missing,
        "invocation": entry.invocation(),
        "version": version,
        "login": { "key": key, "variable": variable, "hint": entry.login.hint },
        "install": entry.install,
        "docs": entry.docs,
    })
}

/// What is known of its login.
fn login(seen: &Seen) -> String {
    match &seen.key {
        Some(KeyFound::Variable(name)) => format!("key in {name}"),
        Some(KeyFound::Stored) => "stored key".to_owned(),
        Some(KeyFound::None) => "no key; its own is not known".to_owned(),
        None => "not known".to_owned(),
    }
}

fn is_chosen(configuration: &Configuration, seen: &Seen) -> bool {
    configuration.agent.value == config::Agent::Known(seen.entry.name.clone())
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}
