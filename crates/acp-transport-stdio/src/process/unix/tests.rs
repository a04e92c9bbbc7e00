//! What only shows from inside: the way without an exit descriptor.

use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::observer::{Means, Observer, Sighting};
use super::spawn_observed;
use crate::process::{Child, ExitStatus, KillLadder, Launch, Rung};

fn asked(script: &str, ladder: KillLadder) -> Child {
    let launch = Launch::new("/bin/sh")
        .with_args(["-c", script])
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
#[expect(clippy::zombie_processes, reason = "what is tested reaps it")]
fn looking_does_not_reap() {
    for means in [Means::Best, Means::Asking] {
        let child = std::process::Command::new("/bin/sh")
            .args(["-c", "exit 4"])
            .spawn()
            .unwrap();
        let observer = Observer::new(super::spawner::pid_of(&child).unwrap(), means);
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
