//! What the tests share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use acp_process::{Child, ChildStdout, Environment, Launch};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

/// Long enough for the slowest machine; only a failing test waits so long.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A launch of `/bin/sh -c SCRIPT` with a `PATH` and nothing else.
pub(crate) fn sh(script: &str) -> Launch {
    Launch::new("/bin/sh")
        .with_args(["-c", script])
        .with_environment(Environment::inherited(["PATH"]))
}

/// The lines a child writes to its stdout.
pub(crate) struct Lines {
    reader: BufReader<ChildStdout>,
}

impl Lines {
    pub(crate) fn of(child: &mut Child) -> Self {
        Self {
            reader: BufReader::new(child.take_stdout().expect("stdout is taken once")),
        }
    }

    /// Returns the next line; panics at the end or when it takes too long.
    pub(crate) async fn next(&mut self) -> String {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        within("a line of the child", read).await.unwrap();
        assert!(line.ends_with('\n'), "a whole line, not {line:?}");
        line.pop();
        line
    }

    pub(crate) async fn next_pid(&mut self) -> u32 {
        let line = self.next().await;
        line.parse()
            .unwrap_or_else(|_| panic!("a pid, not {line:?}"))
    }

    /// Returns everything up to the end.
    pub(crate) async fn rest(&mut self) -> String {
        let mut rest = String::new();
        let read = self.reader.read_to_string(&mut rest);
        within("the end of stdout", read).await.unwrap();
        rest
    }
}

/// Awaits something that comes soon, or fails.
pub(crate) async fn within<F: Future>(what: &str, future: F) -> F::Output {
    tokio::time::timeout(LIMIT, future)
        .await
        .unwrap_or_else(|_| panic!("waited {LIMIT:?} for {what}"))
}

/// Looks again and again until it is so, or fails.
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < LIMIT, "waited {LIMIT:?} for {what}");
        std::thread::yield_now();
    }
}

/// The state letter of a process, `None` when there is none.
pub(crate) fn state(pid: u32) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// A field of a running process's line, numbered as in its manual page.
pub(crate) fn field_of_stat(pid: u32, number: usize) -> String {
    let fields = stat(pid).expect("the process is there");
    // The first two are the id and the name.
    fields[number - 2].clone()
}

fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_ascii_whitespace().map(str::to_owned).collect())
}

/// Tells whether a process runs; a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Tells whether any process of a group runs.
pub(crate) fn group_runs(group: u32) -> bool {
    let group = group.to_string();
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?))
        .any(|fields| fields[2] == group && !matches!(fields[0].as_str(), "Z" | "X"))
}

/// Asserts that there is not even a zombie of a child of ours.
pub(crate) fn assert_reaped(pid: u32) {
    assert_eq!(state(pid), None, "process {pid} is reaped");
}

/// The processes whose parent is this process.
pub(crate) fn children() -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_ascii_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// How many descriptors this process has open.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// How many threads this process has.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// A folder of a test's own, which goes when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let path = std::env::temp_dir().join(format!(
            "acp-process-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
