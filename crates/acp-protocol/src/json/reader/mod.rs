//! Reads JSON from text that was checked to be UTF-8, for values that come in floods.
//!
//! It reads as `serde_json` does, and differs in what it does with strings: they are
//! looked at sixteen bytes at a time, and one with escapes is written once, into the
//! `String` that its receiver keeps. What is rare on the wire it refuses (enums of
//! serde, bytes, keys that are no text), so whoever reads with it reads again with
//! `serde_json` where it failed; that also says what was wrong. The tests hold both
//! against each other.

mod access;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};

use super::cursor::Cursor;
use super::word::RAW_TOKEN;
use super::{unescape, walk};
use access::{Elements, Members, Raw};

pub(super) type Result<T = ()> = serde_json::Result<T>;

/// Reads one value after the other from a text.
pub(crate) struct Reader<'de> {
    text: &'de str,
    cursor: Cursor<'de>,
    /// How many more objects and arrays may be opened.
    depth: u32,
}

/// Reads the value at the beginning of a text, and gives what stands behind it.
///
/// # Errors
///
/// Fails where the value is no `T`, and where it is of a kind that is rare.
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<(T, &'de str)> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader)?;
    Ok((value, reader.rest()))
}

impl<'de> Reader<'de> {
    #[inline]
    pub(crate) fn new(text: &'de str) -> Self {
        Self {
            text,
            cursor: Cursor::new(text.as_bytes()),
            depth: walk::MAX_DEPTH,
        }
    }

    /// The text that was not read.
    #[inline]
    pub(super) fn rest(&self) -> &'de str {
        &self.text[self.cursor.at()..]
    }

    /// Makes sure that nothing is left.
    pub(super) fn end(&mut self) -> Result {
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => refuse(),
        }
    }

    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        self.cursor.take(byte)
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result {
        self.cursor.expect(byte).map_or_else(refuse, Ok)
    }

    fn word(&mut self, word: &str) -> Result {
        self.over(|text, at| walk::literal(text, at, word.as_bytes()))?;
        Ok(())
    }

    /// Moves over a part of the text, and returns it.
    #[inline]
    pub(super) fn over(
        &mut self,
        walk: impl FnOnce(&[u8], usize) -> Option<usize>,
    ) -> Result<&'de str> {
        match self.cursor.over(walk) {
            Some(part) => Ok(&self.text[part]),
            None => refuse(),
        }
    }

    /// Moves over blanks and a value, and returns it. Beyond the depth that can be decoded
    /// nobody looks closely.
    pub(super) fn value(&mut self) -> Result<&'de str> {
        self.cursor.peek();
        self.over(|text, at| {
            walk::value(text, at).or_else(|| {
                let end = walk::unread(text, at)?;
                (walk::depth(&text[at..end]) > walk::MAX_DEPTH as usize).then_some(end)
            })
        })
    }

    /// Moves over blanks and the name of a member, and returns it.
    pub(super) fn name(&mut self) -> Result<Cow<'de, str>> {
        match self.cursor.peek() {
            Some(b'"') => self.string(),
            _ => refuse(),
        }
    }

    /// Reads a string, which begins here. It is borrowed where it has no escapes.
    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        match self.cursor.plain_string_here() {
            Ok(text) => Ok(Cow::Borrowed(&self.text[text])),
            Err(plain) => self.unescape(plain).map(Cow::Owned),
        }
    }

    /// Reads a string of which only the beginning is plain.
    fn unescape(&mut self, plain: Range<usize>) -> Result<String> {
        let string = self.over(|text, _| {
            let length = unescape::end(&text[plain.end..])?;
            Some(plain.end + length + 1)
        })?;
        // Without its quotes.
        let text = &string[1..string.len() - 1];
        unescape::unescape(text, plain.len()).map_or_else(refuse, Ok)
    }

    /// Reads what is between two brackets.
    #[inline]
    fn within<T>(
        &mut self,
        open: u8,
        close: u8,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.expect(open)?;
        self.depth = match self.depth.checked_sub(1) {
            Some(depth) => depth,
            None => return refuse(),
        };
        let value = read(self)?;
        self.depth += 1;
        self.expect(close)?;
        Ok(value)
    }

    /// Reads a number. Integers of an ordinary length are told here.
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        /// So many digits fit in every integer of 64 bits.
        const DIGITS: usize = 18;
        let text = self.over(walk::number)?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = digits.len() <= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain && digits.len() == text.len() {
            return visitor.visit_u64(text.parse().map_err(serde_json::Error::custom)?);
        }
        if is_plain && digits != "0" {
            return visitor.visit_i64(text.parse().map_err(serde_json::Error::custom)?);
        }
        serde_json::Deserializer::from_str(text).deserialize_any(visitor)
    }

    #[inline]
    fn visit_text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }
}

/// The caller reads again with `serde_json`, which says why.
#[cold]
pub(super) fn refuse<T>() -> Result<T> {
    Err(serde_json::Error::custom("not read"))
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.cursor.peek() {
            Some(b'"') => self.visit_text(visitor),
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.within(b'[', b']', |reader| {
                visitor.visit_seq(Elements::new(reader))
            }),
            Some(b'-' | b'0'..=b'9') => self.number(visitor),
            Some(b't') => {
                self.word("true")?;
                visitor.visit_bool(true)
            }
            Some(b'f') => {
                self.word("false")?;
                visitor.visit_bool(false)
            }
            Some(b'n') => {
                self.word("null")?;
                visitor.visit_unit()
            }
            _ => refuse(),
        }
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.within(b'{', b'}', |reader| visitor.visit_map(Members::new(reader)))
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.cursor.peek() {
            Some(b'"') => self.visit_text(visitor),
            _ => refuse(),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.cursor.peek() == Some(b'n') {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name == RAW_TOKEN {
            visitor.visit_map(Raw::new(self))
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.cursor.peek();
        self.over(walk::value)?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct seq tuple tuple_struct struct enum identifier
    }
}
