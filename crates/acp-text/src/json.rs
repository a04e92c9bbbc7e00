//! Strings of JSON: read even where they are not quite JSON, and escaped for a screen.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::char_class::CharClass;

/// Returns the text of a JSON string; `None` when it is no string. Half a surrogate,
/// which JSON can write and a text cannot hold, is replaced.
///
/// ```
/// assert_eq!(acp_text::json_text(r#""a\ud800""#).as_deref(), Some("a\u{fffd}"));
/// assert_eq!(acp_text::json_text("7"), None);
/// ```
#[must_use]
pub fn json_text(json: &str) -> Option<String> {
    let inside = json.trim().strip_prefix('"')?.strip_suffix('"')?;
    Some(unescape(inside).into_owned())
}

/// Escapes in JSON what a terminal or an eye takes for something else: control
/// characters, marks that reorder, invisible characters and separators of lines. A
/// carriage return, which JSON knows between its parts only, becomes a blank. The JSON means
/// the same.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        !matches!(c, '\n' | '\t')
            && matches!(
                CharClass::of(c),
                CharClass::Control | CharClass::LineEnd | CharClass::Bidi | CharClass::Invisible
            )
    };
    if !json.contains(acts) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + 32);
    for c in json.chars() {
        if c == '\r' {
            escaped.push(' ');
        } else if acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped.into()
}

/// Returns the length of the inside of a string, and whether its end was found.
pub(crate) fn string_length(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return (at, true),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    (text.len(), false)
}

/// Reads the inside of a JSON string. An escape that is none stays as it is.
pub(crate) fn unescape(inside: &str) -> Cow<'_, str> {
    if !inside.contains('\\') {
        return inside.into();
    }
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = escape(rest);
        text.push(c);
        rest = &rest[length..];
    }
    text.push_str(rest);
    text.into()
}

/// Reads one escape, and returns the character and the length of it; a backslash of length
/// one where it is none.
pub(crate) fn escape(text: &str) -> (char, usize) {
    let known = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
        Some(b'u') => return unicode(text),
        _ => return ('\\', 1),
    };
    (known, 2)
}

/// Reads `\uXXXX`, or two of them that are one character.
fn unicode(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else {
        return ('\\', 1);
    };
    let units = [first, unit(6).unwrap_or(0)];
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => (c, 6 * c.len_utf16()),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}
