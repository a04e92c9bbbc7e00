//! One field of a form, and what may stand in it.

use std::collections::HashSet;

use acp_protocol::v1::{
    ElicitationContentValue, ElicitationPropertySchema, MultiSelectItems,
    MultiSelectPropertySchema, StringFormat, StringPropertySchema,
};

use super::format;
use super::patterns::Patterns;

/// What is wrong with a field; prints as a clause about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// It must be filled in.
    #[error("must be filled in")]
    Missing,
    /// The form has no such field.
    #[error("is no field of the form")]
    NoSuchField,
    /// The agent asks in a way that nobody knows.
    #[error("is asked in a way that nobody knows")]
    UnknownKind,
    /// It is something else than what is asked for.
    #[error("must be of the type {expected}")]
    WrongType {
        /// What is asked for, in the words of the protocol.
        expected: &'static str,
    },
    /// It is none of the choices.
    #[error("is none of the choices")]
    NoSuchChoice,
    /// It has too few characters, or choices.
    #[error("must have at least {least}")]
    TooShort {
        /// How many there must be.
        least: u64,
    },
    /// It has too many characters, or choices.
    #[error("may have at most {most}")]
    TooLong {
        /// How many there may be.
        most: u64,
    },
    /// It is below the least number.
    #[error("is too small")]
    TooSmall,
    /// It is above the greatest number.
    #[error("is too great")]
    TooGreat,
    /// It does not match the pattern.
    #[error("does not match its pattern")]
    PatternMismatch,
    /// It is not written as it must be.
    #[error("is no {}", .0.as_str())]
    FormatMismatch(StringFormat),
}

/// Tells whether the kind of a field is known.
pub(super) fn is_known(property: &ElicitationPropertySchema) -> bool {
    use ElicitationPropertySchema as Property;
    match property {
        Property::String(_) | Property::Number(_) | Property::Integer(_) | Property::Boolean(_) => {
            true
        }
        Property::Array(schema) => matches!(
            schema.items,
            MultiSelectItems::String(_) | MultiSelectItems::Titled(_)
        ),
        _ => false,
    }
}

/// Returns how many choices a field offers.
pub(super) fn choice_count(property: &ElicitationPropertySchema) -> usize {
    match property {
        ElicitationPropertySchema::String(schema) => {
            schema.values.as_ref().map_or(0, Vec::len) + schema.one_of.as_ref().map_or(0, Vec::len)
        }
        ElicitationPropertySchema::Array(schema) => match &schema.items {
            MultiSelectItems::String(items) => items.values.len(),
            MultiSelectItems::Titled(items) => items.any_of.len(),
            _ => 0,
        },
        _ => 0,
    }
}

/// Returns what the agent proposes for a field.
pub(super) fn default(property: &ElicitationPropertySchema) -> Option<ElicitationContentValue> {
    use ElicitationPropertySchema as Property;
    match property {
        Property::String(schema) => schema.default.clone().map(Into::into),
        Property::Number(schema) => schema.default.map(Into::into),
        Property::Integer(schema) => schema.default.map(Into::into),
        Property::Boolean(schema) => schema.default.map(Into::into),
        Property::Array(schema) => schema.default.clone().map(Into::into),
        _ => None,
    }
}

/// Checks what stands in a field.
pub(super) fn check(
    property: &ElicitationPropertySchema,
    value: &ElicitationContentValue,
    patterns: &Patterns,
) -> Result<(), FieldError> {
    use ElicitationContentValue as Value;
    use ElicitationPropertySchema as Property;
    match (property, value) {
        (Property::String(schema), Value::String(text)) => check_text(schema, text, patterns),
        (Property::Number(schema), Value::Number(number)) if number.is_finite() => {
            check_range(*number, schema.minimum, schema.maximum)
        }
        (Property::Number(schema), Value::Integer(number)) => {
            check_whole(*number, schema.minimum, schema.maximum)
        }
        (Property::Integer(schema), Value::Integer(number)) => {
            check_range(*number, schema.minimum, schema.maximum)
        }
        (Property::Boolean(_), Value::Boolean(_)) => Ok(()),
        (Property::Array(schema), Value::StringArray(chosen)) => check_choices(schema, chosen),
        (Property::Unrecognized(_), _) => Err(FieldError::UnknownKind),
        (property, _) => Err(FieldError::WrongType {
            expected: match property {
                Property::String(_) => "string",
                Property::Number(_) => "number",
                Property::Integer(_) => "integer",
                Property::Boolean(_) => "boolean",
                _ => "array",
            },
        }),
    }
}

fn check_text(
    schema: &StringPropertySchema,
    text: &str,
    patterns: &Patterns,
) -> Result<(), FieldError> {
    if schema
        .values
        .iter()
        .any(|values| !values.iter().any(|value| value == text))
        || schema
            .one_of
            .iter()
            .any(|options| !options.iter().any(|option| option.value == text))
    {
        return Err(FieldError::NoSuchChoice);
    }
    let length = text.chars().count() as u64;
    check_length(
        length,
        schema.min_length.map(u64::from),
        schema.max_length.map(u64::from),
    )?;
    if let Some(pattern) = &schema.pattern
        && patterns.matches(pattern, text) == Some(false)
    {
        return Err(FieldError::PatternMismatch);
    }
    match &schema.format {
        Some(format) if !format::fits(format, text) => {
            Err(FieldError::FormatMismatch(format.clone()))
        }
        _ => Ok(()),
    }
}

fn check_choices(schema: &MultiSelectPropertySchema, chosen: &[String]) -> Result<(), FieldError> {
    let Some(choices) = choices(&schema.items) else {
        return Err(FieldError::UnknownKind);
    };
    if chosen
        .iter()
        .any(|choice| !choices.contains(choice.as_str()))
    {
        return Err(FieldError::NoSuchChoice);
    }
    check_length(chosen.len() as u64, schema.min_items, schema.max_items)
}

/// Returns what there is to choose from.
fn choices(items: &MultiSelectItems) -> Option<HashSet<&str>> {
    match items {
        MultiSelectItems::String(items) => Some(items.values.iter().map(String::as_str).collect()),
        MultiSelectItems::Titled(items) => Some(
            items
                .any_of
                .iter()
                .map(|option| option.value.as_str())
                .collect(),
        ),
        _ => None,
    }
}

fn check_length(length: u64, least: Option<u64>, most: Option<u64>) -> Result<(), FieldError> {
    match (least, most) {
        (Some(least), _) if length < least => Err(FieldError::TooShort { least }),
        (_, Some(most)) if length > most => Err(FieldError::TooLong { most }),
        _ => Ok(()),
    }
}

fn check_range<T: PartialOrd>(
    value: T,
    least: Option<T>,
    most: Option<T>,
) -> Result<(), FieldError> {
    if least.is_some_and(|least| value < least) {
        return Err(FieldError::TooSmall);
    }
    if most.is_some_and(|most| value > most) {
        return Err(FieldError::TooGreat);
    }
    Ok(())
}

/// Compares a whole number with bounds that need not be whole. Beyond 2^53 it is
/// rounded first, as the agent does when it reads it as a number.
fn check_whole(value: i64, least: Option<f64>, most: Option<f64>) -> Result<(), FieldError> {
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    check_range(value as f64, least, most)
}
