//! Plain values for what a sent message leaves out.
//!
//! A scenario says what matters. When such a line is sent, the members that
//! the schema requires and the line does not name are filled in from here.

use std::sync::LazyLock;

use indexmap::IndexMap;

use crate::language::lone_pattern;
use crate::language::pattern::{Object, Part, Pattern, Template};
use crate::schema::Use;

/// Stands for the session that was made or opened last.
pub(crate) const SESSION: &str = "@session";

/// Stands for a session that is made now.
pub(crate) const NEW_SESSION: &str = crate::language::writing::NEW_SESSION;

/// The name of the folder a conversation is about.
pub(crate) const CWD: &str = "cwd";

static PLAIN: LazyLock<Object> = LazyLock::new(|| {
    // The text is part of this crate, and a test reads all of it.
    match lone_pattern(include_str!("plain.json").trim()) {
        Ok(Pattern::Object(object)) => object,
        _ => Object::default(),
    }
});

/// Where plain values for a part of a message are.
pub(crate) type Plain = IndexMap<String, Pattern>;

/// Returns the members that a part of a message needs, with plain values.
///
/// `given` is what the scenario says of it: some members depend on others.
pub(crate) fn plain(method: &str, part: Use, given: Option<&Pattern>) -> Plain {
    let part = part.name();
    let mut members = members(&[method, part]);
    match method {
        "elicitation/create" if part == "params" => {
            if given.and_then(|given| text_of(given, "mode")) == Some("url") {
                members = self::members(&["mode", "url"]);
            }
            // It belongs to a session or to a request.
            if given.is_some_and(|given| given.member("requestId").is_some()) {
                members.shift_remove("sessionId");
            }
        }
        "session/update" if part == "params" => {
            let update = given.and_then(|given| given.member("update"));
            if let Some(update) = update
                && let Some(kind) = text_of(update, "sessionUpdate")
            {
                let update = completed(update, self::members(&["update", kind]));
                members.shift_remove("update");
                members.insert("update".to_owned(), update);
            }
        }
        _ => {}
    }
    members
}

/// Adds members that an object does not name; other patterns stay as they are.
pub(crate) fn completed(pattern: &Pattern, plain: Plain) -> Pattern {
    let Pattern::Object(object) = pattern else {
        return pattern.clone();
    };
    let mut object = object.clone();
    for (key, value) in plain {
        match object.members.get_mut(&key) {
            // What is completed below takes the place of what was said.
            Some(said) if completes(said, &value) => *said = value,
            Some(_) => {}
            None => {
                object.members.insert(key, value);
            }
        }
    }
    Pattern::Object(object)
}

/// Tells whether a value is what was said, and more.
fn completes(said: &Pattern, value: &Pattern) -> bool {
    match (said, value) {
        (Pattern::Object(said), Pattern::Object(value)) => {
            said.members.len() < value.members.len()
                && said
                    .members
                    .keys()
                    .eq(value.members.keys().take(said.members.len()))
        }
        _ => false,
    }
}

fn text_of<'a>(pattern: &'a Pattern, key: &str) -> Option<&'a str> {
    match pattern.member(key)?.sent() {
        Pattern::Text(template) => template.literal(),
        _ => None,
    }
}

/// Looks up plain members, with names where they stand for what the play knows.
fn members(path: &[&str]) -> Plain {
    let mut at = &*PLAIN;
    for key in path {
        match at.members.get(*key) {
            Some(Pattern::Object(object)) => at = object,
            _ => return Plain::new(),
        }
    }
    let members = at.members.iter();
    members
        .map(|(key, value)| (key.clone(), named(value)))
        .collect()
}

/// Puts names where `@` marks them: no scenario can write these itself.
fn named(pattern: &Pattern) -> Pattern {
    let Pattern::Text(template) = pattern else {
        return pattern.clone();
    };
    let Some(text) = template.literal() else {
        return pattern.clone();
    };
    if text == SESSION || text == NEW_SESSION {
        return Pattern::Name(text.into());
    }
    match text.strip_prefix("@cwd") {
        Some("") => Pattern::Name(CWD.into()),
        Some(rest) => Pattern::Text(Template {
            parts: vec![Part::Name(CWD.into()), Part::Literal(rest.to_owned())],
        }),
        None => pattern.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{definition, is_request, methods, violations};

    use serde_json::Value;

    fn plain_json() -> Value {
        let mut value = serde_json::from_str(include_str!("plain.json")).unwrap();
        fill(&mut value);
        value
    }

    /// Puts texts where names stand.
    fn fill(value: &mut Value) {
        match value {
            Value::String(text) => *text = text.replace("@cwd", "/home/ada"),
            Value::Array(all) => all.iter_mut().for_each(fill),
            Value::Object(all) => all.values_mut().for_each(fill),
            _ => {}
        }
    }

    #[test]
    fn every_method_has_valid_plain_values() {
        let all = plain_json();
        for method in methods() {
            assert!(definition(method, Use::Params).is_some());
            for (part, name) in [(Use::Params, "params"), (Use::Result, "result")] {
                let value = &all[method][name];
                if part == Use::Result && !is_request(method) {
                    assert!(value.is_null());
                    continue;
                }
                assert!(value.is_object(), "{method} has no plain {name}");
                assert_eq!(violations(method, part, value), [], "{method} {name}");
                let members = value.as_object().unwrap();
                assert_eq!(
                    plain(method, part, None).len(),
                    members.len(),
                    "{method} {name}"
                );
            }
        }
    }

    #[test]
    fn every_kind_of_update_has_valid_plain_values() {
        let all = plain_json();
        let kinds = all["update"].as_object().unwrap();
        let schema: Value = serde_json::from_str(include_str!("../../schema.json")).unwrap();
        let known = schema["$defs"]["SessionUpdate"]["oneOf"]
            .as_array()
            .unwrap();
        assert_eq!(kinds.len(), known.len());
        for (kind, members) in kinds {
            let mut update = members.clone();
            update["sessionUpdate"] = kind.as_str().into();
            let params = serde_json::json!({"sessionId": "s", "update": update});
            assert_eq!(
                violations("session/update", Use::Params, &params),
                [],
                "{kind}"
            );
        }
    }

    /// What is filled in stays small: members that may be left out are left out.
    #[test]
    fn plain_values_hold_only_what_is_required() {
        let all = plain_json();
        for method in methods().filter(|method| *method != "session/update") {
            for (part, name) in [(Use::Params, "params"), (Use::Result, "result")] {
                let value = &all[method][name];
                // An exit status needs neither of its members, and has to have one.
                if method == "terminal/wait_for_exit" && part == Use::Result {
                    continue;
                }
                for key in value.as_object().into_iter().flat_map(|all| all.keys()) {
                    let mut without = value.clone();
                    without.as_object_mut().unwrap().remove(key);
                    assert_ne!(
                        violations(method, part, &without),
                        [],
                        "{method} {name} {key}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_said_stays() {
        let said = lone_pattern(r#"{"update": {"sessionUpdate": "plan", "extra": 1}}"#).unwrap();
        let all = completed(&said, plain("session/update", Use::Params, Some(&said)));
        assert_eq!(
            all.to_string(),
            r#"{"update": {"sessionUpdate": "plan", "extra": 1, "entries": []}, "sessionId": $@session}"#
        );
    }
}
