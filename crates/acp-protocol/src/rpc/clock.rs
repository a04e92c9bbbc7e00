//! The receive clock: a number for every response and notification, in the
//! order of their arrival.

use std::fmt;

/// A place in what was received. Zero means that nothing was observed.
///
/// Requests do not advance the clock; the place of a request is that of what
/// came right before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiveSeq(u64);

impl ReceiveSeq {
    pub(super) fn new(place: u64) -> Self {
        Self(place)
    }

    /// The place as a number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// The place `later` messages behind this one.
    #[must_use]
    pub fn plus(self, later: u64) -> Self {
        Self(self.0.saturating_add(later))
    }

    /// The place right before this one.
    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Advances by `count` and gives the first new place; `None` at the end of
    /// the clock.
    pub(super) fn advance(&mut self, count: u64) -> Option<Self> {
        let first = self.0.checked_add(1)?;
        self.0 = self.0.checked_add(count)?;
        Some(Self(first))
    }
}

impl fmt::Display for ReceiveSeq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is known of a call besides its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// Whether the call was queued for writing. From then on the peer may have
    /// acted on it.
    pub write_admitted: bool,
    /// Where the response came; zero when none was observed.
    pub response_seq: ReceiveSeq,
}
