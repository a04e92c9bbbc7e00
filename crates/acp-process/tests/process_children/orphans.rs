//! What is left when this process dies, forgets, or shuts down its runtime.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use acp_process::{ChildHandle, KillLadder, Launch, OrphanGuard};

use crate::helper;
use crate::support::{Lines, children, descriptors, runs, sh, state, threads, until, within};

/// A leader and a grandchild that both care about nothing; each tells its id.
const STUBBORN_PAIR: &str = "trap '' INT TERM HUP; \
    sh -c 'echo $$; while :; do read _ || sleep 1000; done' & \
    wait_for_it() { while :; do read _ || sleep 1000; done; }; wait_for_it";

/// A leader whose grandchild left by a double fork and a session of its own, and
/// cares about nothing.
const DAEMON: &str = "(setsid sh -c 'trap \"\" INT TERM HUP; echo $$; \
    while :; do read _ || sleep 1000; done' &); while :; do sleep 1000; done";

/// A leader that ends, and what it leaves behind.
const JOB: &str = "sh -c 'trap \"\" INT TERM HUP; echo $$; sleep 1000; :' & exit 0";

fn stubborn_pair() -> Launch {
    let short = Duration::from_millis(30);
    sh(STUBBORN_PAIR).with_kill_ladder(
        KillLadder::default()
            .with_abort_eof_grace(short)
            .with_interrupt_grace(short)
            .with_terminate_grace(short),
    )
}

/// Starts a stubborn pair under the guard it is told, says all ids, and waits.
#[test]
#[ignore = "a helper"]
fn helper_that_is_killed() {
    if !helper::is_called("orphans::helper_that_is_killed") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let guard = std::env::var("GUARD").unwrap();
        let launch = match guard.as_str() {
            "signal" => stubborn_pair().with_orphan_guard(OrphanGuard::ParentDeathSignal),
            "session" => stubborn_pair().with_new_session(),
            "kept" => sh(JOB).with_kept_group(),
            "group" => stubborn_pair().with_orphan_guard(OrphanGuard::Group),
            "daemon" => sh(DAEMON),
            _ => stubborn_pair(),
        };
        let mut child = launch.spawn().unwrap();
        let grandchild = Lines::of(&mut child).next_pid().await;
        let leader = child.pid();
        if guard == "kept" {
            child.handle().wait().await;
        }
        let watchdog = children().into_iter().find(|pid| *pid != leader);
        helper::say(&format!("{leader} {grandchild} {}", watchdog.unwrap_or(0)));
        std::future::pending::<()>().await;
    });
}

/// Kills a helper that has a pair; returns the ids of leader, grandchild and
/// watchdog.
fn kill_parent_of_pair(guard: &str) -> [u32; 3] {
    let mut helper = helper::command("orphans::helper_that_is_killed")
        .env("GUARD", guard)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(helper.stdout.take().unwrap()).lines();
    let ids = said
        .by_ref()
        .map(Result::unwrap)
        .find_map(|line| {
            let ids: Result<Vec<u32>, _> = line.split(' ').map(str::parse).collect();
            <[u32; 3]>::try_from(ids.ok()?).ok()
        })
        .expect("the helper says three ids");
    assert!(runs(ids[1]));
    assert_eq!(state(ids[0]) == Some('Z'), guard == "kept");
    helper.kill().unwrap();
    helper.wait().unwrap();
    ids
}

#[test]
fn a_killed_parent_leaves_nobody() {
    for guard in ["default", "session", "kept", "group", "daemon"] {
        let [leader, grandchild, watchdog] = kill_parent_of_pair(guard);
        assert_ne!(watchdog, 0);
        for pid in [leader, grandchild, watchdog] {
            until("all to be gone", || !runs(pid));
        }
    }
}

