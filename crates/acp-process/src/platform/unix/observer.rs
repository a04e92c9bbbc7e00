//! Sees a child exit without reaping it, and reaps it when told.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, waitid};

use crate::child::ExitStatus;

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
        match self.peek() {
            Ok(Some(_)) => Ok(Sighting::Exited),
            Ok(None) => Ok(Sighting::Alive),
            Err(Errno::CHILD) => Ok(Sighting::Gone),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the status of a child that has exited, without reaping it.
    pub(super) fn status(&self) -> ExitStatus {
        let status = self.peek().ok().flatten();
        status.map_or(ExitStatus::Unknown, |status| exit_status(&status))
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
        #[cfg(target_os = "linux")]
        if let Some(pidfd) = self.readiness()
            && rustix::process::pidfd_send_signal(pidfd, Signal::KILL).is_ok()
        {
            return;
        }
        if self.look().ok() != Some(Sighting::Gone) {
            let _ = kill_process(self.pid, Signal::KILL);
        }
    }

    /// Waits for the end of a process that was [killed](Self::kill), and
    /// reaps it.
    pub(super) fn reap_soon(&self) {
        let _ = self.wait(WaitIdOptions::EXITED);
    }

    fn peek(&self) -> Result<Option<WaitIdStatus>, Errno> {
        self.wait(WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG)
    }

    fn wait(&self, options: WaitIdOptions) -> Result<Option<WaitIdStatus>, Errno> {
        let wait = |id: WaitId<'_>| rustix::io::retry_on_intr(|| waitid(id.clone(), options));
        #[cfg(target_os = "linux")]
        if let Some(pidfd) = self.readiness() {
            match wait(WaitId::PidFd(pidfd)) {
                // Linux 5.3 knows such descriptors, and does not take them here.
                Err(Errno::INVAL) => {}
                result => return result,
            }
        }
        wait(WaitId::Pid(self.pid))
    }
}

/// Opens a descriptor that gets readable at the exit of a child (Linux).
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
fn exit_descriptor(pid: Pid) -> Option<OwnedFd> {
    #[cfg(target_os = "linux")]
    // An old kernel, a sandbox, or no descriptor left: then by asking.
    return rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
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
