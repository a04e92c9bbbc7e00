//! The corpus: for each definition, messages as they come and as they are written.
//!
//! `tests/corpus/v1/NAME.json` holds named cases. `wire` is what comes; `written`
//! is what we write of it, where that differs; `notes` is what decoding forgives;
//! `refused` is part of the message with which it is refused.
//!
//! `tests/corpus/wild` holds messages as agents and clients in use write them, by
//! the method whose parameters or result they are.

#[rustfmt::skip]
mod definitions;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

use acp_protocol::{Notification, Request, lenient};
use definitions::{each_definition, each_method};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    wire: Box<RawValue>,
    /// In `wild`: the method whose parameters these are.
    method: Option<String>,
    /// In `wild`: the method whose result this is.
    #[serde(rename = "result of")]
    result_of: Option<String>,
    #[serde(default, deserialize_with = "present")]
    written: Option<Value>,
    #[serde(default)]
    notes: Vec<String>,
    refused: Option<String>,
}

/// Reads a member that may be `null` and is there all the same.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    serde::Deserialize::deserialize(deserializer).map(Some)
}

fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cases(name: &str) -> BTreeMap<String, Case> {
    let path = workspace().join(format!("tests/corpus/{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_case_is_read_and_written_as_it_says() {
    let mut checked = 0;
    macro_rules! check_each {
        ($($name:ident: $type:ty,)*) => { $(
            for (name, case) in cases(concat!("v1/", stringify!($name))) {
                check::<$type>(&format!("{}, {name}", stringify!($name)), &case);
                checked += 1;
            }
        )* };
    }
    each_definition!(check_each);
    assert!(checked > 1500, "{checked}");
}

#[test]
fn messages_in_use_are_read() {
    for name in ["wild/answers", "wild/messages"] {
        for (case_name, case) in cases(name) {
            let mut checked = 0;
            macro_rules! check_method {
                ($($kind:ident $params:ty,)*) => { $(check_method!(@ $kind $params);)* };
                (@ request $params:ty) => {
                    let method = Some(<$params as Request>::METHOD);
                    if case.method.as_deref() == method {
                        check::<$params>(&case_name, &case);
                        checked += 1;
                    }
                    if case.result_of.as_deref() == method {
                        check::<<$params as Request>::Response>(&case_name, &case);
                        checked += 1;
                    }
                };
                (@ notification $params:ty) => {
                    if case.method.as_deref() == Some(<$params as Notification>::METHOD) {
                        check::<$params>(&case_name, &case);
                        checked += 1;
                    }
                };
            }
            each_method!(check_method);
            assert_eq!(checked, 1, "{case_name}");
        }
    }
}

fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(name: &str, case: &Case) {
    let text = case.wire.get();
    let (read, notes) = lenient::collect(|| serde_json::from_str::<T>(text));
    if let Some(refused) = &case.refused {
        let error = read.expect_err(name).to_string();
        assert!(error.contains(refused), "{name}: {error}");
        assert!(
            serde_json::from_reader::<_, T>(text.as_bytes()).is_err(),
            "{name}"
        );
        return;
    }
    let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, case.notes, "{name}");

    // Every other way of reading gives the same.
    let from_slice: T = serde_json::from_slice(text.as_bytes()).unwrap();
    assert_eq!(from_slice, read, "{name}, from bytes");
    let from_reader: T = serde_json::from_reader(text.as_bytes()).unwrap();
    assert_eq!(from_reader, read, "{name}, from a reader");
    let tree: Value = serde_json::from_str(text).unwrap();
    let from_tree: T = serde_json::from_value(tree.clone()).unwrap();
    assert_eq!(from_tree, read, "{name}, from a tree");

    let written = serde_json::to_string(&read).unwrap();
    let written_tree: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(
        written_tree,
        *case.written.as_ref().unwrap_or(&tree),
        "{name}"
    );
    assert_eq!(
        serde_json::to_value(&read).unwrap(),
        written_tree,
        "{name}, as a tree"
    );

    // What we write needs no forgiveness.
    let (again, notes) = lenient::collect(|| serde_json::from_str::<T>(&written));
    assert_eq!(again.unwrap(), read, "{name}, again");
    assert_eq!(notes, [], "{name}, again");
}

/// Each rule of the schema has its case.
#[test]
fn corpus_is_complete() {
    let schema = fs::read_to_string(workspace().join("schema/v1/schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut missing = Vec::new();
    let mut names = Vec::new();
    macro_rules! list {
        ($($name:ident: $type:ty,)*) => { names.extend([$(stringify!($name)),*]) };
    }
    each_definition!(list);
    for name in names {
        let definition = &schema["$defs"][name];
        let cases = cases(&format!("v1/{name}"));
        for wanted in wanted(definition) {
            if !cases.contains_key(&wanted) {
                missing.push(format!("{name}: {wanted}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
}

fn wanted(definition: &Value) -> Vec<String> {
    let mut wanted = Vec::new();
    let branches = definition.get("oneOf").or_else(|| definition.get("anyOf"));
    let has_type = definition["type"].is_string();
    if has_type {
        wanted.push("minimal".to_owned());
    }
    if branches.is_some() {
        let name = if definition["properties"].is_object() && !is_tagged(branches) {
            "unrecognized scope"
        } else if definition["description"]
            .as_str()
            .is_some_and(|text| text.starts_with("JSON RPC"))
        {
            "null" // a request id, which is complete
        } else {
            "unrecognized"
        };
        wanted.push(name.to_owned());
    }
    let required = |key: &str| {
        let required = definition["required"].as_array();
        required.is_some_and(|required| required.iter().any(|name| name == key))
    };
    for (key, member) in definition["properties"].as_object().into_iter().flatten() {
        let rule = |name: &str| member.get(format!("x-deserialize-{name}")).is_some();
        let is_any = ["type", "allOf", "anyOf"]
            .iter()
            .all(|word| member.get(word).is_none());
        if required(key) {
            wanted.push(format!("without {key}"));
        } else {
            wanted.push("full".to_owned());
        }
        if rule("default-on-error") && !is_any {
            wanted.push(format!("bad {key}"));
        }
        if rule("default-on-null") {
            wanted.push(format!("null {key}"));
        }
        if rule("skip-invalid-items") {
            wanted.push(format!("bad element of {key}"));
        }
    }
    wanted
}

fn is_tagged(branches: Option<&Value>) -> bool {
    let branches = branches.and_then(Value::as_array);
    branches.into_iter().flatten().any(|branch| {
        let members = branch["properties"].as_object();
        members
            .into_iter()
            .flatten()
            .any(|(_, member)| member.get("const").is_some())
    })
}
