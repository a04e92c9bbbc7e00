//! `tap`, as a process between us and an agent that is a few lines of shell.

#![cfg(unix)]

use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use acp_mockpeer::{PeerSide, RecordedEvent, Recording, RecordingEntry};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_acp-mockpeer");

/// A tap and the folder it records in.
struct Tapped {
    tap: Child,
    folder: TempDir,
}

/// Starts an agent of these lines behind a tap.
fn tap(options: &[&str], agent: &str) -> Tapped {
    let folder = tempfile::tempdir().unwrap();
    let tap = Command::new(PROGRAM)
        .args(["tap", "--record"])
        .arg(folder.path())
        .args(options)
        .args(["--", "/bin/sh", "-c", agent])
        .env("MOCK_API_KEY", "canary-5f3a-value")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Tapped { tap, folder }
}

impl Tapped {
    /// Says this to the agent, closes, and waits for its end.
    fn say(mut self, bytes: &[u8]) -> (Output, Vec<RecordingEntry>) {
        let mut stdin = self.tap.stdin.take().unwrap();
        let bytes = bytes.to_vec();
        let saying = thread::spawn(move || {
            // An agent that does not listen is told no more.
            let _ = stdin.write_all(&bytes);
        });
        let output = self.tap.wait_with_output().unwrap();
        saying.join().unwrap();
        (output, kept(&self.folder))
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.tap.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Waits for the first line of the agent.
    fn hear(&mut self) -> String {
        let stdout = self.tap.stdout.as_mut().unwrap();
        let mut line = Vec::new();
        let mut byte = [0];
        // One byte after the other: what comes behind the line is left for others.
        while stdout.read_exact(&mut byte).is_ok() && byte != *b"\n" {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }
}

/// Reads the only recording of the folder.
fn kept(folder: &TempDir) -> Vec<RecordingEntry> {
    let mut files = std::fs::read_dir(folder.path()).unwrap();
    let file = files.next().unwrap().unwrap();
    assert!(files.next().is_none());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let recording = Recording::load(file.path()).unwrap();
    recording.entries().to_vec()
}

fn seen(entries: &[RecordingEntry], of: PeerSide) -> Vec<RecordedEvent> {
    let mine = entries.iter().filter(|entry| entry.from == of);
    mine.map(|entry| entry.what.clone()).collect()
}

#[test]
fn every_byte_passes_and_the_end_is_the_agents() {
    let bytes = b"{\"a\": 1}\r\n\n\xff\xfe no text\nno end";
    let (output, entries) = tap(&[], "printf 'a warning' >&2; cat; exit 7").say(bytes);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(output.stdout, bytes);
    assert_eq!(output.stderr, b"a warning");
    let both = [
        RecordedEvent::Line(b"{\"a\": 1}\r".to_vec()),
        RecordedEvent::Line(Vec::new()),
        RecordedEvent::Unreadable(10),
        RecordedEvent::Unreadable(6),
        RecordedEvent::Close,
    ];
    assert_eq!(seen(&entries, PeerSide::Client), both);
    let agent = seen(&entries, PeerSide::Agent);
    let (errors, rest): (Vec<_>, Vec<_>) = agent
        .into_iter()
        .partition(|what| matches!(what, RecordedEvent::Stderr(_)));
    assert_eq!(errors, [RecordedEvent::Stderr(b"a warning".to_vec())]);
    assert_eq!(rest[..5], both);
    assert_eq!(rest[5..], [RecordedEvent::Exit(7)]);
}

#[test]
fn megabytes_pass_both_ways_at_once() {
    let bytes: Vec<u8> = (0..40_000u32)
        .flat_map(|number| format!("{number:0>100}\n").into_bytes())
        .collect();
    let (output, entries) = tap(&[], "exec cat").say(&bytes);
    assert_eq!(output.stdout, bytes);
    let lines = seen(&entries, PeerSide::Agent);
    let whole: Vec<u8> = lines
        .iter()
        .filter_map(|what| match what {
            RecordedEvent::Line(line) => Some([line, b"\n".as_slice()].concat()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(whole, bytes);
}

#[test]
fn secrets_are_kept_only_when_that_is_said() {
    let say = b"{\"text\":\"canary-5f3a-value and hunter2-swordfish\"}\n";
    let (output, entries) = tap(&["--secret", "hunter2-swordfish"], "exec cat").say(say);
    assert_eq!(output.stdout, say);
    let redacted = RecordedEvent::Line(b"{\"text\":\"[redacted] and [redacted]\"}".to_vec());
    assert_eq!(seen(&entries, PeerSide::Client)[0], redacted);
    assert_eq!(seen(&entries, PeerSide::Agent)[0], redacted);
    let (_, entries) = tap(&["--unredacted"], "exec cat").say(say);
    let as_said = RecordedEvent::Line(say.strip_suffix(b"\n").unwrap().to_vec());
    assert_eq!(seen(&entries, PeerSide::Client)[0], as_said);
}

#[test]
fn signals_reach_the_agent_and_a_signal_ends_as_in_a_shell() {
    let mut polite = tap(
        &[],
        "trap 'echo told; exit 3' TERM; echo ready; while :; do read line || :; done",
    );
    assert_eq!(polite.hear(), "ready");
    polite.signal(Signal::TERM);
    assert_eq!(polite.hear(), "told");
    assert_eq!(polite.tap.wait().unwrap().code(), Some(3));
    let (output, entries) = tap(&[], "kill -KILL $$").say(b"");
    assert_eq!(output.status.code(), Some(128 + 9));
    assert_eq!(entries.last().unwrap().what, RecordedEvent::Killed(9));
}

#[test]
fn an_agent_does_not_outlive_a_killed_tap() {
    let mut tapped = tap(&[], "trap '' TERM INT HUP; echo $$; exec sleep 600");
    let agent: i32 = tapped.hear().parse().unwrap();
    // It is kept while the conversation goes on.
    eventually("nothing is kept", || !kept(&tapped.folder).is_empty());
    tapped.signal(Signal::KILL);
    tapped.tap.wait().unwrap();
    let agent = Pid::from_raw(agent).unwrap();
    eventually("the agent lives on", || {
        rustix::process::test_kill_process(agent).is_err()
    });
    assert!(!kept(&tapped.folder).is_empty());
}

/// Waits until something holds, but not for ever.
#[track_caller]
fn eventually(otherwise: &str, holds: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < patience, "{otherwise}");
        thread::yield_now();
    }
}

#[test]
fn nothing_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine");
    std::fs::write(&file, "precious").unwrap();
    let output = Command::new(PROGRAM)
        .args(["tap", "--record"])
        .arg(&file)
        .args(["--", "/bin/sh", "-c", "exit"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(78));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("it is there already"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
}

#[test]
fn a_recorded_client_is_played_again_and_so_is_its_agent() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("turn.ndjson");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/turn.acpt");
    let mock = |args: &[&str]| {
        let mut mock = Command::new(PROGRAM);
        mock.args(args);
        mock
    };
    let record = recording.to_str().unwrap();
    let run = |mut command: Command| {
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        error
    };
    // A client and the mock agent, with a tap between them.
    run(mock(&[
        "client", "--script", script, "--", PROGRAM, "tap", "--record", record, "--", PROGRAM,
        "agent",
    ]));
    // The client again, against the agent.
    let report = run(mock(&["replay", record, "--", PROGRAM, "agent"]));
    assert!(report.contains("passed"), "{report}");
    // And the agent again, against the client.
    run(mock(&[
        "client", "--script", script, "--", PROGRAM, "replay", record,
    ]));
}
