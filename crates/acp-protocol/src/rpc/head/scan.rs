//! The forward scan of the members before the body.

use super::{Attempt, Body, Head, MAX_REQUEST_ID, Method, RequestId, Shape};
use crate::json::Cursor;

/// Reads what comes in floods, where its members stand in the usual order: a
/// `session/update`, a result, a request.
pub(in crate::rpc) fn scan(line: &[u8]) -> Option<Head> {
    let mut cursor = Cursor::new(line);
    let (mut id, mut method, mut version) = (None, None, false);
    cursor.expect(b'{')?;
    loop {
        let key = cursor.plain_string()?;
        cursor.expect(b':')?;
        match &line[key] {
            b"jsonrpc" if !version => {
                version = &line[cursor.plain_string()?] == b"2.0";
                if !version {
                    return None;
                }
            }
            b"id" if id.is_none() => id = Some(id_of(&mut cursor, line)?),
            b"method" if method.is_none() => method = Some(cursor.plain_string()?),
            b"params" if version && id.is_none() => {
                let method = method?;
                if &line[method.clone()] != b"session/update" {
                    return None;
                }
                if !closes_update(line) {
                    return None;
                }
                return Some(Head {
                    shape: Shape::Notification,
                    id: None,
                    method: Some(Method::Span(method)),
                    body: Body::From(start_of_value(&mut cursor)),
                });
            }
            b"params" if version => {
                let body = cursor.value()?;
                if line[body.end..].trim_ascii() != b"}" {
                    return None;
                }
                return Some(Head {
                    shape: Shape::Request,
                    id: Some(id?),
                    method: Some(Method::Span(method.filter(|method| !method.is_empty())?)),
                    body: Body::Exact(body),
                });
            }
            b"result" if version && method.is_none() && id.is_some() => {
                return Some(Head {
                    shape: Shape::Result,
                    id,
                    method: None,
                    body: Body::From(start_of_value(&mut cursor)),
                });
            }
            _ => return None,
        }
        cursor.expect(b',')?;
    }
}

/// Whether nothing can stand behind the parameters of an update: the last member
/// of the last object ends in three braces, and anything else may hide one.
pub(in crate::rpc) fn closes_update(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"}}}")
}

/// The kind that a line seems to be by its first bytes.
#[derive(Debug)]
pub(in crate::rpc) struct Guess<'a> {
    pub(in crate::rpc) attempt: Attempt,
    /// Its id, where it stands before the method or the answer.
    pub(in crate::rpc) id: Option<RequestId>,
    /// Its method, where nothing in it is escaped.
    pub(in crate::rpc) method: Option<&'a str>,
}

/// Guesses what a line is from its first bytes. `None` when they do not tell.
pub(in crate::rpc) fn guess(start: &[u8]) -> Option<Guess<'_>> {
    let mut cursor = Cursor::new(start);
    let mut id = None;
    cursor.expect(b'{')?;
    loop {
        let key = cursor.plain_string()?;
        cursor.expect(b':')?;
        match &start[key] {
            b"jsonrpc" => _ = cursor.plain_string()?,
            b"id" => id = Some(id_of(&mut cursor, start)?),
            // An id may follow the parameters, out of sight.
            b"method" => {
                let method = cursor.plain_string();
                let method = method.and_then(|method| std::str::from_utf8(&start[method]).ok());
                return Some(Guess {
                    attempt: Attempt::Call,
                    id,
                    method,
                });
            }
            b"result" | b"error" if id.is_some() => {
                return Some(Guess {
                    attempt: Attempt::Answer,
                    id,
                    method: None,
                });
            }
            _ => return None,
        }
        cursor.expect(b',')?;
    }
}

/// Moves over blanks, to the value behind them.
fn start_of_value(cursor: &mut Cursor<'_>) -> usize {
    cursor.peek();
    cursor.at()
}

/// Moves over an id.
fn id_of(cursor: &mut Cursor<'_>, line: &[u8]) -> Option<RequestId> {
    if cursor.peek() != Some(b'"') {
        return cursor.integer().map(RequestId::Number);
    }
    let text = cursor.plain_string()?;
    if text.len() > MAX_REQUEST_ID {
        return None;
    }
    Some(RequestId::Text(
        std::str::from_utf8(&line[text]).ok()?.into(),
    ))
}
