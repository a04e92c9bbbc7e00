//! Questions of an agent that a person answers: forms, field by field, and addresses.

use std::io;

use acp_client::ElicitationAnswer;
use acp_client::elicitation::{ElicitationForm, ElicitationLink, LinkWarning};
use acp_protocol::v1::{
    ElicitationContentValue, ElicitationPropertySchema, EnumOption, MultiSelectItems,
};
use acp_text::{Clean, clean};

use super::Person;
use crate::show::{AskText, Output};

/// What a person types to decline.
const NO: &str = "!";

impl Person {
    /// Has a form filled in; `None` when it is declined.
    pub(super) async fn fill_in(
        &mut self,
        form: ElicitationForm<'_>,
        output: &mut Output,
    ) -> io::Result<Option<ElicitationAnswer>> {
        let defaults = form.defaults();
        let mut answer = ElicitationAnswer::accept();
        output.ask(&AskText::new().words(clean!(
            "  (an empty line takes what stands in brackets, ! declines)\n"
        )))?;
        for (name, property) in form.fields() {
            let choices = choices(property);
            let default = defaults.field(name);
            let required = form.is_required(name);
            let mut text = field_text(name, property, &choices, default, required);
            loop {
                output.ask(&text)?;
                let Some(line) = self.line().await else {
                    return Ok(None);
                };
                let value = match (line.trim(), default) {
                    (NO, _) => return Ok(None),
                    ("", Some(default)) => Ok(default.clone()),
                    ("", None) if !required => break,
                    (typed, _) => value_of(property, &choices, typed),
                };
                let fits = value.and_then(|value| {
                    let filled = answer.clone().with(name, value);
                    match form.check_field(&filled, name) {
                        Ok(()) => Ok(filled),
                        Err(misfit) => Err(format!("it {misfit}")),
                    }
                });
                match fits {
                    Ok(filled) => {
                        answer = filled;
                        break;
                    }
                    Err(why) => {
                        text = AskText::new().words(clean!("  {}; again: ", Clean::line(&why)));
                    }
                }
            }
        }
        Ok(Some(answer))
    }

    /// Has somebody go to an address; `None` when they will not.
    pub(super) async fn go_to(
        &mut self,
        link: ElicitationLink<'_>,
        output: &mut Output,
    ) -> io::Result<Option<ElicitationAnswer>> {
        // All of it, on lines of its own: what is cut off cannot be judged.
        let mut text = AskText::new().quoted(link.url());
        for caution in link.cautions() {
            text = text.words(clean!("  careful: {}\n", in_words(caution)));
        }
        let asks = clean!("  Nothing is opened for you. Will you go there? [y/N] ");
        output.ask(&text.words(asks))?;
        let line = self.line().await.unwrap_or_default();
        let agreed = matches!(line.trim(), "y" | "Y" | "yes");
        Ok(agreed.then(ElicitationAnswer::accept))
    }
}

