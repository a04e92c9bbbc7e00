//! Splits a byte stream into lines, whatever the chunks it comes in.

use bytes::{Bytes, BytesMut};

use super::Limits;

/// Bytes of a line that is lost which are kept, so that its id or session can be found.
const HEAD_OF_LONG_LINE: usize = 1024;

/// Largest buffer that is kept for whatever lines come. A message of a mebibyte and
/// another one fit.
const KEPT: usize = 4 << 20;

/// How often a larger one is used up by small lines alone until it is given back: who
/// sends large lines sends small ones between them.
const UNNEEDED: u32 = 2;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Turns chunks of bytes into blocks of whole lines.
///
/// A byte order mark at the very start is dropped (R001), blank lines are
/// skipped, one carriage return before the line feed is stripped. A line that
/// is too long is skipped without being stored; the next one is read again.
#[derive(Debug)]
pub struct LineDecoder {
    buffer: BytesMut,
    /// Size of the allocation the buffer lives in. The buffer cannot tell: what
    /// it has given away as blocks is part of the same allocation.
    allocation: usize,
    /// Bytes of `buffer` already searched for a line feed.
    scanned: usize,
    read_chunk: usize,
    max_message: usize,
    /// How often in a row the buffer was used up, and less would have done.
    unneeded: u32,
    at_start: bool,
    skipping: bool,
}

/// Whole lines that arrived together.
#[derive(Clone, Debug)]
pub struct LineBlock {
    bytes: Bytes,
    next: usize,
    /// Size of the allocation the block lives in.
    pub(super) allocation: usize,
    max_message: usize,
}

/// One line of a [`LineBlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where the line starts in its block.
    pub start: usize,
    /// Where its content ends, terminator excluded.
    pub end: usize,
    /// Where the next line starts.
    pub next: usize,
}

/// What was wrong with a line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFault {
    /// The line is longer than [`Limits::max_message`].
    TooLarge {
        /// The first bytes of the line, at most one KiB.
        head: Bytes,
    },
    /// The stream ended inside a line.
    Truncated {
        /// Bytes of the unfinished line.
        read: usize,
        /// The first of them, at most one KiB.
        head: Bytes,
    },
}

/// What [`LineDecoder::next_block`] found.
#[derive(Clone, Debug)]
pub enum FoundLines {
    /// Whole lines.
    Block(LineBlock),
    /// A line that is lost.
    Fault(LineFault),
}

