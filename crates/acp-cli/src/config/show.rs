//! `acp config show`: what is in force, and who said it.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Agent, Configuration};
use crate::table::Table;
use acp_harness::registry;

/// Shows it to a program.
pub(crate) fn json(configuration: &Configuration) -> Value {
    let rows = configuration.settings.rows().into_iter();
    let settings: serde_json::Map<_, _> = rows
        .map(|row| {
            let setting = json!({ "value": row.value, "origin": row.origin });
            (row.name.to_owned(), setting)
        })
        .collect();
    let mcp = configuration
        .mcp_names()
        .map(|(name, said)| json!({ "name": name, "origin": said }));
    json!({
        "agent": agent(&configuration.agent.value),
        "settings": settings,
        "agents": own_agents(configuration).collect::<Vec<_>>(),
        "mcp": mcp.collect::<Vec<_>>(),
        "files": {
            "global": configuration.global,
            "project": configuration.project,
        },
        "ignored": configuration.notes,
    })
}

/// Shows it to a person whose terminal is so wide.
pub(crate) fn table(configuration: &Configuration, width: Option<usize>) -> String {
    let mut table = Table::new(["setting", "value", "said by"]);
    for row in configuration.settings.rows() {
        let value = match &row.value {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        table.row([row.name.to_owned(), value, row.origin.to_string()]);
    }
    for (name, said) in configuration.mcp_names() {
        table.row([format!("mcp.{name}"), "set".to_owned(), said.to_string()]);
    }
    let mut text = table.fitted(width);
    text.push('\n');
    let mut line = |name: &str, what: String| {
        let _ = writeln!(text, "{name:11} {what}");
    };
    line(
        "your file",
        match &configuration.global {
            Some(file) if file.there => file.path.display().to_string(),
            Some(file) => format!(
                "{} (not there; acp config init writes it)",
                file.path.display()
            ),
            None => "none: neither XDG_CONFIG_HOME nor HOME says where".to_owned(),
        },
    );
    if let Some(file) = &configuration.project {
        line("project", file.with_trust());
    }
    let own: Vec<_> = own_agents(configuration).collect();
    if !own.is_empty() {
        line("own agents", own.join(", "));
    }
    for note in configuration.notes.iter().filter(|note| !note.denied) {
        line("ignored", note.to_string());
    }
    for warning in configuration.warnings() {
        line("!", warning);
    }
    text
}

/// The agents that are not built in as they are.
fn own_agents(configuration: &Configuration) -> impl Iterator<Item = &str> {
    let entries = configuration.registry.iter();
    entries
        .filter(|entry| entry.origin == registry::AgentOrigin::User)
        .map(|entry| entry.name.as_str())
}

fn agent(agent: &Agent) -> &str {
    match agent {
        Agent::Demo => "demo",
        Agent::Known(name) => name,
        Agent::Command => "",
    }
}
