//! Sees the exit of a leader that is not our child.
//!
//! Its parent, a helper of ours, does not reap it: it stays a zombie, whose status
//! `/proc` tells as exactly as `wait` would, until the guard is dismissed.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, getegid, geteuid, pidfd_open};

use super::observer::Sighting;
use super::proc_stat::ProcStat;
use crate::child::ExitStatus;

/// `CAP_SYS_PTRACE` as a bit of `CapEff`.
const CAP_SYS_PTRACE: u64 = 1 << 19;

/// Observes the child of a helper.
#[derive(Debug)]
pub(super) struct GuardedLeader {
    pid: Pid,
    pidfd: OwnedFd,
    started_at: u64,
}

impl GuardedLeader {
    /// Starts to observe a process that is not reaped while this is made.
    ///
    /// `None` where `/proc` does not show us the process, so that its status could
    /// not be told either.
    pub(super) fn new(pid: Pid) -> io::Result<Option<Self>> {
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            // An old kernel, or a filter around us.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let stat = ProcStat::of(pid.as_raw_nonzero().get());
        // The kernel shows 1 for an address that we may not see.
        Ok(stat.filter(|stat| stat.start_code > 1).map(|stat| Self {
            pid,
            pidfd,
            started_at: stat.started_at,
        }))
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns what gets readable at the exit.
    pub(super) fn readiness(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Looks whether it has exited.
    pub(super) fn look(&self) -> io::Result<Sighting> {
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now)))? == 0 {
            return Ok(Sighting::Alive);
        }
        Ok(match self.zombie() {
            Some(_) => Sighting::Exited,
            // Somebody killed its parent.
            None => Sighting::Gone,
        })
    }

    /// Returns its status once it has exited.
    pub(super) fn status(&self) -> ExitStatus {
        let Some(stat) = self.zombie() else {
            return ExitStatus::Unknown;
        };
        // 0 is shown for a code that we may not see too.
        if stat.exit_code == 0 && !self.is_legible() {
            return ExitStatus::Unknown;
        }
        match stat.exit_code & 0x7f {
            0 => ExitStatus::Code((stat.exit_code >> 8) & 0xff),
            signal => ExitStatus::Signal(signal),
        }
    }

    fn zombie(&self) -> Option<ProcStat> {
        ProcStat::of(self.pid.as_raw_nonzero().get())
            .filter(|stat| stat.dead && stat.started_at == self.started_at)
    }

    /// Tells whether its code is shown to us: it may have become somebody else
    /// (`sudo`).
    fn is_legible(&self) -> bool {
        let ids = |status: &str, name: &str, own: u32| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.is_some_and(|line| {
                let mut ids = line.split_ascii_whitespace().map(str::parse);
                ids.all(|id| id == Ok(own))
            })
        };
        let all_powerful = fs::read_to_string("/proc/thread-self/status").is_ok_and(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
            let mask = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
            mask.is_some_and(|mask| mask & CAP_SYS_PTRACE != 0)
        });
        all_powerful
            || fs::read_to_string(format!("/proc/{}/status", self.pid)).is_ok_and(|status| {
                ids(&status, "Uid:", geteuid().as_raw()) && ids(&status, "Gid:", getegid().as_raw())
            })
    }
}
