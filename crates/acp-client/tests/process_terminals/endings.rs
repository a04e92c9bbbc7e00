//! How commands end, and that nothing is left of them.

use std::future::pending;
use std::time::{Duration, Instant};

use acp_client::{ServeError, ServeTerminals};
use acp_protocol::v1::{
    ReleaseTerminalRequest, TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest,
};

use crate::support::{Place, Terminals, runs, sh, state, until};

/// A command that ends for no signal but the last, with a job that does not either.
const STUBBORN: &str = "trap '' INT TERM HUP; (trap '' INT TERM HUP; sleep 1000) & echo $$; while :; do sleep 1000; done";

async fn is_unknown(terminals: &Terminals, id: &TerminalId) -> bool {
    let output = TerminalOutputRequest::new("s", id.clone());
    let output = terminals.0.output(output).await;
    let wait = WaitForTerminalExitRequest::new("s", id.clone());
    let wait = terminals.0.wait_for_exit(wait).await;
    let release = ReleaseTerminalRequest::new("s", id.clone());
    let release = terminals.0.release(release).await;
    matches!(output, Err(ServeError::NoSuchTerminal))
        && matches!(wait, Err(ServeError::NoSuchTerminal))
        && matches!(release, Err(ServeError::NoSuchTerminal))
}

#[tokio::test]
async fn a_wait_ends_with_the_command_though_a_job_holds_its_output() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals
        .sh("(trap '' HUP; while ! [ -e go ]; do sleep 0.01; done; echo later; exec sleep 1000) & echo now; exit 3")
        .await;
    assert_eq!(terminals.wait(&id).await, "3");
    let told = (String::from("now\n"), false, Some(String::from("3")));
    assert_eq!(terminals.output(&id).await, told);
    assert!(!place.running().is_empty(), "the job lives on");
    // What it writes still comes.
    std::fs::write(place.path().join("go"), "").unwrap();
    terminals.says(&id, "now\nlater\n").await;
    terminals.release(&id).await;
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn everything_written_before_the_exit_is_there_after_it() {
    let place = Place::new();
    let terminals = place.terminals().await;
    // Held open by a job, so that the end of the output does not tell.
    let script = "sleep 1000 & i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done";
    for _ in 0..10 {
        let id = terminals.sh(script).await;
        terminals.wait(&id).await;
        let (output, _, _) = terminals.output(&id).await;
        assert!(output.ends_with("line 1999\n"), "{}", output.len());
        assert_eq!(output.lines().count(), 2000);
        terminals.release(&id).await;
    }
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn a_wait_ends_while_a_job_floods_the_output() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals
        .sh("while :; do echo noise; done & while ! [ -e go ]; do sleep 0.01; done; exit 4")
        .await;
    terminals.line(&id).await;
    std::fs::write(place.path().join("go"), "").unwrap();
    assert_eq!(terminals.wait(&id).await, "4");
    terminals.release(&id).await;
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn a_killed_command_can_still_be_asked_about() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals.sh("echo begun; exec sleep 1000").await;
    terminals.line(&id).await;
    assert_eq!(terminals.output(&id).await.2, None, "it runs");
    terminals.kill(&id).await;
    let told = (String::from("begun\n"), false, Some(String::from("SIGINT")));
    assert_eq!(terminals.output(&id).await, told);
    assert_eq!(terminals.wait(&id).await, "SIGINT");
    terminals.kill(&id).await;
    assert_eq!(terminals.wait(&id).await, "SIGINT");
    terminals.release(&id).await;
    assert!(is_unknown(&terminals, &id).await);
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn a_command_may_put_its_things_in_order() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals
        .sh("trap '' INT; trap 'echo tidy; exit 5' TERM; echo ready; while :; do sleep 1000 & wait; done")
        .await;
    terminals.line(&id).await;
    terminals.kill(&id).await;
    let told = (
        String::from("ready\ntidy\n"),
        false,
        Some(String::from("5")),
    );
    assert_eq!(terminals.output(&id).await, told);
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn the_stubborn_die_too() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals.sh(STUBBORN).await;
    let leader = terminals.pid(&id).await;
    until("the job", || place.running().len() >= 2).await;
    let since = Instant::now();
    terminals.kill(&id).await;
    assert!(
        since.elapsed() >= Duration::from_secs(1),
        "it was asked twice before"
    );
    assert_eq!(terminals.wait(&id).await, "SIGKILL");
    assert_eq!(state(leader), None, "it is reaped");
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn killing_a_command_that_has_ended_kills_its_job() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals.sh("trap '' INT TERM; sleep 1000 & echo $!").await;
    let job = terminals.pid(&id).await;
    assert_eq!(terminals.wait(&id).await, "0");
    assert!(runs(job));
    terminals.kill(&id).await;
    until("the end of the job", || !runs(job)).await;
    assert_eq!(terminals.output(&id).await.2.as_deref(), Some("0"));
}

