//! Whether a peer survived: how it ended, how it grew, what it left.

use std::time::Duration;

use acp_process::{ChildHandle, Exit, ExitStatus, Rung};

use tokio::sync::watch;

use super::fault;
use crate::judge::verdict::ScenarioFault;

/// Exit codes by which runtimes tell that they gave up: a panic of Rust, and what a
/// shell tells of a child that a signal ended.
const CRASHES: [i32; 6] = [101, 132, 134, 135, 136, 139];

/// What stands on stderr when a program, or a part of it, gave up.
const CRIES: [&str; 5] = [
    "panicked at ",
    "Traceback (most recent call last):",
    "fatal runtime error:",
    "AddressSanitizer",
    "Uncaught ",
];

/// A program may grow by so much in a round: lines are long, and there are few.
const MOST_GROWN: u64 = 512 << 20;

/// How often its memory is looked at; what is looked at is its peak.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Waits for the end of a process whose conversation is over.
pub(super) async fn see_off(handle: &ChildHandle, at_once: bool) -> Exit {
    match at_once {
        true => handle.kill_now().await,
        false => handle.close_and_wait().await,
    }
}

pub(super) fn faults(exit: &Exit, grown: Option<u64>, left: &[String]) -> Vec<ScenarioFault> {
    let mut faults = Vec::new();
    let mut add = |why: String| faults.push(fault(why, None));
    let forced = exit.reached().is_some_and(|rung| rung != Rung::Eof);
    match (forced, exit.status()) {
        (true, _) => add("its conversation was over, and it did not end by itself".to_owned()),
        (false, status @ ExitStatus::Signal(_)) => add(format!("it crashed: {status}")),
        (false, ExitStatus::Code(code)) if CRASHES.contains(&code) => {
            add(format!("it crashed: exit code {code}"));
        }
        _ => {}
    }
    let stderr = exit.stderr_tail();
    let cry = |line: &&str| CRIES.iter().any(|cry| line.contains(cry));
    if let Some(line) = stderr.lines().find(cry) {
        add(format!("something in it crashed: {}", line.trim()));
    }
    if let Some(grown) = grown.filter(|grown| *grown > MOST_GROWN) {
        add(format!("it grew to {} MiB", grown >> 20));
    }
    for process in left {
        add(format!("it left a process behind: {process}"));
    }
    faults
}

/// Looks now and then at the memory of a process until it has ended, and tells the most it
/// was seen to take; only Linux tells.
pub(super) fn watch_memory(handle: &ChildHandle) -> watch::Receiver<Option<u64>> {
    let (tell, most) = watch::channel(None);
    let handle = handle.clone();
    tokio::spawn(async move {
        let mut moment = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                biased;
                _ = handle.wait() => return,
                // Nobody wants to know any more.
                () = tell.closed() => return,
                _ = moment.tick() => {}
            }
            let status = std::fs::read_to_string(format!("/proc/{}/status", handle.pid()));
            if let Some(now) = status.ok().as_deref().and_then(peak) {
                tell.send_replace(Some(now));
            }
        }
    });
    most
}

fn peak(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        let status = "Name:\ta\nVmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n";
        assert_eq!(peak(status), Some(2 << 20));
        assert_eq!(peak("Name:\ta\n"), None);
    }
}
