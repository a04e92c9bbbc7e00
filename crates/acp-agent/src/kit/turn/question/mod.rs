//! Questions made of types: which form a type is, and which value an answer.

mod order;

use std::collections::BTreeMap;

use acp_host::{
    FieldKind, FormField, FormOption, FormValue, FormValueError, TextFormat, TextRule, UserForm,
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use order::Order;

/// The name of the one field of a question whose answer is no struct.
const ANSWER: &str = "answer";

/// The form by which [`Turn::ask`](crate::kit::Turn::ask) asks for a `T`: its fields and
/// choices in the order in which the type declares them.
///
/// Asking does the same; call it in a test of your own to know that your type
/// can be asked for.
///
/// # Errors
///
/// [`QuestionError`] names what in the type no form can ask for.
pub fn form_of<T: JsonSchema + DeserializeOwned>() -> Result<UserForm, QuestionError> {
    Question::of::<T>().map(|question| question.form)
}

/// Why a type cannot be asked for: a mistake in the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ask for a {type_name}: {what} {why}")]
pub struct QuestionError {
    type_name: String,
    what: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Why {
    #[error("is neither a text, a number, yes or no, a choice, nor a list of choices")]
    Kind,
    #[error("is a list of something else than choices")]
    Items,
    #[error("is bound by `{0}`, which a form cannot show")]
    Keyword(String),
    #[error("begins with something that does not fit it")]
    Default,
    #[error("cannot be shown: {0}")]
    Form(FormValueError),
}

/// A form, and how to read its answer.
#[derive(Clone, Debug)]
pub(in crate::kit) struct Question {
    pub(in crate::kit) form: UserForm,
    /// What is to be known about all of it.
    pub(in crate::kit) description: Option<String>,
    /// The answer is the value of the only field.
    is_bare: bool,
}

impl Question {
    pub(in crate::kit) fn of<T: JsonSchema + DeserializeOwned>() -> Result<Self, QuestionError> {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let name = T::schema_name();
        let schema = schema.as_value().as_object().cloned().unwrap_or_default();
        Self::read(schema, &Order::of::<T>()).map_err(|(what, why)| QuestionError {
            type_name: name.into_owned(),
            what,
            why,
        })
    }

    fn read(mut schema: Map<String, Value>, order: &Order) -> Result<Self, (String, Why)> {
        let whole = |why| ("it".to_owned(), why);
        let is_struct = schema.get("type") == Some(&Value::from("object"));
        let mut form = UserForm::new();
        let mut description = None;
        if is_struct {
            schema.remove("type");
            description = text(&mut schema, "description");
            let required = texts(schema.remove("required"));
            let properties = schema.remove("properties");
            if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
                schema.remove("additionalProperties");
            }
            nothing_left(schema).map_err(whole)?;
            let Some(Value::Object(properties)) = properties else {
                return Err(whole(Why::Kind));
            };
            let mut properties: Vec<_> = properties.into_iter().collect();
            properties.sort_by_key(|(name, _)| order.place(name));
            for (name, property) in properties {
                let is_required = required.contains(&name);
                let read = field(&name, property, is_required);
                let mut field = read.map_err(|why| (format!("`{name}`"), why))?;
                order.sort_choices(Some(&name), &mut field.kind);
                form = form.with_field(field);
            }
        } else {
            schema.remove("title");
            let mut field = field(ANSWER, Value::Object(schema), true).map_err(whole)?;
            description = field.description.take().or(description);
            order.sort_choices(None, &mut field.kind);
            form = form.with_field(field);
        }
        form.check().map_err(|error| whole(Why::Form(error)))?;
        Ok(Self {
            form,
            description,
            is_bare: !is_struct,
        })
    }

    /// Reads an answer that fits the form; none if the type does not take it
    /// all the same.
    pub(in crate::kit) fn decode<T: DeserializeOwned>(
        &self,
        answer: BTreeMap<String, FormValue>,
    ) -> Option<T> {
        let mut values = answer.into_iter().map(|(name, value)| (name, json(value)));
        let value = if self.is_bare {
            values.next().map(|(_, value)| value).unwrap_or_default()
        } else {
            Value::Object(values.collect())
        };
        serde_json::from_value(value).ok()
    }

    /// The question in words, for a client that shows no forms.
    pub(in crate::kit) fn in_words(&self, message: &str) -> String {
        let mut words = format!("{message}\n");
        let mut add = |indent: &str, title: &str, description: &Option<String>| {
            words.push_str(&format!("\n{indent}* {title}"));
            if let Some(description) = description {
                words.push_str(&format!(": {description}"));
            }
        };
        let indent = if self.is_bare { "" } else { "  " };
        for field in &self.form.fields {
            let options = match &field.kind {
                FieldKind::Select { options } | FieldKind::MultiSelect { options, .. } => options,
                _ => &Vec::new(),
            };
            if !self.is_bare {
                add("", &field.title, &field.description);
            }
            for option in options {
                add(indent, &option.title, &option.description);
            }
        }
        words.push('\n');
        words
    }
}

fn json(value: FormValue) -> Value {
    match value {
        FormValue::Text(text) => text.into(),
        FormValue::Flag(flag) => flag.into(),
        FormValue::Integer(number) => number.into(),
        FormValue::Number(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        FormValue::Choices(chosen) => chosen.into(),
    }
}

/// One field, from the schema of its type.
fn field(name: &str, schema: Value, mut is_required: bool) -> Result<FormField, Why> {
    let Value::Object(mut schema) = schema else {
        return Err(Why::Kind);
    };
    is_required &= !unwrap_optional(&mut schema);
    let title = text(&mut schema, "title").unwrap_or_else(|| readable(name));
    let description = text(&mut schema, "description");
    let default = schema.remove("default").filter(|value| !value.is_null());
    let kind = kind(schema)?;
    let mut field = FormField::new(name, title, kind);
    field.description = description;
    field.is_required = is_required;
    field.default = match default {
        Some(value) => Some(form_value(&field.kind, value).ok_or(Why::Default)?),
        None => None,
    };
    Ok(field)
}

/// Takes away that a value may be null. True if it may.
fn unwrap_optional(schema: &mut Map<String, Value>) -> bool {
    let null = Value::from("null");
    let mut is_optional = false;
    for keyword in ["type", "enum", "anyOf"] {
        let Some(Value::Array(values)) = schema.get_mut(keyword) else {
            continue;
        };
        let count = values.len();
        values.retain(|value| match keyword {
            "type" => *value != null,
            "enum" => !value.is_null(),
            _ => value.get("type") != Some(&null),
        });
        is_optional |= values.len() < count;
        match (keyword, &mut values[..]) {
            ("type", [only]) => {
                let only = only.take();
                schema.insert(keyword.to_owned(), only);
            }
            ("anyOf", [Value::Object(only)]) => {
                let mut inner = std::mem::take(only);
                schema.remove(keyword);
                // The annotations of the field replace those of its type.
                inner.append(schema);
                *schema = inner;
            }
            _ => {}
        }
    }
    is_optional
}

fn kind(mut schema: Map<String, Value>) -> Result<FieldKind, Why> {
    if let Some(options) = options(&mut schema) {
        nothing_left(schema)?;
        return Ok(FieldKind::Select { options });
    }
    let kind = text(&mut schema, "type");
    let kind = match kind.as_deref() {
        Some("string") => {
            let mut rule = TextRule::new();
            rule.min_chars = whole(&mut schema, "minLength")?;
            rule.max_chars = whole(&mut schema, "maxLength")?;
            // Other formats are checked when the answer is read.
            rule.format = match text(&mut schema, "format").as_deref() {
                Some("email") => Some(TextFormat::Email),
                Some("uri") => Some(TextFormat::Uri),
                Some("date") => Some(TextFormat::Date),
                Some("date-time") => Some(TextFormat::DateTime),
                _ => None,
            };
            FieldKind::Text(rule)
        }
        Some("integer") => {
            schema.remove("format");
            FieldKind::Integer {
                min: whole(&mut schema, "minimum")?,
                max: whole(&mut schema, "maximum")?,
            }
        }
        Some("number") => {
            schema.remove("format");
            FieldKind::Number {
                min: schema.remove("minimum").and_then(|value| value.as_f64()),
                max: schema.remove("maximum").and_then(|value| value.as_f64()),
            }
        }
        Some("boolean") => FieldKind::Confirm,
        Some("array") => {
            // Choices are made once in any case.
            schema.remove("uniqueItems");
            let Some(Value::Object(mut items)) = schema.remove("items") else {
                return Err(Why::Items);
            };
            for annotation in ["title", "description"] {
                items.remove(annotation);
            }
            let options = options(&mut items).ok_or(Why::Items)?;
            nothing_left(items)?;
            FieldKind::MultiSelect {
                options,
                min: whole(&mut schema, "minItems")?,
                max: whole(&mut schema, "maxItems")?,
            }
        }
        _ => return Err(Why::Kind),
    };
    nothing_left(schema)?;
    Ok(kind)
}

/// The choices of an enum without data.
fn options(schema: &mut Map<String, Value>) -> Option<Vec<FormOption>> {
    if let Some(Value::Array(variants)) = schema.get("oneOf") {
        let mut all = Vec::new();
        for variant in variants {
            all.extend(options(&mut variant.as_object()?.clone())?);
        }
        schema.remove("oneOf");
        return Some(all);
    }
    let values = match schema.get("const") {
        Some(only) => vec![only.clone()],
        None => schema.get("enum")?.as_array()?.clone(),
    };
    let mut all = Vec::new();
    for value in &values {
        let id = value.as_str()?;
        all.push(FormOption::new(id, readable(id)));
    }
    if let [only] = &mut all[..] {
        only.title = text(schema, "title").unwrap_or_else(|| only.title.clone());
        only.description = text(schema, "description");
    }
    for keyword in ["const", "enum", "type"] {
        schema.remove(keyword);
    }
    Some(all)
}

/// What a field begins with.
fn form_value(kind: &FieldKind, value: Value) -> Option<FormValue> {
    Some(match kind {
        FieldKind::Text(_) | FieldKind::Select { .. } => FormValue::Text(value.as_str()?.into()),
        FieldKind::Integer { .. } => FormValue::Integer(value.as_i64()?),
        FieldKind::Number { .. } => FormValue::Number(value.as_f64()?),
        FieldKind::Confirm => FormValue::Flag(value.as_bool()?),
        FieldKind::MultiSelect { .. } => {
            let chosen = value.as_array()?.iter();
            let chosen = chosen.map(|choice| choice.as_str().map(str::to_owned));
            FormValue::Choices(chosen.collect::<Option<_>>()?)
        }
    })
}

/// What is not understood would bind the answer in a way that nobody is shown.
fn nothing_left(mut schema: Map<String, Value>) -> Result<(), Why> {
    for annotation in ["title", "examples", "deprecated"] {
        schema.remove(annotation);
    }
    match schema.into_iter().next() {
        Some((keyword, _)) if matches!(&*keyword, "$ref" | "oneOf" | "anyOf" | "properties") => {
            Err(Why::Kind)
        }
        Some((keyword, _)) => Err(Why::Keyword(keyword)),
        None => Ok(()),
    }
}

fn text(schema: &mut Map<String, Value>, key: &str) -> Option<String> {
    match schema.get(key)? {
        Value::String(text) => {
            let text = text.clone();
            schema.remove(key);
            Some(text)
        }
        _ => None,
    }
}

fn texts(value: Option<Value>) -> Vec<String> {
    let texts = value.map(serde_json::from_value);
    texts.and_then(Result::ok).unwrap_or_default()
}

fn whole<T: TryFrom<i64>>(schema: &mut Map<String, Value>, key: &str) -> Result<Option<T>, Why> {
    let Some(value) = schema.remove(key) else {
        return Ok(None);
    };
    let fits = value.as_i64().and_then(|number| T::try_from(number).ok());
    // A bound that no answer can reach is none.
    if fits.is_none() && value.is_u64() {
        return Ok(None);
    }
    fits.map(Some).ok_or_else(|| Why::Keyword(key.to_owned()))
}

/// `max_connections` and `maxConnections` as people write it.
fn readable(name: &str) -> String {
    let mut title = String::new();
    let mut last = ' ';
    for letter in name.chars() {
        let is_new_word = letter.is_uppercase() && last.is_lowercase();
        let letter = if matches!(letter, '_' | '-') {
            ' '
        } else {
            letter
        };
        if title.is_empty() {
            title.extend(letter.to_uppercase());
        } else if is_new_word {
            title.push(' ');
            title.extend(letter.to_lowercase());
        } else {
            title.push(letter);
        }
        last = letter;
    }
    title
}

#[cfg(test)]
mod tests;
