//! What the model says: one word of the prompt decides.
//!
//! | word | the model |
//! |---|---|
//! | none | says "Hello from mock." in four pieces |
//! | `USE_TOOL` | calls the shell-like tool it was offered, which writes `mock_shell.txt` into the folder of `CWD=…` |
//! | `USE_READ` | calls the tool that reads a file, `mock_read.txt` there |
//! | `USE_WRITE` | calls the tool that writes a file, `mock_write.txt` there |
//! | `ASK` | calls the tool that asks the user |
//! | `SLOW` | says 100 pieces, one every 200 ms |
//! | `LONG` | says 2,000 small numbered pieces, as fast as it can |
//! | `THINK` | thinks first |
//! | `CUT` | stops at its limit of tokens |
//! | `REFUSE` | stops at its filter of content |
//! | `FAIL` | answers with HTTP status 400 |
//!
//! After a tool has run it says what the tool said. A request that wants JSON gets an object
//! of the wanted shape, and one that offers no tools (agents ask for titles so) a title.

use std::time::Duration;

use serde_json::Value;

use crate::arguments;

/// What an agent asks, whatever the dialect.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// The text of the last message of the user.
    pub(crate) prompt: String,
    /// What tools said after that message.
    pub(crate) tool_said: Option<String>,
    /// The tools the model may call.
    pub(crate) tools: Vec<Tool>,
    /// The shape of the JSON that is wanted instead of text.
    pub(crate) wanted: Option<Value>,
    /// The name of the model.
    pub(crate) model: String,
}

/// A tool that the model may call.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The JSON schema of its arguments.
    pub(crate) parameters: Value,
}

/// What the model answers.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) thoughts: Vec<String>,
    pub(crate) text: Vec<String>,
    /// How long the model waits before each piece of text.
    pub(crate) pause: Duration,
    pub(crate) call: Option<Call>,
    pub(crate) end: End,
}

/// A call of a tool.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

/// Why the model stopped.
#[derive(Debug, Default, PartialEq, Clone, Copy)]
pub(crate) enum End {
    #[default]
    Complete,
    Limit,
    Filter,
}

