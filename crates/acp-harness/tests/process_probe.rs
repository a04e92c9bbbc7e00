//! Versions asked of real children.
#![cfg(any(target_os = "linux", target_os = "macos"))]

use std::future::pending;
use std::path::Path;
use std::time::{Duration, Instant};

use acp_harness::limits::MAX_PROBE_OUTPUT;
use acp_harness::version::{ChildRunner, Probe, ProbeEnd, RunProbe, Version, VersionRejection};
use acp_process::{Environment, Launch};

const MINIMUM: Version = Version::new(1, 0, 0);

/// A run of this script.
fn script(script: &str) -> Launch {
    let environment = Environment::inherited(["PATH"]);
    Launch::new("/bin/sh")
        .with_args(["-c", script])
        .with_environment(environment)
}

async fn probe(text: &str) -> Result<Version, VersionRejection> {
    Probe::new(MINIMUM)
        .with_timeout(PATIENCE)
        .run(&ChildRunner, &script(text), pending())
        .await
}

#[tokio::test]
async fn a_program_tells_its_version() {
    assert_eq!(
        probe("echo warning >&2; echo agent 1.2.3").await,
        Ok(Version::new(1, 2, 3))
    );
}

#[tokio::test]
async fn standard_input_is_closed_and_the_environment_is_what_was_given() {
    // `read` fails at once at the end of input.
    assert_eq!(
        probe(r#"read -r x && exit 1; test -z "$HOME" && echo 2.0.0"#).await,
        Ok(Version::new(2, 0, 0))
    );
}

#[tokio::test]
async fn how_it_failed_is_told_and_never_what_it_wrote() {
    let told = |end: Result<Version, VersionRejection>| end.unwrap_err().to_string();
    assert_eq!(
        told(probe("echo s3cret >&2; echo 1.2.3; exit 3").await),
        "learn a version of at least 1.0.0: exit code 3"
    );
    let command = Launch::new("/no/such/agent");
    let end = Probe::new(MINIMUM)
        .run(&ChildRunner, &command, pending())
        .await;
    let told = told(end);
    assert!(told.contains("\"/no/such/agent\""), "{told}");
}

#[tokio::test]
async fn a_flood_is_kept_in_part() {
    let flood = script(
        "i=0; while [ $i -lt 3000 ]; do echo 'usage: agent [options] [--] files'; i=$((i+1)); done",
    );
    let ProbeEnd::Printed { stdout } = ChildRunner.run(&flood).await else {
        panic!("it ends well");
    };
    assert_eq!(stdout.len(), MAX_PROBE_OUTPUT);
}

#[tokio::test]
async fn one_that_does_not_end_is_given_up_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    let stubborn = format!(
        "trap '' INT TERM; echo $$ > {0}.tmp; mv {0}.tmp {0}; while :; do sleep 1; done",
        pid_file.display()
    );
    // It is given up when it has come to where it stays.
    let begun = Instant::now();
    let stays = until(begun, || pid_file.exists());
    let probe = Probe::new(MINIMUM).with_timeout(PATIENCE);
    let end = probe.run(&ChildRunner, &script(&stubborn), stays).await;
    assert_eq!(end, Err(VersionRejection::Cancelled { minimum: MINIMUM }));
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    until(begun, || rustix::process::test_kill_process(pid).is_err()).await;
}

/// How long a test that hangs may take.
const PATIENCE: Duration = Duration::from_secs(50);

/// Waits for something outside of this process to come true.
async fn until(begun: Instant, is_true: impl Fn() -> bool) {
    while !is_true() {
        assert!(begun.elapsed() < PATIENCE, "it does not come true");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_directory_is_no_program() {
    let end = ChildRunner.run(&Launch::new(Path::new("/"))).await;
    assert!(matches!(end, ProbeEnd::Failed { .. }), "{end:?}");
}
