//! Where the turns of a session stand.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::ClientError;

/// Holds at most one turn, and what became of the wish to cancel.
///
/// A value, not a machine of its own: it lives in a watch channel, so that
/// whoever must act on a change waits for it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    turn: u64,
    state: State,
    cancels: u64,
}

/// Changes a slot, and wakes who watches it if it is another one then.
///
/// Mostly nobody does, and to wake nobody costs some hundred instructions. Whoever
/// begins to watch meanwhile looks at the slot first: before this change, and is counted
/// by then, or after it.
pub(crate) fn change(slot: &watch::Sender<Slot>, change: impl FnOnce(&mut Slot)) {
    slot.send_if_modified(|now| {
        let before = *now;
        change(now);
        *now != before && slot.receiver_count() > 0
    });
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Running,
    Cancelling { since: Instant },
}

/// Why no turn can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Busy {
    /// A turn runs, or was cancelled a moment ago.
    InProgress,
    /// A cancelled turn does not end.
    Stuck {
        /// How long ago it was cancelled.
        cancelled_for: Duration,
    },
}

impl From<Busy> for ClientError {
    fn from(busy: Busy) -> Self {
        match busy {
            Busy::InProgress => Self::TurnInProgress,
            Busy::Stuck { cancelled_for } => Self::TurnStillRunning { cancelled_for },
        }
    }
}

/// What a cancel found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// A running turn, which it is the first to cancel.
    First {
        /// The number of the turn.
        turn: u64,
    },
    /// A turn that was cancelled already.
    Again,
    /// No turn.
    Idle,
}

impl Slot {
    pub(crate) fn new() -> Self {
        Self {
            turn: 0,
            state: State::Idle,
            cancels: 0,
        }
    }

    /// Begins a turn and returns its number.
    pub(crate) fn begin(&mut self, now: Instant, grace: Duration) -> Result<u64, Busy> {
        match self.state {
            State::Idle => {
                self.turn += 1;
                self.state = State::Running;
                Ok(self.turn)
            }
            State::Cancelling { since } if now.duration_since(since) >= grace => Err(Busy::Stuck {
                cancelled_for: now.duration_since(since),
            }),
            State::Running | State::Cancelling { .. } => Err(Busy::InProgress),
        }
    }

    /// Notes a cancel.
    pub(crate) fn cancel(&mut self, now: Instant) -> Cancelled {
        self.cancels += 1;
        match self.state {
            State::Idle => Cancelled::Idle,
            State::Running => {
                self.state = State::Cancelling { since: now };
                Cancelled::First { turn: self.turn }
            }
            State::Cancelling { .. } => Cancelled::Again,
        }
    }

    /// Ends a turn; a number that is not the running turn's changes nothing.
    pub(crate) fn end(&mut self, turn: u64) {
        if self.turn == turn {
            self.state = State::Idle;
        }
    }

    /// Returns when the turn, if it was cancelled, counts as stuck.
    pub(crate) fn stuck_at(&self, grace: Duration) -> Option<Instant> {
        match self.state {
            State::Cancelling { since } => Some(since + grace),
            State::Idle | State::Running => None,
        }
    }

    /// Tells whether the running turn was cancelled.
    pub(crate) fn is_cancelling(&self) -> bool {
        matches!(self.state, State::Cancelling { .. })
    }

    /// Tells whether `turn` still runs, cancelled or not.
    pub(crate) fn runs(&self, turn: u64) -> bool {
        self.turn == turn && self.state != State::Idle
    }

    /// Returns the running turn, cancelled or not.
    pub(crate) fn running(&self) -> Option<u64> {
        (self.state != State::Idle).then_some(self.turn)
    }

    /// Returns how many cancels there were; a change means there was another.
    pub(crate) fn cancels(&self) -> u64 {
        self.cancels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(30);

    #[test]
    fn one_turn_at_a_time() {
        let now = Instant::now();
        let mut slot = Slot::new();
        let first = slot.begin(now, GRACE).unwrap();
        assert_eq!(slot.begin(now, GRACE), Err(Busy::InProgress));
        slot.end(first);
        let second = slot.begin(now, GRACE).unwrap();
        assert_ne!(first, second);
        slot.end(first);
        assert!(
            slot.runs(second),
            "a late end of the first must not end the second"
        );
        assert!(!slot.runs(first));
    }

    #[test]
    fn a_cancelled_turn_keeps_the_slot_and_is_stuck_after_the_grace() {
        let start = Instant::now();
        let mut slot = Slot::new();
        let turn = slot.begin(start, GRACE).unwrap();
        assert_eq!(slot.cancel(start), Cancelled::First { turn });
        assert_eq!(slot.cancel(start), Cancelled::Again);
        assert!(slot.is_cancelling());
        assert_eq!(slot.stuck_at(GRACE), Some(start + GRACE));
        assert_eq!(slot.begin(start + GRACE / 2, GRACE), Err(Busy::InProgress));
        let late = GRACE + Duration::from_secs(1);
        assert_eq!(
            slot.begin(start + late, GRACE),
            Err(Busy::Stuck {
                cancelled_for: late
            })
        );
        slot.end(turn);
        assert!(slot.begin(start + late, GRACE).is_ok());
        assert!(!slot.is_cancelling(), "the cancel was for the turn before");
    }

    #[test]
    fn every_cancel_counts_also_without_a_turn() {
        let now = Instant::now();
        let mut slot = Slot::new();
        assert_eq!(slot.cancel(now), Cancelled::Idle);
        assert_eq!(slot.cancels(), 1);
        assert!(slot.begin(now, GRACE).is_ok());
        assert!(!slot.is_cancelling(), "the cancel was for no turn");
    }
}
