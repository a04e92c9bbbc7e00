//! What a line is, found with as little work as can be.

use std::borrow::Cow;

use anyhow::{Context, Result, bail};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The file that is always read: 64 bytes.
pub(crate) const FILE: &str = "the text of a small file that has sixty-four bytes, and not more";

/// A message of the agent.
pub(crate) enum Message {
    Update,
    /// An answer to the request with this id.
    Answer(u64),
    Request {
        id: String,
        method: String,
    },
}

/// Every message, without its contents.
#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
}

/// Tells what a line of an agent is.
pub(crate) fn read(line: &[u8]) -> Result<Message> {
    // The method stands near the beginning, and a text in which this stands is escaped.
    let head = &line[..line.len().min(200)];
    if memmem::find(head, b"\"session/update\"").is_some() {
        return Ok(Message::Update);
    }
    let shown = || String::from_utf8_lossy(head).into_owned();
    let envelope: Envelope<'_> = serde_json::from_slice(line).with_context(shown)?;
    match (envelope.id, envelope.method) {
        (Some(id), Some(method)) => Ok(Message::Request {
            id: id.get().to_owned(),
            method: method.into_owned(),
        }),
        (None, Some(method)) if method == "session/update" => Ok(Message::Update),
        (Some(id), None) if envelope.result.is_some() => {
            Ok(Message::Answer(id.get().parse().with_context(shown)?))
        }
        _ => bail!("an unexpected message: {}", shown()),
    }
}
