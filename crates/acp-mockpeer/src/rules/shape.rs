//! Which rules a message breaks that is not as the schema says.

use std::sync::LazyLock;

use serde_json::Value;

use super::table::rows;
use crate::schema::Violation;

/// The rules about parts of messages, the more exact ones first.
///
/// A place stands for everything below it, `[]` for any index. A member may be
/// missing, wrong, or either; `as a whole` is the place and nothing below it.
const TEXT: &str = include_str!("shape.tsv");

static TABLE: LazyLock<Vec<[&str; 4]>> = LazyLock::new(|| rows(TEXT).collect());

/// Names the rule that a violation of the schema breaks, if there is one about
/// that place.
///
/// `part` is what was held against the schema: params, a result or an error.
pub(crate) fn broken_by(method: &str, part: &Value, violation: &Violation) -> Option<&'static str> {
    let method = match method {
        "" => "error",
        "session/update" => part["update"]["sessionUpdate"].as_str().unwrap_or(method),
        method => method,
    };
    if let Some(rule) = server(method, part, violation) {
        return Some(rule);
    }
    let place = place(violation);
    let how = match violation.missing {
        Some(_) => "missing",
        None => "wrong",
    };
    let mut rows = TABLE.iter();
    let row = rows.find(|[of, at, fault, _]| {
        *of == method
            && match *fault {
                "as a whole" => place == *at,
                fault => (fault == how || fault == "either") && is_below(&place, at),
            }
    });
    let rule = row.map(|[.., rule]| *rule);
    rule.or_else(|| misspelled(part, violation).then_some("R015"))
}

/// Tells whether a kind is one that the protocol knows, written in camelCase.
fn misspelled(part: &Value, violation: &Violation) -> bool {
    let Some(kind) = value_at(part, &violation.path).and_then(Value::as_str) else {
        return false;
    };
    let mut snake = String::new();
    for c in kind.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake != kind && violation.message.contains(&format!("\"{snake}\""))
}

/// Finds the value at `params.update.content[0].type`.
fn value_at<'a>(part: &'a Value, path: &str) -> Option<&'a Value> {
    let mut steps = path
        .split(['.', '['])
        .map(|step| step.trim_end_matches(']'));
    steps.next()?;
    steps.try_fold(part, |value, step| match value {
        Value::Array(values) => values.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// `params.mcpServers[].command` for a server without its command.
fn place(violation: &Violation) -> String {
    let mut place = String::new();
    let mut in_index = false;
    for c in violation.path.chars() {
        match c {
            '[' => in_index = true,
            ']' => in_index = false,
            _ if in_index => continue,
            _ => {}
        }
        place.push(c);
    }
    if let Some(missing) = &violation.missing {
        place.push('.');
        place.push_str(missing);
    }
    place
}

fn is_below(place: &str, row: &str) -> bool {
    place
        .strip_prefix(row)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// An MCP server has to be as its kind says.
fn server(method: &str, part: &Value, violation: &Violation) -> Option<&'static str> {
    if !matches!(method, "session/new" | "session/load" | "session/resume") {
        return None;
    }
    let index = violation.path.strip_prefix("params.mcpServers[")?;
    let index: usize = index.split(']').next()?.parse().ok()?;
    match part["mcpServers"][index].get("type") {
        Some(_) => Some("R084"),
        None => Some("R083"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;
    use crate::schema::{self, Use, violations};
    use serde_json::json;

    #[test]
    fn every_line_is_a_row_about_something() {
        assert_eq!(TABLE.len(), TEXT.lines().count() - 1);
        for [method, .., rule] in TABLE.iter() {
            assert!(Rules::get(rule).is_some(), "{rule}");
            let update = violations(
                "session/update",
                Use::Params,
                &json!({"sessionId": "s", "update": {"sessionUpdate": method}}),
            );
            let is_update = !update.iter().any(|all| all.path.ends_with("sessionUpdate"));
            assert!(
                *method == "error" || schema::knows(method) || is_update,
                "{method}"
            );
        }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, part: Use, value: Value, expected: &str) {
        let found: Vec<&str> = violations(method, part, &value)
            .iter()
            .map(|violation| broken_by(method, &value, violation).unwrap_or(Rules::SCHEMA))
            .collect();
        assert_eq!(found.join(" "), expected, "{value}");
    }

    #[test]
    fn rules_of_places() {
        let (params, result) = (Use::Params, Use::Result);
        check("initialize", params, json!({}), "R024");
        check(
            "initialize",
            params,
            json!({"protocolVersion": "1"}),
            "R031",
        );
        check("initialize", result, json!({}), "R027");
        check(
            "initialize",
            result,
            json!({"protocolVersion": 1.5}),
            "R031",
        );
        check(
            "initialize",
            result,
            json!({"protocolVersion": 1, "agentInfo": {"name": "x"}}),
            "R029",
        );
        check("session/prompt", result, json!({}), "R109");
        check(
            "session/prompt",
            result,
            json!({"stopReason": "tired"}),
            "R110",
        );
        check("session/list", result, json!({}), "R090");
        check("", result, json!({"code": "x", "message": "y"}), "R020");
        check("", result, json!({"code": 1}), "R013");
        check(
            "session/new",
            params,
            json!({"cwd": 1, "mcpServers": []}),
            "schema",
        );
        let servers = json!([{"type": "http", "name": "a", "url": "b", "headers": []}, {"name": "x", "command": "/x", "args": []}]);
        check(
            "session/new",
            params,
            json!({"cwd": "/", "mcpServers": servers}),
            "R083",
        );
        let update = |update: Value| json!({"sessionId": "s", "update": update});
        check(
            "session/update",
            params,
            update(json!({"sessionUpdate": "usage_update", "used": 1})),
            "R114",
        );
        check(
            "session/update",
            params,
            update(json!({"sessionUpdate": "plan", "entries": [{"content": "x"}]})),
            "R138 R138",
        );
        check(
            "elicitation/create",
            params,
            json!({"sessionId": "s", "message": "x"}),
            "R193",
        );
        check(
            "elicitation/create",
            params,
            json!({"mode": "url", "message": "x", "elicitationId": "e", "url": "https://a"}),
            "R193",
        );
    }
}
