//! Watching a turn to its end.

use std::future::pending;
use std::io;
use std::time::Duration;

use acp_client::limits::CANCEL_GRACE;
use acp_client::{Client, PendingPermission, PendingQuestion, Turn, TurnEvent};
use acp_harness::turn::{IdleWatch, TimeLimit};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::consent::Consent;
use super::interrupts::Interrupts;
use super::person::Person;
use crate::outcome::Outcome;
use crate::sessions::Kept;
use crate::show::{Answered, Output, Served};

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
    pub(super) consent: &'a Consent,
    /// Who is asked, if somebody is there.
    pub(super) person: Option<&'a mut Person>,
    /// What is told of files and commands.
    pub(super) served: &'a mut mpsc::Receiver<Served>,
    pub(super) bounds: Bounds,
    pub(super) output: &'a mut Output,
    pub(super) interrupts: &'a Interrupts,
    /// The kept session that hears what happens.
    pub(super) kept: Option<&'a Kept>,
    pub(super) cancelled: Option<Cancelled>,
}

/// A cancel that was sent.
pub(super) struct Cancelled {
    cause: Cause,
    /// When the patience with the agent ends.
    patience: Instant,
}

impl Watch<'_> {
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
                        let shown = self.show(event, &turn).await;
                        self.check(&turn, shown);
                    }
                    None => break,
                },
                Some(served) = self.served.recv() => {
                    let shown = self.output.served(&served);
                    self.check(&turn, shown);
                }
                () = self.interrupts.reach(1), if running => self.interrupted(&turn),
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
        while let Ok(served) = self.served.try_recv() {
            // Whether it can be shown makes no difference to how the turn ended.
            let _ = self.output.served(&served);
        }
        let end = turn.end().await;
        let reason = |end: Result<acp_client::PromptResult, _>| end.ok().map(|end| end.stop_reason);
        let mut cause = self.cancelled.map(|cancelled| cancelled.cause);
        if end.is_err() && self.interrupts.count() > 0 {
            // Whoever kills it right away is heard by the agent first.
            cause = cause.or(Some(Cause::Stopped));
        }
        match (end, cause) {
            (Ok(end), None) => Outcome::of_turn(end.stop_reason),
            (Err(error), None) => Outcome::of_error(&error),
            // Agents answer a cancelled prompt in many ways, and a killed one not at all.
            (end, Some(Cause::Stopped)) => Outcome::interrupted(reason(end)),
            (end, Some(Cause::Limit(limit, bound))) => {
                Outcome::out_of_time(limit, bound, reason(end))
            }
        }
    }

    async fn show(&mut self, event: TurnEvent, turn: &Turn) -> io::Result<()> {
        if let Some(kept) = self.kept {
            kept.hear(&event);
        }
        match event {
            TurnEvent::Permission(pending) => self.permit(pending, turn).await,
            TurnEvent::Question(pending) => self.answer(pending, turn).await,
            event => self.output.event(&event),
        }
    }

    async fn permit(&mut self, mut pending: PendingPermission, turn: &Turn) -> io::Result<()> {
        if !pending.is_open() {
            return Ok(());
        }
        let decision = self.consent.decide(pending.ask());
        let ask = pending.ask().clone();
        let person = match self.person.as_deref_mut() {
            Some(person) if !decision.allowed && self.consent.leaves_open(&ask) => person,
            _ => {
                let shown = self.output.permission(ask.tool(), &decision);
                pending.decide(&decision);
                return shown;
            }
        };
        let asked = tokio::select! {
            biased;
            end = untimely(self.interrupts, self.bounds, pending.closed()) => Err(end),
            option = person.permit(&ask, self.output) => Ok(option),
        };
        match asked {
            Ok(option) => {
                let option = option?;
                let shown = self.output.chosen(ask.tool(), option.as_ref());
                match &option {
                    // It is one of those that were offered.
                    Some(option) => drop(pending.select(&option.option_id)),
                    None => pending.reject(),
                }
                shown
            }
            Err(end) => self.end_asking(end, turn),
        }
    }

    async fn answer(&mut self, mut pending: PendingQuestion, turn: &Turn) -> io::Result<()> {
        if !pending.is_open() {
            return Ok(());
        }
        let question = pending.ask().clone();
        let Some(person) = self.person.as_deref_mut() else {
            let answer = self.consent.headless.decide(&question);
            let answered = Answered::headless(&question, &answer);
            let shown = self.output.question(&question, answered);
            // It was checked when it was made.
            drop(pending.answer(answer));
            return shown;
        };
        let asked = tokio::select! {
            biased;
            end = untimely(self.interrupts, self.bounds, pending.closed()) => Err(end),
            answer = person.answer(&question, self.output) => Ok(answer),
        };
        match asked {
            Ok(answer) => {
                let (answer, answered) = answer?;
                let shown = self.output.question(&question, answered);
                // As above, field by field.
                drop(pending.answer(answer));
                shown
            }
            Err(end) => self.end_asking(end, turn),
        }
    }

    /// Takes note of why nobody need be asked any more.
    fn end_asking(&mut self, end: Untimely, turn: &Turn) -> io::Result<()> {
        self.output.ask("\n")?;
        self.output.answered();
        match end {
            Untimely::Interrupted => self.interrupted(turn),
            Untimely::OutOfTime(bound) => self.out_of_time(turn, TimeLimit::Total, bound),
            Untimely::Closed => self.output.say("the agent does not want to know any more"),
        }
        Ok(())
    }

    fn interrupted(&mut self, turn: &Turn) {
        self.output.say("cancelling; once more kills the agent");
        self.cancel(turn, Cause::Stopped);
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
        self.output.status("cancelling");
        turn.cancel();
        self.cancelled.get_or_insert(Cancelled {
            cause,
            patience: Instant::now() + CANCEL_GRACE,
        });
    }
}

/// Why somebody need not be asked any more.
enum Untimely {
    Interrupted,
    OutOfTime(Duration),
    /// The agent took it back.
    Closed,
}

/// Waits until there is no sense in asking any more.
async fn untimely(
    interrupts: &Interrupts,
    bounds: Bounds,
    closed: impl Future<Output = ()>,
) -> Untimely {
    tokio::select! {
        () = interrupts.reach(1) => Untimely::Interrupted,
        bound = bounds.passed() => Untimely::OutOfTime(bound),
        () = closed => Untimely::Closed,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
