//! Reads the envelope of a line: what it is, its id, its method and where its
//! body stands.
//!
//! [`scan`] knows the two hot shapes by a forward scan of the members before
//! the body; every other line goes through [`parse`], one pass of `serde_json`
//! over the top-level object. Both give offsets, never copies.

use std::{borrow::Cow, fmt, ops::Range, sync::Arc};

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Issue, Issues, Limits, RequestId};

/// What a line says about itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    /// Its shape.
    pub shape: Shape,
    /// The id of a request or response.
    pub id: Option<RequestId>,
    /// The method of a request or notification.
    pub method: Option<Method>,
    /// Where `params`, `result` or `error` stands.
    pub body: Body,
}

/// The three shapes of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A method with an id.
    Request,
    /// A method without an id.
    Notification,
    /// A result.
    Result,
    /// An error.
    Error,
}

/// A method name, by place or by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Written without escapes, at this place of the line.
    Span(Range<usize>),
    /// Written with escapes.
    Text(Box<str>),
}

/// Where the body of a message stands in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// There is none.
    Absent,
    /// Exactly here.
    Exact(Range<usize>),
    /// From here to somewhere before the last brace; its end was not looked for.
    From(usize),
}

/// A line that is no message.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Everything that is wrong with it.
    pub issues: Issues,
    /// Its id, where one could be read; [`RequestId::Null`] where it says so.
    pub id: Option<RequestId>,
    /// What it tried to be.
    pub attempt: Attempt,
}

/// What a refused line tried to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It has a method.
    Call,
    /// It has a result or an error.
    Answer,
    /// It cannot be told.
    Unknown,
}

/// Finds out what a line is.
///
/// # Errors
///
/// [`Refused`] when the line is no JSON-RPC message; its issues say why.
pub(super) fn read(line: &[u8], limits: &Limits) -> Result<Head, Refused> {
    if std::str::from_utf8(line).is_err() {
        let issues = Issue::MalformedJson.into();
        return Err(Refused {
            issues,
            id: None,
            attempt: Attempt::Unknown,
        });
    }
    // A message cannot be deeper than it has opening brackets: counting is
    // cheap, and only a suspicious line is walked through.
    let opening = line
        .iter()
        .filter(|byte| matches!(byte, b'{' | b'['))
        .count();
    if opening > limits.max_depth && depth(line) > limits.max_depth {
        return Err(too_deep(line));
    }
    match scan(line) {
        Some(head) => Ok(head),
        None => parse(line),
    }
}