/// The name of a script, and what it makes the model do.
pub(crate) type Scripted = (&'static str, Result<Reply, Failure>);

/// The model answers with HTTP status 400.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure;

/// Chooses what the model does, and tells the name of the script it follows.
pub(crate) fn answer(request: &Request) -> Scripted {
    if let Some(shape) = &request.wanted {
        return ("json", say([arguments::example(shape).to_string()]));
    }
    if request.tools.is_empty() {
        return ("title", say(["A title from mock"]));
    }
    if let Some(said) = &request.tool_said {
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        return ("tool said", say(["The tool said: ".to_owned(), said]));
    }
    let has = |word: &str| request.prompt.split_whitespace().any(|w| w == word);
    if has("USE_TOOL") {
        use_tool(request)
    } else if has("USE_READ") {
        let path = format!("{}/mock_read.txt", folder(request));
        call("read", arguments::reader(&request.tools), |schema| {
            arguments::for_file(schema, &path, "")
        })
    } else if has("USE_WRITE") {
        let path = format!("{}/mock_write.txt", folder(request));
        call("write", arguments::writer(&request.tools), |schema| {
            arguments::for_file(schema, &path, "written by mock\n")
        })
    } else if has("ASK") {
        call(
            "ask",
            arguments::asker(&request.tools),
            arguments::for_question,
        )
    } else if has("SLOW") {
        let text = (0..100).map(|n| format!("slow{n} ")).collect();
        let pause = Duration::from_millis(200);
        let reply = Reply {
            text,
            pause,
            ..Reply::default()
        };
        ("slow", Ok(reply))
    } else if has("LONG") {
        ("long", say((0..2000).map(|n| format!("w{n:04} "))))
    } else if has("THINK") {
        let thoughts = pieces(["Let me ", "think."]);
        let text = pieces(["I ", "thought."]);
        let reply = Reply {
            thoughts,
            text,
            ..Reply::default()
        };
        ("think", Ok(reply))
    } else if has("CUT") {
        ("cut", stop(["Cut ", "off"], End::Limit))
    } else if has("REFUSE") {
        ("refuse", stop(["I ", "refuse."], End::Filter))
    } else if has("FAIL") {
        ("fail", Err(Failure))
    } else {
        ("hello", say(["Hello ", "from ", "mock", "."]))
    }
}

fn use_tool(request: &Request) -> Scripted {
    let folder = folder(request);
    let command = format!("echo mock > '{folder}/mock_shell.txt' && echo mock wrote a file");
    call("tool", arguments::shell(&request.tools), |schema| {
        arguments::for_shell(schema, &command)
    })
}

/// Returns the folder that the prompt names.
fn folder(request: &Request) -> &str {
    let mut words = request.prompt.split_whitespace();
    let folder = words.find_map(|word| word.strip_prefix("CWD="));
    folder.unwrap_or(".")
}

/// Calls a tool, if there is one.
fn call(
    script: &'static str,
    tool: Option<&Tool>,
    arguments: impl FnOnce(&Value) -> Value,
) -> Scripted {
    let Some(tool) = tool else {
        return ("no tool", say(["I was offered no such tool."]));
    };
    let call = Call {
        tool: tool.name.clone(),
        arguments: arguments(&tool.parameters),
    };
    let text = pieces(["I call ", "a tool. "]);
    let reply = Reply {
        text,
        call: Some(call),
        ..Reply::default()
    };
    (script, Ok(reply))
}

fn say<T: Into<String>>(text: impl IntoIterator<Item = T>) -> Result<Reply, Failure> {
    stop(text, End::Complete)
}

fn stop<T: Into<String>>(text: impl IntoIterator<Item = T>, end: End) -> Result<Reply, Failure> {
    let text = pieces(text);
    Ok(Reply {
        text,
        end,
        ..Reply::default()
    })
}

fn pieces<T: Into<String>>(text: impl IntoIterator<Item = T>) -> Vec<String> {
    text.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(prompt: &str) -> Request {
        let tool = |name: &str, parameters| Tool {
            name: name.to_owned(),
            parameters,
        };
        let command =
            json!({"properties": {"command": {"type": "string"}}, "required": ["command"]});
        Request {
            prompt: prompt.to_owned(),
            tools: vec![tool("read_file", json!({})), tool("bash", command)],
            ..Request::default()
        }
    }

    #[track_caller]
    fn check(request: &Request, script: &str, text: &str) {
        let (name, reply) = answer(request);
        assert_eq!(name, script);
        assert_eq!(reply.expect("the model answers").text.concat(), text);
    }

    #[test]
    fn one_word_decides() {
        check(&request("Say hello"), "hello", "Hello from mock.");
        check(&request("SLOWLY"), "hello", "Hello from mock.");
        check(&request("please THINK"), "think", "I thought.");
        check(&request("CUT"), "cut", "Cut off");
        check(&request("REFUSE"), "refuse", "I refuse.");
        assert_eq!(answer(&request("FAIL")), ("fail", Err(Failure)));
    }

    #[test]
    fn long_is_two_thousand_numbered_pieces() {
        let (_, reply) = answer(&request("LONG"));
        let text = reply.expect("the model answers").text;
        assert_eq!(text.len(), 2000);
        assert_eq!(
            (text[0].as_str(), text[1999].as_str()),
            ("w0000 ", "w1999 ")
        );
    }

    #[test]
    fn slow_pauses_before_each_piece() {
        let (_, reply) = answer(&request("SLOW"));
        let reply = reply.expect("the model answers");
        assert_eq!(
            (reply.text.len(), reply.pause),
            (100, Duration::from_millis(200))
        );
    }

    #[test]
    fn the_tool_writes_into_the_folder_it_is_told() {
        let (name, reply) = answer(&request("USE_TOOL CWD=/home/ada"));
        assert_eq!(name, "tool");
        let call = reply
            .expect("the model answers")
            .call
            .expect("the model calls a tool");
        assert_eq!(call.tool, "bash");
        let command = "echo mock > '/home/ada/mock_shell.txt' && echo mock wrote a file";
        assert_eq!(call.arguments, json!({ "command": command }));
    }

    #[test]
    fn a_file_is_read_and_written_where_it_is_told() {
        let (name, reply) = answer(&request("USE_READ CWD=/home/ada"));
        let call = reply.expect("the model answers").call;
        let call = call.expect("the model calls a tool");
        assert_eq!((name, call.tool.as_str()), ("read", "read_file"));
        let mut request = request("USE_WRITE CWD=/home/ada");
        check(&request, "no tool", "I was offered no such tool.");
        let path = json!({"type": "string"});
        request.tools.push(Tool {
            name: "Write".to_owned(),
            parameters: json!({"properties": {"file_path": path, "content": path}}),
        });
        let (name, reply) = answer(&request);
        let call = reply.expect("the model answers").call;
        let call = call.expect("the model calls a tool");
        assert_eq!((name, call.tool.as_str()), ("write", "Write"));
        let arguments =
            json!({"file_path": "/home/ada/mock_write.txt", "content": "written by mock\n"});
        assert_eq!(call.arguments, arguments);
    }

    #[test]
    fn without_a_shell_it_says_so() {
        let mut request = request("USE_TOOL");
        request.tools.pop();
        check(&request, "no tool", "I was offered no such tool.");
    }

    #[test]
    fn what_a_tool_said_is_told() {
        let mut request = request("USE_TOOL");
        request.tool_said = Some("a\n  file\n".to_owned());
        check(&request, "tool said", "The tool said: a file");
    }

    #[test]
    fn errands_get_a_title_or_the_json_they_want() {
        let mut request = request("LONG");
        request.tools.clear();
        check(&request, "title", "A title from mock");
        request.wanted =
            Some(json!({"type": "object", "properties": {"title": {"type": "string"}}}));
        check(&request, "json", r#"{"title":"mock"}"#);
    }
}
