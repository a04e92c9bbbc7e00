//! Strings: found by looking at many bytes at once, and written once.

use std::borrow::Cow;

use super::{Reader, Result, refuse};

/// Bytes looked at together.
const WIDTH: usize = 16;

impl<'de> Reader<'de> {
    /// Reads a string, which begins here. It is borrowed where it has no escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>> {
        let start = self.at + 1;
        let end = start + plain(&self.text.as_bytes()[start..]);
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        self.unescape(start, end).map(Cow::Owned)
    }

    /// Reads a string of which only the beginning is plain.
    fn unescape(&mut self, start: usize, plain: usize) -> Result<String> {
        let Some(length) = end(&self.text.as_bytes()[plain..]) else {
            return refuse();
        };
        let end = plain + length;
        // None becomes longer.
        let mut out = String::with_capacity(end - start);
        out.push_str(&self.text[start..plain]);
        if write(&mut out, &self.text[plain..end]).is_none() {
            return refuse();
        }
        if out.capacity() - out.len() > (out.len() / 4).max(64) {
            out.shrink_to_fit();
        }
        self.at = end + 1;
        Ok(out)
    }
}

/// Where a string ends, without a look at what is in it: at a quote with an even
/// number of backslashes before it.
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

/// How many bytes at the beginning stand for themselves.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk::<WIDTH>() {
        if let Some(place) = special(chunk) {
            return bytes.len() - rest.len() + place;
        }
        rest = behind;
    }
    let is_plain = |byte: &&u8| !matches!(byte, 0..b' ' | b'"' | b'\\');
    bytes.len() - rest.len() + rest.iter().take_while(is_plain).count()
}

/// Writes what a string stands for; `None` where it stands for nothing. Its end was
/// found: every quote in it is escaped.
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

/// Writes what an escape stands for, and gives what is behind it. The backslash was
/// read.
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

/// What a byte behind a backslash stands for.
#[inline]
pub(super) fn escaped(byte: u8) -> Option<u8> {
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
pub(super) fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

/// Where the first byte stands that does not stand for itself.
#[inline]
fn special(chunk: &[u8; WIDTH]) -> Option<usize> {
    let word = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&chunk[at..at + 8]);
        u64::from_le_bytes(word)
    };
    match [marks(word(0)), marks(word(8))] {
        [0, 0] => None,
        [0, high] => Some(8 + first(high)),
        [low, _] => Some(first(low)),
    }
}

/// Marks bytes that do not stand for themselves by their highest bit.
///
/// The lowest mark is right. Above it bytes may be marked that are plain, since a
/// subtraction borrows from them; nobody asks for those.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let control = word.wrapping_sub(ONES * u64::from(b' '));
    let quote = (word ^ (ONES * u64::from(b'"'))).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (control | quote | backslash) & !word & (ONES << 7)
}

/// Where the lowest mark is.
#[inline]
fn first(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}
