//! Cuts lines out of a stream of bytes.

use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use crate::error::ServeError;

/// Which lines of a file are asked for.
///
/// A line ends with its LF, which belongs to it; what comes before is not looked
/// at, so a CR stays where it is, and so does a last line without an end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineRange {
    /// How many lines come before the first.
    skip: u32,
    /// How many are taken at most; `None` for all that follow.
    take: Option<u32>,
}

/// What reading lines may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadLimits {
    /// The most bytes that are returned.
    pub(super) taken: u64,
    /// The most bytes that are looked at.
    pub(super) seen: u64,
}

impl LineRange {
    /// Takes the line numbers of a request: the first line is 1.
    pub(super) fn new(line: Option<u32>, limit: Option<u32>) -> Self {
        Self {
            skip: line.unwrap_or(1).saturating_sub(1),
            take: limit,
        }
    }

    /// Tells whether this is the file as it is.
    pub(super) fn is_all(self) -> bool {
        self == Self::default()
    }

    /// Returns the lines of the file at `path`, byte by byte as they are.
    ///
    /// Reads as much at once as `buffer` says, and not further than it has to; `stopped` is
    /// asked before each time.
    pub(super) fn cut(
        self,
        file: impl Read,
        path: &Path,
        buffer: usize,
        limits: ReadLimits,
        stopped: impl Fn() -> bool,
    ) -> Result<Vec<u8>, ServeError> {
        let path = || path.to_path_buf();
        let mut taken = Vec::new();
        if self.take == Some(0) {
            return Ok(taken);
        }
        let reader = BufReader::with_capacity(buffer, UntilStopped { file, stopped });
        let mut skipped = reader.take(limits.seen);
        for _ in 0..self.skip {
            if skipped.skip_until(b'\n')? == 0 {
                break;
            }
            if skipped.limit() == 0 {
                return Err(ServeError::TooFar {
                    path: path(),
                    limit: limits.seen,
                });
            }
        }
        // One more tells whether there are more.
        let mut lines = skipped.into_inner().take(limits.taken + 1);
        match self.take {
            None => _ = lines.read_to_end(&mut taken)?,
            Some(count) => {
                for _ in 0..count {
                    if lines.read_until(b'\n', &mut taken)? == 0 {
                        break;
                    }
                }
            }
        }
        if taken.len() as u64 > limits.taken {
            return Err(ServeError::TooLarge {
                path: path(),
                limit: limits.taken,
            });
        }
        Ok(taken)
    }
}

/// Reads until nobody waits for it any more.
struct UntilStopped<R, F> {
    file: R,
    stopped: F,
}

