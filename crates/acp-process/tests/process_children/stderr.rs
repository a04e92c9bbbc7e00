//! What children say on stderr.

use std::sync::mpsc;

use acp_process::ExitStatus;
use parking_lot::Mutex;

use crate::helper;
use crate::support::{Lines, sh, until, within};

const FLOOD: u64 = 200_000_000;

#[tokio::test]
async fn the_tail_is_there_while_the_child_runs_and_after() {
    let mut child =
        sh("echo starting >&2; echo ready; read _; echo 'bad \u{1b}[31mkey' >&2; exit 1")
            .spawn()
            .unwrap();
    let handle = child.handle();
    assert_eq!(Lines::of(&mut child).next().await, "ready");
    until("stderr to come", || handle.stderr_tail() == "starting\n");
    let activity = handle.stderr_activity();
    assert_eq!(activity.bytes, 9);
    assert!(activity.last_at.is_some());
    drop(child.take_stdin());
    let exit = within("the exit", handle.wait()).await;
    assert_eq!(exit.status(), ExitStatus::Code(1));
    assert_eq!(exit.stderr_tail(), "starting\nbad key\n");
    let error = exit.into_result().unwrap_err();
    assert_eq!(error.exit().stderr_tail(), "starting\nbad key\n");
    assert_eq!(
        error.to_string(),
        "end in order: exit code 1 (it wrote to stderr)"
    );
    assert!(handle.stderr_activity().last_at > activity.last_at);
}

#[tokio::test]
async fn last_words_are_never_missed() {
    for _ in 0..30 {
        let child = sh("echo last words >&2; exit 9").spawn().unwrap();
        let exit = within("the exit", child.handle().wait()).await;
        assert_eq!(exit.stderr_tail(), "last words\n");
    }
}

#[tokio::test]
async fn lines_and_redaction() {
    let (sender, lines) = mpsc::channel();
    let child = sh("printf 'key s3cret\\nhalf' >&2")
        .with_stderr_tail(8)
        .with_stderr_redactor(&acp_text::Redactor::new().with_secret("s3cret"))
        .with_stderr_lines(move |line| sender.send(line.to_owned()).unwrap())
        .spawn()
        .unwrap();
    let exit = within("the exit", child.handle().wait()).await;
    // The cut went through a word, which may be half a secret.
    assert_eq!(exit.stderr_tail(), "\nhalf");
    drop(child);
    // Ends when the callback is gone: no line comes late.
    assert_eq!(lines.iter().collect::<Vec<_>>(), ["key [redacted]", "half"]);
}

#[tokio::test]
async fn a_callback_that_hangs_holds_nobody_up() {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let mut child = sh("seq 100000 >&2; echo done; read _ || :")
        .with_stderr_lines(move |_| {
            let _ = held.lock().recv();
        })
        .spawn()
        .unwrap();
    assert_eq!(Lines::of(&mut child).next().await, "done");
    let exit = within("the exit", child.handle().close_and_wait()).await;
    assert!(exit.success());
    assert!(exit.stderr_tail().ends_with("\n99999\n100000\n"));
    let dropped = child.handle().stderr_activity().lines_dropped;
    assert!((99_000..100_000).contains(&dropped), "{dropped}");
    drop(release);
}

/// Lets a child flood us and tells the peak of our memory.
#[test]
#[ignore = "a helper"]
fn helper_that_is_flooded() {
    if !helper::is_called("stderr::helper_that_is_flooded") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let before = peak_memory();
    runtime.block_on(async {
        let script = format!("yes 0123456789abcde | head -c {FLOOD} >&2; echo done");
        let mut child = sh(&script).spawn().unwrap();
        assert_eq!(Lines::of(&mut child).next().await, "done");
        let exit = within("the exit", child.handle().close_and_wait()).await;
        assert!(exit.success());
        assert_eq!(child.handle().stderr_activity().bytes, FLOOD);
        let tail = exit.stderr_tail();
        assert_eq!(tail, "0123456789abcde\n".repeat(8192 / 16));
    });
    helper::say(&format!("{}", peak_memory() - before));
    std::process::exit(0);
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

#[test]
fn a_flood_is_drained_in_bounded_memory() {
    let said = helper::run("stderr::helper_that_is_flooded");
    let grown: u64 = said.trim().parse().unwrap();
    assert!(grown < 10_000_000, "memory grew by {grown} bytes");
}
