//! The forward scan of the members before the body.

use std::ops::Range;

use super::{Attempt, Body, Head, Method, RequestId, Shape, integer};
use crate::json::{plain, skip_value};

/// Reads what comes in floods, where its members stand in the usual order: a
/// `session/update`, a result, a request.
pub(in crate::rpc) fn scan(line: &[u8]) -> Option<Head> {
    let mut scanner = Scanner { line, at: 0 };
    let (mut id, mut method, mut version) = (None, None, false);
    scanner.expect(b'{')?;
    loop {
        let key = scanner.plain_string()?;
        scanner.expect(b':')?;
        match &line[key] {
            b"jsonrpc" if !version => {
                version = &line[scanner.plain_string()?] == b"2.0";
                if !version {
                    return None;
                }
            }
            b"id" if id.is_none() => id = Some(scanner.id()?),
            b"method" if method.is_none() => method = Some(scanner.plain_string()?),
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
                    body: Body::From(scanner.blank()),
                });
            }
            b"params" if version => {
                return Some(Head {
                    shape: Shape::Request,
                    id: Some(id?),
                    method: Some(Method::Span(method.filter(|method| !method.is_empty())?)),
                    body: Body::Exact(scanner.last_value()?),
                });
            }
            b"result" if version && method.is_none() && id.is_some() => {
                return Some(Head {
                    shape: Shape::Result,
                    id,
                    method: None,
                    body: Body::From(scanner.blank()),
                });
            }
            _ => return None,
        }
        scanner.expect(b',')?;
    }
}

/// Whether nothing can stand behind the parameters of an update: the last member
/// of the last object ends in three braces, and anything else may hide one.
pub(in crate::rpc) fn closes_update(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b"}}}")
}

/// Guesses what a line is from its first bytes. `None` when they do not tell.
pub(in crate::rpc) fn guess(start: &[u8]) -> Option<(Attempt, Option<RequestId>)> {
    let mut scanner = Scanner { line: start, at: 0 };
    let mut id = None;
    scanner.expect(b'{')?;
    loop {
        let key = scanner.plain_string()?;
        scanner.expect(b':')?;
        match &start[key] {
            b"jsonrpc" => _ = scanner.plain_string()?,
            b"id" => id = Some(scanner.id()?),
            // An id may follow the parameters, out of sight.
            b"method" => return Some((Attempt::Call, id)),
            b"result" | b"error" if id.is_some() => return Some((Attempt::Answer, id)),
            _ => return None,
        }
        scanner.expect(b',')?;
    }
}

/// Walks over the members of the envelope.
struct Scanner<'a> {
    line: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// Skips blanks and returns where the next byte stands.
    fn blank(&mut self) -> usize {
        while self
            .line
            .get(self.at)
            .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        {
            self.at += 1;
        }
        self.at
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        let at = self.blank();
        self.at = at + 1;
        (*self.line.get(at)? == byte).then_some(())
    }

    /// A string without escapes.
    fn plain_string(&mut self) -> Option<Range<usize>> {
        self.expect(b'"')?;
        let start = self.at;
        let end = start + plain(self.line.get(start..)?);
        self.at = end + 1;
        (*self.line.get(end)? == b'"').then_some(start..end)
    }

    /// A value behind which the object ends.
    fn last_value(&mut self) -> Option<Range<usize>> {
        let start = self.blank();
        let end = skip_value(self.line, start)?;
        (self.line[end..].trim_ascii() == b"}").then_some(start..end)
    }

    fn id(&mut self) -> Option<RequestId> {
        let start = self.blank();
        if self.line.get(start) == Some(&b'"') {
            let text = self.plain_string()?;
            return Some(RequestId::Text(
                std::str::from_utf8(&self.line[text]).ok()?.into(),
            ));
        }
        while self
            .line
            .get(self.at)
            .is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'-'))
        {
            self.at += 1;
        }
        integer(std::str::from_utf8(&self.line[start..self.at]).ok()?).map(RequestId::Number)
    }
}
