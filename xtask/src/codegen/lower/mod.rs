//! Each definition is one of a closed list of shapes, or the generator stops.

mod object;
mod union;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::load::{Document, Schema, Side};
use super::overlay::{Mark, Overlay};

/// A definition whose shape is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) shape: Shape,
    /// The method it is a message of.
    pub(crate) method: Option<(String, Side)>,
}

/// What a definition is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A string that names something: a newtype over `Arc<str>`.
    Id,
    /// A whole number with a meaning: a newtype.
    Number(Type),
    /// One of several strings.
    Strings {
        values: Vec<StringValue>,
        default: Option<String>,
    },
    /// An object.
    Object(Object),
    /// One of several objects, told by a tag.
    Tagged(Tagged),
    /// One of several objects, told by the members they have.
    ByMember(Vec<MemberVariant>),
    /// One of several arrays, told by the members of the first element.
    ByElement(Vec<MemberVariant>),
    /// One of several scalars, told by trying.
    Scalars(Vec<(String, String, Type)>),
    /// Written by hand: the path of the type.
    Handwritten(String),
    /// An envelope, read and written by `rpc`.
    Envelope,
    /// A placeholder for what extensions send.
    Extension,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StringValue {
    pub(crate) wire: String,
    pub(crate) about: String,
}

/// An object: its fields, in the order of the schema, `_meta` last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) fields: Vec<Field>,
    pub(crate) flat: Option<FlatField>,
}

impl Object {
    /// Tells whether it may do without any member.
    pub(crate) fn has_default(&self) -> bool {
        self.flat.is_none()
            && self
                .fields
                .iter()
                .all(|field| field.presence != Presence::Must)
    }
}

/// A union among the members of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlatField {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) union: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) r#type: Type,
    pub(crate) presence: Presence,
    pub(crate) reading: Reading,
    pub(crate) secret: bool,
    pub(crate) boxed: bool,
    /// Another key under which it is read, and never written.
    pub(crate) alias: Option<String>,
}

/// What an absent member means; see `acp_protocol::codec::rule`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Presence {
    Must,
    May,
    Plain,
    Sparse,
    Change,
}

/// What is done with a value that does not fit; see `acp_protocol::codec::rule`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reading {
    Strict,
    OnError,
    OnNull,
    Omitted,
    Pairs,
    Items,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Text,
    Bool,
    U16,
    U32,
    U64,
    I32,
    I64,
    F64,
    /// Any JSON, kept as text.
    Raw,
    /// Any object.
    Meta,
    Of(String),
    List(Box<Type>),
    Map(Box<Type>),
}

/// A union told by a tag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tagged {
    pub(crate) tag: String,
    pub(crate) variants: Vec<Variant>,
    pub(crate) absent: Option<Absent>,
    /// Whether an unknown tag may be understood all the same, by `mend` of the type.
    pub(crate) mended: bool,
}

/// The variant without a tag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Absent {
    pub(crate) variant: Variant,
    /// Whether its title may stand as a tag. Where the schema has a branch for
    /// unknown tags, it is one of those.
    pub(crate) by_title: bool,
    /// Whether it takes unknown tags too.
    pub(crate) takes_unknown: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variant {
    /// The value of its tag; for the one without a tag, its title.
    pub(crate) wire: String,
    pub(crate) about: String,
    pub(crate) payload: Payload,
    pub(crate) boxed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Payload {
    /// Nothing but the tag.
    None,
    /// The members of a definition.
    Members(String),
    /// One member.
    Single(String, Type),
}

/// A variant told by a member that only it has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemberVariant {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) key: String,
    pub(crate) payload: Type,
}

/// Finds the shape of every definition, and of the unions inside of objects.
pub(crate) fn lower(
    document: &Document,
    overlay: &Overlay,
) -> Result<BTreeMap<String, Definition>> {
    let mut lowered = BTreeMap::new();
    let lowering = Lowering { document, overlay };
    for (name, schema) in &document.definitions {
        for definition in lowering
            .definition(name, schema)
            .with_context(|| format!("definition `{name}`"))?
        {
            let name = definition.name.clone();
            match lowered.insert(name.clone(), definition.clone()) {
                Some(other) if other != definition => {
                    bail!("two different definitions are called `{name}`")
                }
                _ => {}
            }
        }
    }
    overlay.check_used()?;
    check_references(&lowered)?;
    object::check_defaults(document, &lowered)?;
    Ok(lowered)
}

struct Lowering<'a> {
    document: &'a Document,
    overlay: &'a Overlay,
}

