//! A person at the terminal, who answers what the agent asks.

use std::io::{self, BufRead, IsTerminal};
use std::thread;

use acp_client::elicitation::{ElicitationForm, ElicitationLink};
use acp_client::{ElicitationAnswer, PermissionRequest, Question, QuestionKind};
use acp_protocol::v1::{
    ElicitationContentValue, ElicitationPropertySchema, EnumOption, MultiSelectItems,
    PermissionOption, PermissionOptionKind,
};
use tokio::sync::mpsc;

use crate::outcome::Outcome;
use crate::show::{Answered, By, Output, one_line, shown};

/// Lines that are typed ahead and kept; more than that is held by the terminal.
const MAX_TYPED: usize = 16;

/// Paths of a tool that are shown.
const MAX_PATHS: usize = 8;

/// What a person types to decline.
const NO: &str = "!";

/// A person at the terminal.
pub(super) struct Person {
    lines: Option<mpsc::Receiver<String>>,
}

impl Person {
    /// Looks whether there is one: standard input and standard error have to be a terminal.
    pub(super) fn at_terminal() -> Result<Self, Outcome> {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            return Ok(Self { lines: None });
        }
        Err(Outcome::usage(
            "--ask needs a terminal, to ask and to hear the answer".to_owned(),
            "leave it out; --allow and --answer say what is answered when nobody is there, and \
             --file takes a prompt",
        ))
    }

    /// Types what a test types.
    #[cfg(test)]
    pub(super) fn typing(lines: mpsc::Receiver<String>) -> Self {
        Self { lines: Some(lines) }
    }

    /// Asks for permission. `None` when the agent offers no way to say no.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the next line goes to the next question.
    pub(super) async fn permit(
        &mut self,
        ask: &PermissionRequest,
        output: &mut Output,
    ) -> io::Result<Option<PermissionOption>> {
        let options = ask.options();
        let refusal = refusal(options);
        let mut text = permission_text(ask);
        output.preview(&ask.raw().tool_call)?;
        self.forget_typed();
        loop {
            output.ask(&text)?;
            let Some(line) = self.line().await else {
                return Ok(refusal.map(|at| options[at].clone()));
            };
            let picked = match line.trim() {
                "" => return Ok(refusal.map(|at| options[at].clone())),
                number => number.parse::<usize>().ok(),
            };
            let picked = picked.and_then(|number| options.get(number.checked_sub(1)?));
            if let Some(option) = picked {
                return Ok(Some(option.clone()));
            }
            text = format!("One of the numbers, please: {}", which(refusal));
        }
    }

    /// Asks a question.
    ///
    /// # Cancel safety
    ///
    /// As [`permit`](Self::permit).
    pub(super) async fn answer(
        &mut self,
        question: &Question,
        output: &mut Output,
    ) -> io::Result<(ElicitationAnswer, Answered)> {
        self.forget_typed();
        output.ask(&format!("\n{}\n", shown(question.message())))?;
        let answer = match question.kind() {
            QuestionKind::Form(form) if !form.is_answerable() => {
                output.ask("  It asks for something that cannot be asked here; declined.\n")?;
                None
            }
            QuestionKind::Form(form) => self.fill_in(form, output).await?,
            QuestionKind::Link(link) => self.go_to(link, output).await?,
        };
        let by = By::Person;
        Ok(match answer {
            Some(answer) => (answer, Answered::Accepted { by }),
            None => (ElicitationAnswer::decline(), Answered::Declined { by }),
        })
    }

    /// Has a form filled in; `None` when it is declined.
    async fn fill_in(
        &mut self,
        form: ElicitationForm<'_>,
        output: &mut Output,
    ) -> io::Result<Option<ElicitationAnswer>> {
        let defaults = form.defaults();
        let mut answer = ElicitationAnswer::accept();
        output.ask(&format!(
            "  (an empty line takes what stands in brackets, {NO} declines)\n"
        ))?;
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
                    Err(why) => text = format!("  {why}; again: "),
                }
            }
        }
        Ok(Some(answer))
    }

    /// Has somebody go to an address; `None` when they will not.
    async fn go_to(
        &mut self,
        link: ElicitationLink<'_>,
        output: &mut Output,
    ) -> io::Result<Option<ElicitationAnswer>> {
        // All of it, on a line of its own: what is cut off cannot be judged.
        let mut text = format!("  {}\n", acp_text::visible(link.url()));
        for caution in link.cautions() {
            text.push_str(&format!("  careful: {}\n", in_words(caution)));
        }
        text.push_str("  Nothing is opened for you. Will you go there? [y/N] ");
        output.ask(&text)?;
        let line = self.line().await.unwrap_or_default();
        let agreed = matches!(line.trim(), "y" | "Y" | "yes");
        Ok(agreed.then(ElicitationAnswer::accept))
    }

    /// Forgets what was typed before the question: it was meant for something else.
    pub(super) fn forget_typed(&mut self) {
        if let Some(lines) = &mut self.lines {
            while lines.try_recv().is_ok() {}
        }
    }

    /// Waits for a line; `None` at the end of the input.
    pub(super) async fn line(&mut self) -> Option<String> {
        self.lines.get_or_insert_with(read_lines).recv().await
    }
}

