//! A place in a text of JSON that moves over it.

use std::ops::Range;

use super::plain::plain;
use super::walk;

/// Walks over a text from one token to the next.
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Where it stands.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Moves over blanks, and returns the byte behind them.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Moves over blanks and this byte, if it is the next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Moves over blanks and this byte; `None` where it is not the next.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Moves on by one of the functions of [`walk`], and returns the part in between.
    #[inline]
    pub(super) fn over(
        &mut self,
        walk: impl FnOnce(&[u8], usize) -> Option<usize>,
    ) -> Option<Range<usize>> {
        let start = self.at;
        self.at = walk(self.text, start)?;
        Some(start..self.at)
    }

    /// Moves over blanks and a value.
    pub(crate) fn value(&mut self) -> Option<Range<usize>> {
        self.peek()?;
        self.over(walk::value)
    }

    /// Moves over blanks and an integer, and returns it.
    pub(crate) fn integer(&mut self) -> Option<i64> {
        self.peek()?;
        let number = self.over(walk::number)?;
        std::str::from_utf8(&self.text[number]).ok()?.parse().ok()
    }

    /// Moves over blanks and a string without escapes, and returns the place of its text.
    #[inline]
    pub(crate) fn plain_string(&mut self) -> Option<Range<usize>> {
        (self.peek() == Some(b'"')).then_some(())?;
        self.plain_string_here().ok()
    }

    /// Moves over a string without escapes, which begins here. Of another one it returns
    /// the plain beginning, and stays where it is.
    #[inline]
    pub(super) fn plain_string_here(&mut self) -> Result<Range<usize>, Range<usize>> {
        let start = self.at + 1;
        let end = start + plain(&self.text[start..]);
        if self.text.get(end) == Some(&b'"') {
            self.at = end + 1;
            Ok(start..end)
        } else {
            Err(start..end)
        }
    }
}
