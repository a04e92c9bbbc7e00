//! Finds the ends of values. The caller makes sure that strings are UTF-8.

use super::plain::plain;
use super::unescape::{self, escaped, unit};

/// Objects and arrays that may be open at once: as many as in `serde_json`.
pub(super) const MAX_DEPTH: u32 = 127;

/// Finds where the value ends that begins at `at`. `None` when it is no JSON, or
/// nested too deeply.
pub(crate) fn value(line: &[u8], at: usize) -> Option<usize> {
    nested(line, at, 0)
}

fn nested(line: &[u8], at: usize, depth: u32) -> Option<usize> {
    match *line.get(at)? {
        b'"' => string(line, at + 1),
        b'{' | b'[' if depth == MAX_DEPTH => None,
        b'{' => {
            let member = |at| {
                let at = string(line, expect(line, at, b'"')?)?;
                let at = expect(line, blank(line, at), b':')?;
                nested(line, blank(line, at), depth + 1)
            };
            items(line, at + 1, b'}', member)
        }
        b'[' => items(line, at + 1, b']', |at| nested(line, at, depth + 1)),
        b'-' | b'0'..=b'9' => number(line, at),
        b't' => literal(line, at, b"true"),
        b'f' => literal(line, at, b"false"),
        b'n' => literal(line, at, b"null"),
        _ => None,
    }
}

/// What stands in an object or an array, up to its end.
fn items(line: &[u8], at: usize, end: u8, item: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut at = blank(line, at);
    if line.get(at) == Some(&end) {
        return Some(at + 1);
    }
    loop {
        at = blank(line, item(at)?);
        match *line.get(at)? {
            b',' => at = blank(line, at + 1),
            byte if byte == end => return Some(at + 1),
            _ => return None,
        }
    }
}

/// A string behind its first quote.
fn string(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += plain(line.get(at..)?);
        at = match *line.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => escape(line, at + 1)?,
            _ => return None,
        };
    }
}

/// What stands behind a backslash.
fn escape(line: &[u8], at: usize) -> Option<usize> {
    match *line.get(at)? {
        b'u' => unit(line.get(at + 1..)?).map(|_| at + 5),
        byte => escaped(byte).map(|_| at + 1),
    }
}

/// Finds where the number ends that begins at `at`.
pub(super) fn number(line: &[u8], at: usize) -> Option<usize> {
    let mut at = at + usize::from(line.get(at) == Some(&b'-'));
    at = match *line.get(at)? {
        b'0' => at + 1,
        _ => digits(line, at)?,
    };
    if line.get(at).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    if line.get(at) == Some(&b'.') {
        at = digits(line, at + 1)?;
    }
    if matches!(line.get(at), Some(b'e' | b'E')) {
        at += 1;
        at = digits(
            line,
            at + usize::from(matches!(line.get(at), Some(b'+' | b'-'))),
        )?;
    }
    Some(at)
}

/// At least one digit.
fn digits(line: &[u8], at: usize) -> Option<usize> {
    let digits = line.get(at..)?.iter();
    let count = digits.take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(at + count)
}

pub(super) fn literal(line: &[u8], at: usize, literal: &[u8]) -> Option<usize> {
    let rest = line.get(at..)?;
    rest.starts_with(literal).then_some(at + literal.len())
}

fn expect(line: &[u8], at: usize, byte: u8) -> Option<usize> {
    (*line.get(at)? == byte).then_some(at + 1)
}

