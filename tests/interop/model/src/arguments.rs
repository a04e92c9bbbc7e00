//! Arguments for tools, and other JSON made after a schema.

use serde_json::{Map, Value, json};

use crate::script::Tool;

/// Names that tools which run a shell command go by, best first.
const SHELLS: [&str; 6] = [
    "bash",
    "shell",
    "exec_command",
    "run_shell_command",
    "execute_command",
    "terminal",
];

/// Names that tools which read a file go by.
const READERS: [&str; 4] = ["read", "read_file", "read_text_file", "view"];

/// Names that tools which write a whole file go by.
const WRITERS: [&str; 4] = ["write", "write_file", "write_text_file", "create_file"];

/// Names that tools which ask the user go by.
const ASKERS: [&str; 4] = [
    "request_user_input",
    "askuserquestion",
    "ask_user",
    "question",
];

/// Names that the argument with the path goes by.
const PATHS: [&str; 5] = ["path", "file_path", "filepath", "absolute_path", "filename"];

/// Names that the argument with the command goes by.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];

/// Finds a tool that runs a shell command.
pub(crate) fn shell(tools: &[Tool]) -> Option<&Tool> {
    find(tools, &SHELLS)
}

/// Finds a tool that reads a file.
pub(crate) fn reader(tools: &[Tool]) -> Option<&Tool> {
    find(tools, &READERS)
}

/// Finds a tool that writes a file.
pub(crate) fn writer(tools: &[Tool]) -> Option<&Tool> {
    find(tools, &WRITERS)
}

/// Finds a tool that asks the user.
pub(crate) fn asker(tools: &[Tool]) -> Option<&Tool> {
    find(tools, &ASKERS)
}

fn find<'a>(tools: &'a [Tool], names: &[&str]) -> Option<&'a Tool> {
    let by_name = |name: &&str| {
        tools
            .iter()
            .find(|tool| tool.name.eq_ignore_ascii_case(name))
    };
    names.iter().find_map(by_name)
}

/// Makes the arguments for a tool that reads or writes this file.
pub(crate) fn for_file(schema: &Value, path: &str, content: &str) -> Value {
    let mut arguments = Map::new();
    for (name, property) in properties(schema) {
        if PATHS.contains(&name.to_lowercase().as_str()) {
            arguments.insert(name.clone(), json!(path));
        } else if name == "content" {
            arguments.insert(name.clone(), json!(content));
        } else if is_required(schema, name) {
            arguments.insert(name.clone(), example(property));
        }
    }
    Value::Object(arguments)
}

/// Makes the arguments for a tool that asks the user: one question with two answers.
pub(crate) fn for_question(schema: &Value) -> Value {
    let mut arguments = Map::new();
    for (name, property) in properties(schema) {
        if !is_required(schema, name) {
            continue;
        }
        let items = &property["items"];
        let value = match (name.as_str(), property["type"].as_str()) {
            ("options", _) => {
                let answers = ["Red", "Blue"].map(|label| {
                    let mut answer = for_question(items);
                    answer["label"] = json!(label);
                    answer
                });
                json!(answers)
            }
            ("question", _) => json!("Which colour?"),
            ("header", _) => json!("Colour"),
            ("id", _) => json!("colour"),
            (_, Some("array")) => json!([for_question(items)]),
            _ => example(property),
        };
        arguments.insert(name.clone(), value);
    }
    Value::Object(arguments)
}

/// Makes the arguments that run `command` in a tool with this schema.
///
/// Where the schema lets the model ask for leave to work outside a sandbox, it asks.
pub(crate) fn for_shell(schema: &Value, command: &str) -> Value {
    let mut arguments = Map::new();
    for (name, property) in properties(schema) {
        let is_command = COMMANDS.contains(&name.as_str());
        if is_command && property["type"] == "array" {
            arguments.insert(name.clone(), json!(["bash", "-c", command]));
        } else if is_command {
            arguments.insert(name.clone(), json!(command));
        } else if options(property).any(|option| option == "require_escalated") {
            arguments.insert(name.clone(), json!("require_escalated"));
        } else if name == "justification" {
            arguments.insert(name.clone(), json!("May the mock model write a file?"));
        } else if is_required(schema, name) {
            arguments.insert(name.clone(), example(property));
        }
    }
    Value::Object(arguments)
}

/// Makes a small value that fits a schema: every property, first options, plain scalars.
pub(crate) fn example(schema: &Value) -> Value {
    if let Some(option) = options(schema).next() {
        return option.clone();
    }
    // Some dialects write the names of types in capitals.
    match schema["type"].as_str().map(str::to_lowercase).as_deref() {
        Some("object") => properties(schema)
            .map(|(name, property)| (name.clone(), example(property)))
            .collect::<Map<_, _>>()
            .into(),
        Some("array") => json!([]),
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        _ => json!("mock"),
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn options(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["enum"].as_array().into_iter().flatten()
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema["required"].as_array();
    required.is_some_and(|names| names.iter().any(|other| other == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_finds_its_argument() {
        let schema = json!({
            "properties": {
                "cmd": {"type": "string"},
                "note": {"type": "string"},
                "wait": {"type": "integer"},
            },
            "required": ["cmd", "note"],
        });
        assert_eq!(
            for_shell(&schema, "ls"),
            json!({"cmd": "ls", "note": "mock"})
        );
        let schema = json!({"properties": {"command": {"type": "array"}}});
        assert_eq!(
            for_shell(&schema, "ls"),
            json!({"command": ["bash", "-c", "ls"]})
        );
    }

    #[test]
    fn leave_is_asked_where_it_can_be() {
        let schema = json!({"properties": {
            "cmd": {"type": "string"},
            "permissions": {"type": "string", "enum": ["use_default", "require_escalated"]},
            "justification": {"type": "string"},
        }});
        let arguments = for_shell(&schema, "ls");
        assert_eq!(arguments["permissions"], "require_escalated");
        assert_eq!(
            arguments["justification"],
            "May the mock model write a file?"
        );
    }

    #[test]
    fn a_question_has_two_answers() {
        let text = json!({"type": "string"});
        let option = json!({"type": "object", "properties": {"label": text, "description": text}, "required": ["label", "description"]});
        let question = json!({
            "type": "object",
            "properties": {
                "question": text,
                "header": text,
                "options": {"type": "array", "items": option},
                "multiSelect": {"type": "boolean"},
                "note": text,
            },
            "required": ["question", "header", "options", "multiSelect"],
        });
        let schema = json!({
            "properties": {"questions": {"type": "array", "items": question}},
            "required": ["questions"],
        });
        let answers = json!([
            {"label": "Red", "description": "mock"},
            {"label": "Blue", "description": "mock"},
        ]);
        let expected = json!({"questions": [{
            "question": "Which colour?",
            "header": "Colour",
            "options": answers,
            "multiSelect": false,
        }]});
        assert_eq!(for_question(&schema), expected);
    }

    #[test]
    fn an_example_fits_its_schema() {
        let schema = json!({"type": "OBJECT", "properties": {
            "who": {"type": "string", "enum": ["user", "model"]},
            "sure": {"type": "BOOLEAN"},
            "score": {"type": "number"},
            "all": {"type": "array"},
        }});
        let expected = json!({"who": "user", "sure": false, "score": 1, "all": []});
        assert_eq!(example(&schema), expected);
    }
}
