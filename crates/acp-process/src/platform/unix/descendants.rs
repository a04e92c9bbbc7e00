//! Counts descendants that left a child's process group.
//!
//! They are found in `/proc`, so none is known of where there is no such folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rustix::process::Pid;

/// Trees with more processes than this are not walked to their end.
const MAX_WALKED: usize = 4096;

/// Descendants that were seen outside the group, by id and start time.
#[derive(Default)]
pub(super) struct EscapedDescendants {
    seen: BTreeMap<i32, u64>,
}

impl EscapedDescendants {
    /// Walks the tree below a living leader and notes who is outside its
    /// group.
    pub(super) fn note(&mut self, leader: Pid) {
        let leader = leader.as_raw_nonzero().get();
        let mut walked = BTreeSet::from([leader]);
        let mut waiting = vec![leader];
        while let Some(parent) = waiting.pop() {
            for child in children(parent) {
                if walked.len() < MAX_WALKED && walked.insert(child) {
                    waiting.push(child);
                    if let Some(stat) = Stat::of(child)
                        && stat.group != leader
                    {
                        self.seen.insert(child, stat.started_at);
                    }
                }
            }
        }
    }

    /// Counts those that still run.
    pub(super) fn count_alive(&self) -> usize {
        let alive = |(pid, started_at): &(&i32, &u64)| {
            Stat::of(**pid).is_some_and(|stat| stat.started_at == **started_at && !stat.dead)
        };
        self.seen.iter().filter(alive).count()
    }
}

struct Stat {
    group: i32,
    started_at: u64,
    dead: bool,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The second field is a name in parentheses and may hold anything,
    /// so what counts begins behind the last parenthesis.
    fn parse(line: &str) -> Option<Self> {
        let (_, line) = line.rsplit_once(')')?;
        let mut fields = line.split_ascii_whitespace();
        let state = fields.next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let started_at = fields.nth(16)?.parse().ok()?;
        Some(Self {
            group,
            started_at,
            dead: matches!(state, "Z" | "X" | "x"),
        })
    }
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for thread in threads.flatten() {
        if let Ok(list) = fs::read_to_string(thread.path().join("children")) {
            all.extend(
                list.split_ascii_whitespace()
                    .filter_map(|pid| pid.parse::<i32>().ok()),
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines() {
        let line = "42 (a) b (c)) S 1 40 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987 1 2";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.group, stat.started_at, stat.dead), (40, 987, false));
        let zombie = Stat::parse(&line.replace(" S ", " Z ")).unwrap();
        assert!(zombie.dead);
        assert!(Stat::parse("").is_none());
        assert!(Stat::parse("42 (sh) S 1 40").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_line_is_read() {
        let me = i32::try_from(std::process::id()).unwrap();
        let stat = Stat::of(me).unwrap();
        assert!(!stat.dead);
        assert_eq!(
            stat.group,
            rustix::process::getpgrp().as_raw_nonzero().get()
        );
    }
}
