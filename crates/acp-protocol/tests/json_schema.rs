//! `JsonSchema` of the types is the published schema.

#![cfg(feature = "schemars")]

#[rustfmt::skip]
mod definitions;

use acp_protocol::v1::{Patch, SessionConfigOptionKind};
use acp_protocol::{Meta, RawJson};
use definitions::each_definition;
use schemars::{JsonSchema, SchemaGenerator, schema_for};
use serde_json::{Value, json};

const PUBLISHED: &str = include_str!("../src/v1/schema.json");

#[test]
fn every_type_has_its_published_definition() {
    let published: Value = serde_json::from_str(PUBLISHED).unwrap();
    let mut compared = 0;
    macro_rules! compare_each {
        ($($name:ident: $type:ty,)*) => { $(
            compared += compare::<$type>(&published, stringify!($name));
        )* };
    }
    each_definition!(compare_each);
    assert!(compared > 500, "{compared}");
}

/// Compares a type and all that it refers to; returns how many definitions that were.
fn compare<T: JsonSchema>(published: &Value, name: &str) -> usize {
    let mut root = SchemaGenerator::default()
        .into_root_schema_for::<T>()
        .to_value();
    let root = root.as_object_mut().unwrap();
    let referred = root.remove("$defs").unwrap_or_else(|| json!({}));
    root.remove("$schema");
    root.remove("title");
    assert_eq!(json!(root), published["$defs"][name], "{name}");
    let referred = referred.as_object().unwrap();
    for (other, definition) in referred {
        assert_eq!(
            *definition, published["$defs"][other],
            "{name} refers to {other}"
        );
    }
    1 + referred.len()
}

#[test]
fn types_of_our_own_have_a_schema() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Outer {
        kind: SessionConfigOptionKind,
        change: Patch<String>,
        raw: RawJson,
        meta: Meta,
    }

    let schema = schema_for!(Outer).to_value();
    let published: Value = serde_json::from_str(PUBLISHED).unwrap();
    assert_eq!(
        schema["properties"]["change"],
        json!({"type": ["string", "null"]})
    );
    assert_eq!(schema["properties"]["raw"], json!(true));
    assert_eq!(
        schema["$defs"]["SessionConfigOptionKind"]["oneOf"],
        published["$defs"]["SessionConfigOption"]["oneOf"]
    );
}
