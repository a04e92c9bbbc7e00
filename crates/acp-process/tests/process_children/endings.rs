//! How children end: by themselves, and step by step up the kill ladder.

use std::io::ErrorKind;
use std::task::Poll;
use std::time::{Duration, Instant};

use acp_process::{ExitStatus, KillLadder, OrphanGuard, Rung, Signal, SignalError};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::support::{Lines, assert_reaped, group_runs, runs, sh, state, until, within};

/// Waits that a test may really wait for.
fn short_ladder() -> KillLadder {
    KillLadder::default()
        .with_orderly_eof_grace(Duration::from_millis(50))
        .with_abort_eof_grace(Duration::from_millis(50))
        .with_interrupt_grace(Duration::from_millis(50))
        .with_terminate_grace(Duration::from_millis(50))
}

/// Waits no test waits for: reaching the next step is a failure.
fn long_ladder() -> KillLadder {
    const NEVER: Duration = Duration::from_secs(3600);
    KillLadder::default()
        .with_orderly_eof_grace(NEVER)
        .with_abort_eof_grace(NEVER)
        .with_interrupt_grace(NEVER)
        .with_terminate_grace(NEVER)
}

#[tokio::test]
async fn a_child_reads_writes_and_exits() {
    let mut child = sh("read line; echo \"got $line\"; exit 7").spawn().unwrap();
    let mut stdin = child.take_stdin().unwrap();
    let mut lines = Lines::of(&mut child);
    stdin.write_all(b"hello\n").await.unwrap();
    assert_eq!(lines.next().await, "got hello");
    assert_eq!(lines.rest().await, "");
    let exit = within("the exit", child.handle().wait()).await;
    assert_eq!(exit.status(), ExitStatus::Code(7));
    assert_eq!(exit.reached(), None);
    assert_reaped(child.pid());
    assert_eq!(child.handle().exit().unwrap().status(), exit.status());
}

#[tokio::test]
async fn a_status_is_exact() {
    for (script, status) in [
        ("exit 0", ExitStatus::Code(0)),
        ("exit 1", ExitStatus::Code(1)),
        ("exit 127", ExitStatus::Code(127)),
        // As a shell tells the end by a signal, and the end by that signal.
        ("exit 137", ExitStatus::Code(137)),
        ("kill -s KILL $$", ExitStatus::Signal(9)),
        ("kill -s TERM $$", ExitStatus::Signal(15)),
        ("exit 255", ExitStatus::Code(255)),
    ] {
        for guard in [OrphanGuard::Descendants, OrphanGuard::Group] {
            let child = sh(script).with_orphan_guard(guard).spawn().unwrap();
            let exit = within("the exit", child.handle().wait()).await;
            assert_eq!(exit.status(), status, "{script} under {guard:?}");
            assert_reaped(child.pid());
        }
    }
}

#[tokio::test]
async fn the_end_of_stdin_is_enough_for_a_good_child() {
    let launch =
        sh("echo ready; while read _; do :; done; echo bye").with_kill_ladder(long_ladder());
    let mut child = launch.spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "ready");
    let exit = within("the exit", child.handle().close_and_wait()).await;
    assert!(exit.success());
    assert_eq!(exit.reached(), Some(Rung::Eof));
    assert_eq!(lines.rest().await, "bye\n");
    assert_reaped(child.pid());
}

#[tokio::test]
async fn a_clean_exit_on_the_first_signal_is_a_success() {
    let ladder = long_ladder().with_abort_eof_grace(Duration::ZERO);
    let script = "trap 'exit 0' INT; echo ready; while :; do sleep 1000 & wait; done";
    let mut child = sh(script).with_kill_ladder(ladder).spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "ready");
    let exit = within("the exit", child.handle().kill()).await;
    assert!(exit.success(), "{exit:?}");
    assert_eq!(exit.reached(), Some(Rung::Interrupt));
    assert_reaped(child.pid());
}

#[tokio::test]
async fn sigterm_comes_after_sigint() {
    let ladder = long_ladder()
        .with_abort_eof_grace(Duration::ZERO)
        .with_interrupt_grace(Duration::from_millis(20));
    let script = "trap '' INT; trap 'exit 3' TERM; echo ready; while :; do sleep 1000 & wait; done";
    let mut child = sh(script).with_kill_ladder(ladder).spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "ready");
    let exit = within("the exit", child.handle().kill()).await;
    assert_eq!(exit.status(), ExitStatus::Code(3));
    assert_eq!(exit.reached(), Some(Rung::Terminate));
}

#[tokio::test]
async fn a_stubborn_leader_and_its_grandchild_die() {
    let stubborn = "trap '' INT TERM HUP; while :; do read _ || sleep 1000; done";
    let script = format!("sh -c \"$0; {stubborn}\" & echo $!; {stubborn}");
    let launch = sh(&script)
        .with_args(["echo ready"])
        .with_kill_ladder(short_ladder());
    let mut child = launch.spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    let (first, second) = (lines.next().await, lines.next().await);
    let grandchild = if first == "ready" { second } else { first };
    let grandchild: u32 = grandchild.parse().unwrap();

    let since = Instant::now();
    let exit = within("the exit", child.handle().kill()).await;
    assert!(since.elapsed() >= Duration::from_millis(150));
    assert_eq!(exit.status(), ExitStatus::Signal(9));
    assert_eq!(exit.reached(), Some(Rung::Kill));
    assert_eq!(exit.escaped(), 0);
    assert_eq!(
        exit.into_result().unwrap_err().to_string(),
        "end in order: ended by SIGKILL"
    );
    assert_reaped(child.pid());
    until("the grandchild's end", || !runs(grandchild));
}

