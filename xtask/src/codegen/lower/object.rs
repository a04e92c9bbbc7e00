//! Objects and their members.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use heck::ToSnakeCase;
use serde_json::Value;

use super::{
    Definition, Field, FlatField, Lowering, Object, Presence, Reading, Shape, Type, type_of,
};
use crate::codegen::load::{Additional, Document, Schema, Types};
use crate::codegen::overlay::Mark;

impl Lowering<'_> {
    /// Finds the fields of an object, and the union among them.
    pub(super) fn object(
        &self,
        name: &str,
        schema: &Schema,
    ) -> Result<(Object, Option<Definition>)> {
        if schema.one_type() != Some("object") {
            bail!("has properties and is no object");
        }
        if schema.all_of.is_some() || schema.not.is_some() || schema.additional_properties.is_some()
        {
            bail!("is an object of a shape that the generator does not know");
        }
        if let Some(missing) = schema
            .required
            .iter()
            .find(|key| !schema.members().any(|(member, _)| member == *key))
        {
            bail!("requires `{missing}`, which it does not have");
        }
        let mut fields = Vec::new();
        let mut meta = None;
        for (key, member) in schema.members() {
            let field = self
                .field(name, key, member, schema.requires(key))
                .with_context(|| format!("member `{key}`"))?;
            if key == "_meta" {
                meta = Some(field)
            } else {
                fields.push(field)
            }
        }
        fields.extend(meta);
        let (flat, union) = match (schema.branches(), self.overlay.flat(name)) {
            (None, _) => (None, None),
            (Some(_), None) => bail!(
                "has a union among its members: give the union a name in the overlay, \
                 `[flat.{name}]`"
            ),
            (Some(branches), Some(flat)) => {
                let shape = self.union(&flat.union, schema, branches)?;
                let about = flat.about.clone();
                let union = flat.union.clone();
                (
                    Some(FlatField {
                        name: flat.field.clone(),
                        about: about.clone(),
                        union: union.clone(),
                    }),
                    Some(Definition {
                        name: union,
                        about,
                        shape,
                        method: None,
                    }),
                )
            }
        };
        Ok((Object { fields, flat }, union))
    }

    fn field(&self, definition: &str, key: &str, schema: &Schema, required: bool) -> Result<Field> {
        let (r#type, nullable) = self.member_type(key, schema)?;
        let patch = self.overlay.marks_member(Mark::Patch, definition, key);
        let presence = match (required, nullable, &schema.default) {
            _ if patch => {
                if required || !nullable {
                    bail!("is a patch by the overlay, but not optional and nullable");
                }
                Presence::Change
            }
            (true, false, None) => Presence::Must,
            (true, _, _) => bail!("is required, and yet nullable or with a default"),
            (false, true, None) => Presence::May,
            (false, true, Some(_)) => bail!("is nullable and has a default"),
            (false, false, Some(_)) => Presence::Plain,
            (false, false, None) if r#type.is_collection() => {
                match self.overlay.marks_member(Mark::Written, definition, key) {
                    true => Presence::Plain,
                    false => Presence::Sparse,
                }
            }
            (false, false, None) => Presence::May,
        };
        let reading = match (
            schema.default_on_error,
            schema.default_on_null,
            schema.skip_invalid_items,
        ) {
            (false, false, false) => Reading::Strict,
            (true, false, false) => Reading::OnError,
            (false, true, false) => Reading::OnNull,
            (true, false, true) if matches!(r#type, Type::List(_)) => Reading::Items,
            _ => bail!("combines rules of leniency in a way that the generator does not know"),
        };
        let reading = match reading {
            Reading::OnNull if self.overlay.marks_member(Mark::Pairs, definition, key) => {
                Reading::Pairs
            }
            Reading::OnNull if self.overlay.marks_member(Mark::Omitted, definition, key) => {
                Reading::Omitted
            }
            other => other,
        };
        if presence == Presence::Must
            && matches!(reading, Reading::OnError | Reading::OnNull)
            && !r#type.is_collection()
        {
            bail!("is required and forgiven, and has no default");
        }
        let name = match self.overlay.field(definition, key) {
            Some(name) => name.to_owned(),
            None => key.to_snake_case(),
        };
        if syn::parse_str::<syn::Ident>(&name).is_err() {
            bail!("`{name}` cannot be the name of a field: give it one in the overlay, `fields`");
        }
        let boxed = match &r#type {
            Type::Meta => true,
            Type::Of(target) if matches!(presence, Presence::May | Presence::Change) => {
                self.overlay.marks(Mark::Boxed, target)
            }
            _ => false,
        };
        Ok(Field {
            key: key.to_owned(),
            name,
            about: schema.description.clone().unwrap_or_default(),
            secret: self.overlay.marks_member(Mark::Secret, definition, key),
            r#type,
            presence,
            reading,
            boxed,
            alias: self.overlay.alias(definition, key).map(str::to_owned),
        })
    }

    /// Returns the type of a member, and whether it may be `null`.
    fn member_type(&self, key: &str, schema: &Schema) -> Result<(Type, bool)> {
        if let Some(branches) = schema.branches() {
            return match branches {
                [value, null] if null.is_null() => Ok((type_of(value)?, true)),
                _ => bail!("is a union without a name"),
            };
        }
        let Some(Types::Several(types)) = &schema.r#type else {
            return Ok((type_of(schema)?, false));
        };
        let [one, null] = types.as_slice() else {
            bail!("has the types {types:?}");
        };
        if null != "null" {
            bail!("has the types {types:?}");
        }
        let value = Schema {
            r#type: Some(Types::One(one.clone())),
            ..schema.clone()
        };
        if key == "_meta" && value.additional_properties == Some(Additional::Any(true)) {
            return Ok((Type::Meta, true));
        }
        Ok((type_of(&value)?, true))
    }
}

