//! What a person sees before they permit something, and how they say it.

use acp_client::PermissionRequest;
use acp_protocol::v1::{PermissionOption, PermissionOptionKind, RawJson};
use acp_text::{Clean, clean};
use serde_json::Value;

use crate::show::{AskText, is_cut, one_line};

/// Shows what is asked for, all of it, and the options.
pub(super) fn permission_text(ask: &PermissionRequest) -> AskText {
    let tool = ask.tool();
    let call = &ask.raw().tool_call;
    let kind = tool.kind.as_ref().map(|kind| one_line(kind.as_str()));
    let kind = kind.unwrap_or(clean!("tool"));
    let mut text = AskText::new().words(clean!("\nThe agent asks: {}\n", kind));
    // The request has the whole of its title; of an earlier one as much is known as is kept.
    let title = call.title.as_deref().or(tool.title.as_deref());
    let title = title.unwrap_or("a tool");
    text = text.quoted(title);
    if call.title.is_none() && is_cut(title) {
        text = text.words(clean!("  [... the rest of the title is not kept ...]\n"));
    }
    let command = call.raw_input.as_ref().and_then(command_of);
    if let Some(command) = command.filter(|command| !title.contains(command.as_str())) {
        text = text.words(clean!("  the command:\n")).quoted(&command);
    }
    if !tool.paths.is_empty() {
        text = text.words(clean!("  paths:\n"));
    }
    for path in &tool.paths {
        text = text.quoted(path);
    }
    if tool.has_more_paths {
        text = text.words(clean!("  [... and more paths, which are not kept ...]\n"));
    }
    for (at, option) in ask.options().iter().enumerate() {
        text = text.item(clean!("  {}  ", at + 1), &option.name);
    }
    text.words(which(refusal(ask.options())))
}

/// Asks for one of the options; an empty line takes the refusal.
pub(super) fn which(refusal: Option<usize>) -> Clean<'static> {
    match refusal {
        Some(at) => clean!("Which? [{}] ", at + 1),
        None => clean!("Which? [none] "),
    }
}

/// Finds the option that an empty line takes: the one that refuses with the least
/// consequence.
pub(super) fn refusal(options: &[PermissionOption]) -> Option<usize> {
    let first = |kind| options.iter().position(|option| option.kind == kind);
    first(PermissionOptionKind::RejectOnce).or_else(|| first(PermissionOptionKind::RejectAlways))
}

/// Finds the command in the input of a tool, as the usual agents write it: a title may be a
/// description, and need not be true.
fn command_of(input: &RawJson) -> Option<String> {
    let input: Value = input.to_value();
    let command = input.get("command").or_else(|| input.get("cmd"))?;
    let mut command = words_of(command)?;
    if let Some(args) = input.get("args").and_then(words_of) {
        command.push(' ');
        command.push_str(&args);
    }
    Some(command)
}

/// Returns a text, or words as a shell would take them.
fn words_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            Some(shell_words::join(words?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn commands_are_found_as_agents_write_them() {
        let of = |input: Value| command_of(&RawJson::of(&input).unwrap());
        let command = |text: &str| Some(text.to_owned());
        use serde_json::json;
        assert_eq!(of(json!({"command": "ls -l; sh"})), command("ls -l; sh"));
        assert_eq!(
            of(json!({"command": ["bash", "-lc", "ls; sh"], "workdir": "/"})),
            command("bash -lc 'ls; sh'")
        );
        assert_eq!(
            of(json!({"cmd": "rm", "args": ["-r", "a b"]})),
            command("rm -r 'a b'")
        );
        assert_eq!(of(json!({"path": "/a"})), None);
        assert_eq!(of(json!({"command": {"a": 1}})), None);
        assert_eq!(of(json!(["command"])), None);
    }
}
