//! The leader of a child's group: a child of this process, or of its guard.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::process::Pid;

#[cfg(target_os = "linux")]
use super::guarded_leader::GuardedLeader;
use super::observer::{Observer, Sighting};
use crate::child::ExitStatus;

/// The process that was started for a launch.
pub(super) enum Leader {
    /// It is ours to reap.
    Child(Observer),
    /// Its guard reaps it.
    #[cfg(target_os = "linux")]
    Guarded(GuardedLeader),
}

impl Leader {
    pub(super) fn pid(&self) -> Pid {
        match self {
            Self::Child(observer) => observer.pid(),
            #[cfg(target_os = "linux")]
            Self::Guarded(leader) => leader.pid(),
        }
    }

    /// Returns what gets readable at the exit, as [`Observer::readiness`] does.
    pub(super) fn readiness(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Child(observer) => observer.readiness(),
            #[cfg(target_os = "linux")]
            Self::Guarded(leader) => Some(leader.readiness()),
        }
    }

    pub(super) fn look(&self) -> io::Result<Sighting> {
        match self {
            Self::Child(observer) => observer.look(),
            #[cfg(target_os = "linux")]
            Self::Guarded(leader) => leader.look(),
        }
    }

    /// Returns the status of a leader that has exited, without reaping it.
    pub(super) fn status(&self) -> ExitStatus {
        match self {
            Self::Child(observer) => observer.status(),
            #[cfg(target_os = "linux")]
            Self::Guarded(leader) => leader.status(),
        }
    }

    /// Reaps a leader that has exited, if that is ours to do: afterwards its id is
    /// free. Returns the status; `seen` is what was seen before.
    pub(super) fn reap(&self, seen: ExitStatus) -> ExitStatus {
        match self {
            Self::Child(observer) => observer.reap().unwrap_or(ExitStatus::Unknown),
            #[cfg(target_os = "linux")]
            Self::Guarded(_) => seen,
        }
    }
}