impl<R: Read, F: Fn() -> bool> Read for UntilStopped<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stopped)() {
            return Err(io::Error::other("nobody waits for it"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::cell::Cell;

    use proptest::prelude::*;

    const LIMITS: ReadLimits = ReadLimits {
        taken: 1 << 20,
        seen: 1 << 20,
    };

    fn cut(bytes: &[u8], window: LineRange, piece: usize) -> Result<Vec<u8>, ServeError> {
        cut_from(window, bytes, piece, LIMITS)
    }

    fn cut_from(
        window: LineRange,
        file: impl Read,
        piece: usize,
        limits: ReadLimits,
    ) -> Result<Vec<u8>, ServeError> {
        window.cut(file, Path::new("/f"), piece, limits, || false)
    }

    #[track_caller]
    fn check(text: &str, line: impl Into<Option<u32>>, limit: impl Into<Option<u32>>, want: &str) {
        let window = LineRange::new(line.into(), limit.into());
        for piece in 1..8 {
            let got = cut(text.as_bytes(), window, piece).unwrap();
            assert_eq!(String::from_utf8(got).unwrap(), want, "pieces of {piece}");
        }
    }

    #[test]
    fn lines_are_cut_out_byte_by_byte() {
        check("a\nb\nc\n", None, None, "a\nb\nc\n");
        check("a\nb\nc\n", 1, None, "a\nb\nc\n");
        check("a\nb\nc\n", 2, None, "b\nc\n");
        check("a\nb\nc\n", 2, 1, "b\n");
        check("a\nb\nc\n", None, 2, "a\nb\n");
        check("a\nb\nc\n", 3, 9, "c\n");
        check("a\nb\nc\n", 4, 1, "");
        check("a\nb\nc", 3, 1, "c");
        check("a\nb\nc", 4, None, "");
        check("a\r\nb\r\nc", 2, 1, "b\r\n");
        check("a\rb\n\n\nc", 1, 2, "a\rb\n\n");
        check("a\nb", None, 0, "");
        check("", None, None, "");
        check("", 1, None, "");
        check("", 1, 1, "");
        check("\n", 1, 1, "\n");
        check("\n", 2, 1, "");
        check("ä\nö\n", 2, 1, "ö\n");
        check("a\n", u32::MAX, u32::MAX, "");
    }

    #[test]
    fn a_window_is_all_or_not() {
        assert!(LineRange::new(None, None).is_all());
        assert!(LineRange::new(Some(1), None).is_all());
        assert!(!LineRange::new(Some(2), None).is_all());
        assert!(!LineRange::new(None, Some(u32::MAX)).is_all());
    }

    #[test]
    fn no_more_is_read_than_has_to_be() {
        struct Endless(Cell<usize>);
        impl Read for &Endless {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0.set(self.0.get() + 1);
                buf.fill(b'\n');
                Ok(buf.len())
            }
        }
        let endless = Endless(Cell::new(0));
        let first = LineRange::new(None, Some(10));
        let got = cut_from(first, &endless, 16, LIMITS).unwrap();
        assert_eq!(got, [b'\n'; 10]);
        assert_eq!(endless.0.get(), 1);

        let nothing = LineRange::new(None, Some(0));
        cut_from(nothing, &endless, 16, LIMITS).unwrap();
        assert_eq!(endless.0.get(), 1);

        let all = cut_from(LineRange::default(), &endless, 16, LIMITS);
        assert!(matches!(all, Err(ServeError::TooLarge { .. })), "{all:?}");

        let reads = Cell::new(0);
        let stopped = LineRange::default().cut(&endless, Path::new("/f"), 16, LIMITS, || {
            reads.set(reads.get() + 1);
            reads.get() > 3
        });
        assert!(matches!(stopped, Err(ServeError::Io(_))), "{stopped:?}");
        assert_eq!(reads.get(), 4);
    }

    #[test]
    fn lines_that_never_begin_are_not_looked_for_without_end() {
        let far = cut_from(
            LineRange::new(Some(2), Some(1)),
            io::repeat(b'x'),
            64,
            LIMITS,
        );
        assert!(matches!(far, Err(ServeError::TooFar { limit, .. }) if limit == LIMITS.seen));
        let long = cut_from(LineRange::new(None, Some(1)), io::repeat(b'x'), 64, LIMITS);
        assert!(matches!(long, Err(ServeError::TooLarge { limit, .. }) if limit == LIMITS.taken));
    }

    #[test]
    fn a_bound_is_for_what_is_taken() {
        let limits = ReadLimits { taken: 4, seen: 64 };
        let cut = |text: &str, line, limit| {
            let window = LineRange::new(line, limit);
            let got = cut_from(window, text.as_bytes(), 3, limits);
            got.ok().map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(cut("abcd", None, None).as_deref(), Some("abcd"));
        assert_eq!(cut("abcde", None, None), None);
        assert_eq!(
            cut("abcdefgh\nab\ncdefgh", Some(2), Some(1)).as_deref(),
            Some("ab\n")
        );
        assert_eq!(cut("abcdefgh\nabcd\n", Some(2), Some(1)), None);
    }

    /// What the lines are, said the simple way.
    fn reference(bytes: &[u8], line: u32, limit: Option<u32>) -> Vec<u8> {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let from = usize::try_from(line - 1).unwrap();
        let many = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        lines.skip(from).take(many).flatten().copied().collect()
    }

    proptest! {
        #[test]
        fn a_window_is_what_a_simple_reader_gives(
            bytes in prop::collection::vec(prop::sample::select(&b"\n\n\rxy\xc3\xa4"[..]), 0..64),
            line in 1_u32..12,
            limit in prop::option::of(0_u32..12),
            piece in 1_usize..16,
        ) {
            let got = cut(&bytes, LineRange::new(Some(line), limit), piece).unwrap();
            prop_assert_eq!(got, reference(&bytes, line, limit));
        }
    }
}