impl LineDecoder {
    /// Creates a decoder at the start of a stream.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            buffer: BytesMut::new(),
            allocation: 0,
            scanned: 0,
            read_chunk: limits.read_chunk.max(1),
            max_message: limits.max_message,
            unneeded: 0,
            at_start: true,
            skipping: false,
        }
    }

    /// The buffer to read into, with room for a chunk.
    ///
    /// While a long line is read the room grows with it, so that the line is
    /// moved a logarithmic number of times, if at all.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() - self.buffer.len() < self.read_chunk / 16 + 1 {
            self.make_room(self.read_chunk.max(self.buffer.len() / 2));
        }
        &mut self.buffer
    }

    /// Appends bytes that were read elsewhere.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.buffer.capacity() - self.buffer.len() < bytes.len() {
            self.make_room(bytes.len().max(self.buffer.len() / 2));
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Appends a whole message, which has no terminator yet.
    pub fn push_message(&mut self, message: &[u8]) {
        // The rest of one that is too long need not be stored.
        let message = &message[..message.len().min(self.max_message + 2)];
        let start = self.buffer.len();
        self.push(message);
        // A line feed is only a blank in JSON, and so is a carriage return.
        for byte in &mut self.buffer[start..] {
            if *byte == b'\n' {
                *byte = b'\r';
            }
        }
        self.push(b"\n");
    }

    /// Takes the whole lines that are there.
    pub fn next_block(&mut self) -> Option<FoundLines> {
        if self.skipping && !self.skip() {
            return None;
        }
        self.drop_bom();
        let Some(last) = memchr::memrchr(b'\n', &self.buffer[self.scanned..]) else {
            self.scanned = self.buffer.len();
            return self.give_up_on_long_line();
        };
        let end = self.scanned + last + 1;
        if end > self.allocation / 4 {
            self.unneeded = 0;
        }
        self.scanned = self.buffer.len() - end;
        let bytes = self.buffer.split_to(end).freeze();
        Some(FoundLines::Block(LineBlock {
            bytes,
            next: 0,
            allocation: self.allocation,
            max_message: self.max_message,
        }))
    }

    /// Ends the stream: what is left is a line without its terminator.
    pub fn finish(&mut self) -> Option<LineBlock> {
        self.drop_bom();
        let bytes = std::mem::take(&mut self.buffer).freeze();
        self.scanned = 0;
        if self.skipping {
            return None;
        }
        Some(LineBlock {
            bytes,
            next: 0,
            allocation: self.allocation,
            max_message: self.max_message,
        })
    }

    /// Makes room in the same allocation if nobody else uses it any more; else makes
    /// the allocation larger if all of it is ours, or takes a new one.
    fn make_room(&mut self, additional: usize) {
        let needed = self.buffer.len() + additional;
        if self.is_too_large_for(needed) {
            return self.move_to(needed);
        }
        if self.buffer.try_reclaim(additional) {
            return;
        }
        if self.buffer.capacity() != self.allocation {
            return self.move_to(needed);
        }
        // The system moves large buffers without a copy. And one that is no larger
        // than it has to be, it may keep for the next: memory that was never used
        // costs more than all that is done with a line.
        let mut bytes = Vec::from(std::mem::take(&mut self.buffer));
        bytes.reserve_exact(additional);
        self.allocation = bytes.capacity();
        self.buffer = BytesMut::from(Bytes::from(bytes));
    }

    /// Whether the buffer is a large one that is no longer needed.
    fn is_too_large_for(&mut self, needed: usize) -> bool {
        if needed > self.allocation / 4 {
            self.unneeded = 0;
        }
        self.unneeded += 1;
        self.allocation > KEPT && self.unneeded > UNNEEDED
    }

    fn move_to(&mut self, capacity: usize) {
        let mut buffer = BytesMut::with_capacity(capacity);
        buffer.extend_from_slice(&self.buffer);
        self.allocation = buffer.capacity();
        self.buffer = buffer;
        self.unneeded = 0;
    }

    /// Drops the byte order mark, before it counts as part of a line.
    fn drop_bom(&mut self) {
        if !self.at_start || (self.buffer.len() < BOM.len() && BOM.starts_with(&self.buffer)) {
            return;
        }
        self.at_start = false;
        if self.buffer.starts_with(BOM) {
            let _ = self.buffer.split_to(BOM.len());
            self.scanned = self.scanned.saturating_sub(BOM.len());
        }
    }

    /// Drops the rest of an over-long line; true once its end was found.
    fn skip(&mut self) -> bool {
        match memchr::memchr(b'\n', &self.buffer) {
            Some(end) => {
                let _ = self.buffer.split_to(end + 1);
                self.skipping = false;
                true
            }
            None => {
                self.buffer.clear();
                false
            }
        }
    }

    fn give_up_on_long_line(&mut self) -> Option<FoundLines> {
        // The carriage return that may end the line does not count.
        if self.buffer.len() <= self.max_message + 1 {
            return None;
        }
        let head = Bytes::copy_from_slice(&self.buffer[..HEAD_OF_LONG_LINE.min(self.buffer.len())]);
        self.buffer = BytesMut::new();
        self.scanned = 0;
        self.skipping = true;
        Some(FoundLines::Fault(LineFault::TooLarge { head }))
    }
}

impl LineBlock {
    /// A block of one line of this one.
    pub(super) fn single(&self, line: Line) -> Self {
        Self {
            bytes: self.share(line.start, line.end),
            next: 0,
            ..*self
        }
    }

    /// Takes the next line that is not blank.
    pub fn next_line(&mut self) -> Option<Result<Line, LineFault>> {
        loop {
            let start = self.next;
            let rest = &self.bytes[start..];
            if rest.is_empty() {
                return None;
            }
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.next = (start + length + 1).min(self.bytes.len());
            let content = rest[..length]
                .strip_suffix(b"\r")
                .unwrap_or(&rest[..length]);
            if content.len() > self.max_message {
                let head = self.head(start, start + content.len());
                return Some(Err(LineFault::TooLarge { head }));
            }
            if content.first() != Some(&b'{') && content.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return Some(Ok(Line {
                start,
                end: start + content.len(),
                next: self.next,
            }));
        }
    }

    /// Copies the first bytes of a line that is lost.
    pub(super) fn head(&self, start: usize, end: usize) -> Bytes {
        Bytes::copy_from_slice(&self.bytes[start..end.min(start + HEAD_OF_LONG_LINE)])
    }

