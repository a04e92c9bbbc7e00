//! The full parse: one pass over the top-level object, and what is wrong with it.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Attempt, Body, Head, Issue, Issues, Method, Refused, RequestId, Shape, integer};

/// Reads any message, whatever the order of its members.
pub(in crate::rpc) fn parse(line: &[u8]) -> Result<Head, Refused> {
    let mut members = Members::default();
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    if let Err(error) = deserializer.deserialize_any(Collect(&mut members)) {
        let issue = match error.classify() {
            serde_json::error::Category::Data => Issue::NotAnObject,
            _ => Issue::MalformedJson,
        };
        // A syntax error wins over whatever was collected before it.
        return Err(Refused::new(issue));
    }
    if deserializer.end().is_err() {
        return Err(Refused::new(Issue::TrailingData));
    }
    members.into_head(line)
}

/// The six known members of the top-level object, raw.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    duplicate: bool,
}

struct Collect<'m, 'a>(&'m mut Members<'a>);

impl<'de> Visitor<'de> for Collect<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let members = self.0;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let member = match &*key.0 {
                "jsonrpc" => &mut members.jsonrpc,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                "result" => &mut members.result,
                "error" => &mut members.error,
                // Members of a later version are none of our business.
                _ => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    continue;
                }
            };
            members.duplicate |= member.is_some();
            *member = Some(map.next_value()?);
        }
        Ok(())
    }
}

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Members<'_> {
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
        if self
            .error
            .is_some_and(|error| !is_error_object(error.get()))
        {
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
                body: body.map_or(Body::Absent, |raw| Body::Exact(span(line, raw.get()))),
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

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    // What is no text is no error worth the making.
    if !raw.get().starts_with('"') {
        return None;
    }
    serde_json::from_str::<Key<'_>>(raw.get())
        .ok()
        .map(|key| key.0)
}

fn method(line: &[u8], raw: &RawValue) -> Option<Method> {
    match text(raw)? {
        Cow::Borrowed("") => None,
        Cow::Borrowed(plain) => Some(Method::Span(span(line, plain))),
        Cow::Owned(text) if text.is_empty() => None,
        Cow::Owned(text) => Some(Method::Text(text.into())),
    }
}

fn id(raw: &RawValue) -> Result<RequestId, ()> {
    let raw_text = raw.get();
    if raw_text == "null" {
        return Ok(RequestId::Null);
    }
    if let Some(text) = text(raw) {
        return Ok(RequestId::Text(Arc::from(text)));
    }
    integer(raw_text).map(RequestId::Number).ok_or(())
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
