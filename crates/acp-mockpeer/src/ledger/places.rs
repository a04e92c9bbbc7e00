//! Values at places of a message, as the tables of rules name them.

use serde_json::Value;

/// Finds the values at a place such as `params.mcpServers[].command`, each with the place
/// as people read it: `params.mcpServers[0].command`.
///
/// The first word of the place stands for the value itself.
pub(crate) fn at<'a>(value: &'a Value, place: &str) -> Vec<(String, &'a Value)> {
    let mut steps = place.split('.');
    let mut found = vec![(steps.next().unwrap_or_default().to_owned(), value)];
    for step in steps {
        let name = step.trim_end_matches("[]");
        let members = found.into_iter();
        let members =
            members.filter_map(|(at, value)| Some((format!("{at}.{name}"), value.get(name)?)));
        found = match name == step {
            true => members.collect(),
            false => members
                .flat_map(|(at, value)| elements(at, value))
                .collect(),
        };
    }
    found
}

fn elements(at: String, value: &Value) -> impl Iterator<Item = (String, &Value)> {
    let values = value.as_array().into_iter().flatten();
    values
        .enumerate()
        .map(move |(index, value)| (format!("{at}[{index}]"), value))
}

/// Names what a message is in the tables: its method, or the kind of its update.
pub(crate) fn kind<'a>(method: &'a str, params: &'a Value) -> &'a str {
    match method {
        "session/update" => params["update"]["sessionUpdate"].as_str().unwrap_or(method),
        method => method,
    }
}