#[tokio::test]
async fn what_is_left_of_the_group_goes_with_its_leader() {
    let script = "sh -c 'trap \"\" INT TERM; echo $$; exec sleep 1000' & read _";
    let mut child = sh(script).with_kill_ladder(long_ladder()).spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    let grandchild = lines.next_pid().await;
    assert!(runs(grandchild));
    let exit = within("the exit", child.handle().close_and_wait()).await;
    assert_eq!(exit.reached(), Some(Rung::Eof));
    until("the grandchild's end", || !runs(grandchild));
    assert_eq!(lines.rest().await, "");
}

#[tokio::test]
async fn signals_reach_the_group_until_the_end() {
    let script = "trap 'echo usr1' USR1; echo ready; while read _; do :; done; while :; do sleep 1000 & wait; done";
    let mut child = sh(script).spawn().unwrap();
    let handle = child.handle();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "ready");
    handle.signal(Signal::User1).unwrap();
    drop(child.take_stdin());
    assert_eq!(lines.next().await, "usr1");
    let exit = within("the exit", handle.kill_now()).await;
    assert_eq!(exit.status(), ExitStatus::Signal(9));
    assert!(matches!(
        handle.signal(Signal::User1),
        Err(SignalError::Ended)
    ));
}

#[tokio::test]
async fn concurrent_kills_share_one_run() {
    let mut child = sh("trap '' INT TERM; echo ready; echo oh >&2; while :; do sleep 1000; done")
        .with_kill_ladder(short_ladder())
        .spawn()
        .unwrap();
    let handle = child.handle();
    assert_eq!(Lines::of(&mut child).next().await, "ready");
    let kills: Vec<_> = (0..4)
        .map(|_| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.kill().await })
        })
        .collect();
    for kill in kills {
        let exit = within("the exit", kill).await.unwrap();
        assert_eq!(exit.status(), ExitStatus::Signal(9));
        assert_eq!(exit.reached(), Some(Rung::Kill));
        assert_eq!(exit.stderr_tail(), "oh\n");
    }
    // Long after, the answer is still the same.
    assert_eq!(handle.wait().await.status(), ExitStatus::Signal(9));
    assert_eq!(handle.kill().await.reached(), Some(Rung::Kill));
}

#[tokio::test]
async fn killing_races_with_the_start_of_the_group() {
    for n in 0..20 {
        let mut child = sh("sh -c 'sleep 1000 & wait' & sleep 1000 & echo ready; wait")
            .with_kill_ladder(short_ladder().with_abort_eof_grace(Duration::ZERO))
            .spawn()
            .unwrap();
        let pid = child.pid();
        if n % 2 == 0 {
            assert_eq!(Lines::of(&mut child).next().await, "ready");
        }
        let exit = within("the exit", child.handle().kill()).await;
        assert!(!exit.success());
        assert_reaped(pid);
        until("the group to be gone", || !group_runs(pid));
    }
}

#[tokio::test]
async fn a_second_less_patient_call_hurries_the_first() {
    let mut child = sh("trap '' INT TERM; echo ready; while :; do sleep 1000; done")
        .with_kill_ladder(long_ladder())
        .spawn()
        .unwrap();
    assert_eq!(Lines::of(&mut child).next().await, "ready");
    let handle = child.handle();
    let closing = tokio::spawn(async move { handle.close_and_wait().await });
    let killed = within("the exit", child.handle().kill_now()).await;
    assert_eq!(killed.reached(), Some(Rung::Kill));
    let closed = within("the exit", closing).await.unwrap();
    assert_eq!(closed.status(), ExitStatus::Signal(9));
}

#[tokio::test]
async fn a_stopped_child_hears_its_end() {
    let ladder = long_ladder().with_abort_eof_grace(Duration::ZERO);
    let mut child = sh("trap 'exit 0' INT; echo ready; while :; do sleep 1000 & wait; done")
        .with_kill_ladder(ladder)
        .spawn()
        .unwrap();
    assert_eq!(Lines::of(&mut child).next().await, "ready");
    child.handle().signal(Signal::Stop).unwrap();
    until("the stop", || state(child.pid()) == Some('T'));
    let exit = within("the exit", child.handle().kill()).await;
    assert!(exit.success(), "{exit:?}");
    assert_eq!(exit.reached(), Some(Rung::Interrupt));
}

#[tokio::test]
async fn half_a_line_and_then_the_end() {
    for script in ["printf '{\"half\":'", "printf '{\"half\":'; kill -9 $$"] {
        let mut child = sh(script).spawn().unwrap();
        within("the exit", child.handle().wait()).await;
        assert_eq!(Lines::of(&mut child).rest().await, "{\"half\":");
    }
}

#[tokio::test]
async fn a_blocked_write_ends_with_the_child() {
    let mut child = sh("echo ready; exec sleep 1000").spawn().unwrap();
    assert_eq!(Lines::of(&mut child).next().await, "ready");
    let mut stdin = child.take_stdin().unwrap();
    let (blocked, is_blocked) = tokio::sync::oneshot::channel();
    let writing = tokio::spawn(async move {
        let mut blocked = Some(blocked);
        let chunk = [0; 64 * 1024];
        std::future::poll_fn(|cx| {
            loop {
                match std::pin::Pin::new(&mut stdin).poll_write(cx, &chunk) {
                    Poll::Ready(Ok(_)) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(error.kind()),
                    Poll::Pending => {
                        blocked.take().map(|blocked| blocked.send(()));
                        return Poll::Pending;
                    }
                }
            }
        })
        .await
    });
    within("the pipe to be full", is_blocked).await.unwrap();
    let exit = within("the exit", child.handle().kill()).await;
    assert_eq!(exit.reached(), Some(Rung::Interrupt));
    let kind = within("the write to end", writing).await.unwrap();
    assert_eq!(kind, ErrorKind::BrokenPipe);
}
