//! Checks parts of messages against the pinned schema.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use parking_lot::Mutex;
use serde_json::Value;

use super::{SCHEMA, Use, definition};

/// One thing the schema does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Where, as `params.update.kind`.
    pub(crate) path: String,
    /// The member that is not there.
    pub(crate) missing: Option<String>,
    pub(crate) message: String,
}

/// What is not allowed in a part of a message; nothing is known of foreign methods.
///
/// `error` objects go under the method `""`.
pub(crate) fn violations(method: &str, part: Use, value: &Value) -> Vec<Violation> {
    let root = match method {
        "" => "error",
        _ => part.name(),
    };
    let name = match method {
        "" => Some("Error"),
        method => definition(method, part),
    };
    let Some(validator) = name.and_then(validator) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for error in validator.iter_errors(value) {
        collect(&error, &mut all, 0);
    }
    for violation in &mut all {
        violation.path.insert_str(0, root);
    }
    all.dedup();
    all
}

/// Builds the validator of a definition once a process.
fn validator(name: &'static str) -> Option<&'static Validator> {
    static BUILT: LazyLock<Mutex<HashMap<&'static str, Option<&'static Validator>>>> =
        LazyLock::new(Mutex::default);
    let mut built = BUILT.lock();
    *built.entry(name).or_insert_with(|| {
        let mut needed = serde_json::Map::new();
        gather(name, &mut needed);
        let schema = serde_json::json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": format!("#/$defs/{name}"),
            "$defs": needed,
        });
        // One for each definition that is asked for, for the life of the process.
        jsonschema::validator_for(&schema)
            .ok()
            .map(|validator| &*Box::leak(Box::new(validator)))
    })
}

/// Takes a definition and those it leads to.
fn gather(name: &str, into: &mut serde_json::Map<String, Value>) {
    if into.contains_key(name) {
        return;
    }
    let definition = &SCHEMA.root["$defs"][name];
    into.insert(name.to_owned(), definition.clone());
    let mut open = vec![definition];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(next) = members.get("$ref").and_then(Value::as_str)
                    && let Some(next) = next.strip_prefix("#/$defs/")
                {
                    gather(next, into);
                }
                open.extend(members.values());
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
}

/// Turns an error into words; of a union it takes the branch that was meant.
fn collect(error: &ValidationError<'_>, all: &mut Vec<Violation>, depth: usize) {
    let branches = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            Some(context)
        }
        _ => None,
    };
    if let Some(branches) = branches
        && depth < 16
    {
        let meant: Vec<&Vec<ValidationError<'static>>> =
            branches.iter().filter(|branch| is_meant(branch)).collect();
        if let [meant] = meant.as_slice() {
            for error in *meant {
                collect(error, all, depth + 1);
            }
            return;
        }
        if let Some(tags) = tags(branches) {
            all.push(Violation {
                path: path(&tags.0),
                missing: None,
                message: format!("this is none of {}", tags.1.join(", ")),
            });
            return;
        }
    }
    all.push(Violation {
        path: path(error.instance_path().as_str()),
        missing: match error.kind() {
            ValidationErrorKind::Required { property } => property.as_str().map(ToOwned::to_owned),
            _ => None,
        },
        message: shorten(&error.to_string()),
    });
}

/// A branch is meant when its tag fits and it is not the `null` of an optional member.
fn is_meant(branch: &[ValidationError<'static>]) -> bool {
    !branch.iter().any(|error| match error.kind() {
        ValidationErrorKind::Constant { .. } | ValidationErrorKind::Not { .. } => true,
        ValidationErrorKind::Type { .. } => true,
        // A required tag that is not there.
        ValidationErrorKind::Required { property } => [
            "\"type\"",
            "\"sessionUpdate\"",
            "\"mode\"",
            "\"outcome\"",
            "\"action\"",
        ]
        .contains(&property.to_string().as_str()),
        _ => false,
    })
}

/// Where the value is that tells the branches apart and what it may be, if all have one.
fn tags(branches: &[Vec<ValidationError<'static>>]) -> Option<(String, Vec<String>)> {
    let mut member = None;
    let mut tags = Vec::new();
    for branch in branches {
        let constant = branch.iter().find_map(|error| match error.kind() {
            ValidationErrorKind::Constant { expected_value } => Some((
                error.instance_path().to_string(),
                expected_value.to_string(),
            )),
            _ => None,
        });
        let (at, tag) = constant?;
        if *member.get_or_insert_with(|| at.clone()) != at {
            return None;
        }
        tags.push(tag);
    }
    Some((member?, tags))
}

/// Writes a JSON pointer as `.update.content[0]`.
fn path(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if step.chars().all(|c| c.is_ascii_digit()) && !step.is_empty() {
            path.push_str(&format!("[{step}]"));
        } else {
            path.push('.');
            path.push_str(&step);
        }
    }
    path
}

/// Values stand in these messages; long ones are cut.
fn shorten(message: &str) -> String {
    acp_text::shorten_middle(message, 300)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, part: Use, value: Value, expected: Expect) {
        let found: Vec<String> = violations(method, part, &value)
            .iter()
            .map(|violation| format!("{}: {}", violation.path, violation.message))
            .collect();
        expected.assert_eq(&found.join("\n"));
    }

    #[test]
    fn violations_name_the_place() {
        let params = Use::Params;
        check(
            "initialize",
            params,
            json!({"protocolVersion": 1}),
            expect![""],
        );
        check(
            "initialize",
            params,
            json!({}),
            expect![[r#"params: "protocolVersion" is a required property"#]],
        );
        check(
            "initialize",
            params,
            json!({"protocolVersion": "1"}),
            expect![[r#"params.protocolVersion: "1" is not of type "integer""#]],
        );
        check(
            "session/new",
            params,
            json!({"cwd": 1, "mcpServers": [{"name": "a"}]}),
            expect![[r#"
            params.cwd: 1 is not of type "string"
            params.mcpServers[0]: "command" is a required property
            params.mcpServers[0]: "args" is a required property
            params.mcpServers[0]: "env" is a required property"#]],
        );
        check(
            "session/update",
            params,
            json!({"sessionId": "s", "update": {"sessionUpdate": "fireworks"}}),
            expect![[
                r#"params.update.sessionUpdate: this is none of "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "usage_update", "notice", "compaction_update", "compaction_summary_chunk""#
            ]],
        );
        check(
            "session/update",
            params,
            json!({"sessionId": "s", "update": {"sessionUpdate": "tool_call", "title": "x", "kind": "dance", "toolCallId": "c"}}),
            expect![[
                r#"params.update.kind: this is none of "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other""#
            ]],
        );
        check(
            "session/update",
            params,
            json!({"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}}),
            expect![[r#"params.update.content: "text" is a required property"#]],
        );
        check(
            "session/prompt",
            Use::Result,
            json!({"stopReason": "tired"}),
            expect![[
                r#"result.stopReason: this is none of "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled""#
            ]],
        );
        check(
            "session/prompt",
            Use::Result,
            json!({}),
            expect![[r#"result: "stopReason" is a required property"#]],
        );
        check(
            "",
            Use::Result,
            json!({"code": "x"}),
            expect![[r#"
            error: "message" is a required property
            error.code: "x" is not valid under any of the schemas listed in the 'anyOf' keyword"#]],
        );
        check("_own/method", params, json!(5), expect![""]);
    }
}
