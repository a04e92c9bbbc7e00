//! Gets over values that nobody reads, or that are read later.

use super::{Reader, Result, refuse, strings};
use crate::json::skip;

impl Reader<'_> {
    /// Gets over a value, and makes sure that it is one.
    pub(super) fn skip(&mut self) -> Result {
        self.peek();
        self.behind(skip::value(self.text.as_bytes(), self.at))
    }

    /// Gets over a number, which begins here.
    pub(super) fn skip_number(&mut self) -> Result {
        self.behind(skip::number(self.text.as_bytes(), self.at))
    }

    /// Gets over a value that is read later: what it takes to find its end.
    pub(super) fn pass(&mut self) -> Result {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let behind = self.at + 1;
                    match strings::end(&bytes[behind..]) {
                        Some(length) => self.at = behind + length,
                        None => return refuse(),
                    }
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 1 => depth -= 1,
                b'}' | b']' if depth == 1 => depth = 0,
                // Behind a number or a word.
                b'}' | b']' | b',' | b' ' | b'\n' | b'\t' | b'\r' if depth == 0 => return Ok(()),
                _ if depth > 0 => {}
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        if depth == 0 { Ok(()) } else { refuse() }
    }

    fn behind(&mut self, end: Option<usize>) -> Result {
        match end {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => refuse(),
        }
    }
}