/// Reads standard input line by line, on a thread of its own: it cannot be made to stop, and
/// goes with the process.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(MAX_TYPED);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn permission_text(ask: &PermissionRequest) -> String {
    let tool = ask.tool();
    let kind = tool.kind.as_ref().map_or("tool", |kind| kind.as_str());
    let title = one_line(tool.title.as_deref().unwrap_or("a tool"));
    let mut text = format!("\nThe agent asks: {} {title}\n", one_line(kind));
    for path in tool.paths.iter().take(MAX_PATHS) {
        text.push_str(&format!("  {}\n", one_line(path)));
    }
    if tool.paths.len() > MAX_PATHS || tool.has_more_paths {
        text.push_str("  and more\n");
    }
    for (at, option) in ask.options().iter().enumerate() {
        text.push_str(&format!("  {}  {}\n", at + 1, one_line(&option.name)));
    }
    text.push_str(&which(refusal(ask.options())));
    text
}

fn which(refusal: Option<usize>) -> String {
    match refusal {
        Some(at) => format!("Which? [{}] ", at + 1),
        None => "Which? [none] ".to_owned(),
    }
}

/// Finds the option that an empty line takes: the one that refuses with the least
/// consequence.
fn refusal(options: &[PermissionOption]) -> Option<usize> {
    let first = |kind| options.iter().position(|option| option.kind == kind);
    first(PermissionOptionKind::RejectOnce).or_else(|| first(PermissionOptionKind::RejectAlways))
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
) -> String {
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
    let mut text = format!("  {}", one_line(title.as_deref().unwrap_or(name)));
    if let Some(about) = about {
        text.push_str(&format!(": {}", one_line(about)));
    }
    let optional = if required { "" } else { ", may be left out" };
    text.push_str(&format!(" ({kind}{optional})\n"));
    for (at, (_, title)) in choices.iter().enumerate() {
        text.push_str(&format!("    {}  {}\n", at + 1, one_line(title)));
    }
    match default {
        Some(default) => text.push_str(&format!("  [{}] ", one_line(&spelled(default)))),
        None => text.push_str("  > "),
    }
    text
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

fn in_words(caution: acp_client::elicitation::LinkWarning) -> &'static str {
    use acp_client::elicitation::LinkWarning;
    match caution {
        LinkWarning::NotHttps => "the address is not encrypted",
        LinkWarning::NotWeb => "the address opens something else than a page",
        LinkWarning::Punycode => "the name of the host holds letters in disguise",
        LinkWarning::Credentials => "the address carries a name or a password",
        _ => "it cannot be told for sure where the address leads",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::v1::ElicitationSchema;
    use serde_json::{Value, json};

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

    #[test]
    fn an_empty_line_refuses_as_gently_as_it_can() {
        let option = |id: &str, kind| PermissionOption::new(id.to_owned(), id, kind);
        let options = [
            option("a", PermissionOptionKind::AllowOnce),
            option("b", PermissionOptionKind::RejectAlways),
            option("c", PermissionOptionKind::RejectOnce),
        ];
        assert_eq!(refusal(&options), Some(2));
        assert_eq!(refusal(&options[..2]), Some(1));
        assert_eq!(refusal(&options[..1]), None);
    }
}
