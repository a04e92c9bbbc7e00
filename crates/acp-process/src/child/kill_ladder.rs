//! The steps by which a child is ended, each a little less polite.

use std::time::{Duration, Instant};

use super::Signal;

/// Says how long each step of ending a child may take.
///
/// The ladder is: close stdin, wait; `SIGINT` to the group, wait; `SIGTERM`,
/// wait; `SIGKILL`. It stops at the step at which the leader exits; what is
/// left of the group is killed then. A wait of zero goes on to the next step
/// at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KillLadder {
    /// How long an orderly close waits after stdin was closed. Default 3 s:
    /// agents take up to 2 s to write down their sessions.
    pub orderly_eof_grace: Duration,
    /// How long an abort waits after stdin was closed. Default 500 ms.
    pub abort_eof_grace: Duration,
    /// How long to wait after `SIGINT`. Default 2 s.
    pub interrupt_grace: Duration,
    /// How long to wait after `SIGTERM`. Default 1 s.
    pub terminate_grace: Duration,
}

impl KillLadder {
    /// Changes the wait after stdin was closed in an orderly close.
    #[must_use]
    pub fn with_orderly_eof_grace(mut self, grace: Duration) -> Self {
        self.orderly_eof_grace = grace;
        self
    }

    /// Changes the wait after stdin was closed in an abort.
    #[must_use]
    pub fn with_abort_eof_grace(mut self, grace: Duration) -> Self {
        self.abort_eof_grace = grace;
        self
    }

    /// Changes the wait after `SIGINT`.
    #[must_use]
    pub fn with_interrupt_grace(mut self, grace: Duration) -> Self {
        self.interrupt_grace = grace;
        self
    }

    /// Changes the wait after `SIGTERM`.
    #[must_use]
    pub fn with_terminate_grace(mut self, grace: Duration) -> Self {
        self.terminate_grace = grace;
        self
    }
}

impl Default for KillLadder {
    fn default() -> Self {
        Self {
            orderly_eof_grace: Duration::from_secs(3),
            abort_eof_grace: Duration::from_millis(500),
            interrupt_grace: Duration::from_secs(2),
            terminate_grace: Duration::from_secs(1),
        }
    }
}

/// Says how a child is to be ended, from the most patient way to the least.
///
/// Asking again with a less patient value hurries a ladder that is running;
/// a more patient one never slows it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Ending {
    /// The ladder with time for the child to put its things in order.
    Orderly = 1,
    /// The ladder with a short wait after stdin was closed.
    Abort,
    /// `SIGKILL` at once.
    Now,
}

/// Names a step of the [`KillLadder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rung {
    /// Stdin was closed.
    Eof,
    /// `SIGINT` was sent.
    Interrupt,
    /// `SIGTERM` was sent.
    Terminate,
    /// `SIGKILL` was sent while the leader was alive.
    Kill,
}

/// What the ladder wants done to the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    CloseStdin,
    Signal(Signal),
}

/// The ladder of one child as a state machine; time is an argument.
#[derive(Debug)]
pub(crate) struct Teardown {
    ladder: KillLadder,
    asked: Option<Ending>,
    reached: Option<(Rung, Instant)>,
    due: Option<Instant>,
}

impl Teardown {
    pub(crate) fn new(ladder: KillLadder) -> Self {
        Self {
            ladder,
            asked: None,
            reached: None,
            due: None,
        }
    }

    /// Starts the ladder, or hurries it.
    pub(crate) fn ask(&mut self, now: Instant, ending: Ending) {
        if self.asked.is_some_and(|asked| asked >= ending) {
            return;
        }
        self.asked = Some(ending);
        match (self.reached, ending) {
            (Some((Rung::Kill, _)), _) => {}
            (None, _) | (_, Ending::Now) => self.due = Some(now),
            (Some((Rung::Eof, since)), _) => self.due = self.after(Rung::Eof, since),
            (Some(_), _) => {}
        }
    }

    /// Returns the next step when its time has come.
    pub(crate) fn next_step(&mut self, now: Instant) -> Option<Step> {
        self.due.filter(|due| *due <= now)?;
        let (rung, step) = match self.reached {
            _ if self.asked == Some(Ending::Now) => (Rung::Kill, Step::Signal(Signal::Kill)),
            None => (Rung::Eof, Step::CloseStdin),
            Some((Rung::Eof, _)) => (Rung::Interrupt, Step::Signal(Signal::Interrupt)),
            Some((Rung::Interrupt, _)) => (Rung::Terminate, Step::Signal(Signal::Terminate)),
            Some(_) => (Rung::Kill, Step::Signal(Signal::Kill)),
        };
        self.reached = Some((rung, now));
        self.due = self.after(rung, now);
        Some(step)
    }

