//! The method table against the schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use acp_protocol::method::{MethodKind, Side};
use acp_protocol::rpc::ErrorCode;
use acp_protocol::v1::ProtocolVersion;
use acp_protocol::v1::methods::{self, AgentMethod, ClientMethod, ProtocolMethod};
use acp_protocol::{Notification, Request};
use serde_json::Value;

#[rustfmt::skip]
mod definitions;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/v1/schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn table_is_what_the_schema_says() {
    let mut expected: BTreeMap<String, (&str, BTreeSet<&str>)> = BTreeMap::new();
    let schema = schema();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if let Some(method) = definition["x-method"].as_str() {
            let side = definition["x-side"].as_str().unwrap();
            let entry = expected
                .entry(method.to_owned())
                .or_insert((side, BTreeSet::new()));
            entry.1.insert(if name.ends_with("Notification") {
                "notification"
            } else {
                "request"
            });
        }
    }
    let found: BTreeMap<String, (&str, BTreeSet<&str>)> = methods::ALL
        .iter()
        .map(|method| {
            let side = match method.served_by {
                Side::Agent => "agent",
                Side::Client => "client",
                Side::Both => "protocol",
            };
            let kind = match method.kind {
                MethodKind::Request => "request",
                MethodKind::Notification => "notification",
            };
            (method.name.to_owned(), (side, BTreeSet::from([kind])))
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn every_method_has_its_types() {
    let mut typed = BTreeMap::new();
    macro_rules! collect {
        ($($kind:ident $params:ty,)*) => { $(collect!(@ $kind $params);)* };
        (@ request $params:ty) => {
            typed.insert(
                <$params as Request>::METHOD,
                (<$params as Request>::SERVED_BY, MethodKind::Request),
            );
        };
        (@ notification $params:ty) => {
            typed.insert(
                <$params as Notification>::METHOD,
                (<$params as Notification>::SERVED_BY, MethodKind::Notification),
            );
        };
    }
    definitions::each_method!(collect);
    let table: BTreeMap<_, _> = methods::ALL
        .iter()
        .map(|method| (method.name, (method.served_by, method.kind)))
        .collect();
    assert_eq!(typed, table);
}

#[test]
fn methods_are_found_by_name_on_their_side_only() {
    assert_eq!(
        AgentMethod::find("session/new"),
        Some(AgentMethod::SessionNew)
    );
    assert_eq!(ClientMethod::find("session/new"), None);
    assert_eq!(
        ClientMethod::find("session/update"),
        Some(ClientMethod::SessionUpdate)
    );
    assert_eq!(
        ProtocolMethod::find("$/cancel_request"),
        Some(ProtocolMethod::CancelRequest)
    );
    for method in AgentMethod::ALL {
        assert_eq!(AgentMethod::find(method.name()), Some(*method));
    }
    for method in ClientMethod::ALL {
        assert_eq!(ClientMethod::find(method.name()), Some(*method));
    }
    let sides = AgentMethod::ALL.len() + ClientMethod::ALL.len() + ProtocolMethod::ALL.len();
    assert_eq!(sides, methods::ALL.len());
}

#[test]
fn error_codes_are_those_of_the_schema() {
    let schema = schema();
    let codes = schema["$defs"]["ErrorCode"]["anyOf"].as_array().unwrap();
    let expected: BTreeSet<i64> = codes
        .iter()
        .filter_map(|code| code["const"].as_i64())
        .collect();
    let known: BTreeSet<i64> = ErrorCode::KNOWN.iter().map(|code| code.0.into()).collect();
    assert_eq!(known, expected);
}

#[test]
fn version_is_one() {
    assert_eq!(ProtocolVersion::V1, ProtocolVersion(1));
    assert_eq!(serde_json::to_string(&ProtocolVersion::V1).unwrap(), "1");
}
