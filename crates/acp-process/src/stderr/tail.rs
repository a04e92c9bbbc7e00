//! The last bytes a child wrote to stderr, kept for diagnosis.

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use acp_text::Redactor;
use parking_lot::Mutex;

/// How much of stderr is kept when nothing else is asked for: enough for the
/// message and the stack trace that usually say why an agent died.
pub(crate) const DEFAULT_CAPACITY: usize = 8 * 1024;
/// The most that can be asked for; the tail is copied whenever it is read.
pub(crate) const MAX_CAPACITY: usize = 1024 * 1024;

/// Tells how much a child has written to stderr, and when.
///
/// A client that waits for a slow start (a package being downloaded, say) can
/// see here that the child is still busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StderrActivity {
    /// All bytes read from stderr so far.
    pub bytes: u64,
    /// When the last of them were read.
    pub last_at: Option<Instant>,
    /// Lines that the line callback did not get because it was too slow.
    pub lines_dropped: u64,
}

/// The tail while the child still writes to it; shared by all who look.
pub(crate) struct StderrTail {
    state: Mutex<TailState>,
    redactor: Option<Redactor>,
}

struct TailState {
    last: TailBytes,
    activity: StderrActivity,
}

impl StderrTail {
    pub(crate) fn new(capacity: usize, redactor: Option<Redactor>) -> Self {
        Self {
            state: Mutex::new(TailState {
                last: TailBytes::new(capacity.min(MAX_CAPACITY)),
                activity: StderrActivity::default(),
            }),
            redactor,
        }
    }

    pub(crate) fn push(&self, bytes: &[u8], now: Instant, lines_dropped: u64) {
        let mut state = self.state.lock();
        state.last.push(bytes);
        state.activity.bytes += bytes.len() as u64;
        state.activity.last_at = Some(now);
        state.activity.lines_dropped = lines_dropped;
    }

    pub(crate) fn activity(&self) -> StderrActivity {
        self.state.lock().activity
    }

    pub(crate) fn snapshot(&self) -> TailText {
        let state = self.state.lock();
        TailText {
            bytes: state.last.bytes.iter().copied().collect(),
            cut: state.activity.bytes > state.last.bytes.len() as u64,
            redactor: self.redactor.clone(),
        }
    }
}

/// A copy of the tail. Holds raw bytes; what leaves it is clean.
#[derive(Clone)]
pub(crate) struct TailText {
    bytes: Vec<u8>,
    /// Something stood before `bytes` once.
    cut: bool,
    redactor: Option<Redactor>,
}

impl TailText {
    /// Says that there is something, and not what.
    pub(crate) fn hint(&self) -> &'static str {
        match self.bytes.is_empty() {
            true => "",
            false => " (it wrote to stderr)",
        }
    }

    /// Decodes, cleans, redacts.
    pub(crate) fn to_text(&self) -> String {
        let mut bytes = self.bytes.as_slice();
        if self.cut {
            // The cut may have gone through a character.
            let torn = bytes.iter().take(3).take_while(|byte| *byte & 0xC0 == 0x80);
            bytes = &bytes[torn.count()..];
        }
        if self.cut && self.redactor.is_some() {
            // Or through a secret, of which half does not look like one.
            let word = bytes.iter().position(u8::is_ascii_whitespace);
            bytes = &bytes[word.unwrap_or(bytes.len())..];
        }
        clean(bytes, self.redactor.as_ref())
    }
}

impl fmt::Debug for TailText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes of stderr)", self.bytes.len())
    }
}

/// Makes a text of what a child wrote. An escape sequence may stand in a secret, so
/// cleaning comes first.
pub(crate) fn clean(bytes: &[u8], redactor: Option<&Redactor>) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = acp_text::clean(&text);
    match redactor {
        Some(redactor) => redactor.redact_part(&text),
        None => text.into_owned(),
    }
}

/// Keeps the last `capacity` bytes of all that was pushed.
struct TailBytes {
    bytes: VecDeque<u8>,
    capacity: usize,
}

impl TailBytes {
    fn new(capacity: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            capacity,
        }
    }

    fn push(&mut self, new: &[u8]) {
        let new = &new[new.len().saturating_sub(self.capacity)..];
        let over = (self.bytes.len() + new.len()).saturating_sub(self.capacity);
        self.bytes.drain(..over);
        self.bytes.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tail(capacity: usize, pushes: &[&[u8]]) -> StderrTail {
        let tail = StderrTail::new(capacity, None);
        for bytes in pushes {
            tail.push(bytes, Instant::now(), 0);
        }
        tail
    }

    #[track_caller]
    fn check(capacity: usize, pushes: &[&str], expected: &str) {
        let pushes: Vec<&[u8]> = pushes.iter().map(|text| text.as_bytes()).collect();
        assert_eq!(tail(capacity, &pushes).snapshot().to_text(), expected);
    }

    #[test]
    fn tails() {
        check(4, &[], "");
        check(4, &["ab", "c"], "abc");
        check(4, &["abcd"], "abcd");
        check(4, &["abcd", "e"], "bcde");
        check(4, &["abcdefgh"], "efgh");
        check(4, &["ab", "cdefg", "h"], "efgh");
        check(0, &["abc"], "");
        // The first character that is kept was cut in two.
        check(4, &["äöü"], "öü");
        check(3, &["äöü"], "ü");
        // Torn at the start though nothing was cut: that is how it was written.
        check(4, &["x"], "x");
    }

    #[test]
    fn invalid_text_is_replaced() {
        let text = tail(8, &[b"a\xffb"]).snapshot().to_text();
        assert_eq!(text, "a\u{fffd}b");
    }

    #[test]
    fn redaction_sees_the_clean_text() {
        let redactor = Redactor::new().with_secret("s3cret");
        let tail = StderrTail::new(64, Some(redactor.clone()));
        tail.push(b"a s3\x1b[1mcret\n", Instant::now(), 0);
        assert_eq!(tail.snapshot().to_text(), "a [redacted]\n");
        // Half a word in front may be half a secret.
        let tail = StderrTail::new(8, Some(redactor));
        tail.push(b"k=ghp_0123 ok\n", Instant::now(), 0);
        assert_eq!(tail.snapshot().to_text(), " ok\n");
    }

    #[test]
    fn activity_moves() {
        let tail = tail(2, &[]);
        assert_eq!(tail.activity(), StderrActivity::default());
        let now = Instant::now();
        tail.push(b"abc", now, 3);
        let activity = tail.activity();
        assert_eq!(activity.bytes, 3);
        assert_eq!(activity.last_at, Some(now));
        assert_eq!(activity.lines_dropped, 3);
    }

    proptest! {
        #[test]
        fn the_tail_is_the_end_of_all(
            capacity in 0_usize..20,
            pushes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..12),
        ) {
            let mut last = TailBytes::new(capacity);
            for bytes in &pushes {
                last.push(bytes);
            }
            let all = pushes.concat();
            prop_assert_eq!(last.bytes, &all[all.len().saturating_sub(capacity)..]);
        }
    }
}
