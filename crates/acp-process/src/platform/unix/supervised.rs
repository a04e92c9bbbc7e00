//! One child in the care of the supervisor, from its start to its reaping.

use std::mem;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Signal as Number, kill_process_group};
use tokio::sync::{oneshot, watch};

use super::child::Shared;
use super::descendants::EscapedDescendants;
use super::guard::Guard;
use super::leader::Leader;
use super::number;
use super::observer::{Observer, Sighting};
use super::pipes::SupervisedEnds;
use super::spawner::Started;
use crate::child::{Ending, Exit, ExitStatus};
use crate::child::{Step, Teardown};
use crate::launch::Launch;
use crate::stderr::LineFeed;

/// How often a child is looked at whose exit no descriptor tells.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How much is read from stderr after the exit: as much as a pipe can hold.
/// A descendant that left the group may write on for ever.
const MAX_LAST_READ: usize = 1024 * 1024;
/// How long the exit may be held back for the guard to do its last work and to be
/// reaped, so that nothing is seen of the child after the exit was told.
const GUARD_PATIENCE: Duration = Duration::from_secs(1);

/// A child and everything that is done for it.
pub(super) struct SupervisedChild {
    shared: Arc<Shared>,
    told: watch::Sender<Option<Exit>>,
    leader: Leader,
    teardown: Teardown,
    stderr: Option<OwnedFd>,
    lines: Option<LineFeed>,
    guard: Guard,
    /// The guard ended before its time: somebody else ended it.
    guard_lost: bool,
    escaped: EscapedDescendants,
    /// Dropped when all that could be written to stdout was.
    stdout_writes: Option<oneshot::Sender<()>>,
    keeps_group: bool,
    /// The leader has exited, which was told, and its group lives on.
    lingers: bool,
    reaping: Option<GuardReaping>,
}

/// The leader has ended; its guard was not reaped yet.
struct GuardReaping {
    /// Not told yet.
    status: Option<ExitStatus>,
    guard: Observer,
    tell_at: Instant,
}

/// Tells which of [`SupervisedChild::watched`] got ready.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ready {
    pub(super) exit: bool,
    pub(super) stderr: bool,
    pub(super) guard: bool,
}

impl SupervisedChild {
    pub(super) fn new(
        started: Started,
        shared: Arc<Shared>,
        ours: SupervisedEnds,
        lines: Option<LineFeed>,
        launch: &Launch,
    ) -> (Self, watch::Receiver<Option<Exit>>) {
        let (told, exit) = watch::channel(None);
        let child = Self {
            shared,
            told,
            leader: started.leader,
            teardown: Teardown::new(launch.ladder),
            stderr: ours.stderr,
            lines,
            guard: started.guard,
            guard_lost: false,
            escaped: EscapedDescendants::default(),
            stdout_writes: Some(ours.stdout_writes),
            keeps_group: launch.kept_group,
            lingers: false,
            reaping: None,
        };
        (child, exit)
    }

    /// Returns the descriptors to wait for: exit, stderr, and the guard's exit.
    pub(super) fn watched(&self) -> [Option<BorrowedFd<'_>>; 3] {
        match &self.reaping {
            Some(last) => [None, None, last.guard.readiness()],
            None => [
                self.leader.readiness().filter(|_| !self.lingers),
                self.stderr.as_ref().map(AsFd::as_fd),
                self.guard
                    .observer()
                    .filter(|_| !self.guard_lost)
                    .and_then(Observer::readiness),
            ],
        }
    }

