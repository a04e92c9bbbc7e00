//! Cuts lines out of a stream of bytes.

use std::io::{self, Read};

use memchr::memchr_iter;

/// Which lines of a file are asked for.
///
/// A line ends with its LF, which belongs to it; what comes before is not looked
/// at, so a CR stays where it is, and so does a last line without an end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// How many lines come before the first.
    skip: u32,
    /// How many are taken at most; `None` for all that follow.
    take: Option<u32>,
}

/// What reading lines may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The most bytes that are returned.
    pub(super) taken: u64,
    /// The most bytes that are looked at.
    pub(super) seen: u64,
}

/// Why no lines were cut out.
#[derive(Debug, thiserror::Error)]
pub(super) enum CutError {
    #[error("take more than {0} bytes")]
    TooLarge(u64),
    #[error("look behind the first {0} bytes")]
    TooFar(u64),
    #[error("go on: nobody waits for it")]
    Stopped,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Window {
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

    /// Returns the lines, byte by byte as they are.
    ///
    /// Reads piece by piece and not further than it has to; `stopped` is asked
    /// before each.
    pub(super) fn cut(
        self,
        mut reader: impl Read,
        piece: &mut [u8],
        bounds: Bounds,
        stopped: impl Fn() -> bool,
    ) -> Result<Vec<u8>, CutError> {
        let mut taken = Vec::new();
        let (mut skip, mut left) = (self.skip, self.take);
        let mut seen = 0_u64;
        while left != Some(0) {
            if stopped() {
                return Err(CutError::Stopped);
            }
            let count = match reader.read(piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let rest = after_lines(&piece[..count], &mut skip);
            let part = match &mut left {
                Some(left) => up_to_lines(rest, left),
                None => rest,
            };
            if (taken.len() + part.len()) as u64 > bounds.taken {
                return Err(CutError::TooLarge(bounds.taken));
            }
            taken.extend_from_slice(part);
            seen += count as u64;
            if seen >= bounds.seen && skip > 0 {
                return Err(CutError::TooFar(bounds.seen));
            }
        }
        Ok(taken)
    }
}

/// Returns what follows the next `skip` line ends, and counts those down.
fn after_lines<'a>(bytes: &'a [u8], skip: &mut u32) -> &'a [u8] {
    if *skip == 0 {
        return bytes;
    }
    for end in memchr_iter(b'\n', bytes) {
        *skip -= 1;
        if *skip == 0 {
            return &bytes[end + 1..];
        }
    }
    &[]
}

/// Returns what goes to the end of the next `left` lines, and counts those down.
fn up_to_lines<'a>(bytes: &'a [u8], left: &mut u32) -> &'a [u8] {
    for end in memchr_iter(b'\n', bytes) {
        *left -= 1;
        if *left == 0 {
            return &bytes[..=end];
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::cell::Cell;

    use proptest::prelude::*;

    const BOUNDS: Bounds = Bounds {
        taken: 1 << 20,
        seen: 1 << 20,
    };

    fn cut(bytes: &[u8], window: Window, piece: usize) -> Result<Vec<u8>, CutError> {
        window.cut(bytes, &mut vec![0; piece], BOUNDS, || false)
    }

    #[track_caller]
    fn check(text: &str, line: impl Into<Option<u32>>, limit: impl Into<Option<u32>>, want: &str) {
        let window = Window::new(line.into(), limit.into());
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
        assert!(Window::new(None, None).is_all());
        assert!(Window::new(Some(1), None).is_all());
        assert!(!Window::new(Some(2), None).is_all());
        assert!(!Window::new(None, Some(u32::MAX)).is_all());
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
        let first = Window::new(None, Some(10));
        let got = first.cut(&endless, &mut [0; 16], BOUNDS, || false).unwrap();
        assert_eq!(got, [b'\n'; 10]);
        assert_eq!(endless.0.get(), 1);

        let nothing = Window::new(None, Some(0));
        nothing
            .cut(&endless, &mut [0; 16], BOUNDS, || false)
            .unwrap();
        assert_eq!(endless.0.get(), 1);

        let all = Window::default().cut(&endless, &mut [0; 16], BOUNDS, || false);
        assert!(matches!(all, Err(CutError::TooLarge(_))), "{all:?}");

        let reads = Cell::new(0);
        let stopped = Window::default().cut(&endless, &mut [0; 16], BOUNDS, || {
            reads.set(reads.get() + 1);
            reads.get() > 3
        });
        assert!(matches!(stopped, Err(CutError::Stopped)), "{stopped:?}");
        assert_eq!(reads.get(), 4);
    }

    #[test]
    fn lines_that_never_begin_are_not_looked_for_without_end() {
        let far =
            Window::new(Some(2), Some(1)).cut(io::repeat(b'x'), &mut [0; 64], BOUNDS, || false);
        assert!(matches!(far, Err(CutError::TooFar(limit)) if limit == BOUNDS.seen));
        let long = Window::new(None, Some(1)).cut(io::repeat(b'x'), &mut [0; 64], BOUNDS, || false);
        assert!(matches!(long, Err(CutError::TooLarge(limit)) if limit == BOUNDS.taken));
    }

    #[test]
    fn a_bound_is_for_what_is_taken() {
        let bounds = Bounds { taken: 4, seen: 64 };
        let cut = |text: &str, line, limit| {
            let window = Window::new(line, limit);
            let got = window.cut(text.as_bytes(), &mut [0; 3], bounds, || false);
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
            let got = cut(&bytes, Window::new(Some(line), limit), piece).unwrap();
            prop_assert_eq!(got, reference(&bytes, line, limit));
        }
    }
}
