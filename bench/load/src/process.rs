//! The process that is measured: what it uses, told by the kernel.

use std::fs;
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;

/// No workload takes longer, the soak included; what does hangs.
const LIMIT: Duration = Duration::from_secs(900);

/// How long a process may take to end once nobody talks to it.
const GRACE: Duration = Duration::from_secs(5);

/// A process under load. It is killed when this goes.
pub(crate) struct Measured {
    child: Child,
    pub(crate) pid: Pid,
}

impl Measured {
    /// Starts a command. Both it and we run on one processor when `pinned`.
    pub(crate) fn start(
        command: &[String],
        environment: &[(&str, String)],
        pinned: bool,
    ) -> Result<(Self, ChildStdin, ChildStdout)> {
        if pinned {
            pin()?;
        }
        let (program, arguments) = command.split_first().context("there is no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("failed to start {program}"))?;
        let stdin = child.stdin.take().context("it has no stdin")?;
        let stdout = child.stdout.take().context("it has no stdout")?;
        let pid = Pid::from_raw(i32::try_from(child.id())?);
        watch(pid);
        Ok((Self { child, pid }, stdin, stdout))
    }

    /// Time on the processors, of all its threads.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let clock = clock_getcpuclockid(self.pid).context("failed to find its clock")?;
        Ok(clock.now().context("failed to read its clock")?.into())
    }

    /// Write calls so far.
    pub(crate) fn writes(&self) -> u64 {
        number(&self.file("io"), "syscw:")
    }

    /// Memory in use, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        number(&self.file("status"), "VmRSS:")
    }

    /// The most memory that was in use, in KiB.
    pub(crate) fn most_memory(&self) -> u64 {
        number(&self.file("status"), "VmHWM:")
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{name}", self.pid)).unwrap_or_default()
    }

    /// Waits for its end, which its closed stdin asks for.
    pub(crate) fn end(mut self) -> Result<()> {
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "it ended with {status}");
                return Ok(());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        anyhow::bail!("it does not end when its stdin does")
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keeps this thread, and what it starts, on one processor.
fn pin() -> Result<()> {
    let mut set = CpuSet::new();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    set.set(processors - 1)?;
    sched_setaffinity(Pid::from_raw(0), &set).context("failed to stay on one processor")
}

/// Ends the whole run when a peer hangs: a wrong number is worse than none.
fn watch(pid: Pid) {
    std::thread::spawn(move || {
        std::thread::sleep(LIMIT);
        eprintln!("acp-load: process {pid} hangs");
        // Its pipes close with us.
        std::process::exit(3);
    });
}

fn number(text: &str, key: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Stdin without the library's buffer, for who has one of their own.
pub(crate) fn raw_stdin() -> std::io::Result<fs::File> {
    Ok(std::io::stdin().as_fd().try_clone_to_owned()?.into())
}
