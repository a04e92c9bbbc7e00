//! The dialects: how a request is read, and how an answer is written.

mod chat;
mod gemini;
mod messages;
mod responses;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::script::{Reply, Request};

/// One way of talking to a model.
pub(crate) trait Dialect: Sync {
    /// Names the dialect in the journal.
    fn name(&self) -> &'static str;

    /// Reads what is asked.
    fn read(&self, body: &Value) -> Request;

    /// Writes an answer as the frames of a stream.
    fn stream(&self, model: &str, reply: &Reply) -> Vec<Frame>;

    /// Writes an answer in one piece.
    fn whole(&self, model: &str, reply: &Reply) -> Value;
}

/// OpenAI's chat completions.
pub(crate) const CHAT: &dyn Dialect = &chat::Chat;

/// OpenAI's responses.
pub(crate) const RESPONSES: &dyn Dialect = &responses::Responses;

/// Gemini's contents.
pub(crate) const GEMINI: &dyn Dialect = &gemini::Gemini;

/// Anthropic's messages.
pub(crate) const MESSAGES: &dyn Dialect = &messages::Messages;

/// One event of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame {
    /// How long to wait before it is sent.
    pub(crate) pause: Duration,
    pub(crate) event: Option<String>,
    pub(crate) data: String,
}

impl Frame {
    /// Makes a frame without a name, sent at once.
    fn unnamed(data: &Value) -> Self {
        Self::text(data.to_string())
    }

    fn text(data: String) -> Self {
        Self {
            pause: Duration::ZERO,
            event: None,
            data,
        }
    }

    fn after(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }
}

/// How many tokens an answer is said to have taken, whatever it was.
const TOKENS_IN: u64 = 100;
const TOKENS_OUT: u64 = 20;

/// Makes an id that no other answer of this process has.
fn fresh_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}_{:08}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Collects the text of a message, whatever its parts are called.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(text_of).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Reads a string that may be absent.
fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
