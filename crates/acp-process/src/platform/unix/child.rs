//! A running child and the handles by which it is watched and ended.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;
use rustix::process::{Pid, kill_process_group};
use tokio::sync::watch;

use super::pipes::{OurEnds, StdinEnd};
use super::supervisor::Supervisor;
use super::{ChildStdin, ChildStdout, number};
use crate::child::{Ending, Exit, ExitStatus, Signal, SignalError, Strays};
use crate::stderr::StderrActivity;
use crate::stderr::StderrTail;

/// A child that was started, with its pipes.
#[derive(Debug)]
pub struct Child {
    handle: ChildHandle,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
}

/// Watches and ends a child; cheap to clone.
///
/// When the last handle goes (a [`Child`] holds one too), the child is ended
/// in the background as by [`Ending::Abort`].
#[derive(Clone)]
pub struct ChildHandle {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    supervisor: Arc<Supervisor>,
    exit: watch::Receiver<Option<Exit>>,
}

/// What handles and the supervisor both know of a child.
pub(super) struct Shared {
    pid: Pid,
    /// Set, under the lock, before the leader is reaped: as long as it is
    /// false and the lock is held, the group id is the child's.
    pub(super) ended: Mutex<bool>,
    /// The least patient [`Ending`] that was asked for; 0 for none.
    asked: AtomicU8,
    stdin: Option<Arc<StdinEnd>>,
    pub(super) tail: StderrTail,
}

impl Child {
    pub(super) fn new(
        shared: Arc<Shared>,
        supervisor: Arc<Supervisor>,
        exit: watch::Receiver<Option<Exit>>,
        stdin: Option<ChildStdin>,
        stdout: ChildStdout,
    ) -> Self {
        let inner = Inner {
            shared,
            supervisor,
            exit,
        };
        Self {
            handle: ChildHandle {
                inner: Arc::new(inner),
            },
            stdin,
            stdout: Some(stdout),
        }
    }

    /// Returns the id of the child's leader, which is its group's id too.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.handle.pid()
    }

    /// Returns the write end of the child's stdin, once; `None` when it has
    /// nothing to read.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// Returns the read end of the child's stdout, once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Returns a handle.
    #[must_use]
    pub fn handle(&self) -> ChildHandle {
        self.handle.clone()
    }
}

impl ChildHandle {
    /// Returns the id of the child's leader, which is its group's id too.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.inner.shared.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Starts to end the child, or hurries an ending that runs.
    ///
    /// Never blocks; [`wait`](Self::wait) tells when it is done.
    pub fn end(&self, ending: Ending) {
        self.inner.end(ending);
    }

    /// Waits for the child's exit; it is reaped by then, unless its group is
    /// [kept](crate::Launch::with_kept_group).
    ///
    /// A process that the kernel itself cannot end (one stuck in a device) is
    /// waited for, whatever was sent to it.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: the exit is kept.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.inner.exit.clone();
        let told = exit.wait_for(Option::is_some).await;
        match told.ok().and_then(|exit| exit.clone()) {
            Some(exit) => exit,
            // The supervisor is gone: nothing is known.
            None => Exit::new(
                ExitStatus::Unknown,
                None,
                Strays::default(),
                self.inner.shared.tail.snapshot(),
            ),
        }
    }

    /// Waits for the child's exit, as [`wait`](Self::wait), without keeping the child: it
    /// is still ended when the last handle goes.
    pub fn exited(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut exit = self.inner.exit.clone();
        async move {
            // An error: the supervisor is gone, and with it the child.
            let _ = exit.wait_for(Option::is_some).await;
        }
    }

    /// Waits until the child is reaped and everything in its group has been killed.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn gone(&self) {
        let mut exit = self.inner.exit.clone();
        // The supervisor lets go of its end when nothing is left to do.
        while exit.changed().await.is_ok() {}
    }

    /// Ends the child in an orderly way and waits for it: closes its stdin,
    /// and goes up the kill ladder if that does not help.
    ///
    /// # Cancel safety
    ///
    /// The ending goes on when this future is dropped.
    pub async fn close_and_wait(&self) -> Exit {
        self.end(Ending::Orderly);
        self.wait().await
    }

    /// Ends the child with little patience and waits for it.
    ///
    /// # Cancel safety
    ///
    /// The ending goes on when this future is dropped.
    pub async fn kill(&self) -> Exit {
        self.end(Ending::Abort);
        self.wait().await
    }

    /// Ends the child by `SIGKILL` and waits for it.
    ///
    /// # Cancel safety
    ///
    /// The ending goes on when this future is dropped.
    pub async fn kill_now(&self) -> Exit {
        self.end(Ending::Now);
        self.wait().await
    }

    /// Returns how the child ended, `None` while it runs.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.inner.exit.borrow().clone()
    }

    /// Sends a signal to the child's whole group.
    ///
    /// # Errors
    ///
    /// [`SignalError::Ended`] when the child has ended.
    pub fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        let ended = self.inner.shared.ended.lock();
        if *ended {
            return Err(SignalError::Ended);
        }
        kill_process_group(self.inner.shared.pid, number(signal))
            .map_err(|errno| SignalError::Io(errno.into()))
    }

    /// Returns the last of what the child wrote to stderr so far; see
    /// [`Exit::stderr_tail`].
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.inner.shared.tail.snapshot().to_text()
    }

    /// Returns how much the child wrote to stderr so far, and when.
    #[must_use]
    pub fn stderr_activity(&self) -> StderrActivity {
        self.inner.shared.tail.activity()
    }
}

impl fmt::Debug for ChildHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildHandle")
            .field("pid", &self.pid())
            .field("exit", &self.exit())
            .finish()
    }
}

impl Inner {
    fn end(&self, ending: Ending) {
        self.shared.asked.fetch_max(ending as u8, Ordering::AcqRel);
        self.supervisor.wake();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end(Ending::Abort);
    }
}

impl Shared {
    pub(super) fn new(pid: Pid, ours: &OurEnds, tail: StderrTail) -> Self {
        Self {
            pid,
            ended: Mutex::new(false),
            asked: AtomicU8::new(0),
            stdin: ours.stdin.as_ref().map(ChildStdin::end),
            tail,
        }
    }

    pub(super) fn close_stdin(&self) {
        if let Some(stdin) = &self.stdin {
            stdin.close();
        }
    }

    /// Returns the least patient ending that was asked for.
    pub(super) fn asked(&self) -> Option<Ending> {
        let asked = self.asked.load(Ordering::Acquire);
        [Ending::Now, Ending::Abort, Ending::Orderly]
            .into_iter()
            .find(|ending| *ending as u8 == asked)
    }
}
