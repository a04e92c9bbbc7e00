//! Writes messages. Everything is serialised into the caller's buffer before
//! the connection is touched.

use serde::Serialize;

use super::{RequestId, WireError};
use crate::{json, v1::SessionUpdate};

const VERSION: &[u8] = br#"{"jsonrpc":"2.0""#;

/// What stands in front of the `_meta` of a notification, and what ends it.
const META: &[u8] = br#","_meta":"#;
const UPDATE_END: &[u8] = b"}}\n";

/// What stands before the id of a call.
pub(super) const CALL_HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// Writes a notification.
///
/// # Errors
///
/// What `serde_json` says of the parameters.
pub fn notification(
    buffer: &mut Vec<u8>,
    method: &str,
    params: &impl Serialize,
) -> Result<(), serde_json::Error> {
    buffer.extend_from_slice(VERSION);
    method_and_params(buffer, method, params)
}

/// What stands in front of every update of a session, written once for all.
#[derive(Debug)]
pub struct UpdateHead(Box<[u8]>);

impl UpdateHead {
    /// The head of the updates of a session.
    #[must_use]
    pub fn new(session: &str) -> Self {
        const METHOD: &[u8] = br#","method":"session/update","params":{"sessionId":"#;
        const UPDATE: &[u8] = br#","update":"#;
        // As long as it gets, where nothing in the id is escaped.
        let length = VERSION.len() + METHOD.len() + session.len() + 2 + UPDATE.len();
        let mut head = Vec::with_capacity(length);
        head.extend_from_slice(VERSION);
        head.extend_from_slice(METHOD);
        json::string(&mut head, session);
        head.extend_from_slice(UPDATE);
        Self(head.into())
    }
}

/// Writes an update of a session; `meta` is what stands in its `_meta`, as JSON.
///
/// # Errors
///
/// What `serde_json` says of the update.
pub fn update(
    buffer: &mut Vec<u8>,
    head: &UpdateHead,
    update: &impl Serialize,
    meta: Option<&str>,
) -> Result<(), serde_json::Error> {
    buffer.extend_from_slice(&head.0);
    json::write(buffer, update)?;
    if let Some(meta) = meta {
        buffer.extend_from_slice(META);
        buffer.extend_from_slice(meta.as_bytes());
    }
    buffer.extend_from_slice(UPDATE_END);
    Ok(())
}

/// The JSON around the text of a chunk, for messages that come in many chunks.
///
/// Chunks of one message differ by their text, and by a number in their `_meta`.
#[derive(Debug)]
pub struct TextHead {
    before_text: Box<[u8]>,
    behind_text: Box<[u8]>,
    /// What stands behind the number, if there is one.
    behind_number: Option<Box<[u8]>>,
}

impl TextHead {
    /// Encodes everything of a chunk but its text, which does not matter here. `meta` is
    /// the JSON in the `_meta` of each chunk, before and behind the number. `None` where
    /// the update is no chunk of text.
    #[must_use]
    pub fn new(head: &UpdateHead, chunk: &SessionUpdate, meta: Option<[&str; 2]>) -> Option<Self> {
        let [before, behind] = around_text(chunk)?;
        let (behind_text, behind_number) = match meta {
            None => ([&behind, UPDATE_END].concat(), None),
            Some([front, back]) => (
                [&behind, META, front.as_bytes()].concat(),
                Some([back.as_bytes(), UPDATE_END].concat()),
            ),
        };
        Some(Self {
            before_text: [&*head.0, &before].concat().into(),
            behind_text: behind_text.into(),
            behind_number: behind_number.map(Into::into),
        })
    }
}

/// The encoded chunk before and behind the content of its text, both quotes included.
///
/// The codec decides where that is: the chunk is encoded with two texts of one letter, and
/// only that letter differs.
fn around_text(chunk: &SessionUpdate) -> Option<[Vec<u8>; 2]> {
    let mut chunk = chunk.clone();
    let mut encode = |text: &str| {
        let mut out = Vec::with_capacity(256);
        text.clone_into(chunk.text_mut()?);
        json::write(&mut out, &chunk).ok()?;
        Some(out)
    };
    let (mut before, other) = (encode("a")?, encode("b")?);
    let place = before.iter().zip(&other).position(|(a, b)| a != b)?;
    let behind = before.split_off(place + 1);
    before.truncate(place);
    Some([before, behind])
}

/// Writes a chunk with this text, as [`update`] writes it.
pub fn text(buffer: &mut Vec<u8>, head: &TextHead, text: &str, number: u64) {
    buffer.extend_from_slice(&head.before_text);
    json::escape(buffer, text);
    buffer.extend_from_slice(&head.behind_text);
    if let Some(behind) = &head.behind_number {
        buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        buffer.extend_from_slice(behind);
    }
}

/// Writes what follows the id of a call; the connection writes the rest when
/// it knows the id.
///
/// # Errors
///
/// What `serde_json` says of the parameters.
pub fn call_tail(
    buffer: &mut Vec<u8>,
    method: &str,
    params: &impl Serialize,
) -> Result<(), serde_json::Error> {
    method_and_params(buffer, method, params)
}

/// Writes the answer to a request.
///
/// # Errors
///
/// What `serde_json` says of the result.
pub fn result(
    buffer: &mut Vec<u8>,
    id: &RequestId,
    result: &impl Serialize,
) -> Result<(), serde_json::Error> {
    answer_head(buffer, id);
    buffer.extend_from_slice(br#","result":"#);
    json::write(buffer, result)?;
    buffer.extend_from_slice(b"}\n");
    Ok(())
}

/// Writes an error answer.
pub fn error(buffer: &mut Vec<u8>, id: &RequestId, error: &WireError) {
    answer_head(buffer, id);
    buffer.extend_from_slice(br#","error":"#);
    if json::write(buffer, error).is_err() {
        // Code, string and raw JSON always serialise into memory.
        buffer.extend_from_slice(br#"{"code":-32603,"message":"internal error"}"#);
    }
    buffer.extend_from_slice(b"}\n");
}

fn answer_head(buffer: &mut Vec<u8>, id: &RequestId) {
    buffer.extend_from_slice(CALL_HEAD);
    match id {
        RequestId::Number(number) => integer(buffer, *number),
        RequestId::Text(text) => json::string(buffer, text),
        RequestId::Null => buffer.extend_from_slice(b"null"),
    }
}

fn method_and_params(
    buffer: &mut Vec<u8>,
    method: &str,
    params: &impl Serialize,
) -> Result<(), serde_json::Error> {
    buffer.extend_from_slice(br#","method":"#);
    json::string(buffer, method);
    buffer.extend_from_slice(br#","params":"#);
    json::write(buffer, params)?;
    buffer.extend_from_slice(b"}\n");
    Ok(())
}

pub(super) fn integer(buffer: &mut Vec<u8>, number: i64) {
    buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
