//! The published schema as `schemars` wants it (feature `schemars`).

use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::json::RawJson;
use crate::patch::Patch;

/// The published schema of protocol version 1.
const PUBLISHED: &str = include_str!("../v1/schema.json");
const _: () = assert!(
    PUBLISHED.len() > 1000,
    "schema.json is a link that was not followed: check out with `git config core.symlinks true`"
);

/// The definitions of protocol version 1, as published.
static DEFINITIONS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(PUBLISHED)
        .expect("the file is the pinned schema, which the generator has read");
    match document.get("$defs") {
        Some(Value::Object(definitions)) => definitions.clone(),
        _ => Map::new(),
    }
});

/// The schema of a definition by name; the generated code has it.
pub(crate) type Reference = fn(&str, &mut SchemaGenerator) -> Schema;

/// Returns a definition, its references made the generator's.
pub(crate) fn definition(
    name: &str,
    generator: &mut SchemaGenerator,
    reference: Reference,
) -> Schema {
    let definition = DEFINITIONS.get(name).cloned().unwrap_or(Value::Bool(true));
    Schema::try_from(refer(definition, generator, reference)).unwrap_or_default()
}

/// Returns the union that stands among the members of a definition.
pub(crate) fn branches(
    owner: &str,
    generator: &mut SchemaGenerator,
    reference: Reference,
) -> Schema {
    let mut union = Map::new();
    for key in ["anyOf", "oneOf", "discriminator"] {
        if let Some(value) = DEFINITIONS.get(owner).and_then(|owner| owner.get(key)) {
            union.insert(key.to_owned(), refer(value.clone(), generator, reference));
        }
    }
    union.into()
}

/// Replaces references into the published document.
fn refer(value: Value, generator: &mut SchemaGenerator, reference: Reference) -> Value {
    match value {
        Value::Array(items) => items
            .into_iter()
            .map(|item| refer(item, generator, reference))
            .collect(),
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref")
                && let Some(name) = target.strip_prefix("#/$defs/")
            {
                return reference(name, generator).to_value();
            }
            members
                .into_iter()
                .map(|(key, value)| (key, refer(value, generator, reference)))
                .collect()
        }
        other => other,
    }
}

/// Gives types their published definitions, or the union among the members of one.
macro_rules! published {
    (definition { $($name:ident = $type:ty),* $(,)? }) => {
        $($crate::codec::json_schema::published!(
            @ $name $type, generator, definition(stringify!($name), generator)
        );)*
    };
    (branches { $($name:ident = $owner:ident),* $(,)? }) => {
        $($crate::codec::json_schema::published!(
            @ $name $name, generator, branches(stringify!($owner), generator)
        );)*
    };
    (@ $name:ident $type:ty, $generator:ident, $function:ident($of:expr, $same:ident)) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!("acp_protocol::v1::", stringify!($name)).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $crate::codec::json_schema::$function($of, $generator, reference)
            }
        }
    };
}

pub(crate) use published;

impl JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RawJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}
