//! Running a program the way a person at a terminal would, with a limit.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

/// How long output is awaited that is still on its way when the program has ended.
/// How often we look meanwhile, where there is something to look after.
const LOOK: Duration = Duration::from_millis(100);

/// How long a program may take that holds many conversations.
pub(super) const LIMIT: Duration = Duration::from_secs(300);

const REST: Duration = Duration::from_secs(2);

/// What became of a program.
#[derive(Debug)]
pub(super) struct Ended {
    /// Absent when it was killed at its limit.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) time: Duration,
    /// How long it went on after the interrupt.
    pub(super) after_interrupt: Option<Duration>,
}

enum Event {
    Out(Vec<u8>),
    Err(Vec<u8>),
    StreamEnded,
    Exited(std::io::Result<ExitStatus>),
}

/// Runs a program in a process group of its own, as a shell does, without standard input.
///
/// With `interrupt_at`, the group gets SIGINT as soon as this text stands on stdout: what
/// Ctrl-C does. At the limit the group is killed.
///
/// # Errors
///
/// Fails when the program cannot be started or waited for.
pub(super) fn run(command: Command, limit: Duration, interrupt_at: Option<&str>) -> Result<Ended> {
    watch(command, limit, interrupt_at, None)
}

/// Runs a program as [`run`] does, and calls a function with its id again and again meanwhile.
///
/// # Errors
///
/// As [`run`].
pub(super) fn run_meanwhile(
    command: Command,
    limit: Duration,
    meanwhile: &dyn Fn(u32),
) -> Result<Ended> {
    watch(command, limit, None, Some(meanwhile))
}

fn watch(
    mut command: Command,
    limit: Duration,
    interrupt_at: Option<&str>,
    meanwhile: Option<&dyn Fn(u32)>,
) -> Result<Ended> {
    let name = command.get_program().to_string_lossy().into_owned();
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| format!("failed to start {name}"))?;
    let (group, id) = (Pid::from_child(&child), child.id());
    let (events, incoming) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    read(stdout, events.clone(), Event::Out);
    read(stderr, events.clone(), Event::Err);
    thread::spawn(move || events.send(Event::Exited(child.wait())));

    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut open_streams = 2;
    let mut interrupted = None;
    let mut end: Option<(Option<ExitStatus>, Instant)> = None;
    let mut deadline = started + limit;
    while open_streams > 0 || end.is_none() {
        let mut patience = deadline.saturating_duration_since(Instant::now());
        if let Some(meanwhile) = meanwhile.filter(|_| end.is_none()) {
            meanwhile(id);
            patience = patience.min(LOOK);
        }
        match incoming.recv_timeout(patience) {
            Ok(Event::Out(bytes)) => {
                out.extend(bytes);
                let seen = |text: &str| String::from_utf8_lossy(&out).contains(text);
                if interrupted.is_none() && end.is_none() && interrupt_at.is_some_and(seen) {
                    kill_process_group(group, Signal::INT).context("failed to interrupt")?;
                    interrupted = Some(Instant::now());
                }
            }
            Ok(Event::Err(bytes)) => err.extend(bytes),
            Ok(Event::StreamEnded) => open_streams -= 1,
            Ok(Event::Exited(status)) => {
                let status = status.with_context(|| format!("failed to wait for {name}"))?;
                let now = Instant::now();
                // After a kill at the limit the status is ours, not the program's.
                end.get_or_insert((Some(status), now));
                deadline = now + REST;
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(RecvTimeoutError::Timeout) if end.is_none() => {
                end = Some((None, Instant::now()));
                // It may have ended this very moment; then there is nothing to kill.
                let _ = kill_process_group(group, Signal::KILL);
                deadline = Instant::now() + REST;
            }
            Err(_) => break,
        }
    }
    let (status, ended) = end.unwrap_or((None, Instant::now()));
    Ok(Ended {
        status,
        stdout: String::from_utf8_lossy(&out).into_owned(),
        stderr: String::from_utf8_lossy(&err).into_owned(),
        time: ended - started,
        after_interrupt: interrupted.map(|at| ended - at),
    })
}

fn read<R: Read + Send + 'static>(
    stream: Option<R>,
    events: Sender<Event>,
    event: fn(Vec<u8>) -> Event,
) {
    let mut stream = stream.expect("the stream is piped");
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if events.send(event(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
        let _ = events.send(Event::StreamEnded);
    });
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn both_streams_and_the_status_are_told() {
        let ended = run(shell("echo out; echo err >&2; exit 3"), LONG, None).expect("it runs");
        assert_eq!(
            (ended.stdout.as_str(), ended.stderr.as_str()),
            ("out\n", "err\n")
        );
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert_eq!(ended.after_interrupt, None);
    }

    #[test]
    fn it_is_interrupted_when_the_text_stands() {
        let script = "trap 'exit 130' INT; echo ready; while :; do sleep 0.01; done";
        let ended = run(shell(script), LONG, Some("ready")).expect("it runs");
        assert_eq!(ended.status.and_then(|status| status.code()), Some(130));
        assert!(ended.after_interrupt.is_some());
    }

    #[test]
    fn a_program_that_hangs_is_killed_with_its_group() {
        let script = "echo started; sleep 1000 & wait";
        let ended = run(shell(script), Duration::from_millis(300), None).expect("it runs");
        assert_eq!(ended.status, None);
        assert_eq!(ended.stdout, "started\n");
        assert!(ended.time < LONG);
    }

    #[test]
    fn output_held_open_by_another_is_not_awaited_for_ever() {
        // The child leaves the group, so nothing ends it but its own clock.
        let script = "setsid sleep 20 & echo done";
        let ended = run(shell(script), LONG, None).expect("it runs");
        assert_eq!(ended.stdout, "done\n");
        assert!(ended.status.is_some_and(|status| status.success()));
        assert!(ended.time < Duration::from_secs(15));
    }

    #[test]
    fn what_is_done_meanwhile_is_told_the_program() {
        let calls = Cell::new(0);
        let ended = run_meanwhile(shell("sleep 0.3; echo $$"), LONG, &|id| {
            calls.set(calls.get() + 1);
            assert!(id > 1);
        });
        assert_eq!(
            ended
                .expect("it runs")
                .status
                .and_then(|status| status.code()),
            Some(0)
        );
        assert!(calls.get() >= 2, "{} calls", calls.get());
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = run(Command::new("/nowhere/acp"), LONG, None).expect_err("no such program");
        assert_eq!(error.to_string(), "failed to start /nowhere/acp");
    }
}