/// Returns the type of an object that stands as a value: a map.
pub(super) fn map_type(schema: &Schema) -> Result<Type> {
    if schema.properties.is_some() {
        bail!("is an object without a name");
    }
    match &schema.additional_properties {
        Some(Additional::Of(value)) => Ok(Type::Map(Box::new(type_of(value)?))),
        Some(Additional::Any(true)) => Ok(Type::Meta),
        _ => bail!("is an object that may hold nothing"),
    }
}

/// Checks that each declared default is what the generated `Default` gives.
pub(super) fn check_defaults(
    document: &Document,
    lowered: &BTreeMap<String, Definition>,
) -> Result<()> {
    for (name, schema) in &document.definitions {
        let Some(Definition {
            shape: Shape::Object(object),
            ..
        }) = lowered.get(name)
        else {
            continue;
        };
        for field in &object.fields {
            let declared = schema.members().find(|(key, _)| **key == field.key);
            let Some(declared) = declared.and_then(|(_, member)| member.default.as_ref()) else {
                continue;
            };
            if !is_default(&field.r#type, declared, lowered) {
                bail!(
                    "definition `{name}`: the default of `{}`, {declared}, is not the default of \
                     its type",
                    field.key
                );
            }
        }
    }
    Ok(())
}

fn is_default(r#type: &Type, value: &Value, lowered: &BTreeMap<String, Definition>) -> bool {
    let Type::Of(name) = r#type else {
        return super::is_scalar_default(value);
    };
    match (lowered.get(name).map(|definition| &definition.shape), value) {
        (Some(Shape::Object(object)), Value::Object(members)) => {
            object.has_default()
                && members.iter().all(|(key, value)| {
                    object
                        .fields
                        .iter()
                        .any(|field| field.key == *key && is_default(&field.r#type, value, lowered))
                })
        }
        (Some(Shape::Strings { default, .. }), Value::String(text)) => {
            default.as_ref() == Some(text)
        }
        _ => false,
    }
}