/// Reads the two shapes that come in floods: a `session/update` whose members
/// stand in the usual order, and a result.
pub(super) fn scan(line: &[u8]) -> Option<Head> {
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
                // The last member of the last object ends in three braces;
                // anything else may hide a member behind the parameters.
                if !line.trim_ascii_end().ends_with(b"}}}") {
                    return None;
                }
                return Some(Head {
                    shape: Shape::Notification,
                    id: None,
                    method: Some(Method::Span(method)),
                    body: Body::From(scanner.blank()),
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

/// Reads any message, whatever the order of its members.
pub(super) fn parse(line: &[u8]) -> Result<Head, Refused> {
    let mut members = Members::default();
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    if let Err(error) = deserializer.deserialize_any(Collect(&mut members)) {
        let issue = match error.classify() {
            serde_json::error::Category::Data => Issue::NotAnObject,
            _ => Issue::MalformedJson,
        };
        // A syntax error wins over whatever was collected before it.
        return Err(Refused {
            issues: issue.into(),
            id: None,
            attempt: Attempt::Unknown,
        });
    }
    if deserializer.end().is_err() {
        return Err(Refused {
            issues: Issue::TrailingData.into(),
            id: None,
            attempt: Attempt::Unknown,
        });
    }
    members.into_head(line)
}

/// Guesses what a line is from its first bytes. `None` when they do not tell.
pub(super) fn guess(start: &[u8]) -> Option<(Attempt, Option<RequestId>)> {
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

/// Where the text of `part` stands in `line`, which it was borrowed from.
fn span(line: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - line.as_ptr() as usize;
    start..start + part.len()
}

/// Refuses a line that is nested too deeply; its id still gets an answer.
fn too_deep(line: &[u8]) -> Refused {
    let (id, attempt) = match parse(line) {
        Ok(Head {
            shape: Shape::Request | Shape::Notification,
            id,
            ..
        }) => (id, Attempt::Call),
        Ok(Head { id, .. }) => (id, Attempt::Answer),
        Err(refused) => return refused,
    };
    Refused {
        issues: Issue::ExcessiveNesting.into(),
        id,
        attempt,
    }
}

/// The deepest nesting of a line, strings skipped.
fn depth(line: &[u8]) -> usize {
    let (mut open, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            b'"' => {
                at += 1;
                while let Some(byte) = line.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
    deepest
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
        loop {
            match *self.line.get(self.at)? {
                b'"' => break,
                b'\\' => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(start..self.at - 1)
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

/// An integer as JSON writes it.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    if plain { text.parse().ok() } else { None }
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
                issues,
                id,
                attempt: if self.method.is_some() {
                    Attempt::Call
                } else if self.result.is_some() || self.error.is_some() {
                    Attempt::Answer
                } else {
                    Attempt::Unknown
                },
            }),
        }
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let told = |head: Result<Head, Refused>| match head {
            Ok(head) => {
                let body = match &head.body {
                    Body::Absent => "-",
                    Body::Exact(range) => &line[range.clone()],
                    Body::From(start) => &line[*start..],
                };
                let method = match &head.method {
                    Some(Method::Span(range)) => line[range.clone()].to_owned(),
                    Some(Method::Text(text)) => format!("{text} (escaped)"),
                    None => "-".to_owned(),
                };
                format!("{:?} {:?} {method} {body}", head.shape, head.id)
            }
            Err(refused) => format!(
                "{:?} {:?} {:?}",
                refused.issues, refused.id, refused.attempt
            ),
        };
        assert_eq!(
            told(read(line.as_bytes(), &Limits::default())),
            expected,
            "{line}"
        );
    }

    #[test]
    fn shapes() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#,
            "Request Some(Number(1)) m {}",
        );
        check(
            r#"{"params":[1],"method":"m","id":"a","jsonrpc":"2.0"}"#,
            r#"Request Some(Text("a")) m [1]"#,
        );
        check(r#"{"jsonrpc":"2.0","method":"m"}"#, "Notification None m -");
        check(
            r#"{"jsonrpc":"2.0","method":"session\/update","params":{}}"#,
            "Notification None session/update (escaped) {}",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":null,"later":1}"#,
            "Result Some(Number(1)) - null,\"later\":1}",
        );
        check(
            r#"{"jsonrpc":"2.0","later":1,"id":1,"result":null}"#,
            "Result Some(Number(1)) - null",
        );
        check(
            r#"{"jsonrpc":"2.0","id":"","error":{"code":-1,"message":"no","data":1}}"#,
            r#"Error Some(Text("")) - {"code":-1,"message":"no","data":1}"#,
        );
    }

    #[test]
    fn the_fast_scan_reads_what_comes_in_floods() {
        let update =
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#;
        assert_eq!(scan(update.as_bytes()).unwrap().body, Body::From(52));
        assert!(scan(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.as_bytes()).is_some());
        for unsure in [
            r#"{"method":"session/update","params":{"update":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{}},"id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":01,"result":{}}"#,
        ] {
            assert_eq!(scan(unsure.as_bytes()), None, "{unsure}");
        }
    }

    #[test]
    fn refusals() {
        check("", "{MalformedJson} None Unknown");
        check("{\"jsonrpc\":", "{MalformedJson} None Unknown");
        check("[]", "{NotAnObject} None Unknown");
        check("7", "{NotAnObject} None Unknown");
        check("null", "{NotAnObject} None Unknown");
        check("{} {}", "{TrailingData} None Unknown");
        check(
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
            "{DuplicateField} Some(Number(1)) Call",
        );
        check(
            r#"{"id":1,"method":"m"}"#,
            "{WrongVersion} Some(Number(1)) Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
            "{InvalidMethodType} Some(Number(1)) Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            "{InvalidMethodType} Some(Number(1)) Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#,
            "{InvalidIdType} None Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1e2,"method":"m"}"#,
            "{InvalidIdType} None Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            "{InvalidIdType} None Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}"#,
            "{InvalidIdType} None Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            "{AmbiguousShape} Some(Null) Call",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
            "{MalformedErrorObject} Some(Number(1)) Answer",
        );
        check(
            r#"{"id":1,"result":1,"error":{"code":1,"message":""},"jsonrpc":"2.0"}"#,
            "{BothResultAndError} Some(Number(1)) Answer",
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"result":1}"#,
            "{MissingId} Some(Null) Answer",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1}"#,
            "{AmbiguousShape} Some(Number(1)) Unknown",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
            "{AmbiguousShape} Some(Number(1)) Call",
        );
    }

    #[test]
    fn nesting_is_limited_to_the_last_level() {
        let nest = |levels: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"m","params":{}{}}}"#,
                "[".repeat(levels),
                "]".repeat(levels)
            )
        };
        assert!(read(nest(127).as_bytes(), &Limits::default()).is_ok());
        let refused = read(nest(128).as_bytes(), &Limits::default()).unwrap_err();
        assert_eq!(format!("{:?}", refused.issues), "{ExcessiveNesting}");
        let quoted = format!(
            r#"{{"jsonrpc":"2.0","method":"m","params":"{}\"["}}"#,
            "[".repeat(500)
        );
        assert!(read(quoted.as_bytes(), &Limits::default()).is_ok());
    }

    #[test]
    fn invalid_utf8_is_malformed() {
        let refused = read(
            b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}",
            &Limits::default(),
        )
        .unwrap_err();
        assert_eq!(format!("{:?}", refused.issues), "{MalformedJson}");
    }
}
