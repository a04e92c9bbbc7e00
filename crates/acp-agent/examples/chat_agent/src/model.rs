//! One call of the chat API, and its streamed answer.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use acp_agent::{
    host::{Secret, TurnFailure},
    kit::TurnError,
};
use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    config::Config,
    conversation::{Call, Function, Message},
    sse::{Events, TooLong},
};

/// How long it may take until there is a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the model may be silent. Some think for minutes.
const SILENCE: Duration = Duration::from_secs(300);

/// How much is read of an answer that is an error.
const MAX_ERROR: usize = 64 << 10;

/// How many tools may be called at once, and how long their arguments may be.
const MAX_CALLS: usize = 32;
const MAX_ARGUMENTS: usize = 4 << 20;

/// The way to the API.
#[derive(Debug)]
pub(crate) struct Model {
    http: reqwest::Client,
    url: String,
    key: Option<Secret>,
}

/// Why the model did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error("reach the model")]
    Unreachable(#[source] reqwest::Error),
    #[error("have the model answer: {message}")]
    Refused {
        status: StatusCode,
        message: String,
        code: Option<String>,
        retry_after: Option<Duration>,
    },
    #[error("hear the model out: the answer broke off")]
    BrokeOff,
    #[error("understand the model")]
    Malformed(#[source] serde_json::Error),
    #[error("understand the model: it said too much at once")]
    TooMuch,
}

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

/// An answer on its way. Dropped, it closes the connection, and the model stops.
#[derive(Debug)]
pub(crate) struct Answer {
    response: Response,
    events: Events,
    reading: Reading,
}

impl Model {
    pub(crate) fn new(config: &Config) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .build()?;
        Ok(Self {
            http,
            url: format!("{}/chat/completions", config.base_url),
            key: config.key.clone(),
        })
    }

    /// Asks a model for its next message.
    pub(crate) async fn ask(
        &self,
        model: &str,
        messages: &[Message],
        tools: &[Value],
    ) -> Result<Answer, ModelError> {
        let body = json!({
            "model": model,
            "messages": messages,
            "tools": tools,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        let mut request = self.http.post(&self.url).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.expose());
        }
        let response = request.send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        Ok(Answer {
            response,
            events: Events::default(),
            reading: Reading::default(),
        })
    }

    /// What the API says of why it does not answer, without the key, which some
    /// repeat.
    async fn refusal(&self, mut response: Response) -> ModelError {
        let status = response.status();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ERROR {
                break;
            }
        }
        let (message, code) = match serde_json::from_slice::<Failed>(&body) {
            Ok(failed) => (failed.error.message, failed.error.code),
            Err(_) => (status.to_string(), None),
        };
        let message = match &self.key {
            Some(key) => message.replace(key.expose(), "***"),
            None => message,
        };
        ModelError::Refused {
            status,
            message,
            code: code.and_then(|code| code.as_str().map(str::to_owned)),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }
}

impl Answer {
    /// Waits for the next piece.
    pub(crate) async fn next(&mut self) -> Result<Piece, ModelError> {
        loop {
            if let Some(piece) = self.reading.ready.pop_front() {
                return Ok(piece);
            }
            let chunk = self.response.chunk().await.map_err(unreachable)?;
            let Some(chunk) = chunk else {
                self.reading.end()?;
                continue;
            };
            for event in self
                .events
                .push(&chunk)
                .map_err(|TooLong| ModelError::TooMuch)?
            {
                self.reading.event(&event)?;
            }
        }
    }
}

/// Makes pieces of events. Without I/O.
#[derive(Debug, Default)]
struct Reading {
    ready: VecDeque<Piece>,
    /// Calls whose arguments are not complete, by their index.
    calls: BTreeMap<u32, Call>,
    finish: Option<Finish>,
    is_over: bool,
}

impl Reading {
    fn event(&mut self, data: &str) -> Result<(), ModelError> {
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
    fn end(&mut self) -> Result<(), ModelError> {
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
    error: Option<Error>,
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
struct Failed {
    error: Error,
}

#[derive(Deserialize)]
struct Error {
    message: String,
    code: Option<Value>,
}

fn unreachable(error: reqwest::Error) -> ModelError {
    // The address may hold a key.
    ModelError::Unreachable(error.without_url())
}

impl ModelError {
    /// What the user reads of it: all that helps, and nothing secret.
    pub(crate) fn for_user(self) -> TurnError {
        match self {
            Self::Refused {
                code: Some(code), ..
            } if code == "context_length_exceeded" => {
                TurnError::failure(TurnFailure::ContextOverflow)
            }
            Self::Refused {
                status: StatusCode::TOO_MANY_REQUESTS,
                retry_after,
                ..
            } => TurnError::failure(TurnFailure::RateLimited { retry_after }),
            Self::Refused {
                status: StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN,
                message,
                ..
            } => TurnError::public(format!("the model wants another OPENAI_API_KEY: {message}")),
            Self::Refused { message, .. } => {
                TurnError::public(format!("the model does not answer: {message}"))
            }
            Self::Unreachable(error) if error.is_timeout() => {
                TurnError::public("the model does not answer in time")
            }
            Self::Unreachable(error) if error.is_connect() => {
                TurnError::public("the model cannot be reached; is OPENAI_BASE_URL right?")
            }
            Self::Unreachable(_) | Self::BrokeOff => {
                TurnError::public("the answer of the model broke off")
            }
            Self::Malformed(_) | Self::TooMuch => {
                TurnError::public("what the model says cannot be understood")
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
