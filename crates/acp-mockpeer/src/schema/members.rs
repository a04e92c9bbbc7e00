//! Members that the schema does not name.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{SCHEMA, Use, definition};

/// A member that the schema does not name where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unnamed {
    /// Where it stands, as `params.update`.
    pub(crate) place: String,
    pub(crate) name: String,
    /// The members that the schema names there.
    pub(crate) named: Vec<String>,
}

/// Objects lie this deep in each other at most.
const DEEPEST: usize = 32;

/// Finds the members of params or a result that the schema does not name.
///
/// What stands under `_meta` is free, and so are forms, which are schemas
/// themselves, and values of which the schema says nothing.
pub(crate) fn unnamed(method: &str, part: Use, value: &Value) -> Vec<Unnamed> {
    let mut all = Vec::new();
    if let Some(name) = definition(method, part) {
        walk(
            &[&SCHEMA.root["$defs"][name]],
            value,
            part.name(),
            &mut all,
            0,
        );
    }
    all
}

/// What several schemas that hold at once say of a value.
#[derive(Default)]
struct Said<'a> {
    members: BTreeMap<&'a str, Vec<&'a Value>>,
    items: Vec<&'a Value>,
    /// Members besides these are allowed.
    free: bool,
}

fn walk(schemas: &[&Value], value: &Value, place: &str, all: &mut Vec<Unnamed>, depth: usize) {
    if depth > DEEPEST || !(value.is_object() || value.is_array()) {
        return;
    }
    let mut said = Said::default();
    for schema in schemas {
        gather(schema, value, &mut said, depth);
    }
    match value {
        Value::Object(members) if !said.members.is_empty() => {
            object(&said, members, place, all, depth);
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                walk(
                    &said.items,
                    value,
                    &format!("{place}[{index}]"),
                    all,
                    depth + 1,
                );
            }
        }
        _ => {}
    }
}

fn object(
    said: &Said<'_>,
    members: &Map<String, Value>,
    place: &str,
    all: &mut Vec<Unnamed>,
    depth: usize,
) {
    for (name, value) in members {
        match said.members.get(name.as_str()) {
            _ if matches!(name.as_str(), "_meta" | "requestedSchema") => {}
            Some(schemas) => walk(schemas, value, &format!("{place}.{name}"), all, depth + 1),
            None if said.free => {}
            None => all.push(Unnamed {
                place: place.to_owned(),
                name: name.clone(),
                named: said.members.keys().map(ToString::to_string).collect(),
            }),
        }
    }
}

/// Takes what a schema says of a value; of alternatives those that can be meant.
fn gather<'a>(schema: &'a Value, value: &Value, said: &mut Said<'a>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    if let Some(target) = target(schema) {
        gather(target, value, said, depth + 1);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        said.members.entry(name).or_default().push(member);
    }
    if schema["items"].is_object() {
        said.items.push(&schema["items"]);
    }
    let allows = |keyword: &str| !matches!(schema[keyword], Value::Null | Value::Bool(false));
    said.free |= allows("additionalProperties") || allows("unevaluatedProperties");
    for all in schema["allOf"].as_array().into_iter().flatten() {
        gather(all, value, said, depth + 1);
    }
    for keyword in ["oneOf", "anyOf"] {
        for one in schema[keyword].as_array().into_iter().flatten() {
            if can_be(one, value, depth) {
                gather(one, value, said, depth + 1);
            }
        }
    }
}

fn target(schema: &Value) -> Option<&'static Value> {
    let name = schema["$ref"].as_str()?.strip_prefix("#/$defs/")?;
    SCHEMA.root["$defs"].get(name)
}

