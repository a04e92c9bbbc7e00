//! A process as `/proc` shows it.

use std::fs;

/// One line of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcStat {
    pub(super) group: i32,
    pub(super) started_at: u64,
    /// It has exited; perhaps it was not reaped yet.
    pub(super) dead: bool,
    /// The status as `wait` has it; 0 too when it may not be seen.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(super) exit_code: i32,
    /// The lowest address of the code: 1 stands for one that may not be seen.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(super) start_code: u64,
}

impl ProcStat {
    pub(super) fn of(pid: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The second field is a name in parentheses and may hold anything,
    /// so what counts begins behind the last parenthesis.
    fn parse(line: &str) -> Option<Self> {
        let (_, line) = line.rsplit_once(')')?;
        let mut fields = line.split_ascii_whitespace();
        // Numbered as in the manual page, where the state is the third.
        let state = fields.next()?;
        let group = fields.nth(5 - 4)?.parse().ok()?;
        let started_at = fields.nth(22 - 6)?.parse().ok()?;
        let start_code = fields.nth(26 - 23)?.parse().ok()?;
        let exit_code = fields.nth(52 - 27)?.parse().ok()?;
        Some(Self {
            group,
            started_at,
            dead: matches!(state, "Z" | "X" | "x"),
            exit_code,
            start_code,
        })
    }
}

/// Returns the children of all threads of a process.
pub(super) fn children(pid: i32) -> Vec<i32> {
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

/// Returns the ids of a process, in this namespace and in those below it.
#[cfg(target_os = "linux")]
pub(super) fn namespace_ids(pid: i32) -> Vec<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let ids = ids.into_iter().flat_map(str::split_ascii_whitespace);
    ids.filter_map(|id| id.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "42 (a) b (c)) S 1 40 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987 1 2 3 \
        4096 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 1280";

    #[test]
    fn stat_lines() {
        let stat = ProcStat::parse(LINE).unwrap();
        assert_eq!((stat.group, stat.started_at, stat.dead), (40, 987, false));
        assert_eq!((stat.start_code, stat.exit_code), (4096, 1280));
        let zombie = ProcStat::parse(&LINE.replace(" S ", " Z ")).unwrap();
        assert!(zombie.dead);
        assert!(ProcStat::parse("").is_none());
        assert!(ProcStat::parse("42 (sh) S 1 40").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn our_own_line_is_read() {
        let me = i32::try_from(std::process::id()).unwrap();
        let stat = ProcStat::of(me).unwrap();
        assert!(!stat.dead && stat.start_code > 1);
        assert_eq!(
            stat.group,
            rustix::process::getpgrp().as_raw_nonzero().get()
        );
    }
}
