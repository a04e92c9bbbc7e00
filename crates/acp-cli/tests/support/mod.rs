//! Runs the real program against agents that are a few lines of shell.

#![allow(dead_code, reason = "each test binary uses another part")]

#[cfg(target_os = "linux")]
pub(crate) mod picture;
#[cfg(target_os = "linux")]
pub(crate) mod terminal;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// What every scripted agent can do. It hears one line at a time, in `line`, and the id
/// of a request in `id`.
pub(crate) const PRELUDE: &str = r#"
hear() { IFS= read -r line || exit 0; id=${line#*\"id\":}; id=${id%%[!0-9]*}; }
say() { printf '%s\n' "$1"; }
answer() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
refuse() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":$1}"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}}"; }
text() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
start() { hear; answer '{"protocolVersion":1}'; hear; answer '{"sessionId":"s"}'; hear; }
end() { answer "{\"stopReason\":\"$1\"}"; }
"#;

/// No test waits longer for anything.
const LIMIT: Duration = Duration::from_secs(30);

/// One run of the program, marked so that whatever it leaves behind is found.
pub(crate) struct Run {
    command: Command,
    mark: String,
}

/// A run that goes on.
pub(crate) struct Running {
    child: Child,
    mark: String,
    started: Instant,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) took: Duration,
}

/// `acp run` with these arguments and an agent that does what `script` says.
pub(crate) fn acp(args: &[&str], script: &str) -> Run {
    acp_alone(args).with_agent(script)
}

/// `acp run` with these arguments alone.
pub(crate) fn acp_alone(args: &[&str]) -> Run {
    let mut all = vec!["run"];
    all.extend(args);
    acp_command(&all)
}

/// `acp` with these arguments.
pub(crate) fn acp_command(args: &[&str]) -> Run {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mark = format!(
        "{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_acp"));
    command
        .args(args)
        .env("ACP_TEST_MARK", &mark)
        // Whoever runs the tests may have files of their own.
        .env("XDG_CONFIG_HOME", "/no/such/folder")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Run { command, mark }
}

impl Run {
    /// Lets the agent do what `script` says.
    pub(crate) fn with_agent(mut self, script: &str) -> Self {
        self.command
            .args(["--", "/bin/sh", "-c"])
            .arg(format!("{PRELUDE}{script}"));
        self
    }

    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn with_env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs to the end. Nothing may be left then.
    pub(crate) fn end(self) -> Ended {
        self.start().end()
    }

    /// Runs to the end with this on standard input.
    pub(crate) fn end_with_input(mut self, input: &str) -> Ended {
        self.command.stdin(Stdio::piped());
        let mut running = self.start();
        let mut stdin = running.child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        running.end()
    }

    pub(crate) fn start(mut self) -> Running {
        Running {
            child: self.command.spawn().unwrap(),
            mark: self.mark,
            started: Instant::now(),
        }
    }
}

impl Running {
    /// Reads standard output until a line holds `text`; gives what was read.
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        read_until(self.child.stdout.as_mut().unwrap(), text)
    }

    /// The same for standard error.
    pub(crate) fn wait_for_err(&mut self, text: &str) -> String {
        read_until(self.child.stderr.as_mut().unwrap(), text)
    }

    /// Waits until something is so.
    pub(crate) fn wait_until(&mut self, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + LIMIT;
        while !is_so() {
            assert!(
                !self.has_ended() && Instant::now() < deadline,
                "it is not so"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until something is so, or the program has ended.
    pub(crate) fn wait_until_ended_or(&mut self, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + LIMIT;
        while !is_so() && !self.has_ended() {
            assert!(Instant::now() < deadline, "it is not so");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until something is on standard output.
    pub(crate) fn wait_some_output(&mut self) {
        let mut byte = [0];
        self.child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut byte)
            .unwrap();
    }

    /// Waits until the program is stuck on an output that nobody reads: it has written
    /// most of what a pipe holds (small pieces leave gaps), and for a while nothing but what
    /// wakes its own threads.
    pub(crate) fn wait_until_stuck(&self) {
        let written = || -> u64 {
            let io = fs::read_to_string(format!("/proc/{}/io", self.child.id())).unwrap();
            let count = io.lines().find_map(|line| line.strip_prefix("wchar: "));
            count.unwrap().parse().unwrap()
        };
        let mut before = 0;
        loop {
            let now = written();
            if now - before < 1 << 10 && now >= 1 << 15 {
                return;
            }
            before = now;
            thread::sleep(Duration::from_millis(300));
        }
    }

    /// Stops reading standard output.
    pub(crate) fn close_out(&mut self) {
        self.child.stdout = None;
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Signals, if it is still there.
    pub(crate) fn try_signal(&mut self, signal: Signal) {
        if !self.has_ended() {
            self.signal(signal);
        }
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    pub(crate) fn end(self) -> Ended {
        let Self {
            child,
            mark,
            started,
        } = self;
        let pid = child.id();
        let watchdog = thread::spawn(move || limit(pid));
        let Output {
            status,
            stdout,
            stderr,
        } = child.wait_with_output().unwrap();
        let took = started.elapsed();
        watchdog.thread().unpark();
        assert!(
            !watchdog.join().unwrap(),
            "it was still running after {LIMIT:?}"
        );
        assert_eq!(left(&mark), Vec::<String>::new(), "left behind");
        Ended {
            code: status.code(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
            took,
        }
    }

    /// Waits for the end without reading what it writes.
    pub(crate) fn end_unread(mut self) -> Option<i32> {
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert_eq!(left(&self.mark), Vec::<String>::new(), "left behind");
                return status.code();
            }
            assert!(
                Instant::now() < deadline,
                "it was still running after {LIMIT:?}"
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Reads everything that is left on standard error.
    pub(crate) fn err(&mut self) -> String {
        let mut text = String::new();
        self.child
            .stderr
            .as_mut()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        text
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

/// Reads until a line holds `text`, and not a byte more than that line.
fn read_until(stream: &mut impl Read, text: &str) -> String {
    let mut seen = String::new();
    let mut stream = BufReader::with_capacity(1, stream);
    while !seen.lines().any(|line| line.contains(text)) || !seen.ends_with('\n') {
        let read = stream.read_line(&mut seen).unwrap();
        assert!(read > 0, "it ended before {text:?}: {seen}");
    }
    seen
}

/// Kills a process that takes too long; true when it did. Woken when it ended.
fn limit(pid: u32) -> bool {
    let deadline = Instant::now() + LIMIT;
    while let Some(rest) = deadline.checked_duration_since(Instant::now()) {
        thread::park_timeout(rest);
        if !Path::new(&format!("/proc/{pid}")).exists() {
            return false;
        }
    }
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended in this very moment.
        let _ = kill_process(pid, Signal::KILL);
    }
    true
}

/// The command lines of all processes that carry the mark.
pub(crate) fn left(mark: &str) -> Vec<String> {
    let wanted = format!("ACP_TEST_MARK={mark}");
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        // Processes come and go while we look.
        let Ok(environment) = fs::read(process.path().join("environ")) else {
            continue;
        };
        if environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
        {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}

/// Waits until nothing carries the mark any more.
pub(crate) fn wait_until_gone(mark: &str) {
    let deadline = Instant::now() + LIMIT;
    while !left(mark).is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", left(mark));
        thread::sleep(Duration::from_millis(5));
    }
}
