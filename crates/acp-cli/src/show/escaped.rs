//! JSON on a terminal.

use std::io::{self, Write};

/// Writes the control characters that JSON leaves as they are in the way that JSON has
/// for the others: a terminal takes some of them for the beginning of a command.
pub(super) struct Escaped<W> {
    inner: W,
    /// The first byte of such a character was written last, and is held back.
    holds: bool,
}

/// The first byte of U+0080 to U+009F.
const FIRST: u8 = 0xc2;

const DELETE: u8 = 0x7f;

impl<W: Write> Escaped<W> {
    pub(super) fn new(inner: W) -> Self {
        Self {
            inner,
            holds: false,
        }
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut safe = Vec::with_capacity(bytes.len());
        for byte in bytes {
            match (std::mem::take(&mut self.holds), *byte) {
                (true, control @ 0x80..=0x9f) => {
                    write!(safe, "\\u00{control:02x}")?;
                    continue;
                }
                (true, _) => safe.push(FIRST),
                (false, _) => {}
            }
            match *byte {
                FIRST => self.holds = true,
                DELETE => write!(safe, "\\u00{DELETE:02x}")?,
                other => safe.push(other),
            }
        }
        self.inner.write_all(&safe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_leaves_is_escaped_and_means_the_same() {
        let text = "\"a\u{9b}2J é\u{7f} \u{a0}\u{bf}\u{80}\u{9f}你\"";
        for size in 1..text.len() {
            let mut escaped = Escaped::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                escaped.write_all(piece).unwrap();
            }
            let written = String::from_utf8(escaped.inner).unwrap();
            assert!(!written.contains(|c: char| c.is_control()), "{written:?}");
            let (before, after): (String, String) = (
                serde_json::from_str(text).unwrap(),
                serde_json::from_str(&written).unwrap(),
            );
            assert_eq!(before, after);
        }
    }
}
