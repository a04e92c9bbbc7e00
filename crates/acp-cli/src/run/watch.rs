//! Watching a turn to its end.

use std::future::pending;
use std::io;
use std::time::Duration;

use acp_client::limits::CANCEL_GRACE;
use acp_client::{Client, PendingPermission, Policy, Turn, TurnEvent};
use acp_harness::turn::{IdleWatch, TimeLimit};
use tokio::time::{Instant, sleep_until};

use super::interrupts::Interrupts;
use crate::outcome::Outcome;
use crate::show::Output;

/// How long a turn may take.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bounds {
    /// In all, from the start of the agent on.
    pub(super) total: Option<Total>,
    /// Without a sign of life.
    pub(super) idle: Option<Duration>,
}

/// When all of it has to be over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Total {
    at: Instant,
    bound: Duration,
}

impl Total {
    /// Counts from now.
    pub(super) fn begin(bound: Duration) -> Option<Self> {
        let at = Instant::now().checked_add(bound)?;
        Some(Self { at, bound })
    }
}

impl Bounds {
    /// Waits until all of it should be over, and returns the bound.
    pub(super) async fn passed(&self) -> Duration {
        match self.total {
            Some(total) => {
                sleep_until(total.at).await;
                total.bound
            }
            None => pending().await,
        }
    }
}

/// Why a turn was cancelled.
#[derive(Debug, Clone, Copy)]
enum Cause {
    /// Somebody wanted it, or nobody can be shown what comes of it.
    Stopped,
    /// It took too long.
    Limit(TimeLimit, Duration),
}

/// Watches one turn to its end.
pub(super) struct Watch<'a> {
    pub(super) client: &'a Client,
    pub(super) policy: &'a Policy,
    pub(super) bounds: Bounds,
    pub(super) output: &'a mut Output,
    pub(super) interrupts: &'a Interrupts,
    cancelled: Option<Cancelled>,
}

/// A cancel that was sent.
struct Cancelled {
    cause: Cause,
    /// When the patience with the agent ends.
    patience: Instant,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        client: &'a Client,
        policy: &'a Policy,
        bounds: Bounds,
        output: &'a mut Output,
        interrupts: &'a Interrupts,
    ) -> Self {
        Self {
            client,
            policy,
            bounds,
            output,
            interrupts,
            cancelled: None,
        }
    }

    /// Shows the turn, answers what is asked, and says how it ended.
    pub(super) async fn turn(mut self, mut turn: Turn, shown: io::Result<()>) -> Outcome {
        let mut idle = IdleWatch::begin(self.client, self.bounds.idle);
        let bounds = self.bounds;
        self.check(&turn, shown);
        loop {
            let running = self.cancelled.is_none();
            let patience = self.cancelled.as_ref().map(|cancelled| cancelled.patience);
            tokio::select! {
                event = turn.next() => match event {
                    Some(event) => {
                        let shown = self.show(event);
                        self.check(&turn, shown);
                    }
                    None => break,
                },
                () = self.interrupts.reach(1), if running => {
                    self.output.say("cancelling; once more kills the agent");
                    self.cancel(&turn, Cause::Stopped);
                }
                bound = bounds.passed(), if running => {
                    self.out_of_time(&turn, TimeLimit::Total, bound);
                }
                bound = idle.expired(), if running => {
                    self.out_of_time(&turn, TimeLimit::Idle, bound);
                }
                () = until(patience) => {
                    self.output.say("the agent does not end its turn; killing it");
                    self.client.kill().await;
                    return match self.cancelled {
                        Some(Cancelled { cause: Cause::Limit(limit, bound), .. }) => {
                            Outcome::out_of_time(limit, bound, None)
                        }
                        _ => Outcome::interrupted(None),
                    };
                }
            }
        }
        let end = turn.end().await;
        let reason = |end: Result<acp_client::PromptResult, _>| end.ok().map(|end| end.stop_reason);
        match (end, self.cancelled.map(|cancelled| cancelled.cause)) {
            (Ok(end), None) => Outcome::of_turn(end.stop_reason),
            (Err(error), None) => Outcome::of_error(&error),
            // Agents answer a cancelled prompt in many ways, and a killed one not at all.
            (end, Some(Cause::Stopped)) => Outcome::interrupted(reason(end)),
            (end, Some(Cause::Limit(limit, bound))) => {
                Outcome::out_of_time(limit, bound, reason(end))
            }
        }
    }

    fn show(&mut self, event: TurnEvent) -> io::Result<()> {
        match event {
            TurnEvent::Permission(pending) => self.permit(pending),
            _ if self.output.is_broken() => Ok(()),
            event => self.output.event(&event),
        }
    }

    fn permit(&mut self, pending: PendingPermission) -> io::Result<()> {
        if !pending.is_open() {
            return Ok(());
        }
        let ask = pending.ask();
        let decision = self.policy.decide(ask.tool(), ask.options());
        let shown = self.output.permission(ask.tool(), &decision);
        pending.decide(&decision);
        shown
    }

    /// Cancels the turn when what it says can no longer be shown.
    fn check(&mut self, turn: &Turn, shown: io::Result<()>) {
        if let Err(error) = shown
            && !self.output.is_broken()
        {
            self.output.give_up();
            self.output
                .say(&format!("cancelling: standard output fails: {error}"));
            self.cancel(turn, Cause::Stopped);
        }
    }

    fn out_of_time(&mut self, turn: &Turn, limit: TimeLimit, bound: Duration) {
        let seconds = bound.as_secs();
        self.output.say(&match limit {
            TimeLimit::Idle => format!("cancelling: the agent said nothing for {seconds} s"),
            _ => format!("cancelling: it took longer than {seconds} s"),
        });
        self.cancel(turn, Cause::Limit(limit, bound));
    }

    fn cancel(&mut self, turn: &Turn, cause: Cause) {
        turn.cancel();
        self.cancelled.get_or_insert(Cancelled {
            cause,
            patience: Instant::now() + CANCEL_GRACE,
        });
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
