//! Whether a turn of a session runs, and whether it was cancelled.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use acp_connection::Context;
use acp_protocol::rpc::Fault;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::error::ClientError;

/// Lets in one turn of a session at a time, and counts the cancels.
pub(crate) struct TurnGate(watch::Sender<GateState>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GateState {
    turn: u64,
    phase: Phase,
    cancels: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Running,
    Cancelling { since: Instant },
}

/// The turn that a cancel found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelledTurn {
    /// A running turn, which it is the first to cancel.
    First {
        /// The number of the turn.
        turn: u64,
    },
    /// A turn that was cancelled already.
    Again,
    /// None.
    Idle,
}

impl TurnGate {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(GateState {
            turn: 0,
            phase: Phase::Idle,
            cancels: 0,
        }))
    }

    /// Begins a turn and returns its number.
    ///
    /// # Errors
    ///
    /// [`ClientError::TurnInProgress`], and [`ClientError::TurnStillRunning`] when the
    /// running turn was cancelled longer ago than `grace`.
    pub(crate) fn begin(&self, now: Instant, grace: Duration) -> Result<u64, ClientError> {
        self.change(|state| match state.phase {
            Phase::Idle => {
                state.turn += 1;
                state.phase = Phase::Running;
                Ok(state.turn)
            }
            Phase::Cancelling { since } if now.duration_since(since) >= grace => {
                Err(ClientError::TurnStillRunning {
                    cancelled_for: now.duration_since(since),
                })
            }
            Phase::Running | Phase::Cancelling { .. } => Err(ClientError::TurnInProgress),
        })
    }

    /// Counts a cancel.
    pub(crate) fn cancel(&self, now: Instant) -> CancelledTurn {
        self.change(|state| {
            state.cancels += 1;
            match state.phase {
                Phase::Idle => CancelledTurn::Idle,
                Phase::Running => {
                    state.phase = Phase::Cancelling { since: now };
                    CancelledTurn::First { turn: state.turn }
                }
                Phase::Cancelling { .. } => CancelledTurn::Again,
            }
        })
    }

    /// Ends a turn; a number that is not the running turn's changes nothing.
    pub(crate) fn end(&self, turn: u64) {
        self.change(|state| {
            if state.turn == turn {
                state.phase = Phase::Idle;
            }
        });
    }

    /// Watches from now on.
    pub(crate) fn watch(&self) -> GateWatch {
        let mut gate = self.0.subscribe();
        let seen = *gate.borrow_and_update();
        GateWatch { gate, seen }
    }

    /// Changes the state, and wakes who watches it if it is another one then.
    ///
    /// Mostly nobody does, and to wake nobody costs some hundred instructions. Whoever
    /// begins to watch meanwhile looks at the state first: before this change, and is
    /// counted by then, or after it.
    fn change<T>(&self, change: impl FnOnce(&mut GateState) -> T) -> T {
        let mut outcome = None;
        self.0.send_if_modified(|now| {
            let before = *now;
            outcome = Some(change(now));
            *now != before && self.0.receiver_count() > 0
        });
        outcome.expect("the change is made once")
    }
}

/// The state of a gate when it was looked at, and how it goes on.
///
/// It does not keep the session open.
#[derive(Debug)]
pub(crate) struct GateWatch {
    gate: watch::Receiver<GateState>,
    seen: GateState,
}

impl GateWatch {
    /// Tells whether a turn ran that was cancelled.
    pub(crate) fn is_cancelling(&self) -> bool {
        self.cancelling_since().is_some()
    }

    /// Returns since when the turn that ran was cancelled, if it was.
    pub(crate) fn cancelling_since(&self) -> Option<Instant> {
        match self.seen.phase {
            Phase::Cancelling { since } => Some(since),
            Phase::Idle | Phase::Running => None,
        }
    }

    /// Waits for the next cancel, or the end of the session.
    pub(crate) async fn cancelled(&mut self) {
        let cancels = self.seen.cancels;
        // An error means that the session is gone.
        let _ = self.gate.wait_for(|now| now.cancels != cancels).await;
    }

    /// Waits for the answer to a request of the agent, until the next cancel, the end of the
    /// session, or the agent takes its request back.
    pub(crate) async fn run<T>(
        mut self,
        context: &Context,
        answer: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        tokio::select! {
            biased;
            () = self.cancelled() => Err(Fault::cancelled()),
            answer = context.run_until_cancelled(answer) => {
                answer.unwrap_or_else(|| Err(Fault::cancelled()))
            }
        }
    }

    /// Returns the turn that ran, cancelled or not.
    pub(crate) fn running(&self) -> Option<u64> {
        (self.seen.phase != Phase::Idle).then_some(self.seen.turn)
    }

    /// Waits for the end of a turn; false when the session is gone before.
    pub(crate) async fn turn_ended(&mut self, turn: u64) -> bool {
        let ended = |now: &GateState| now.turn != turn || now.phase == Phase::Idle;
        self.gate.wait_for(ended).await.is_ok()
    }

    /// Waits until it is worth trying again to begin a turn: something changed, or the
    /// cancelled turn counts as stuck.
    pub(crate) async fn changed(&mut self, grace: Duration) {
        let seen = self.seen;
        let changed = self.gate.wait_for(|now| *now != seen);
        match seen.phase {
            Phase::Cancelling { since } => _ = timeout_at(since + grace, changed).await,
            Phase::Idle | Phase::Running => _ = changed.await,
        }
    }
}

impl fmt::Debug for TurnGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.borrow().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(30);

    fn runs(gate: &TurnGate, turn: u64) -> bool {
        gate.watch().running() == Some(turn)
    }

    #[test]
    fn one_turn_at_a_time() {
        let now = Instant::now();
        let gate = TurnGate::new();
        let first = gate.begin(now, GRACE).unwrap();
        let second = gate.begin(now, GRACE);
        assert!(matches!(second, Err(ClientError::TurnInProgress)));
        gate.end(first);
        let second = gate.begin(now, GRACE).unwrap();
        assert_ne!(first, second);
        gate.end(first);
        assert!(
            runs(&gate, second),
            "a late end of the first must not end the second"
        );
        assert!(!runs(&gate, first));
    }

    #[test]
    fn a_cancelled_turn_stays_and_is_stuck_after_the_grace() {
        let start = Instant::now();
        let gate = TurnGate::new();
        let turn = gate.begin(start, GRACE).unwrap();
        assert_eq!(gate.cancel(start), CancelledTurn::First { turn });
        assert_eq!(gate.cancel(start), CancelledTurn::Again);
        assert!(gate.watch().is_cancelling());
        let early = gate.begin(start + GRACE / 2, GRACE);
        assert!(matches!(early, Err(ClientError::TurnInProgress)));
        let late = GRACE + Duration::from_secs(1);
        let stuck = gate.begin(start + late, GRACE);
        assert!(
            matches!(stuck, Err(ClientError::TurnStillRunning { cancelled_for }) if cancelled_for == late)
        );
        gate.end(turn);
        assert!(gate.begin(start + late, GRACE).is_ok());
        assert!(
            !gate.watch().is_cancelling(),
            "the cancel was for the turn before"
        );
    }

    #[test]
    fn every_cancel_counts_also_without_a_turn() {
        let now = Instant::now();
        let gate = TurnGate::new();
        assert_eq!(gate.cancel(now), CancelledTurn::Idle);
        assert_eq!(gate.watch().seen.cancels, 1);
        assert!(gate.begin(now, GRACE).is_ok());
        assert!(!gate.watch().is_cancelling(), "the cancel was for no turn");
    }
}