impl Lowering<'_> {
    fn definition(&self, name: &str, schema: &Schema) -> Result<Vec<Definition>> {
        let mut found = Vec::new();
        let shape = if self.overlay.marks(Mark::Envelopes, name) {
            Shape::Envelope
        } else if self.overlay.marks(Mark::Extensions, name) {
            if schema
                != &(Schema {
                    description: schema.description.clone(),
                    ..Schema::default()
                })
            {
                bail!("is no placeholder any more");
            }
            Shape::Extension
        } else if let Some(path) = self.overlay.handwritten(name) {
            Shape::Handwritten(path.to_owned())
        } else if schema.properties.is_some() || schema.one_type() == Some("object") {
            let (object, union) = self.object(name, schema)?;
            found.extend(union);
            Shape::Object(object)
        } else if let Some(branches) = schema.branches() {
            self.union(name, schema, branches)?
        } else {
            scalar(schema)?
        };
        let method = match (&schema.method, schema.side) {
            (Some(method), Some(side)) => Some((method.clone(), side)),
            (None, None) => None,
            _ => bail!("`x-method` and `x-side` go together"),
        };
        found.push(Definition {
            name: name.to_owned(),
            about: schema.description.clone().unwrap_or_default(),
            shape,
            method,
        });
        Ok(found)
    }

    fn resolve(&self, name: &str) -> Result<&Schema> {
        self.document
            .definitions
            .get(name)
            .with_context(|| format!("refers to `{name}`, which is not defined"))
    }
}

fn scalar(schema: &Schema) -> Result<Shape> {
    match schema.one_type() {
        Some("string") if schema.format.is_none() && schema.r#const.is_none() => Ok(Shape::Id),
        Some("integer") if schema.r#const.is_none() => Ok(Shape::Number(number(schema)?)),
        _ => bail!("has a shape that the generator does not know"),
    }
}

/// Returns the type of a schema that is no union.
fn type_of(schema: &Schema) -> Result<Type> {
    if let Some(name) = schema.target() {
        return Ok(Type::Of(name.to_owned()));
    }
    if schema.r#const.is_some() {
        bail!("a constant stands where a value is expected");
    }
    Ok(match schema.one_type() {
        Some("string") => Type::Text,
        Some("boolean") => Type::Bool,
        Some("integer" | "number") => number(schema)?,
        Some("array") => {
            let items = schema
                .items
                .as_deref()
                .context("an array without `items`")?;
            Type::List(Box::new(type_of(items)?))
        }
        Some("object") => object::map_type(schema)?,
        Some(other) => bail!("the type `{other}` is not known"),
        None if schema.r#type.is_none() && schema.branches().is_none() => Type::Raw,
        None => bail!("a value has a shape that the generator does not know"),
    })
}

fn number(schema: &Schema) -> Result<Type> {
    Ok(match (schema.one_type(), schema.format.as_deref()) {
        (Some("integer"), Some("uint16")) => Type::U16,
        (Some("integer"), Some("uint32")) => Type::U32,
        (Some("integer"), Some("uint64")) => Type::U64,
        (Some("integer"), Some("int32")) => Type::I32,
        (Some("integer"), Some("int64") | None) => Type::I64,
        (Some("number"), Some("double") | None) => Type::F64,
        (kind, format) => bail!("numbers of type {kind:?} and format {format:?} are not known"),
    })
}

/// A reference must lead to a type that is generated or written by hand.
fn check_references(lowered: &BTreeMap<String, Definition>) -> Result<()> {
    for definition in lowered.values() {
        for name in definition.references() {
            match lowered.get(name).map(|target| &target.shape) {
                None => bail!("definition `{}`: `{name}` is not defined", definition.name),
                Some(Shape::Envelope | Shape::Extension) => {
                    bail!(
                        "definition `{}`: refers to the envelope `{name}`",
                        definition.name
                    )
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

impl Definition {
    /// Returns the names of the definitions that this one refers to.
    pub(crate) fn references(&self) -> Vec<&str> {
        let mut names = Vec::new();
        match &self.shape {
            Shape::Object(object) => {
                names.extend(
                    object
                        .fields
                        .iter()
                        .filter_map(|field| field.r#type.target()),
                );
                names.extend(object.flat.as_ref().map(|flat| flat.union.as_str()));
            }
            Shape::Tagged(tagged) => {
                let absent = tagged.absent.iter().map(|absent| &absent.variant);
                for variant in tagged.variants.iter().chain(absent) {
                    match &variant.payload {
                        Payload::None => {}
                        Payload::Members(name) => names.push(name),
                        Payload::Single(_, r#type) => names.extend(r#type.target()),
                    }
                }
            }
            Shape::ByMember(variants) | Shape::ByElement(variants) => {
                names.extend(
                    variants
                        .iter()
                        .filter_map(|variant| variant.payload.target()),
                );
            }
            Shape::Scalars(variants) => {
                names.extend(variants.iter().filter_map(|(_, _, r#type)| r#type.target()));
            }
            _ => {}
        }
        names
    }
}

impl Type {
    /// Returns the definition that the type is made of.
    pub(crate) fn target(&self) -> Option<&str> {
        match self {
            Type::Of(name) => Some(name),
            Type::List(inner) | Type::Map(inner) => inner.target(),
            _ => None,
        }
    }

    /// Tells whether a value can be empty.
    pub(crate) fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Map(_))
    }
}

/// Tells whether `value` is what Rust takes as the default of a scalar.
fn is_scalar_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
