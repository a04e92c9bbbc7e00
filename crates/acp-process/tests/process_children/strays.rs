//! Descendants that leave the group of their child, and what becomes of them.

use acp_process::{Child, ExitStatus, KillLadder, OrphanGuard};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Lines, assert_reaped, children, field_of_stat, runs, sh, state, until, within,
};

/// Leaves by a double fork and a session of its own, and cares about nothing.
const DAEMON: &str = "(setsid sh -c 'trap \"\" INT TERM HUP; echo $$; exec sleep 1000' &)";

async fn with_daemon(then: &str, guard: OrphanGuard) -> (Child, Lines, u32) {
    let launch = sh(&format!("{DAEMON}; {then}"))
        .with_orphan_guard(guard)
        .with_kill_ladder(
            KillLadder::default().with_abort_eof_grace(std::time::Duration::from_millis(20)),
        );
    let mut child = launch.spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    let daemon = lines.next_pid().await;
    assert_eq!(field_of_stat(daemon, 5), daemon.to_string());
    (child, lines, daemon)
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_daemon_ends_with_its_child_however_that_ends() {
    for (then, ask) in [
        ("read _; read _", true),
        ("read _; exit 3", false),
        ("read _; kill -9 $$", false),
    ] {
        let (mut child, mut lines, daemon) = with_daemon(then, OrphanGuard::default()).await;
        let stdin = child.take_stdin();
        let exit = if ask {
            within("the exit", child.handle().kill()).await
        } else {
            drop(stdin);
            within("the exit", child.handle().wait()).await
        };
        assert_eq!((exit.escaped(), exit.survivors()), (1, 0), "{then}");
        assert_reaped(daemon);
        assert_reaped(child.pid());
        assert_eq!(lines.rest().await, "");
    }
}

#[tokio::test]
async fn a_weaker_guard_tells_of_survivors_and_lets_them_be() {
    let (child, mut lines, daemon) =
        with_daemon("read _; exec sleep 1000", OrphanGuard::Group).await;
    // It has no parent that the group's guard knows of, so only one that still hangs
    // on the child is seen.
    let mut other = sh("setsid sleep 1000 & echo $!; read _; exec sleep 1000")
        .with_orphan_guard(OrphanGuard::Group)
        .spawn()
        .unwrap();
    let stray = Lines::of(&mut other).next_pid().await;
    until("the new session", || {
        field_of_stat(stray, 5) == stray.to_string()
    });
    let exit = within("the exit", other.handle().kill()).await;
    assert_eq!((exit.escaped(), exit.survivors()), (1, 1));
    within("the exit", child.handle().kill()).await;
    // It still has our pipe open, and we see the end.
    assert_eq!(lines.rest().await, "");
    assert!(runs(daemon) && runs(stray));
    kill(daemon);
    kill(stray);
}

#[tokio::test]
async fn a_daemon_that_ends_while_the_child_lives_is_reaped() {
    let script = "for i in 1 2 3 4 5; do (setsid sh -c 'echo $$' &); done; read _ || :";
    let mut child = sh(script).spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    for _ in 0..5 {
        let daemon = lines.next_pid().await;
        until("the reaping", || state(daemon).is_none());
    }
    assert!(
        within("the exit", child.handle().close_and_wait())
            .await
            .success()
    );
}

#[tokio::test]
async fn a_chain_of_forks_does_not_run_away() {
    // Each one starts the next, in a session of its own, and ends.
    let script = "link='setsid sh -c \"$0\" \"$0\" run-away-chain & exit 0'; \
        sh -c \"$link\" \"$link\" run-away-chain; echo ready; read _";
    let mut child = sh(script).spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "ready");
    let pid = child.pid();
    let links = || {
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        pids.filter(|entry| {
            let name = entry.file_name();
            let own = name.to_str().and_then(|name| name.parse().ok()) == Some(pid);
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            !own && line.ends_with(b"\0run-away-chain\0")
        })
        .count()
    };
    until("the chain to run", || links() > 0);
    let exit = within("the exit", child.handle().kill_now()).await;
    assert_eq!(exit.survivors(), 0);
    // Had one link got away, there would always be another one.
    for _ in 0..100 {
        assert_eq!(links(), 0);
    }
}

#[tokio::test]
async fn who_kills_the_guard_ends_the_child_and_its_strays() {
    let before = children();
    let (child, _lines, daemon) =
        with_daemon("while :; do sleep 1000; done", OrphanGuard::default()).await;
    let guard = children().into_iter().find(|pid| !before.contains(pid));
    kill(guard.expect("the guard is our child"));
    let exit = within("the exit", child.handle().wait()).await;
    assert!(matches!(
        exit.status(),
        ExitStatus::Signal(9) | ExitStatus::Unknown
    ));
    until("the end of the child", || !runs(child.pid()));
    // Nobody was there any more to end it.
    kill(daemon);
}
