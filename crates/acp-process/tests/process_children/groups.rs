//! Children as a terminal wants them: one output, nothing to read, background jobs.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;

use acp_process::{Child, ChildStdout, ExitStatus, KillLadder};

use crate::support::{Folder, Lines, assert_reaped, group_runs, runs, sh, state, until, within};

#[tokio::test]
async fn merged_output_keeps_the_order_of_writing() {
    let script = "echo 1; echo 2 >&2; echo 3; echo 4 >&2";
    let mut child = sh(script).with_merged_output().spawn().unwrap();
    assert_eq!(Lines::of(&mut child).rest().await, "1\n2\n3\n4\n");
    let exit = within("the exit", child.handle().wait()).await;
    assert_eq!(exit.stderr_tail(), "");
    assert_eq!(child.handle().stderr_activity().bytes, 0);
}

#[tokio::test]
async fn a_child_without_stdin_reads_the_end_at_once() {
    let script = "read line; echo $?; readlink /proc/self/fd/0";
    let mut child = sh(script).with_null_stdin().spawn().unwrap();
    assert!(child.take_stdin().is_none());
    assert_eq!(Lines::of(&mut child).rest().await, "1\n/dev/null\n");
}

#[tokio::test]
async fn a_child_starts_in_the_directory_that_was_opened() {
    let folder = Folder::new();
    let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
    std::fs::create_dir(&before).unwrap();
    let handle = OwnedFd::from(std::fs::File::open(&before).unwrap());
    std::fs::rename(&before, &after).unwrap();
    std::fs::create_dir(&before).unwrap();
    let launch = sh("pwd -P").with_cwd(&before).with_cwd_handle(handle);
    let mut child = launch.spawn().unwrap();
    let after = after.canonicalize().unwrap();
    let said = Lines::of(&mut child).rest().await;
    assert_eq!(said.trim_end(), after.to_str().unwrap());
}

/// Leaves a background job behind that holds the output, and says its id.
const JOB: &str = "trap '' HUP INT TERM; sleep 1000 & echo $!; exit 5";

async fn with_a_job() -> (Child, Lines, u32) {
    let mut child = sh(JOB).with_kept_group().spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    let job = lines.next_pid().await;
    (child, lines, job)
}

#[tokio::test]
async fn a_kept_group_outlives_its_leader_until_it_is_ended() {
    let (child, mut lines, job) = with_a_job().await;
    let exit = within("the exit of the leader", child.handle().wait()).await;
    assert_eq!(exit.status(), ExitStatus::Code(5));
    assert!(runs(job), "the job lives on");
    assert_eq!(state(child.pid()), Some('Z'), "the group's id stays taken");

    let again = within("the end", child.handle().kill()).await;
    assert_eq!(again.status(), ExitStatus::Code(5));
    within("the end of the group", child.handle().gone()).await;
    assert_reaped(child.pid());
    until("the end of the job", || !runs(job));
    assert_eq!(lines.rest().await, "");
}

#[tokio::test]
async fn a_kept_group_goes_with_the_last_handle() {
    let (child, lines, job) = with_a_job().await;
    let pid = child.pid();
    within("the exit of the leader", child.handle().wait()).await;
    drop((child, lines));
    until("the end of the group", || !group_runs(pid) && !runs(job));
    until("the reaping", || state(pid).is_none());
}

#[tokio::test]
async fn ending_a_kept_group_with_its_leader_kills_both() {
    let script =
        "trap '' INT TERM; (trap '' INT TERM; sleep 1000) & echo $!; while :; do sleep 1000; done";
    let ladder = KillLadder::default()
        .with_abort_eof_grace(std::time::Duration::ZERO)
        .with_interrupt_grace(std::time::Duration::ZERO)
        .with_terminate_grace(std::time::Duration::ZERO);
    let launch = sh(script).with_kept_group().with_kill_ladder(ladder);
    let mut child = launch.spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    let job = lines.next_pid().await;
    let exit = within("the exit", child.handle().kill()).await;
    assert_eq!(exit.status(), ExitStatus::Signal(9));
    assert_eq!(exit.status().signal_name(), Some("SIGKILL"));
    within("the end of the group", child.handle().gone()).await;
    assert_reaped(child.pid());
    until("the end of the job", || {
        !runs(job) && !group_runs(child.pid())
    });
}

#[tokio::test]
async fn what_was_written_before_the_exit_is_there_without_waiting() {
    let script = "sleep 1000 & echo $!; echo last words";
    let mut child = sh(script).with_kept_group().spawn().unwrap();
    let mut stdout = child.take_stdout().unwrap();
    within("the exit", child.handle().wait()).await;
    let words = held(&mut stdout);
    assert!(words.ends_with("\nlast words\n"), "{words:?}");
    let nothing = stdout.try_read(&mut [0; 8]).unwrap_err();
    assert_eq!(
        nothing.kind(),
        ErrorKind::WouldBlock,
        "the job holds the pipe"
    );
}

fn held(stdout: &mut ChildStdout) -> String {
    let mut buffer = [0; 256];
    let count = stdout.try_read(&mut buffer).unwrap();
    String::from_utf8(buffer[..count].to_vec()).unwrap()
}
