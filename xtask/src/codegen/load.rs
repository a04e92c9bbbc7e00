//! The schema as the generator knows it: every keyword has a place here, and a
//! keyword that has none stops the generator.

use anyhow::{Context, Result, bail};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The whole document: what is defined in it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) definitions: IndexMap<String, Schema>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema")]
    dialect: String,
    #[serde(rename = "title")]
    _title: String,
    /// Kept as text, so that an error names its definition.
    #[serde(rename = "$defs")]
    definitions: IndexMap<String, Box<RawValue>>,
    /// The messages of both sides, joined. Envelopes are not generated from it.
    #[serde(rename = "anyOf")]
    _messages: Vec<Value>,
}

/// One schema.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Schema {
    #[serde(rename = "$ref")]
    pub(crate) reference: Option<String>,
    pub(crate) r#type: Option<Types>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) properties: Option<IndexMap<String, Schema>>,
    #[serde(default)]
    pub(crate) required: Vec<String>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) additional_properties: Option<Additional>,
    pub(crate) unevaluated_properties: Option<bool>,
    pub(crate) all_of: Option<Vec<Schema>>,
    pub(crate) any_of: Option<Vec<Schema>>,
    pub(crate) one_of: Option<Vec<Schema>>,
    pub(crate) not: Option<Box<Schema>>,
    pub(crate) r#const: Option<Value>,
    pub(crate) default: Option<Value>,
    pub(crate) format: Option<String>,
    pub(crate) minimum: Option<i64>,
    pub(crate) maximum: Option<i64>,
    pub(crate) min_length: Option<u64>,
    pub(crate) discriminator: Option<Discriminator>,
    #[serde(rename = "x-method")]
    pub(crate) method: Option<String>,
    #[serde(rename = "x-side")]
    pub(crate) side: Option<Side>,
    #[serde(rename = "x-docs-ignore", default)]
    pub(crate) docs_ignore: bool,
    #[serde(rename = "x-deserialize-default-on-error", default)]
    pub(crate) default_on_error: bool,
    #[serde(rename = "x-deserialize-default-on-null", default)]
    pub(crate) default_on_null: bool,
    #[serde(rename = "x-deserialize-skip-invalid-items", default)]
    pub(crate) skip_invalid_items: bool,
}

/// One type, or several.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Types {
    One(String),
    Several(Vec<String>),
}

/// What an object may hold besides its properties.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum Additional {
    Any(bool),
    Of(Box<Schema>),
}

/// The member that tells the branches of a union apart.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Discriminator {
    pub(crate) property_name: String,
}

/// Who serves a method.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Agent,
    Client,
    Protocol,
}

/// Reads a schema document.
pub(crate) fn load(text: &str) -> Result<Document> {
    let file: File = serde_json::from_str(text).context("read the schema")?;
    if file.dialect != "https://json-schema.org/draft/2020-12/schema" {
        bail!("the schema is of an unknown dialect, {}", file.dialect);
    }
    let definitions = file
        .definitions
        .into_iter()
        .map(|(name, text)| {
            let schema =
                serde_json::from_str(text.get()).with_context(|| format!("definition `{name}`"))?;
            Ok((name, schema))
        })
        .collect::<Result<_>>()?;
    Ok(Document { definitions })
}

impl Schema {
    /// Returns the branches of a union.
    pub(crate) fn branches(&self) -> Option<&[Schema]> {
        self.one_of.as_deref().or(self.any_of.as_deref())
    }

    /// Returns the name of the definition that the schema is, directly or as the
    /// only part of an `allOf`.
    pub(crate) fn target(&self) -> Option<&str> {
        match (&self.reference, self.all_of.as_deref()) {
            (Some(reference), None) => reference.strip_prefix("#/$defs/"),
            (None, Some([only])) => only.target(),
            _ => None,
        }
    }

    /// Returns the type, if it is one.
    pub(crate) fn one_type(&self) -> Option<&str> {
        match &self.r#type {
            Some(Types::One(name)) => Some(name),
            _ => None,
        }
    }

    /// Returns the text that `const` asks for.
    pub(crate) fn const_text(&self) -> Option<&str> {
        self.r#const.as_ref().and_then(Value::as_str)
    }

    /// Tells whether this is nothing but `null`.
    pub(crate) fn is_null(&self) -> bool {
        self.one_type() == Some("null")
    }

    /// Returns the properties, `None` and empty being the same.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&String, &Schema)> {
        self.properties.iter().flatten()
    }

    pub(crate) fn requires(&self, key: &str) -> bool {
        self.required.iter().any(|required| required == key)
    }
}
