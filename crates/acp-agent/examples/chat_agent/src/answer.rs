//! What the model says, put together from the events of its stream.

use std::collections::{BTreeMap, VecDeque};

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    conversation::{Call, Function},
    model::ModelError,
};

/// How many tools may be called at once, and how long their arguments may be.
const MAX_CALLS: usize = 32;
const MAX_ARGUMENTS: usize = 4 << 20;

/// What comes of an answer, piece by piece.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Thought(String),
    /// The call of a tool, as a whole.
    Call(Call),
    /// How many tokens the call took.
    Tokens(u64),
    /// The answer is complete; this is how it ended.
    Finished(Finish),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
    Filter,
}

/// Makes pieces of events. Without I/O.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) ready: VecDeque<Piece>,
    /// Calls whose arguments are not complete, by their index.
    calls: BTreeMap<u32, Call>,
    finish: Option<Finish>,
    is_over: bool,
}

impl Reading {
    /// Takes an event of the stream.
    pub(crate) fn event(&mut self, data: &str) -> Result<(), ModelError> {
        if self.is_over {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.end();
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(ModelError::Malformed)?;
        if let Some(error) = chunk.error {
            return Err(ModelError::Refused {
                status: StatusCode::OK,
                message: error.message,
                code: None,
                retry_after: None,
            });
        }
        if let Some(usage) = chunk.usage {
            self.ready.push_back(Piece::Tokens(usage.total_tokens));
        }
        let Some(choice) = chunk.choices.into_iter().next() else {
            return Ok(());
        };
        let Delta {
            content,
            reasoning_content,
            tool_calls,
        } = choice.delta;
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        self.ready
            .extend(said(reasoning_content).map(Piece::Thought));
        self.ready.extend(said(content).map(Piece::Text));
        for part in tool_calls.unwrap_or_default() {
            self.call(part)?;
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(match &*reason {
                "length" => Finish::Length,
                "content_filter" => Finish::Filter,
                _ => Finish::Stop,
            });
        }
        Ok(())
    }

    fn call(&mut self, part: CallPart) -> Result<(), ModelError> {
        let call = self.calls.entry(part.index).or_insert_with(Call::new);
        if let Some(id) = part.id {
            call.id = id;
        }
        if let Some(name) = part.function.name {
            call.function.name.push_str(&name);
        }
        if let Some(arguments) = part.function.arguments {
            call.function.arguments.push_str(&arguments);
        }
        if self.calls.len() > MAX_CALLS || self.arguments() > MAX_ARGUMENTS {
            return Err(ModelError::TooMuch);
        }
        Ok(())
    }

    fn arguments(&self) -> usize {
        let calls = self.calls.values();
        calls.map(|call| call.function.arguments.len()).sum()
    }

    /// The stream has ended: well, if the model said how it finished.
    pub(crate) fn end(&mut self) -> Result<(), ModelError> {
        if self.is_over {
            return Err(ModelError::BrokeOff);
        }
        self.is_over = true;
        let finish = self.finish.ok_or(ModelError::BrokeOff)?;
        // The arguments of an answer that was cut may be cut, too.
        if finish == Finish::Stop {
            let calls = std::mem::take(&mut self.calls).into_values();
            self.ready.extend(calls.map(Piece::Call));
        }
        self.ready.push_back(Piece::Finished(finish));
        Ok(())
    }
}

impl Call {
    fn new() -> Self {
        Self {
            id: String::new(),
            kind: "function",
            function: Function::default(),
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Said>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    /// Where some servers put what the model thinks.
    #[serde(alias = "reasoning")]
    reasoning_content: Option<String>,
    tool_calls: Option<Vec<CallPart>>,
}

#[derive(Deserialize)]
struct CallPart {
    #[serde(default)]
    index: u32,
    id: Option<String>,
    #[serde(default)]
    function: FunctionPart,
}

#[derive(Default, Deserialize)]
struct FunctionPart {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    total_tokens: u64,
}

#[derive(Deserialize)]
pub(crate) struct Said {
    pub(crate) message: String,
    pub(crate) code: Option<Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(events: &[Value]) -> Result<Vec<Piece>, ModelError> {
        let mut reading = Reading::default();
        for event in events {
            reading.event(&event.to_string())?;
        }
        reading.event("[DONE]")?;
        Ok(reading.ready.into_iter().collect())
    }

    fn delta(delta: Value) -> Value {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    fn finish(reason: &str) -> Value {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    }

    #[test]
    fn pieces_come_in_order() {
        let pieces = read(&[
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"reasoning_content": "hm"})),
            delta(json!({"content": "Hello"})),
            finish("stop"),
            json!({"choices": [], "usage": {"total_tokens": 12}}),
        ]);
        let want = [
            Piece::Thought("hm".into()),
            Piece::Text("Hello".into()),
            Piece::Tokens(12),
            Piece::Finished(Finish::Stop),
        ];
        assert_eq!(pieces.unwrap(), want);
    }

    #[test]
    fn calls_are_put_together() {
        let part = |index: u32, id: Value, name: Value, arguments: &str| {
            let function = json!({"name": name, "arguments": arguments});
            delta(json!({"tool_calls": [{"index": index, "id": id, "function": function}]}))
        };
        let events = [
            part(1, json!("b"), json!("write_file"), ""),
            part(0, json!("a"), json!("read_file"), "{\"pa"),
            part(0, Value::Null, Value::Null, "th\":1}"),
            part(1, Value::Null, Value::Null, "{}"),
        ];
        let pieces = read(&[&events[..], &[finish("tool_calls")]].concat()).unwrap();
        let calls: Vec<_> = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Call(call) => Some((&*call.id, &*call.function.arguments)),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [("a", "{\"path\":1}"), ("b", "{}")]);
        // What was cut is not run.
        let pieces = read(&[&events[..], &[finish("length")]].concat()).unwrap();
        assert_eq!(pieces, [Piece::Finished(Finish::Length)]);
    }

    #[test]
    fn what_breaks_off_is_no_answer() {
        let broken = read(&[delta(json!({"content": "Hel"}))]);
        assert!(matches!(broken, Err(ModelError::BrokeOff)));
        let failed = read(&[json!({"error": {"message": "overloaded"}})]);
        assert!(matches!(failed, Err(ModelError::Refused { .. })));
        let mut reading = Reading::default();
        assert!(matches!(reading.event("{"), Err(ModelError::Malformed(_))));
    }

    #[test]
    fn what_never_ends_is_refused() {
        let mut reading = Reading::default();
        let much = "x".repeat(1 << 20);
        let part = json!({"tool_calls": [{"index": 0, "function": {"arguments": much}}]});
        let event = delta(part).to_string();
        let refused = (0..8).find(|_| reading.event(&event).is_err());
        assert_eq!(refused, Some(4));
    }
}
