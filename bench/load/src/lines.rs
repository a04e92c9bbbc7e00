//! Lines of a byte stream, without a copy of those that come whole.

use std::io::Read;

use memchr::memchr;

/// How much room there is for one read at least.
const ROOM: usize = 64 * 1024;

/// Splits what a reader gives into lines.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Where the next line begins, how far it was searched for its end, and how far the
    /// buffer is filled.
    start: usize,
    searched: usize,
    filled: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: vec![0; 4 * ROOM],
            start: 0,
            searched: 0,
            filled: 0,
        }
    }

    /// Tells whether a whole line is there without reading.
    pub(crate) fn has_line(&self) -> bool {
        memchr(b'\n', &self.buffer[self.searched..self.filled]).is_some()
    }

    /// Returns the next line without its line feed; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        loop {
            let unsearched = &self.buffer[self.searched..self.filled];
            if let Some(at) = memchr(b'\n', unsearched) {
                let (start, end) = (self.start, self.searched + at);
                self.start = end + 1;
                self.searched = self.start;
                return Some(&self.buffer[start..end]);
            }
            self.searched = self.filled;
            self.make_room();
            let read = self.reader.read(&mut self.buffer[self.filled..]);
            match read {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.filled += length,
            }
        }
    }

    fn make_room(&mut self) {
        if self.start == self.filled {
            (self.start, self.searched, self.filled) = (0, 0, 0);
        }
        if self.buffer.len() - self.filled >= ROOM {
            return;
        }
        self.buffer.copy_within(self.start..self.filled, 0);
        self.searched -= self.start;
        self.filled -= self.start;
        self.start = 0;
        if self.buffer.len() - self.filled < ROOM {
            let doubled = self.buffer.len() * 2;
            self.buffer.resize(doubled, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn lines_come_whole_however_they_come() {
        let long = "x".repeat(10 * ROOM);
        let text = format!("a\n\n{long}\nrest");
        let mut whole = Lines::new(text.as_bytes());
        let mut drops = Lines::new(Drops(text.as_bytes()));
        for expected in ["a", "", long.as_str()] {
            assert_eq!(whole.next(), Some(expected.as_bytes()));
            assert_eq!(drops.next(), Some(expected.as_bytes()));
        }
        assert_eq!(whole.next(), None);
        assert_eq!(drops.next(), None);
    }
}