/// What a field can be chosen from: values, and what is shown for them.
fn choices(property: &ElicitationPropertySchema) -> Vec<(&str, &str)> {
    fn plain(values: &[String]) -> Vec<(&str, &str)> {
        values.iter().map(|value| (&**value, &**value)).collect()
    }
    fn titled(options: &[EnumOption]) -> Vec<(&str, &str)> {
        let pairs = options.iter();
        pairs
            .map(|option| (&*option.value, &*option.title))
            .collect()
    }
    match property {
        ElicitationPropertySchema::String(schema) => match (&schema.one_of, &schema.values) {
            (Some(options), _) => titled(options),
            (None, Some(values)) => plain(values),
            (None, None) => Vec::new(),
        },
        ElicitationPropertySchema::Array(schema) => match &schema.items {
            MultiSelectItems::String(items) => plain(&items.values),
            MultiSelectItems::Titled(items) => titled(&items.any_of),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn field_text(
    name: &str,
    property: &ElicitationPropertySchema,
    choices: &[(&str, &str)],
    default: Option<&ElicitationContentValue>,
    required: bool,
) -> AskText {
    use ElicitationPropertySchema as Property;
    let (title, about, kind) = match property {
        Property::String(schema) => (&schema.title, &schema.description, "text"),
        Property::Number(schema) => (&schema.title, &schema.description, "a number"),
        Property::Integer(schema) => (&schema.title, &schema.description, "a whole number"),
        Property::Boolean(schema) => (&schema.title, &schema.description, "yes or no"),
        Property::Array(schema) => (&schema.title, &schema.description, "some, as 1,3"),
        _ => (&None, &None, "something"),
    };
    let kind = match property {
        Property::String(_) if !choices.is_empty() => "one of these",
        _ => kind,
    };
    let title = title.as_deref().unwrap_or(name);
    let optional = if required { "" } else { ", may be left out" };
    let head = match about {
        Some(about) => format!("{title}: {about} ({kind}{optional})"),
        None => format!("{title} ({kind}{optional})"),
    };
    let mut text = AskText::new().item(clean!("  "), &head);
    for (at, (_, title)) in choices.iter().enumerate() {
        text = text.item(clean!("    {}  ", at + 1), title);
    }
    match default {
        Some(default) => {
            let default = spelled(default);
            text.words(clean!("  [{}] ", Clean::visible(&default)))
        }
        None => text.words(clean!("  > ")),
    }
}

/// A value as one would type it.
fn spelled(value: &ElicitationContentValue) -> String {
    use ElicitationContentValue as Value;
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Boolean(true) => "yes".to_owned(),
        Value::Boolean(false) => "no".to_owned(),
        Value::StringArray(values) => values.join(","),
        _ => "?".to_owned(),
    }
}

/// Understands what was typed into a field.
fn value_of(
    property: &ElicitationPropertySchema,
    choices: &[(&str, &str)],
    typed: &str,
) -> Result<ElicitationContentValue, String> {
    use ElicitationPropertySchema as Property;
    let choice = |typed: &str| {
        let by_number = typed.parse::<usize>().ok();
        let by_number = by_number.and_then(|number| choices.get(number.checked_sub(1)?));
        let said = |known: &&(&str, &str)| known.0 == typed || known.1 == typed;
        let found = choices.iter().find(said).or(by_number);
        found.map_or_else(|| typed.to_owned(), |known| known.0.to_owned())
    };
    match property {
        Property::String(_) => Ok(choice(typed).into()),
        Property::Number(_) => match typed.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number.into()),
            _ => Err("it must be a number".to_owned()),
        },
        Property::Integer(_) => match typed.parse::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => Err("it must be a whole number".to_owned()),
        },
        Property::Boolean(_) => match typed.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(true.into()),
            "n" | "no" | "false" => Ok(false.into()),
            _ => Err("it must be yes or no".to_owned()),
        },
        Property::Array(_) => {
            let parts = typed.split(',').map(str::trim);
            let chosen: Vec<String> = parts.filter(|part| !part.is_empty()).map(choice).collect();
            Ok(chosen.into())
        }
        _ => Err("it cannot be asked here".to_owned()),
    }
}

fn in_words(caution: LinkWarning) -> Clean<'static> {
    match caution {
        LinkWarning::NotHttps => clean!("the address is not encrypted"),
        LinkWarning::NotWeb => clean!("the address opens something else than a page"),
        LinkWarning::Punycode => clean!("the name of the host holds letters in disguise"),
        LinkWarning::Credentials => clean!("the address carries a name or a password"),
        _ => clean!("it cannot be told for sure where the address leads"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::v1::ElicitationSchema;
    use serde_json::{Value, json};
    use tokio::sync::mpsc;

    /// A person who types these lines and goes away.
    fn typing(lines: &[&str]) -> Person {
        let (sender, receiver) = mpsc::channel(lines.len().max(1));
        for line in lines {
            sender.try_send((*line).to_owned()).unwrap();
        }
        Person::typing(receiver)
    }

    fn filled_in(lines: &[&str]) -> Option<Value> {
        let schema: ElicitationSchema = serde_json::from_str(FORM).unwrap();
        let mut person = typing(lines);
        let mut output = Output::nowhere();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let answer = runtime
            .unwrap()
            .block_on(person.fill_in(ElicitationForm::new(&schema), &mut output))
            .unwrap()?;
        let fields = answer.fields();
        let fields = fields.map(|(name, value)| (name.to_owned(), json!(value)));
        Some(Value::Object(fields.collect()))
    }

    /// As text, which keeps the order of the fields.
    const FORM: &str = r#"{"type": "object", "required": ["name", "size"], "properties": {
        "name": {"type": "string", "minLength": 2},
        "size": {"type": "integer", "default": 3, "maximum": 9},
        "fast": {"type": "boolean"},
        "place": {"type": "string", "oneOf": [
            {"const": "eu", "title": "Europe"}, {"const": "us", "title": "America"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}}}"#;

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        assert_eq!(
            filled_in(&["Ada", "", "y", "2", "1, c"]),
            Some(
                json!({"name": "Ada", "size": 3, "fast": true, "place": "us", "tags": ["a", "c"]})
            )
        );
        assert_eq!(
            filled_in(&["Ada", "5", "", "Europe", ""]),
            Some(json!({"name": "Ada", "size": 5, "place": "eu"}))
        );
    }

    #[test]
    fn what_does_not_fit_is_asked_for_again() {
        assert_eq!(
            filled_in(&[
                "", "A", "Ada", "many", "10", "9", "perhaps", "no", "3", "us", "d", ""
            ]),
            Some(json!({"name": "Ada", "size": 9, "fast": false, "place": "us"}))
        );
    }

    #[test]
    fn a_form_is_declined_by_a_word_and_by_going_away() {
        assert_eq!(filled_in(&["Ada", "!"]), None);
        assert_eq!(filled_in(&["Ada"]), None);
        assert_eq!(filled_in(&[]), None);
    }
}
