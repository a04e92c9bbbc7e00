//! Ways to cut a stream into chunks.

/// How a stream is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunking {
    /// Not at all.
    Whole,
    /// After each byte.
    Bytes,
    /// Right behind each line feed.
    Lines,
    /// Right before each line feed.
    BeforeFeeds,
    /// Anywhere, as the bytes themselves decide.
    Odd,
}

impl Chunking {
    /// Every way.
    pub(crate) const ALL: [Self; 5] = [
        Self::Whole,
        Self::Bytes,
        Self::Lines,
        Self::BeforeFeeds,
        Self::Odd,
    ];

    fn length(self, rest: &[u8]) -> usize {
        let feed = |from: usize| {
            let found = rest[from..].iter().position(|byte| *byte == b'\n');
            found.map_or(rest.len(), |at| from + at)
        };
        let length = match self {
            Self::Whole => rest.len(),
            Self::Bytes => 1,
            Self::Lines => feed(0) + 1,
            Self::BeforeFeeds => feed(1.min(rest.len())),
            Self::Odd => {
                // The sum of what comes next: arbitrary, and the same each time.
                let sum: usize = rest.iter().take(5).map(|byte| usize::from(*byte)).sum();
                sum % 97 + 1
            }
        };
        length.clamp(1, rest.len().max(1))
    }
}

/// Cuts a stream.
pub(crate) fn of(stream: &[u8], chunking: Chunking) -> impl Iterator<Item = &[u8]> {
    let mut rest = stream;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (chunk, behind) = rest.split_at(chunking.length(rest).min(rest.len()));
        rest = behind;
        Some(chunk)
    })
}
