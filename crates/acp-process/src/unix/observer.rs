//! Sees a child exit without reaping it, and reaps it when told.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, waitid};

use crate::ExitStatus;

/// How an exit may be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// A descriptor that gets readable where there is one (Linux), else asking
    /// again and again.
    Best,
    /// Asking again and again. What other systems do, for tests.
    #[cfg(test)]
    Asking,
}

/// What is known of a child's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sighting {
    /// It runs.
    Alive,
    /// It has exited and waits to be reaped: its id is still taken.
    Exited,
    /// It is no child of ours any more; its id may be somebody else's.
    Gone,
}

/// Observes one child of this process.
#[derive(Debug)]
pub(super) struct Observer {
    pid: Pid,
    readiness: Option<OwnedFd>,
}

impl Observer {
    /// Starts to observe a child that was not reaped yet.
    pub(super) fn new(pid: Pid, means: Means) -> Self {
        let readiness = match means {
            Means::Best => exit_descriptor(pid),
            #[cfg(test)]
            Means::Asking => None,
        };
        Self { pid, readiness }
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns what gets readable at the exit; `None` means that the caller
    /// has to [`look`](Self::look) every few milliseconds.
    pub(super) fn readiness(&self) -> Option<BorrowedFd<'_>> {
        self.readiness.as_ref().map(AsFd::as_fd)
    }

    /// Looks without reaping.
    pub(super) fn look(&self) -> io::Result<Sighting> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match self.wait(options) {
            Ok(Some(_)) => Ok(Sighting::Exited),
            Ok(None) => Ok(Sighting::Alive),
            Err(Errno::CHILD) => Ok(Sighting::Gone),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the status of a child that has exited, without reaping it.
    pub(super) fn status(&self) -> ExitStatus {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match self.wait(options) {
            Ok(Some(status)) => exit_status(&status),
            Ok(None) | Err(_) => ExitStatus::Unknown,
        }
    }

    /// Reaps a child that has exited; afterwards its id is free.
    ///
    /// `None` while it has not exited.
    pub(super) fn reap(&self) -> Option<ExitStatus> {
        match self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(status)) => Some(exit_status(&status)),
            Ok(None) => None,
            Err(_) => Some(ExitStatus::Unknown),
        }
    }

    /// Sends `SIGKILL` to this process alone.
    pub(super) fn kill(&self) {
        // By the descriptor it cannot hit another process; without one it
        // could, if somebody else had reaped this one.
        if self.kill_by_descriptor().is_none() && self.look().ok() != Some(Sighting::Gone) {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }

    /// Waits for the end of a process that was [killed](Self::kill), and
    /// reaps it.
    pub(super) fn reap_soon(&self) {
        let _ = self.wait(WaitIdOptions::EXITED);
    }

    #[cfg(target_os = "linux")]
    fn kill_by_descriptor(&self) -> Option<()> {
        rustix::process::pidfd_send_signal(self.readiness()?, Signal::KILL).ok()
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "the twin uses it")]
    fn kill_by_descriptor(&self) -> Option<()> {
        None
    }

    fn wait(&self, options: WaitIdOptions) -> Result<Option<WaitIdStatus>, Errno> {
        let by_pid = || waitid(WaitId::Pid(self.pid), options);
        rustix::io::retry_on_intr(|| match self.wait_by_descriptor(options) {
            // No descriptor, or one the kernel does not take here (Linux 5.3).
            None | Some(Err(Errno::INVAL)) => by_pid(),
            Some(result) => result,
        })
    }

    #[cfg(target_os = "linux")]
    fn wait_by_descriptor(
        &self,
        options: WaitIdOptions,
    ) -> Option<Result<Option<WaitIdStatus>, Errno>> {
        let pidfd = self.readiness()?;
        Some(waitid(WaitId::PidFd(pidfd), options))
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "the twin uses it")]
    fn wait_by_descriptor(&self, _: WaitIdOptions) -> Option<Result<Option<WaitIdStatus>, Errno>> {
        None
    }
}

#[cfg(target_os = "linux")]
fn exit_descriptor(pid: Pid) -> Option<OwnedFd> {
    // An old kernel, a sandbox, or no descriptor left: then by asking.
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_descriptor(_: Pid) -> Option<OwnedFd> {
    None
}

fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    if let Some(code) = status.exit_status() {
        ExitStatus::Code(code)
    } else if let Some(signal) = status.terminating_signal() {
        ExitStatus::Signal(signal)
    } else {
        ExitStatus::Unknown
    }
}
