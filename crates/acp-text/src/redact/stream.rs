//! Redacts text that comes in pieces, line by line.

use super::{REDACTED, Redactor};

/// Bytes of a line that are kept. The rest of a longer one is left out, since a secret
/// could lie across any cut.
const MAX_LINE: usize = 64 * 1024;

/// How a private key begins and ends.
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";

/// Redacts text that comes in pieces. A line leaves when all of it is there, so a secret
/// that lies across two pieces is found; how the text is cut changes nothing.
#[derive(Debug)]
pub struct RedactStream {
    redactor: Redactor,
    line: Vec<u8>,
    /// The line was longer than is kept.
    is_cut: bool,
    /// The line lies in a private key.
    in_key: bool,
}

impl RedactStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            line: Vec::new(),
            is_cut: false,
            in_key: false,
        }
    }

    /// Takes the next piece, and returns the lines that it ends.
    pub fn push(&mut self, piece: &[u8]) -> String {
        let mut out = String::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE - self.line.len();
            let (text, ends) = match part.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (part, false),
            };
            self.is_cut |= text.len() > room;
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                self.end_line(&mut out);
                out.push('\n');
            }
        }
        out
    }

    /// Returns the last line, which has no end.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.line.is_empty() {
            self.end_line(&mut out);
        }
        out
    }

    fn end_line(&mut self, out: &mut String) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let (was_in_key, ends) = (self.in_key, line.rfind(KEY_ENDS));
        let begins = line
            .rfind(KEY_BEGINS)
            .filter(|at| line[*at..].contains("PRIVATE KEY"));
        self.in_key = begins.map_or(was_in_key && ends.is_none(), |begins| {
            ends.is_none_or(|ends| ends < begins)
        });
        if was_in_key {
            out.push_str(REDACTED);
        } else if std::mem::take(&mut self.is_cut) {
            out.push_str(&self.redactor.redact_part(&line));
            out.push_str(REDACTED);
        } else {
            out.push_str(&self.redactor.redact(&line));
        }
        self.is_cut = false;
    }
}