#[test]
fn the_signal_alone_reaches_the_leader() {
    let [leader, grandchild, watchdog] = kill_parent_of_pair("signal");
    assert_eq!(watchdog, 0);
    until("the leader to be gone", || !runs(leader));
    assert!(runs(grandchild));
    // It keeps the id of its group taken; all of the group goes.
    let group = rustix::process::Pid::from_raw(i32::try_from(leader).unwrap()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_child_outlives_the_thread_that_started_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let starter = runtime.handle().clone();
    let started = std::thread::spawn(move || {
        let _context = starter.enter();
        sh("echo ready; read _; echo alive").spawn().unwrap()
    });
    let mut child = started.join().unwrap();
    runtime.block_on(async {
        let mut lines = Lines::of(&mut child);
        assert_eq!(lines.next().await, "ready");
        drop(child.take_stdin());
        assert_eq!(lines.next().await, "alive");
        assert!(within("the exit", child.handle().wait()).await.success());
    });
}

#[tokio::test]
async fn a_forgotten_child_is_ended() {
    let mut child = stubborn_pair().spawn().unwrap();
    let pid = child.pid();
    let mut lines = Lines::of(&mut child);
    let grandchild = lines.next_pid().await;
    let handle = child.handle();
    drop(child);
    assert!(handle.exit().is_none() && runs(pid));
    drop(handle);
    // Whoever still reads sees the end.
    assert_eq!(lines.rest().await, "");
    until("the leader to be reaped", || state(pid).is_none());
    until("the grandchild to be gone", || !runs(grandchild));
}

#[test]
fn the_ladder_needs_no_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut child, grandchild) = runtime.block_on(async {
        let mut child = stubborn_pair().spawn().unwrap();
        let grandchild = Lines::of(&mut child).next_pid().await;
        (child, grandchild)
    });
    let pid = child.pid();
    let stdin = child.take_stdin();
    let handle: ChildHandle = child.handle();
    runtime.shutdown_background();
    drop((child, handle));
    until("the leader to be reaped", || state(pid).is_none());
    until("the grandchild to be gone", || !runs(grandchild));
    drop(stdin);
}

/// Starts and ends many children and compares what is open before and after.
#[test]
#[ignore = "a helper"]
fn helper_that_starts_many() {
    if !helper::is_called("orphans::helper_that_starts_many") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        cycle(0).await;
        let before = (descriptors(), threads());
        for n in 0..200 {
            cycle(n).await;
            assert_eq!(children(), [] as [u32; 0], "all children are reaped");
        }
        // Descriptors and threads of a child go right after its exit was told,
        // so some may still be there, now or before.
        until("all to be as before", || {
            descriptors() <= before.0 && threads() <= before.1
        });
    });
    helper::say("nothing leaked");
    std::process::exit(0);
}

/// One child, one of the ways to end it.
async fn cycle(n: usize) {
    let mut child = sh("read _ || :").spawn().unwrap();
    let handle = child.handle();
    let exit = match n % 4 {
        0 => handle.kill_now().await,
        1 => handle.close_and_wait().await,
        2 => {
            drop(child.take_stdin());
            handle.wait().await
        }
        _ => {
            let failed = sh("").with_cwd("/no/such/folder").spawn();
            assert!(failed.is_err());
            handle.kill().await
        }
    };
    assert_eq!(exit.success(), !n.is_multiple_of(4), "{exit:?}");
}

#[test]
fn many_children_leave_no_descriptor_no_zombie_no_thread() {
    assert_eq!(
        helper::run("orphans::helper_that_starts_many"),
        "nothing leaked\n"
    );
}

/// Waits for a child whose status is taken away.
#[test]
#[ignore = "a helper"]
fn helper_that_ignores_its_children() {
    if !helper::is_called("orphans::helper_that_ignores_its_children") {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let exit = runtime.block_on(async {
        let mut statuses = Vec::new();
        for guard in [OrphanGuard::Descendants, OrphanGuard::Group] {
            let child = sh("exit 3").with_orphan_guard(guard).spawn().unwrap();
            let exit = within("the exit", child.handle().wait()).await;
            statuses.push(exit.status().to_string());
        }
        statuses.join("; ")
    });
    helper::say(&exit);
    std::process::exit(0);
}

#[test]
fn a_status_that_was_taken_away_is_no_hang() {
    assert_eq!(
        helper::run_ignoring("CHLD", "orphans::helper_that_ignores_its_children"),
        // A guard above the child keeps the status where nobody takes it away.
        "exit code 3; its status is not known\n"
    );
}
