//! The end of what a command wrote, as text.

use std::collections::VecDeque;
use std::str;

/// Keeps the last so many bytes of an output, beginning with a whole character
/// (R148, R149).
///
/// Bytes that are no UTF-8 become U+FFFD as they come, so what is kept is text at
/// any moment, and its length is counted as it is sent. A character that has only
/// half arrived waits for its rest.
#[derive(Debug)]
pub(super) struct OutputRing {
    text: VecDeque<u8>,
    /// The beginning of a character.
    torn: Vec<u8>,
    limit: usize,
    cut: bool,
}

impl OutputRing {
    /// Makes a ring that keeps at most `limit` bytes. It takes memory as it fills.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            text: VecDeque::new(),
            torn: Vec::new(),
            limit,
            cut: false,
        }
    }

    /// Adds what was written.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.torn.is_empty() {
            self.decode(bytes);
        } else {
            let mut whole = std::mem::take(&mut self.torn);
            whole.extend_from_slice(bytes);
            self.decode(&whole);
        }
    }

    /// Notes that nothing more is to come.
    pub(super) fn finish(&mut self) {
        if !std::mem::take(&mut self.torn).is_empty() {
            self.keep("\u{fffd}");
        }
    }

    /// Returns what is kept.
    pub(super) fn text(&self) -> String {
        let (first, second) = self.text.as_slices();
        let bytes = [first, second].concat();
        // It is text by construction.
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Tells whether something was dropped.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    fn decode(&mut self, mut bytes: &[u8]) {
        loop {
            let error = match str::from_utf8(bytes) {
                Ok(text) => return self.keep(text),
                Err(error) => error,
            };
            let (text, rest) = bytes.split_at(error.valid_up_to());
            self.keep(str::from_utf8(text).unwrap_or_default());
            let Some(wrong) = error.error_len() else {
                self.torn = rest.to_vec();
                return;
            };
            self.keep("\u{fffd}");
            bytes = &rest[wrong..];
        }
    }

    fn keep(&mut self, text: &str) {
        // What would be dropped at once need not come in.
        let kept = acp_text::last_bytes(text, self.limit);
        if kept.len() < text.len() {
            self.cut = true;
            self.text.clear();
        }
        self.text.extend(kept.as_bytes());
        let over = self.text.len().saturating_sub(self.limit);
        if over > 0 {
            self.cut = true;
            self.text.drain(..over);
            while self.text.front().is_some_and(|byte| byte & 0xC0 == 0x80) {
                self.text.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[track_caller]
    fn check(limit: usize, pieces: &[&[u8]], want: &str, cut: bool) {
        let mut ring = OutputRing::new(limit);
        for piece in pieces {
            ring.push(piece);
        }
        assert_eq!((ring.text().as_str(), ring.is_cut()), (want, cut));
    }

    #[test]
    fn the_end_is_kept() {
        check(4, &[b"abcd"], "abcd", false);
        check(4, &[b"abcde"], "bcde", true);
        check(4, &[b"ab", b"cd", b"ef"], "cdef", true);
        check(4, &[b"ab", b"cdefgh"], "efgh", true);
        check(0, &[], "", false);
        check(0, &[b"a"], "", true);
        check(9, &[b"", b""], "", false);
    }

    #[test]
    fn a_cut_goes_between_characters() {
        check(3, &["aäö".as_bytes()], "ö", true);
        check(4, &["aäö".as_bytes()], "äö", true);
        check(5, &["aäö".as_bytes()], "aäö", false);
        check(3, &["🦀".as_bytes()], "", true);
        check(4, &["x🦀".as_bytes()], "🦀", true);
        check(4, &["x🦀".as_bytes(), b"y"], "y", true);
    }

    #[test]
    fn a_torn_character_waits_for_its_rest() {
        check(9, &[b"a\xc3"], "a", false);
        check(9, &[b"a\xc3", b"\xa4b"], "aäb", false);
        check(9, &[b"\xf0", b"\x9f", b"\xa6", b"\x80"], "🦀", false);
        check(9, &[b"\xf0\x9f", b"x"], "\u{fffd}x", false);
        let mut ring = OutputRing::new(9);
        ring.push(b"a\xe2\x82");
        ring.finish();
        assert_eq!(ring.text(), "a\u{fffd}");
        ring.finish();
        assert_eq!(ring.text(), "a\u{fffd}", "once");
    }

    #[test]
    fn what_is_no_text_is_replaced_and_counted_as_sent() {
        check(9, &[b"\xffa\xfe"], "\u{fffd}a\u{fffd}", false);
        check(5, &[b"\xffa\xfe"], "a\u{fffd}", true);
    }

    /// The same, said the simple way: all as text, and then the end of it.
    fn reference(bytes: &[u8], limit: usize) -> (String, bool) {
        let text = String::from_utf8_lossy(bytes);
        let fits = |at: &usize| text.len() - at <= limit;
        let starts = text.char_indices().map(|(at, _)| at);
        let from = starts.chain([text.len()]).find(fits).unwrap();
        (text[from..].to_owned(), from > 0)
    }

    proptest! {
        #[test]
        fn a_ring_keeps_what_a_simple_reader_keeps(
            pieces in prop::collection::vec(
                prop::collection::vec(
                    prop_oneof![
                        Just(&b"a"[..]), Just("ä".as_bytes()), Just("€".as_bytes()), Just("🦀".as_bytes()),
                        Just(&b"\xc3"[..]), Just(&b"\xa4"[..]), Just(&b"\xf0\x9f"[..]), Just(&b"\xed\xa0"[..]), Just(&b"\xff"[..]),
                    ],
                    0..12,
                ),
                0..8,
            ),
            tear in 1_usize..7,
            limit in 0_usize..40,
        ) {
            let bytes: Vec<u8> = pieces.concat().concat();
            let mut ring = OutputRing::new(limit);
            for piece in bytes.chunks(tear) {
                ring.push(piece);
                prop_assert!(ring.text().len() <= limit);
            }
            ring.finish();
            prop_assert_eq!((ring.text(), ring.is_cut()), reference(&bytes, limit));
        }
    }
}