/// Tells whether a value can be meant by an alternative: it is of its type, and
/// has its tags.
fn can_be(schema: &Value, value: &Value, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    if let Some(target) = target(schema) {
        return can_be(target, value, depth + 1);
    }
    let is_type = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("number" | "integer") => value.is_number(),
        _ => true,
    };
    let of_type = match &schema["type"] {
        Value::Array(names) => names.iter().any(is_type),
        name => is_type(name),
    };
    let mut members = schema["properties"].as_object().into_iter().flatten();
    let tagged = members.all(|(name, member)| match member.get("const") {
        Some(tag) => value[name] == *tag,
        None => true,
    });
    let excluded = schema["not"]["anyOf"].as_array().into_iter().flatten();
    let is_excluded = excluded
        .into_iter()
        .any(|one| can_be(one, value, depth + 1));
    of_type && tagged && !is_excluded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::methods;
    use serde_json::json;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(method: &str, part: Use, value: Value, expected: &[&str]) {
        let found: Vec<String> = unnamed(method, part, &value)
            .iter()
            .map(|unnamed| format!("{}.{}", unnamed.place, unnamed.name))
            .collect();
        assert_eq!(found, expected);
    }

    fn update(update: Value) -> Value {
        json!({"sessionId": "s", "update": update})
    }

    #[test]
    fn what_is_named_is_named() {
        let update = |value| check("session/update", Use::Params, update(value), &[]);
        update(
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content":
            {"type": "resource", "resource": {"uri": "file:///a", "text": "b", "_meta": {"x": 1}}}}),
        );
        update(
            json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "rawInput": {"any": {"thing": 1}},
            "content": [{"type": "diff", "path": "/a", "oldText": null, "newText": ""}, {"type": "terminal", "terminalId": "t"}],
            "locations": [{"path": "/a", "line": 1}]}),
        );
        check(
            "elicitation/create",
            Use::Params,
            json!({"mode": "form", "sessionId": "s", "message": "m", "requestedSchema": {"type": "object", "$comment": "x"}}),
            &[],
        );
        check(
            "elicitation/create",
            Use::Params,
            json!({"mode": "_popup", "sessionId": "s", "message": "m", "size": 4}),
            &[],
        );
        check(
            "session/new",
            Use::Params,
            json!({"cwd": "/a", "mcpServers": [
                {"name": "a", "command": "/b", "args": [], "env": [{"name": "x", "value": "y"}]},
                {"type": "http", "name": "a", "url": "u", "headers": []}]}),
            &[],
        );
    }

    #[test]
    fn what_is_not_named_is_found_where_it_stands() {
        check(
            "session/update",
            Use::Params,
            update(json!({"sessionUpdate": "agent_message_chunk", "tokens": 1,
                "content": {"type": "text", "text": "a", "mimeType": "b"}})),
            &["params.update.content.mimeType", "params.update.tokens"],
        );
        check(
            "session/new",
            Use::Result,
            json!({"sessionId": "s", "color": 1, "configOptions": [{"id": "a", "name": "b", "type": "select", "currentValue": "c", "options": [{"value": "c", "name": "d", "icon": "e"}]}]}),
            &["result.color", "result.configOptions[0].options[0].icon"],
        );
        check(
            "initialize",
            Use::Result,
            json!({"protocolVersion": 1, "agentCapabilities": {"load_session": true, "auth": {"x": {}}}}),
            &[
                "result.agentCapabilities.auth.x",
                "result.agentCapabilities.load_session",
            ],
        );
        check("_own/method", Use::Params, json!({"a": 1}), &[]);
    }

    /// The plain values of every method hold nothing of their own.
    #[test]
    fn plain_values_are_named() {
        let all: Value = serde_json::from_str(include_str!("../player/plain.json")).unwrap();
        for method in methods() {
            check(method, Use::Params, all[method]["params"].clone(), &[]);
            check(method, Use::Result, all[method]["result"].clone(), &[]);
        }
        for (kind, members) in all["update"].as_object().unwrap() {
            let mut members = members.clone();
            members["sessionUpdate"] = kind.as_str().into();
            check("session/update", Use::Params, update(members), &[]);
        }
    }
}
