//! Orphans are handed to this process, so whatever a program leaves stays below us.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

use super::Process;

/// How long a killed process may take to go.
const GRACE: Duration = Duration::from_secs(1);

/// How often we look meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// The processes below this one.
pub(crate) struct Tree {
    top: i32,
}

impl Tree {
    /// Makes this process the one that orphans are handed to.
    ///
    /// # Errors
    ///
    /// Fails when the system does not allow it.
    pub(crate) fn watch() -> Result<Self> {
        // Whatever process is named here, it is the calling one that is meant.
        set_child_subreaper(Some(getpid())).context("failed to become the parent of orphans")?;
        let top = getpid().as_raw_nonzero().get();
        Ok(Self { top })
    }

    /// Ends what is left below this process, besides `known`, and tells what it was.
    ///
    /// What ends by itself within a second is not counted.
    pub(crate) fn clear(&self, known: &[u32]) -> Vec<Process> {
        let deadline = Instant::now() + GRACE;
        let left = loop {
            let left = self.below(known);
            if left.is_empty() || Instant::now() > deadline {
                break left;
            }
            thread::sleep(LOOK);
        };
        for process in &left {
            if let Some(pid) = Pid::from_raw(process.pid) {
                // It may have gone meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        left
    }

    /// Buries the dead that were handed to this process, besides `known`.
    ///
    /// Nobody else does, and programs that wait for the end of what they left would wait on.
    pub(crate) fn bury(&self, known: &[u32]) {
        self.below(known);
    }

    /// Adds up the most memory that each living process below this one has had so far, in
    /// bytes.
    ///
    /// Pages of programs and libraries are left out: they are shared, and the system drops
    /// them when it needs room. The sum may be above what was held at one time, never below.
    ///
    /// The dead are buried as by [`bury`](Self::bury), but for `child`: its status is for who
    /// started it.
    pub(crate) fn memory(&self, child: u32) -> u64 {
        self.walk(&[], Some(child))
            .iter()
            .map(|process| peak(process.pid))
            .sum()
    }

    /// Finds the living processes below this one, and buries the dead among its children.
    fn below(&self, known: &[u32]) -> Vec<Process> {
        self.walk(known, None)
    }

    fn walk(&self, known: &[u32], child: Option<u32>) -> Vec<Process> {
        let awaited = child.and_then(|child| i32::try_from(child).ok());
        let known = |pid: i32| u32::try_from(pid).is_ok_and(|pid| known.contains(&pid));
        let mut children: BTreeMap<i32, Vec<Status>> = BTreeMap::new();
        for status in processes() {
            children.entry(status.parent).or_default().push(status);
        }
        let mut found = Vec::new();
        let mut open = vec![self.top];
        while let Some(parent) = open.pop() {
            for child in children.get(&parent).into_iter().flatten() {
                if known(child.pid) {
                    continue;
                }
                open.push(child.pid);
                if !child.dead {
                    found.push(Process {
                        pid: child.pid,
                        command: command(child.pid),
                    });
                } else if parent == self.top && Some(child.pid) != awaited {
                    let _ = waitpid(Pid::from_raw(child.pid), WaitOptions::NOHANG);
                }
            }
        }
        found
    }
}

struct Status {
    pid: i32,
    parent: i32,
    dead: bool,
}

fn processes() -> Vec<Status> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter_map(|stat| status(&stat)).collect()
}

/// Reads `PID (NAME) STATE PARENT …`; the name may hold anything, brackets too.
fn status(stat: &str) -> Option<Status> {
    let (pid, rest) = stat.split_once(" (")?;
    let (_, rest) = rest.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let dead = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let pid = pid.parse().ok()?;
    Some(Status { pid, parent, dead })
}

/// The most that a process has held, without what it has mapped of files.
fn peak(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| kibibytes(&status, name).unwrap_or_default();
    field("VmHWM:").saturating_sub(field("RssFile:")) * 1024
}

fn kibibytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

fn command(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_grandchild_is_found_and_ended() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 1000 & echo started; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("start a shell");
        let stdout = shell.stdout.take().expect("the stream is piped");
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("the shell says it started");

        let top = i32::try_from(shell.id()).expect("a process id fits");
        let tree = Tree { top };
        let left = tree.clear(&[]);
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].command, "sleep 1000");
        assert!(
            shell
                .wait()
                .expect("the shell ends with its child")
                .success()
        );
        assert_eq!(tree.below(&[]), []);
    }

    #[test]
    fn measuring_leaves_the_status_of_a_child_to_its_parent() {
        let mut child = Command::new("true").spawn().expect("start a child");
        let top = getpid().as_raw_nonzero().get();
        let tree = Tree { top };
        let pid = i32::try_from(child.id()).expect("a process id fits");
        let is_dead = || {
            processes()
                .iter()
                .any(|status| status.pid == pid && status.dead)
        };
        while !is_dead() {
            thread::yield_now();
        }
        tree.memory(child.id());
        assert!(child.wait().expect("its status is still there").success());
    }

    #[test]
    fn a_known_child_and_what_is_below_it_are_left_alone() {
        let mut sleep = Command::new("sleep")
            .arg("1000")
            .spawn()
            .expect("start a child");
        let top = getpid().as_raw_nonzero().get();
        let is_seen = || {
            let below = Tree { top }.below(&[]);
            below.iter().any(|process| process.command == "sleep 1000")
        };
        // A process that was just started has no command line for a moment.
        while !is_seen() {
            thread::yield_now();
        }
        let below = Tree { top }.below(&[sleep.id()]);
        let pid = i32::try_from(sleep.id()).expect("a process id fits");
        assert!(!below.iter().any(|process| process.pid == pid), "{below:?}");
        sleep.kill().expect("end the child");
        sleep.wait().expect("the child ends");
    }

    #[test]
    fn memory_of_a_process_is_what_it_held_at_most() {
        let status = "Name:\tacp\nVmHWM:\t    9000 kB\nRssAnon:\t 7 kB\nRssFile:\t    1000 kB\n";
        assert_eq!(kibibytes(status, "VmHWM:"), Some(9000));
        assert_eq!(kibibytes(status, "VmSwap:"), None);
        let own = peak(getpid().as_raw_nonzero().get());
        assert!(own > 100_000, "{own}");
    }

    #[test]
    fn a_name_may_hold_brackets() {
        let status = status("42 (a) b (c)) S 7 42 42").expect("a line of the kernel");
        assert_eq!((status.pid, status.parent, status.dead), (42, 7, false));
    }
}
