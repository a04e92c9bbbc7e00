//! Counters of a connection.

use super::{Issue, Issues};

/// A snapshot of what a connection has counted.
///
/// For updates it holds that
/// `received = delivered + queued + dropped + unknown_session`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Updates that arrived, those that could not be read included.
    pub updates_received: u64,
    /// Updates taken by a consumer.
    pub updates_delivered: u64,
    /// Updates dropped: at a hard mark, unread between turns, discarded because their
    /// reader left, or in a line that could not be read.
    pub updates_dropped: u64,
    /// Updates that a consumer took and that made no sense; they count as delivered, unless
    /// they were left.
    pub updates_unreadable: u64,
    /// Updates for sessions nobody knew.
    pub updates_unknown_session: u64,
    /// Responses to no open call.
    pub responses_unmatched: u64,
    /// Responses to calls that had been abandoned.
    pub responses_late: u64,
    /// `$/cancel_request` for requests that were not open.
    pub cancels_unmatched: u64,
    /// Lines that were no message and got no error, because another one had got it
    /// within [`Limits::parse_error_interval`](super::Limits::parse_error_interval).
    pub errors_withheld: u64,
    /// Requests that arrived, refused ones included.
    pub requests_received: u64,
    /// Requests refused because too many were open.
    pub requests_overloaded: u64,
    /// Handlers that panicked.
    pub handler_panics: u64,
    /// Times that reading paused.
    pub pauses: u64,
    /// Mailboxes that were exempted because their consumer stood still.
    pub exemptions: u64,
    ignored: [u64; Issue::ALL.len()],
}

impl Stats {
    /// Lines that were ignored or refused because of `issue`.
    #[must_use]
    pub fn ignored(&self, issue: Issue) -> u64 {
        self.ignored[issue as usize]
    }

    /// All lines that were ignored or refused, by kind.
    #[must_use]
    pub fn ignored_total(&self) -> u64 {
        self.ignored.iter().sum()
    }

    pub(super) fn ignore(&mut self, issues: Issues) {
        for issue in issues.iter() {
            self.ignored[issue as usize] += 1;
        }
    }
}
