//! typify reads the plain objects of the schema too, and each difference between its reading
//! and ours has a reason in `xtask/tests/second_opinion.toml`.
//!
//! Each object is given alone: what it refers to is a placeholder, since typify does not
//! understand the unions of this schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use heck::ToSnakeCase;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use typify_impl::{TypeDetails, TypeId, TypeSpace, TypeSpaceSettings};

use super::lowered_pinned;
use crate::codegen::lower::{Object, Presence, Shape, Type};
use crate::workspace;

/// A reading: of each object what it is, and of each member its type and whether it may be
/// absent.
type Opinion = BTreeMap<String, String>;

/// The differences between two opinions, each with those that have it.
type Differences = BTreeMap<(String, String), BTreeSet<String>>;

/// Differences that share a reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    reason: String,
    ours: String,
    typify: String,
    of: BTreeSet<String>,
}

#[test]
fn typify_reads_plain_objects_as_we_do() {
    let (ours, typify) = (our_reading(), reading_of_typify());
    assert!(ours.len() > 500, "objects and members: {}", ours.len());
    let mut found = Differences::new();
    for name in ours.keys().chain(typify.keys()) {
        let [ours, typify] = [&ours, &typify].map(|all| all.get(name).cloned().unwrap_or_default());
        if ours != typify {
            found
                .entry((ours, typify))
                .or_default()
                .insert(name.clone());
        }
    }
    let path = workspace::root().join("xtask/tests/second_opinion.toml");
    let known = fs::read_to_string(path).expect("read the list");
    let known: BTreeMap<String, Vec<Known>> = toml::from_str(&known).expect("read the list");
    let known = known.into_values().flatten().map(|known| {
        assert!(!known.reason.is_empty(), "{:?} have no reason", known.of);
        ((known.ours, known.typify), known.of)
    });
    assert_eq!(found, known.collect(), "what differs, and what is listed");
}

fn our_reading() -> Opinion {
    let mut opinion = Opinion::new();
    for (name, object) in plain_objects() {
        for field in &object.fields {
            let mut text = our_type(&field.r#type);
            match field.presence {
                Presence::Must => {}
                Presence::May | Presence::Change => text += ", or absent",
                Presence::Plain | Presence::Sparse => text += ", else its default",
            }
            opinion.insert(format!("{name}.{}", field.key), text);
        }
        opinion.insert(name, "struct".to_owned());
    }
    opinion
}

fn our_type(r#type: &Type) -> String {
    match r#type {
        Type::Text => "text".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::U16 => "u16".to_owned(),
        Type::U32 => "u32".to_owned(),
        Type::U64 => "u64".to_owned(),
        Type::I32 => "i32".to_owned(),
        Type::I64 => "i64".to_owned(),
        Type::F64 => "f64".to_owned(),
        Type::Raw => "any".to_owned(),
        Type::Meta => "map of any".to_owned(),
        Type::Of(name) => name.clone(),
        Type::List(inner) => format!("list of {}", our_type(inner)),
        Type::Map(inner) => format!("map of {}", our_type(inner)),
    }
}

fn reading_of_typify() -> Opinion {
    let root = workspace::root();
    let schema = fs::read_to_string(root.join("schema/v1/schema.json")).expect("read the schema");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let definitions = schema["$defs"].as_object().expect("it has definitions");
    let mut opinion = Opinion::new();
    for (name, _) in plain_objects() {
        let mut needed = BTreeSet::new();
        let object = for_typify(&definitions[&name], &mut needed);
        let mut alone = Map::from_iter([(name.clone(), object)]);
        for other in needed {
            alone
                .entry(other)
                .or_insert_with(|| json!({"type": "string"}));
        }
        let document =
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": alone});
        let document = serde_json::from_value(document).expect("schemars reads it");
        let mut types = TypeSpace::new(&TypeSpaceSettings::default());
        types.add_root_schema(document).expect("typify reads it");
        let read = types.iter_types().find(|read| read.name() == name);
        let read = read.expect("typify makes a type of it");
        let read = match read.details() {
            TypeDetails::Struct(read) => read,
            TypeDetails::Newtype(read) => {
                let (text, _) = type_of_typify(&types, &read.inner());
                opinion.insert(name, text);
                continue;
            }
            _ => panic!("typify makes neither struct nor newtype of {name}"),
        };
        let keys = definitions[&name]["properties"].as_object();
        let keys: BTreeMap<String, &String> = keys
            .into_iter()
            .flatten()
            .map(|(key, _)| (rust_name(key), key))
            .collect();
        for property in read.properties_info() {
            let key = keys
                .get(property.name)
                .expect("typify names members by their keys");
            let (text, optional) = type_of_typify(&types, &property.type_id);
            let text = match (property.required, optional) {
                (true, false) => text,
                (false, true) => text + ", or absent",
                (false, false) => text + ", else its default",
                (true, true) => text + ", or null",
            };
            opinion.insert(format!("{name}.{key}"), text);
        }
        opinion.insert(name, "struct".to_owned());
    }
    opinion
}

/// A type as typify reads it, and whether it may be left out.
fn type_of_typify(types: &TypeSpace, id: &TypeId) -> (String, bool) {
    let read = types.get_type(id).expect("typify knows its types");
    let inner = |id| type_of_typify(types, &id).0;
    let text = match read.details() {
        TypeDetails::Option(id) => return (inner(id), true),
        TypeDetails::Vec(id) => format!("list of {}", inner(id)),
        TypeDetails::Map(_, id) => format!("map of {}", inner(id)),
        TypeDetails::Box(id) => inner(id),
        TypeDetails::String => "text".to_owned(),
        TypeDetails::Builtin("::serde_json::Value") => "any".to_owned(),
        TypeDetails::Builtin(name) => name.to_owned(),
        _ => read.name(),
    };
    (text, false)
}

/// Rewrites references and takes out what typify does not know; collects what is referred to.
fn for_typify(schema: &Value, needed: &mut BTreeSet<String>) -> Value {
    match schema {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (key, value) in members {
                if let ("$ref", Some(text)) = (key.as_str(), value.as_str()) {
                    let name = text.trim_start_matches("#/$defs/");
                    needed.insert(name.to_owned());
                    kept.insert(key.clone(), json!(format!("#/definitions/{name}")));
                } else if !key.starts_with("x-") {
                    kept.insert(key.clone(), for_typify(value, needed));
                }
            }
            Value::Object(kept)
        }
        Value::Array(items) => items.iter().map(|item| for_typify(item, needed)).collect(),
        other => other.clone(),
    }
}

/// The objects without a union among their members.
fn plain_objects() -> Vec<(String, Object)> {
    let lowered = lowered_pinned().1.into_values();
    let objects = lowered.filter_map(|definition| match definition.shape {
        Shape::Object(object) if object.flat.is_none() => Some((definition.name, object)),
        _ => None,
    });
    objects.collect()
}

/// What typify calls the field of a key.
fn rust_name(key: &str) -> String {
    match key.to_snake_case() {
        name if syn::parse_str::<syn::Ident>(&name).is_err() => name + "_",
        name => name,
    }
}