    /// Returns when [`Teardown::next_step`] has something to say.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns the last step taken.
    pub(crate) fn reached(&self) -> Option<Rung> {
        self.reached.map(|(rung, _)| rung)
    }

    fn after(&self, rung: Rung, since: Instant) -> Option<Instant> {
        let grace = match rung {
            Rung::Eof if self.asked == Some(Ending::Orderly) => self.ladder.orderly_eof_grace,
            Rung::Eof => self.ladder.abort_eof_grace,
            Rung::Interrupt => self.ladder.interrupt_grace,
            Rung::Terminate => self.ladder.terminate_grace,
            Rung::Kill => return None,
        };
        // A wait longer than the clock can say is a wait for ever.
        since.checked_add(grace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Lets the ladder run from `ask`s at given milliseconds; returns what it
    /// did and when.
    fn run(ladder: KillLadder, asks: &[(u32, Ending)]) -> Vec<(u32, Step)> {
        let start = Instant::now();
        let mut teardown = Teardown::new(ladder);
        let mut done = Vec::new();
        for ms in 0..20_000 {
            let now = start + MS * ms;
            for (_, ending) in asks.iter().filter(|(at, _)| *at == ms) {
                teardown.ask(now, *ending);
            }
            while let Some(step) = teardown.next_step(now) {
                done.push((ms, step));
            }
        }
        assert_eq!(teardown.due(), None);
        done
    }

    const INT: Step = Step::Signal(Signal::Interrupt);
    const TERM: Step = Step::Signal(Signal::Terminate);
    const KILL: Step = Step::Signal(Signal::Kill);

    #[test]
    fn ladders() {
        let ladder = KillLadder::default();
        assert_eq!(run(ladder, &[]), []);
        assert_eq!(
            run(ladder, &[(5, Ending::Orderly)]),
            [
                (5, Step::CloseStdin),
                (3005, INT),
                (5005, TERM),
                (6005, KILL)
            ]
        );
        assert_eq!(
            run(ladder, &[(0, Ending::Abort)]),
            [
                (0, Step::CloseStdin),
                (500, INT),
                (2500, TERM),
                (3500, KILL)
            ]
        );
        assert_eq!(run(ladder, &[(7, Ending::Now)]), [(7, KILL)]);
    }

    #[test]
    fn a_hurried_ladder() {
        let ladder = KillLadder::default();
        // Within the short wait: it counts from the moment stdin was closed.
        assert_eq!(
            run(ladder, &[(0, Ending::Orderly), (100, Ending::Abort)])[..2],
            [(0, Step::CloseStdin), (500, INT)]
        );
        // The short wait is over already.
        assert_eq!(
            run(ladder, &[(0, Ending::Orderly), (900, Ending::Abort)])[..2],
            [(0, Step::CloseStdin), (900, INT)]
        );
        // An abort does not shorten the later waits, `Now` does.
        assert_eq!(
            run(ladder, &[(0, Ending::Orderly), (3100, Ending::Abort)])[2..],
            [(5000, TERM), (6000, KILL)]
        );
        assert_eq!(
            run(ladder, &[(0, Ending::Orderly), (3100, Ending::Now)]),
            [(0, Step::CloseStdin), (3000, INT), (3100, KILL)]
        );
    }

    #[test]
    fn asking_again_never_slows_down() {
        let ladder = KillLadder::default();
        let once = run(ladder, &[(0, Ending::Abort)]);
        let again = [
            (0, Ending::Abort),
            (10, Ending::Orderly),
            (20, Ending::Abort),
            (600, Ending::Orderly),
        ];
        assert_eq!(run(ladder, &again), once);
        assert_eq!(
            run(ladder, &[(3, Ending::Now), (4, Ending::Now)]),
            [(3, KILL)]
        );
    }

    #[test]
    fn zero_waits_pass_through_at_once() {
        let ladder = KillLadder::default()
            .with_abort_eof_grace(Duration::ZERO)
            .with_interrupt_grace(Duration::ZERO)
            .with_terminate_grace(Duration::ZERO);
        assert_eq!(
            run(ladder, &[(1, Ending::Abort)]),
            [(1, Step::CloseStdin), (1, INT), (1, TERM), (1, KILL)]
        );
    }

    #[test]
    fn an_endless_wait_waits() {
        let ladder = KillLadder::default().with_orderly_eof_grace(Duration::MAX);
        assert_eq!(
            run(ladder, &[(1, Ending::Orderly)]),
            [(1, Step::CloseStdin)]
        );
        assert_eq!(
            run(ladder, &[(1, Ending::Orderly), (9, Ending::Now)]),
            [(1, Step::CloseStdin), (9, KILL)]
        );
    }
}
