//! Writes messages. Everything is serialised into the caller's buffer before
//! the connection is touched.

use std::io::Write as _;

use serde::Serialize;

use super::{RequestId, WireError};

const VERSION: &[u8] = br#"{"jsonrpc":"2.0""#;

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
    serde_json::to_writer(&mut *buffer, result)?;
    buffer.extend_from_slice(b"}\n");
    Ok(())
}

/// Writes an error answer.
pub fn error(buffer: &mut Vec<u8>, id: &RequestId, error: &WireError) {
    answer_head(buffer, id);
    buffer.extend_from_slice(br#","error":"#);
    if serde_json::to_writer(&mut *buffer, error).is_err() {
        // Code, string and raw JSON always serialise into memory.
        buffer.extend_from_slice(br#"{"code":-32603,"message":"internal error"}"#);
    }
    buffer.extend_from_slice(b"}\n");
}

fn answer_head(buffer: &mut Vec<u8>, id: &RequestId) {
    buffer.extend_from_slice(CALL_HEAD);
    match id {
        RequestId::Number(number) => integer(buffer, *number),
        RequestId::Text(text) => string(buffer, text),
        RequestId::Null => buffer.extend_from_slice(b"null"),
    }
}

fn method_and_params(
    buffer: &mut Vec<u8>,
    method: &str,
    params: &impl Serialize,
) -> Result<(), serde_json::Error> {
    buffer.extend_from_slice(br#","method":"#);
    string(buffer, method);
    buffer.extend_from_slice(br#","params":"#);
    serde_json::to_writer(&mut *buffer, params)?;
    buffer.extend_from_slice(b"}\n");
    Ok(())
}

pub(super) fn integer(buffer: &mut Vec<u8>, number: i64) {
    buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn string(buffer: &mut Vec<u8>, text: &str) {
    if text
        .bytes()
        .any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\'))
    {
        // Strings always serialise into memory.
        let _ = write!(buffer, "{}", serde_json::Value::from(text));
        return;
    }
    buffer.push(b'"');
    buffer.extend_from_slice(text.as_bytes());
    buffer.push(b'"');
}