    /// The bytes between two places of the block.
    #[must_use]
    pub fn bytes(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    /// Shares the bytes between two places of the block.
    #[must_use]
    pub fn share(&self, start: usize, end: usize) -> Bytes {
        self.bytes.slice(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&[u8]], max: usize) -> Vec<String> {
        let mut decoder = LineDecoder::new(&Limits::default().with_max_message(max));
        let mut seen = Vec::new();
        let mut drain = |block: &mut LineBlock| {
            while let Some(line) = block.next_line() {
                seen.push(match line {
                    Ok(line) => {
                        String::from_utf8_lossy(block.bytes(line.start, line.end)).into_owned()
                    }
                    Err(fault) => describe(&fault),
                });
            }
        };
        let mut faults = Vec::new();
        for chunk in chunks {
            decoder.push(chunk);
            while let Some(found) = decoder.next_block() {
                match found {
                    FoundLines::Block(mut block) => drain(&mut block),
                    FoundLines::Fault(fault) => faults.push(describe(&fault)),
                }
            }
        }
        if let Some(mut block) = decoder.finish() {
            drain(&mut block);
        }
        seen.extend(faults);
        seen
    }

    fn describe(fault: &LineFault) -> String {
        match fault {
            LineFault::TooLarge { head } => format!("too large, head {}", head.len()),
            LineFault::Truncated { read, .. } => format!("truncated after {read}"),
        }
    }

    #[track_caller]
    fn check(chunks: &[&str], expected: &[&str]) {
        let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
        assert_eq!(decode(&chunks, 8), expected);
    }

    #[test]
    fn lines() {
        check(&["{\"a\":1}\r\n"], &["{\"a\":1}"]);
        check(&["a\r\r\n"], &["a\r"]);
        check(&["\u{feff}{}\n\u{feff}{}\n"], &["{}", "\u{feff}{}"]);
        check(&["\n \t\r\n{}\n\n"], &["{}"]);
        check(&["{", "}", "\n{", "}\n"], &["{}", "{}"]);
        check(&["{}\n{"], &["{}", "{"]);
        check(&["{}\n  "], &["{}"]);
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes() {
        check(&["12345678\r\n12345678\n"], &["12345678", "12345678"]);
        check(&["123456789\nab\n"], &["too large, head 9", "ab"]);
    }

    /// A large line is read in one buffer that grows, and it is given back once only
    /// small lines come.
    #[test]
    fn a_large_buffer_is_kept_for_large_lines_and_no_longer() {
        let mut decoder = LineDecoder::new(&Limits::default());
        let mut read = |length: usize| {
            let mut line = vec![b'x'; length];
            line.push(b'\n');
            for piece in line.chunks(1000) {
                decoder.push(piece);
            }
            assert!(matches!(decoder.next_block(), Some(FoundLines::Block(_))));
            decoder.allocation
        };
        let large = read(5 << 20);
        assert!((5 << 20..15 << 20).contains(&large), "{large}");
        for _ in 0..100 {
            assert_eq!(read(5 << 20), large);
            assert_eq!(read(5 << 10), large);
        }
        let after = (0..5000).map(|_| read(5 << 10)).last();
        assert!(after.is_some_and(|after| after <= KEPT), "{after:?}");
    }

    #[test]
    fn a_message_is_a_line_whatever_is_in_it() {
        let mut decoder = LineDecoder::new(&Limits::default().with_max_message(8));
        let mut read = |message: &str| {
            decoder.push_message(message.as_bytes());
            let Some(FoundLines::Block(mut block)) = decoder.next_block() else {
                panic!("{message:?} is a line");
            };
            let line = block.next_line()?;
            assert!(block.next_line().is_none());
            Some(match line {
                Ok(line) => String::from_utf8_lossy(block.bytes(line.start, line.end)).into_owned(),
                Err(fault) => describe(&fault),
            })
        };
        assert_eq!(read("\u{feff}{}").as_deref(), Some("{}"));
        assert_eq!(read("{\n\"a\n\n"), Some("{\r\"a\r".to_owned()));
        assert_eq!(read(""), None);
        assert_eq!(read("\n"), None);
        assert_eq!(read("12345678"), Some("12345678".to_owned()));
        for long in ["123456789", "123456789\r\r\r", "12345678\n\n\n"] {
            assert!(
                read(long).is_some_and(|read| read.starts_with("too large")),
                "{long:?}"
            );
        }
    }

    #[test]
    fn an_endless_line_is_skipped_to_its_end() {
        check(
            &["1234567890", "123", "45\nab\n"],
            &["ab", "too large, head 10"],
        );
        check(&["1234567890"], &["too large, head 10"]);
    }
}