/// Finds the next byte that is no blank.
#[inline]
pub(super) fn blank(line: &[u8], mut at: usize) -> usize {
    while matches!(line.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// Finds where a value ends that is read later: only its strings and brackets are looked
/// at.
pub(super) fn unread(line: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' => at += 1 + unescape::end(&line[at + 1..])?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            // Behind a number or a word.
            b'}' | b']' | b',' | b' ' | b'\n' | b'\t' | b'\r' if depth == 0 => return Some(at),
            _ if depth > 0 => {}
            _ => {
                at += 1;
                continue;
            }
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
    (depth == 0).then_some(at)
}

/// The number of objects and arrays that are open at once, at most.
pub(crate) fn depth(line: &[u8]) -> usize {
    let (mut open, mut deepest, mut at) = (0_usize, 0, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open = open.saturating_sub(1),
            b'"' => at += 1 + unescape::end(&line[at + 1..]).unwrap_or(line.len() - at),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// The number of values of a line, as its commas and opening brackets tell: an empty
/// object counts, and so does each member of another.
pub(crate) fn count_values(line: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(rest) = line.get(at..) {
        let between = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        let marks = rest[..between].iter();
        count += marks
            .filter(|byte| matches!(byte, b',' | b'{' | b'['))
            .count();
        let Some(string) = rest.get(between + 1..) else {
            break;
        };
        let Some(end) = unescape::end(string) else {
            break;
        };
        at += between + 1 + end + 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    /// Whether a text is one value.
    fn is_value(text: &[u8]) -> bool {
        value(text, blank(text, 0)).is_some_and(|end| blank(text, end) == text.len())
    }

    /// The same, by `serde_json`.
    fn is_json(text: &[u8]) -> bool {
        serde_json::from_slice::<IgnoredAny>(text).is_ok()
    }

    #[test]
    fn values_end_where_they_end() {
        let check = |text: &str, want: Option<usize>| {
            assert_eq!(value(text.as_bytes(), 0), want, "{text}");
        };
        check("{}}", Some(2));
        check(r#"{"a":[1,{"b":null}], "c" : "d\"e"} ,"#, Some(34));
        check("-0.5e+10,", Some(8));
        check("01", None);
        check("1.", None);
        check(r#""\u12g4""#, None);
        check("\"a\u{1}\"", None);
        check("[1,]", None);
        check(r#"{"a"}"#, None);
        check(&"[".repeat(1_000_000), None);
    }

    /// Texts that are nearly JSON.
    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("\""),
            Just("\"a\""),
            Just("\"quite a long text without any end\""),
            Just("\\"),
            Just("\\n"),
            Just("\\u00e9"),
            Just("\\ud83d"),
            Just("é"),
            Just(" "),
            Just("\t"),
            Just("0"),
            Just("12"),
            Just("-"),
            Just("."),
            Just("e"),
            Just("E+"),
            Just("true"),
            Just("false"),
            Just("null"),
            Just("tru"),
            Just("\u{1}"),
            Just("\"k\":"),
        ];
        prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
    }

    /// JSON, and the same with a byte changed.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|leaf| leaf.to_string()),
            any::<f64>().prop_map(|leaf| serde_json::json!(leaf).to_string()),
            any::<String>().prop_map(|leaf| serde_json::json!(leaf).to_string()),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4);
            let members = prop::collection::vec((any::<String>(), inner), 0..4);
            let member =
                |(key, value): &(String, String)| format!("{}: {value}", serde_json::json!(key));
            prop_oneof![
                list.prop_map(|list| format!("[{}]", list.join(", "))),
                members.prop_map(move |all| {
                    let all: Vec<_> = all.iter().map(member).collect();
                    format!("{{{}}}", all.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_nearly_json_is_judged_as_by_serde_json(text in text()) {
            prop_assert_eq!(is_value(text.as_bytes()), is_json(text.as_bytes()));
        }

        #[test]
        fn json_is_judged_as_by_serde_json(
            text in json(),
            at in any::<prop::sample::Index>(),
            byte in prop::sample::select(&b"\"\\{}[]:,0e.- nt"[..]),
        ) {
            let mut bytes = text.into_bytes();
            prop_assert_eq!(value(&bytes, 0), Some(bytes.len()));
            let at = at.index(bytes.len());
            bytes[at] = byte;
            prop_assume!(std::str::from_utf8(&bytes).is_ok());
            prop_assert_eq!(is_value(&bytes), is_json(&bytes));
        }
    }
}
