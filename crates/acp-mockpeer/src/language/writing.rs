//! Writes what a pattern says as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::language::matching::Bindings;
use crate::language::pattern::{Element, Part, Pattern, Template, quoted};

/// Stands for a session that is made now.
pub(crate) const NEW_SESSION: &str = "@new_session";

/// Makes values for names that stand for nothing yet.
#[derive(Debug, Default)]
pub(crate) struct Inventor {
    count: BTreeMap<Arc<str>, u32>,
}

/// A pattern says too little to be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{pattern}` cannot be sent; say what is sent, and what may come instead: `\"hello\" | {pattern}`"
)]
pub(crate) struct TooVague {
    pattern: String,
}

impl Inventor {
    /// Makes a text that this play has not made before: `s-1`, `s-2`.
    fn invent(&mut self, name: &Arc<str>) -> String {
        let count = self.count.entry(name.clone()).or_default();
        *count += 1;
        format!("{name}-{count}")
    }
}

/// Writes the value of a pattern; members keep their order.
pub(crate) fn write(
    pattern: &Pattern,
    bindings: &mut Bindings,
    inventor: &mut Inventor,
) -> Result<String, TooVague> {
    let mut json = String::new();
    put(pattern, bindings, inventor, &mut json)?;
    Ok(json)
}

fn put(
    pattern: &Pattern,
    bindings: &mut Bindings,
    inventor: &mut Inventor,
    json: &mut String,
) -> Result<(), TooVague> {
    match pattern {
        Pattern::Null => json.push_str("null"),
        Pattern::Bool(true) => json.push_str("true"),
        Pattern::Bool(false) => json.push_str("false"),
        Pattern::Number(text) => json.push_str(text),
        Pattern::Text(template) => put_template(template, bindings, inventor, json),
        Pattern::Name(name) if &**name == NEW_SESSION => {
            json.push_str(&quoted(&inventor.invent(&Arc::from("session"))));
        }
        Pattern::Name(name) => json.push_str(&bound(name, bindings, inventor).to_string()),
        Pattern::Array(elements) => {
            json.push('[');
            let mut first = true;
            for element in elements {
                if let Element::One(pattern) = element {
                    if !std::mem::take(&mut first) {
                        json.push(',');
                    }
                    put(pattern, bindings, inventor, json)?;
                }
            }
            json.push(']');
        }
        Pattern::Object(object) => {
            json.push('{');
            let mut first = true;
            for (key, value) in &object.members {
                if is_left_out(value) {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    json.push(',');
                }
                json.push_str(&quoted(key));
                json.push(':');
                put(value, bindings, inventor, json)?;
            }
            json.push('}');
        }
        Pattern::OneOf(all) if !all.is_empty() => {
            put(pattern.sent(), bindings, inventor, json)?;
        }
        Pattern::Any(_)
        | Pattern::Absent
        | Pattern::Regex(_)
        | Pattern::Not(_)
        | Pattern::OneOf(_) => {
            return Err(TooVague {
                pattern: pattern.to_string(),
            });
        }
    }
    Ok(())
}

/// A member that is said to be absent is not sent.
fn is_left_out(pattern: &Pattern) -> bool {
    matches!(pattern.sent(), Pattern::Absent)
}

fn put_template(
    template: &Template,
    bindings: &mut Bindings,
    inventor: &mut Inventor,
    json: &mut String,
) {
    let mut text = String::new();
    for part in &template.parts {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Name(name) => match bound(name, bindings, inventor) {
                Value::String(value) => text.push_str(&value),
                // A string that is only the name of something else is that.
                value if template.name().is_some() => {
                    json.push_str(&value.to_string());
                    return;
                }
                value => text.push_str(&value.to_string()),
            },
        }
    }
    json.push_str(&quoted(&text));
}

fn bound(name: &Arc<str>, bindings: &mut Bindings, inventor: &mut Inventor) -> Value {
    bindings
        .entry(name.clone())
        .or_insert_with(|| inventor.invent(name).into())
        .clone()
}
