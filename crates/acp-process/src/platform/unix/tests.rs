//! What only shows from inside: the way without an exit descriptor.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;

use super::child::Shared;
use super::observer::{Means, Observer, Sighting};
use super::pipes::Pipes;
use super::supervised::{Ready, SupervisedChild};
use super::{spawn_observed, spawner};
use crate::stderr::StderrTail;
use crate::{Child, ExitStatus, KillLadder, Launch, OrphanGuard, Rung};

fn asked(script: &str, ladder: KillLadder) -> Child {
    let launch = Launch::new("/bin/sh")
        .with_args(["-c", script])
        // The guard above a child needs the descriptor.
        .with_orphan_guard(OrphanGuard::Group)
        .with_kill_ladder(ladder);
    launch.validate().unwrap();
    spawn_observed(&launch, Means::Asking).unwrap()
}

#[tokio::test]
async fn an_exit_is_seen_by_asking() {
    let child = asked("exit 5", KillLadder::default());
    let exit = child.handle().wait().await;
    assert_eq!(exit.status(), ExitStatus::Code(5));
    assert_eq!(exit.reached(), None);
}

#[tokio::test]
async fn the_ladder_works_by_asking() {
    let ladder = KillLadder::default()
        .with_abort_eof_grace(Duration::ZERO)
        .with_interrupt_grace(Duration::from_millis(30))
        .with_terminate_grace(Duration::from_millis(30));
    let script = "trap '' INT TERM; echo ready; while :; do :; done";
    let mut child = asked(script, ladder);
    let mut ready = [0; 6];
    let mut stdout = child.take_stdout().unwrap();
    stdout.read_exact(&mut ready).await.unwrap();
    let exit = child.handle().kill().await;
    assert_eq!(exit.status(), ExitStatus::Signal(9));
    assert_eq!(exit.reached(), Some(Rung::Kill));
}

#[test]
fn looking_does_not_reap() {
    for means in [Means::Best, Means::Asking] {
        let mut command = std::process::Command::new("/bin/sh");
        let pid = spawner::fork(command.args(["-c", "exit 4"])).unwrap();
        let observer = Observer::new(pid, means);
        assert_eq!(
            observer.readiness().is_some(),
            means == Means::Best && cfg!(target_os = "linux")
        );
        while observer.look().unwrap() == Sighting::Alive {
            std::thread::yield_now();
        }
        assert_eq!(observer.look().unwrap(), Sighting::Exited);
        assert_eq!(observer.reap(), Some(ExitStatus::Code(4)));
        assert_eq!(observer.look().unwrap(), Sighting::Gone);
        assert_eq!(observer.reap(), Some(ExitStatus::Unknown));
    }
}

#[tokio::test]
async fn all_that_was_said_before_the_exit_is_kept() {
    let launch = Launch::new("/bin/sh").with_args(["-c", "printf 0123456789abcdef >&2"]);
    let pipes = Pipes::open(&launch).unwrap();
    let ours = pipes.ours;
    let started = spawner::start(&launch, pipes.theirs, Means::Best).unwrap();
    let tail = StderrTail::new(64, None);
    let shared = Arc::new(Shared::new(started.leader.pid(), &ours, tail));
    let (mut child, exit) = SupervisedChild::new(started, shared, ours.supervised, None, &launch);

    // A chunk of three bytes: it takes many reads, though only one was asked for.
    let ready = Ready {
        exit: true,
        stderr: false,
        guard: true,
    };
    while child
        .advance(Instant::now(), ready, &mut [0; 3])
        .is_continue()
    {
        std::thread::yield_now();
    }
    let exit = exit.borrow().clone().unwrap();
    assert_eq!(exit.stderr_tail(), "0123456789abcdef");
    assert!(exit.success());
}
