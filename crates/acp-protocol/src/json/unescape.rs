//! Strings with escapes: where they end, and the text they stand for.

use super::plain::plain;

/// Writes the text between two quotes that has an escape at `escape`; `None` where it
/// stands for no text.
pub(super) fn unescape(text: &str, escape: usize) -> Option<String> {
    // No escape becomes longer.
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..escape]);
    write(&mut out, &text[escape..])?;
    if out.capacity() - out.len() > (out.len() / 4).max(64) {
        out.shrink_to_fit();
    }
    Some(out)
}

/// Finds the end of a string without a look at its text: the first quote behind an even
/// number of backslashes.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr(b'"', &bytes[at..])?;
        let before = &bytes[..at];
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\');
        if backslashes.count() % 2 == 0 {
            return Some(at);
        }
        at += 1;
    }
}

/// Writes a text whose end was found: every quote in it is escaped.
fn write(out: &mut String, text: &str) -> Option<()> {
    let mut rest = text;
    loop {
        let (piece, behind) = rest.split_at(plain(rest.as_bytes()));
        out.push_str(piece);
        rest = match behind.as_bytes() {
            [] => return Some(()),
            [b'\\', ..] => write_escape(out, &behind[1..])?,
            _ => return None,
        };
    }
}

/// Writes the character of an escape, behind its backslash, and returns the rest.
#[inline]
fn write_escape<'a>(out: &mut String, text: &'a str) -> Option<&'a str> {
    let byte = *text.as_bytes().first()?;
    if byte == b'u' {
        return write_unit(out, &text[1..]);
    }
    out.push(char::from(escaped(byte)?));
    Some(&text[1..])
}

#[cold]
fn write_unit<'a>(out: &mut String, text: &'a str) -> Option<&'a str> {
    let mut behind = text.get(4..)?;
    let mut units = [unit(text.as_bytes())?, 0];
    let mut count = 1;
    if let 0xd800..0xdc00 = units[0] {
        let second = behind.strip_prefix("\\u")?;
        units[1] = unit(second.as_bytes())?;
        behind = second.get(4..)?;
        count = 2;
    }
    for character in char::decode_utf16(units[..count].iter().copied()) {
        // Half of a pair is no character.
        out.push(character.ok()?);
    }
    Some(behind)
}

/// The byte that a letter behind a backslash stands for.
#[inline]
pub(crate) fn escaped(byte: u8) -> Option<u8> {
    const NONE: u8 = 0;
    static ESCAPED: [u8; 256] = {
        let pairs = [
            (b'"', b'"'),
            (b'\\', b'\\'),
            (b'/', b'/'),
            (b'b', 0x08),
            (b'f', 0x0c),
            (b'n', b'\n'),
            (b'r', b'\r'),
            (b't', b'\t'),
        ];
        let mut escaped = [NONE; 256];
        let mut at = 0;
        while at < pairs.len() {
            escaped[pairs[at].0 as usize] = pairs[at].1;
            at += 1;
        }
        escaped
    };
    let escaped = ESCAPED[usize::from(byte)];
    (escaped != NONE).then_some(escaped)
}

/// A unit of UTF-16, as four digits.
pub(crate) fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}
