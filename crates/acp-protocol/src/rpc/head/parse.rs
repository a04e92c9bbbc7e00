//! The full parse: one pass over the top-level object, and what is wrong with it.

use std::{borrow::Cow, ops::Range, sync::Arc};

use super::{
    Attempt, Body, Head, Issue, Issues, MAX_REQUEST_ID, Method, Refused, RequestId, Shape,
    lost::malformed,
};
use crate::json;

/// Reads any message, whatever the order of its members.
pub(in crate::rpc) fn parse(line: &[u8]) -> Result<Head, Refused> {
    let refused = |issue: Issue| Err(Refused::new(issue));
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(malformed(line));
    };
    let Some(mut members) = json::members(text) else {
        let mut value = json::Cursor::new(line);
        return match value.value().map(|value| line[value.end..].trim_ascii()) {
            Some([]) => refused(Issue::NotAnObject),
            Some(_) => refused(Issue::TrailingData),
            None => Err(malformed(line)),
        };
    };
    let mut envelope = Envelope::default();
    loop {
        match members.next() {
            Ok(Some((key, value))) => envelope.take(&key, value),
            Ok(None) => break,
            // A syntax error wins over all members that were read before it.
            Err(_) => return Err(malformed(line)),
        }
    }
    if !members.rest().trim_ascii().is_empty() {
        return refused(Issue::TrailingData);
    }
    envelope.into_head(line)
}

/// The six known members of the top-level object, each as its text.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    duplicate: bool,
}

impl<'a> Envelope<'a> {
    fn take(&mut self, key: &str, value: &'a str) {
        let member = match key {
            "jsonrpc" => &mut self.jsonrpc,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            // Members of a later version are none of our business.
            _ => return,
        };
        self.duplicate |= member.replace(value).is_some();
    }

    fn into_head(self, line: &[u8]) -> Result<Head, Refused> {
        let mut issues = Issues::default();
        if self.duplicate {
            issues.insert(Issue::DuplicateField);
        }
        if self.jsonrpc.and_then(text).as_deref() != Some("2.0") {
            issues.insert(Issue::WrongVersion);
        }
        let method = self.method.and_then(|raw| method(line, raw));
        if self.method.is_some() && method.is_none() {
            issues.insert(Issue::InvalidMethodType);
        }
        let id = match self.id.map(id) {
            None => None,
            Some(Ok(id)) => Some(id),
            Some(Err(())) => {
                issues.insert(Issue::InvalidIdType);
                None
            }
        };
        let usable = id.clone().filter(|id| *id != RequestId::Null);
        if self.error.is_some_and(|error| !is_error_object(error)) {
            issues.insert(Issue::MalformedErrorObject);
        }
        let (result, error) = (self.result.is_some(), self.error.is_some());
        if result && error {
            issues.insert(Issue::BothResultAndError);
        }
        if (result || error) && usable.is_none() && self.method.is_none() {
            issues.insert(Issue::MissingId);
        }
        let (shape, body) = match (self.method.is_some(), result, error) {
            (true, false, false) => match (&id, &usable) {
                (None, _) => (Some(Shape::Notification), self.params),
                (_, Some(_)) => (Some(Shape::Request), self.params),
                _ => (None, None),
            },
            (false, true, false) => (Some(Shape::Result), self.result),
            (false, false, true) => (Some(Shape::Error), self.error),
            _ => (None, None),
        };
        if shape.is_none() && issues.is_empty() {
            issues.insert(Issue::AmbiguousShape);
        }
        match shape {
            Some(shape) if issues.is_empty() => Ok(Head {
                shape,
                id: usable,
                method,
                body: body.map_or(Body::Absent, |raw| Body::Exact(span(line, raw))),
            }),
            _ => Err(Refused {
                id,
                attempt: if self.method.is_some() {
                    Attempt::Call
                } else if self.result.is_some() || self.error.is_some() {
                    Attempt::Answer
                } else {
                    Attempt::Unknown
                },
                ..Refused::new(issues)
            }),
        }
    }
}

/// The text of a string; `None` for other kinds.
fn text(raw: &str) -> Option<Cow<'_, str>> {
    // Other kinds are no error worth the making.
    let (json::Text(text), _) = raw.starts_with('"').then(|| json::read(raw).ok())??;
    Some(text)
}

fn method(line: &[u8], raw: &str) -> Option<Method> {
    let name = text(raw).filter(|name| !name.is_empty())?;
    Some(match name {
        Cow::Borrowed(plain) => Method::Span(span(line, plain)),
        Cow::Owned(name) => Method::Text(name.into()),
    })
}

fn id(raw: &str) -> Result<RequestId, ()> {
    if raw == "null" {
        return Ok(RequestId::Null);
    }
    if let Some(text) = text(raw) {
        if text.len() > MAX_REQUEST_ID {
            return Err(());
        }
        return Ok(RequestId::Text(Arc::from(text)));
    }
    raw.parse().map(RequestId::Number).map_err(drop)
}

fn is_error_object(raw: &str) -> bool {
    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "only the shape is looked at")]
    struct ErrorObject<'a> {
        code: i32,
        #[serde(borrow)]
        message: Cow<'a, str>,
    }
    serde_json::from_str::<ErrorObject<'_>>(raw).is_ok()
}

/// Where the text of `part` stands in `line`, which it was borrowed from.
fn span(line: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - line.as_ptr() as usize;
    start..start + part.len()
}
