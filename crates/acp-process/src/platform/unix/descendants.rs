//! Counts descendants that left a child's process group.
//!
//! They are found in `/proc`, so none is known of where there is no such folder.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Pid;

use super::proc_stat::{ProcStat, children};
use crate::child::Strays;

/// Trees with more processes than this are not walked to their end.
const MAX_WALKED: usize = 4096;

/// Descendants that were seen outside the group, by id and start time.
#[derive(Default)]
pub(super) struct EscapedDescendants {
    seen: BTreeMap<i32, u64>,
}

impl EscapedDescendants {
    /// Walks the tree below `root` and notes who runs outside the leader's group
    /// and outside the root's own.
    pub(super) fn note(&mut self, root: Pid, leader: Pid) {
        let root = root.as_raw_nonzero().get();
        let groups = [root, leader.as_raw_nonzero().get()];
        let mut walked = BTreeSet::from([root]);
        let mut waiting = vec![root];
        while let Some(parent) = waiting.pop() {
            for child in children(parent) {
                if walked.len() < MAX_WALKED && walked.insert(child) {
                    waiting.push(child);
                    if let Some(stat) = ProcStat::of(child)
                        && !stat.dead
                        && !groups.contains(&stat.group)
                    {
                        self.seen.insert(child, stat.started_at);
                    }
                }
            }
        }
    }

    /// Kills all that were noted, each by a descriptor that stands for it alone.
    ///
    /// For the case that the guard, whose work this is, was killed by somebody.
    #[cfg(target_os = "linux")]
    pub(super) fn kill(&self) {
        use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        for (pid, started_at) in &self.seen {
            let Some(pid) = Pid::from_raw(*pid) else {
                continue;
            };
            let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
                continue;
            };
            // Looked at after the descriptor was made: it is the one that was noted.
            let stat = ProcStat::of(pid.as_raw_nonzero().get());
            if stat.is_some_and(|stat| stat.started_at == *started_at) {
                let _ = pidfd_send_signal(pidfd, Signal::KILL);
            }
        }
    }

    /// Counts those that were noted and those that still run.
    pub(super) fn count(&self) -> Strays {
        let alive = |(pid, started_at): &(&i32, &u64)| {
            ProcStat::of(**pid).is_some_and(|stat| stat.started_at == **started_at && !stat.dead)
        };
        Strays {
            escaped: self.seen.len(),
            survivors: self.seen.iter().filter(alive).count(),
        }
    }
}
