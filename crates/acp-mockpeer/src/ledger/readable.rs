//! Whether what a side sent could be understood, and what it only told.

use super::{Observed, Shape};
use crate::rules::{Check, Finding};

/// A line longer than this may be beyond the limits of who reads it.
const LONG: usize = 1 << 20;

/// What a side has sent until now.
#[derive(Debug, Default)]
pub(super) struct SentLines {
    /// Something that the other side may have failed to read, so that it
    /// answers without an id.
    odd: bool,
    /// It sent a notification, and one of them takes a request back.
    told: bool,
    took_back: bool,
}

impl SentLines {
    /// Notes a line of this side.
    pub(super) fn note(&mut self, line: &[u8], observed: &Observed) {
        let unreadable = |finding: &Finding| {
            matches!(finding.check, Check::Noise | Check::Envelope | Check::Shape)
        };
        self.odd |= observed.findings.iter().any(unreadable) || line.len() > LONG;
        if let Shape::Notification { method } = &observed.shape {
            self.told = true;
            self.took_back |= method == "$/cancel_request";
        }
    }

    /// Notes a line that has another form than most: marked, or cut.
    pub(super) fn note_odd(&mut self) {
        self.odd = true;
    }

    /// Judges an error without an id: it answers a notification, unless it
    /// tells of something that could not be read.
    pub(super) fn nameless_error(&self) -> Option<Finding> {
        if self.odd {
            return None;
        }
        // It does not tell which of them it answers.
        let (rules, what): (&[&str], _) = match (self.told, self.took_back) {
            (_, true) => (&["R014", "R056"], "a notification gets no answer"),
            (true, false) => (&["R014"], "a notification gets no answer"),
            (false, false) => (&["R019"], "all could be read, and has an id"),
        };
        let message = format!("an error without an id: {what}");
        Some(Finding::new(Check::UnknownAnswer, rules, message))
    }
}