    /// Returns when to come back though no descriptor is ready.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        let look_at = now + LOOK_EVERY;
        match &self.reaping {
            Some(last) if last.guard.readiness().is_none() => Some(look_at),
            Some(last) => last.status.is_some().then_some(last.tell_at),
            None if self.lingers => None,
            None if self.leader.readiness().is_none() => Some(look_at),
            None => self.teardown.due(),
        }
    }

    /// Does what is to be done now; breaks when nothing is left to do.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        ready: Ready,
        buffer: &mut [u8],
    ) -> ControlFlow<()> {
        if self.reaping.is_some() {
            return self.reap_guard(now, ready);
        }
        if ready.guard {
            self.look_at_guard(now);
        }
        if ready.stderr {
            self.read_stderr(now, buffer);
        }
        let asked = self.shared.asked();
        if self.lingers {
            return match asked {
                None => ControlFlow::Continue(()),
                Some(_) => self.conclude(now, Sighting::Exited, buffer),
            };
        }
        if let Some(ending) = asked {
            self.teardown.ask(now, ending);
        }
        if ready.exit || self.leader.readiness().is_none() {
            match self.leader.look() {
                Ok(Sighting::Alive) => {}
                Ok(Sighting::Exited) if self.keeps_group && asked.is_none() => {
                    return self.linger(now, buffer);
                }
                Ok(sighting) => return self.conclude(now, sighting, buffer),
                // Who cannot see must not wait.
                Err(_) => self.teardown.ask(now, Ending::Now),
            }
        }
        while let Some(step) = self.teardown.next_step(now) {
            self.take(step);
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, step: Step) {
        // Whoever is outside the group will not hear what follows.
        self.note_escaped();
        match step {
            Step::CloseStdin => self.shared.close_stdin(),
            Step::Signal(signal) => {
                self.signal_group(number(signal));
                // A stopped process would not notice.
                self.signal_group(Number::CONT);
            }
        }
    }

    /// Walks from the helper that is given the orphans, where there is one.
    fn note_escaped(&mut self) {
        let leader = self.leader.pid();
        let root = match self.guard.observer() {
            Some(guard) if !self.guard_lost => guard.pid(),
            _ => leader,
        };
        self.escaped.note(root, leader);
    }

    /// The guard has ended though nobody dismissed it: what it guarded ends too,
    /// while it can still be found.
    fn look_at_guard(&mut self, now: Instant) {
        let ended = |guard: &Observer| !matches!(guard.look(), Ok(Sighting::Alive));
        if self.guard_lost || !self.guard.observer().is_some_and(ended) {
            return;
        }
        self.guard_lost = true;
        tracing::warn!(
            process.pid = self.leader.pid().as_raw_nonzero().get(),
            "the orphan guard of a child was killed; the child is ended"
        );
        self.note_escaped();
        self.teardown.ask(now, Ending::Now);
    }

    /// Only called while the leader is not reaped, so the id is the group's.
    fn signal_group(&self, number: Number) {
        // That nobody is left to hear it is fine.
        let _ = kill_process_group(self.leader.pid(), number);
    }

    /// The leader has exited and its group lives on: tells, and does not reap.
    fn linger(&mut self, now: Instant, buffer: &mut [u8]) -> ControlFlow<()> {
        self.read_last_words(now, buffer);
        self.shared.close_stdin();
        self.tell(self.leader.status());
        self.lingers = true;
        ControlFlow::Continue(())
    }

    /// The leader has exited: ends the rest of its group, reaps, and tells if it
    /// was not told before.
    fn conclude(&mut self, now: Instant, sighting: Sighting, buffer: &mut [u8]) -> ControlFlow<()> {
        if sighting == Sighting::Exited {
            self.signal_group(Number::KILL);
        }
        self.read_last_words(now, buffer);
        self.close_stderr();
        if self.guard.observer().is_some() {
            self.note_escaped();
        }
        #[cfg(target_os = "linux")]
        if self.guard_lost {
            self.escaped.kill();
        }
        let guard = mem::replace(&mut self.guard, Guard::None);
        let (status, guard) = {
            // From here on nobody sends a signal to this id any more.
            let mut ended = self.shared.ended.lock();
            *ended = true;
            // A guard above the leader reaps it; one beside it must be gone before.
            let status = self.leader.status();
            let guard = guard.dismiss();
            (self.leader.reap(status), guard)
        };
        self.shared.close_stdin();
        self.stdout_writes = None;
        let status = (!self.lingers).then_some(status);
        match guard {
            None => {
                if let Some(status) = status {
                    self.tell(status);
                }
                ControlFlow::Break(())
            }
            Some(guard) => {
                self.reaping = Some(GuardReaping {
                    status,
                    guard,
                    tell_at: now + GUARD_PATIENCE,
                });
                ControlFlow::Continue(())
            }
        }
    }

    fn tell(&self, status: ExitStatus) {
        self.told.send_replace(Some(Exit::new(
            status,
            self.teardown.reached(),
            self.escaped.count(),
            self.shared.tail.snapshot(),
        )));
    }

    fn reap_guard(&mut self, now: Instant, ready: Ready) -> ControlFlow<()> {
        let Some(last) = &mut self.reaping else {
            return ControlFlow::Break(());
        };
        let look = ready.guard || last.guard.readiness().is_none();
        let reaped = look && last.guard.reap().is_some();
        if (reaped || now >= last.tell_at)
            && let Some(status) = last.status.take()
        {
            self.tell(status);
        }
        if reaped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Reads what stderr holds, but not for ever.
    fn read_last_words(&mut self, now: Instant, buffer: &mut [u8]) {
        let mut read = 0;
        while read < MAX_LAST_READ {
            match self.read_stderr(now, buffer) {
                0 => break,
                count => read += count,
            }
        }
    }

    /// Reads once; returns how much it was.
    fn read_stderr(&mut self, now: Instant, buffer: &mut [u8]) -> usize {
        let Some(stderr) = &self.stderr else {
            return 0;
        };
        match rustix::io::retry_on_intr(|| rustix::io::read(stderr, &mut *buffer)) {
            Ok(count @ 1..) => {
                let bytes = &buffer[..count];
                let dropped = self.lines.as_mut().map_or(0, |lines| {
                    lines.push(bytes);
                    lines.dropped()
                });
                self.shared.tail.push(bytes, now, dropped);
                count
            }
            Err(Errno::AGAIN) => 0,
            Ok(0) | Err(_) => {
                self.close_stderr();
                0
            }
        }
    }

    fn close_stderr(&mut self) {
        self.stderr = None;
        if let Some(mut lines) = self.lines.take() {
            lines.finish();
        }
    }
}
