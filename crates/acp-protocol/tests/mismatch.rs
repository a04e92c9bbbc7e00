//! A message is refused exactly where a mismatch is found, and the mismatch names the
//! member that was spoilt.

#[rustfmt::skip]
mod definitions;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use acp_protocol::mismatch::{self, Found, Mismatch};
use acp_protocol::{Notification, Request, lenient};
use definitions::{each_definition, each_method};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(serde::Deserialize)]
struct Case {
    wire: Box<RawValue>,
}

fn cases(name: &str) -> BTreeMap<String, Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/v1");
    let text = fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// One step into a message: a member with its place among the others, or an element.
type Step = (Option<String>, usize);

/// Each place of a value, the value itself first.
fn places(value: &Value) -> Vec<Vec<Step>> {
    let mut found = vec![Vec::new()];
    let children: Vec<(Step, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .enumerate()
            .map(|(place, (key, value))| ((Some(key.clone()), place), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(place, value)| ((None, place), value))
            .collect(),
        _ => Vec::new(),
    };
    for (step, child) in children {
        for mut rest in places(child) {
            rest.insert(0, step.clone());
            found.push(rest);
        }
    }
    found
}

/// Puts another value at a place, or takes away what is there.
fn spoil(value: &mut Value, steps: &[Step], by: Option<&Value>) {
    let [(key, place), rest @ ..] = steps else {
        *value = by.cloned().unwrap_or_default();
        return;
    };
    if let ([], None) = (rest, by) {
        match value {
            Value::Object(members) => drop(members.remove(key.as_ref().unwrap())),
            Value::Array(items) => drop(items.remove(*place)),
            _ => unreachable!(),
        }
        return;
    }
    let child = match value {
        Value::Object(members) => &mut members[key.as_ref().unwrap()],
        Value::Array(items) => &mut items[*place],
        _ => unreachable!(),
    };
    spoil(child, rest, by);
}

/// Whether a path leads to this place, or into it. Members of maps are numbered.
fn leads_into(path: &str, steps: &[Step]) -> bool {
    let mut rest = path;
    for (key, place) in steps {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let by_name = key.as_ref().and_then(|key| {
            let rest = rest.strip_prefix(key.as_str())?;
            (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
        });
        let Some(behind) = by_name.or_else(|| rest.strip_prefix(&format!("[{place}]"))) else {
            return false;
        };
        rest = behind;
    }
    true
}

/// Decodes a text, and looks whether a mismatch is found exactly where that fails.
fn agree<T: DeserializeOwned>(
    name: &str,
    text: &str,
    find: impl Fn(&[u8]) -> Option<Mismatch>,
) -> Option<Mismatch> {
    let read = lenient::decode::<T>(text.as_bytes());
    let found = find(text.as_bytes());
    assert_eq!(
        read.is_err(),
        found.is_some(),
        "{name}: {text}: {:?} and {found:?}",
        read.err()
    );
    found
}

#[test]
fn every_case_of_the_corpus_is_refused_where_a_mismatch_is_found() {
    let (mut checked, mut refused) = (0, 0);
    macro_rules! check_each {
        ($($name:ident: $type:ty,)*) => { $(
            let name = stringify!($name);
            // The parts of the envelope have no shape.
            if !matches!(name, "Error" | "ErrorCode" | "RequestId") {
                for (case, Case { wire }) in cases(name) {
                    let name = format!("{name}, {case}");
                    let find = |json: &[u8]| mismatch::of_definition(stringify!($name), json);
                    refused += usize::from(agree::<$type>(&name, wire.get(), find).is_some());
                    checked += 1;
                }
            }
        )* };
    }
    each_definition!(check_each);
    assert!(checked > 1500 && refused > 200, "{checked}, {refused}");
}

/// The values put in the place of each member; nothing takes it away.
fn spoilers() -> Vec<Option<Value>> {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!("canary"),
        json!([]),
        json!(["canary"]),
        json!([1]),
        json!({}),
        json!({"canary": "canary"}),
        json!({"canary": 1}),
    ];
    std::iter::once(None).chain(values.map(Some)).collect()
}

/// The place to be named: without the tag of a union its object is another one, which
/// lacks other members.
fn around(steps: &[Step]) -> &[Step] {
    const TELLING: &[&str] = &["action", "group", "mode", "type"];
    match steps {
        [rest @ .., (Some(key), _)] if TELLING.contains(&&**key) => rest,
        all => all,
    }
}

/// Spoils each member of each message, and counts how often one was refused.
fn spoil_all<T: DeserializeOwned>(
    method: &str,
    name: &str,
    find: fn(&str, &[u8]) -> Option<Mismatch>,
) -> usize {
    let name = name.rsplit("::").next().unwrap().trim();
    let mut refused = 0;
    for (case, Case { wire }) in cases(name) {
        let whole: Value = serde_json::from_str(wire.get()).unwrap();
        if serde_json::from_str::<T>(wire.get()).is_err() {
            continue;
        }
        for steps in places(&whole) {
            for by in spoilers() {
                let mut spoilt = whole.clone();
                spoil(&mut spoilt, &steps, by.as_ref());
                let name = format!("{method}, {case}, {steps:?}");
                let found = agree::<T>(&name, &spoilt.to_string(), |json| find(method, json));
                let Some(found) = found else { continue };
                let is_named = leads_into(found.path(), around(&steps));
                assert!(is_named, "{name}: {spoilt}: {found}");
                assert!(!found.to_string().contains("canary"), "{found}");
                refused += 1;
            }
        }
    }
    refused
}

#[test]
fn every_member_of_every_method_is_named_when_it_is_spoilt() {
    let mut refused = 0;
    macro_rules! check_each {
        ($($kind:ident $params:ty,)*) => { $(check_each!(@ $kind $params);)* };
        (@ request $params:ty) => {{
            type Answer = <$params as Request>::Response;
            let method = <$params as Request>::METHOD;
            let name = stringify!($params);
            let answer = name.strip_suffix("Request").unwrap().to_owned() + "Response";
            refused += spoil_all::<$params>(method, name, mismatch::of_params);
            refused += spoil_all::<Answer>(method, &answer, mismatch::of_result);
        }};
        (@ notification $params:ty) => {
            let method = <$params as Notification>::METHOD;
            refused += spoil_all::<$params>(method, stringify!($params), mismatch::of_params);
        };
    }
    each_method!(check_each);
    assert!(refused > 5000, "{refused}");
}

#[test]
fn words() {
    let check = |method: &str, params: Value, want: &str| {
        let found = mismatch::of_params(method, params.to_string().as_bytes());
        let found = found.map_or_else(|| "nothing".to_owned(), |found| found.to_string());
        assert_eq!(found, want, "{params}");
    };
    let new = |server: Value| json!({"cwd": "/home/ada", "mcpServers": [server]});
    check(
        "session/new",
        json!({}),
        "cwd: expected a string, found nothing",
    );
    check(
        "session/new",
        json!([1]),
        "expected {cwd, mcpServers}, found a list",
    );
    check(
        "session/new",
        json!({"cwd": "/home/ada", "mcpServers": {"notes": {}}}),
        "mcpServers: expected a list of objects, found an object",
    );
    check(
        "session/new",
        new(json!({"name": "notes", "command": "/bin/notes", "args": "-v"})),
        "mcpServers[0].args: expected a list of strings, found a string",
    );
    check(
        "session/new",
        new(json!({"name": "notes", "command": "/bin/notes", "env": "TOKEN=1"})),
        "mcpServers[0].env: expected a list of {name, value}, found a string",
    );
    check(
        "session/new",
        new(json!({"name": "notes", "command": "/bin/notes", "env": {"PORT": 8080}})),
        "mcpServers[0].env[0]: expected a string, found a number",
    );
    check(
        "session/new",
        new(json!({"name": "notes", "command": "/bin/notes", "env": [{"name": "PORT"}]})),
        "mcpServers[0].env[0].value: expected a string, found nothing",
    );
    check(
        "initialize",
        json!({"protocolVersion": "1"}),
        "protocolVersion: expected a whole number from 0 to 65535, found a string",
    );
    check(
        "session/prompt",
        json!({"sessionId": "s", "prompt": [{"text": "hi"}]}),
        "prompt[0].type: expected a string, one of text, image, audio, resource_link, resource, \
         found nothing",
    );
    check(
        "session/prompt",
        json!({"sessionId": "s", "prompt": "hi"}),
        "prompt: expected a list of objects, found a string",
    );
    check("session/new", new(json!({"type": "_pipe"})), "nothing");
    check("_extension", json!(1), "nothing");
}

#[test]
fn a_mismatch_is_data_too() {
    let found = mismatch::of_params("session/close", b"{\"sessionId\": [\"\\ud83d\"]}").unwrap();
    assert_eq!(found.found(), Found::List);
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        json!({"path": "sessionId", "expected": "a string", "found": "list"})
    );
    let half = b"{\"sessionId\": \"\\ud83d\"}";
    assert_eq!(mismatch::of_params("session/close", half), None);
    for broken in [&b"{"[..], b"", b"\xff", b"{\"sessionId\" 1}", b"nothing"] {
        assert_eq!(mismatch::of_params("session/close", broken), None);
    }
}