#[tokio::test]
async fn a_release_kills_and_wakes_who_waits() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals.sh(STUBBORN).await;
    let leader = terminals.pid(&id).await;
    let (exit, ()) = tokio::join!(terminals.wait(&id), terminals.release(&id));
    assert_eq!(exit, "SIGKILL");
    assert_eq!(state(leader), None, "it is reaped");
    assert!(is_unknown(&terminals, &id).await);
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn a_release_that_nobody_waits_for_kills_too() {
    let place = Place::new();
    let terminals = place.terminals().await;
    let id = terminals.sh(STUBBORN).await;
    terminals.pid(&id).await;
    {
        let release = terminals
            .0
            .release(ReleaseTerminalRequest::new("s", id.clone()));
        tokio::select! {
            biased;
            _ = release => panic!("a stubborn command takes its time"),
            () = async {} => {}
        }
    }
    place.wait_until_none_runs().await;
    assert!(is_unknown(&terminals, &id).await);
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_is_dropped() {
    let place = Place::new();
    let terminals = place.terminals().await;
    for _ in 0..4 {
        let id = terminals.sh(STUBBORN).await;
        terminals.pid(&id).await;
        let id = terminals
            .sh("trap '' HUP; sleep 1000 & echo $!; exit 0")
            .await;
        terminals.pid(&id).await;
        terminals.wait(&id).await;
    }
    let running = place.running();
    assert!(running.len() >= 8 + 4, "{running:?}");
    drop(terminals);
    place.wait_until_none_runs().await;
    until("the reaping", || {
        running
            .iter()
            .all(|pid| state(*pid).is_none_or(|state| state != 'Z'))
    })
    .await;
}

#[tokio::test]
async fn a_command_whose_start_nobody_waits_for_is_ended() {
    let place = Place::new();
    let consent = place.options().with_consent(|_| pending());
    let terminals = place.terminals_by(consent).await;
    let create = terminals.0.create(sh("touch ran; exec sleep 1000"));
    let given_up = tokio::time::timeout(Duration::from_millis(50), create).await;
    assert!(given_up.is_err());
    assert_eq!(place.running(), [0; 0]);

    // At every moment of the start.
    let terminals = place.terminals().await;
    for polls in 0..12 {
        let mut create = Box::pin(terminals.0.create(sh("exec sleep 1000")));
        let mut created = None;
        for _ in 0..polls {
            tokio::select! {
                biased;
                answer = &mut create, if created.is_none() => created = Some(answer.unwrap()),
                () = tokio::time::sleep(Duration::from_micros(500)) => {}
            }
        }
        drop(create);
        if let Some(created) = created {
            terminals.release(&created.terminal_id).await;
        }
    }
    place.wait_until_none_runs().await;
    assert!(!place.path().join("ran").exists());
}

#[test]
fn nothing_is_left_when_the_runtime_goes_first() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let terminals = runtime.block_on(async {
        let terminals = place.terminals().await;
        let id = terminals.sh(STUBBORN).await;
        terminals.pid(&id).await;
        terminals
    });
    drop(runtime);
    assert!(!place.running().is_empty());
    drop(terminals);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(place.wait_until_none_runs());
}
