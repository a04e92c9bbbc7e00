//! Children with a terminal of their own.

use acp_process::{Launch, TerminalSize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{Lines, assert_reaped, field_of_stat, group_runs, runs, sh, until, within};

fn on_terminal(script: &str) -> Launch {
    sh(script).with_terminal(TerminalSize::default())
}

#[tokio::test]
async fn all_three_streams_are_a_terminal_of_the_size_that_was_said() {
    let script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo told >&2 && tty";
    let launch = sh(script).with_terminal(TerminalSize::new(132, 43));
    let mut child = launch.spawn().unwrap();
    let said = Lines::of(&mut child).rest().await;
    let exit = within("the exit", child.handle().wait()).await;
    assert!(exit.success(), "{exit:?}");
    assert!(said.starts_with("43 132\r\ntold\r\n/dev/pts/"), "{said:?}");
    assert_eq!(exit.stderr_tail(), "");
}

#[tokio::test]
async fn it_leads_a_session_that_the_terminal_controls() {
    const GROUP: usize = 4;
    const SESSION: usize = 5;
    const TERMINAL: usize = 6;
    let mut child = on_terminal("stty -echo; read -r line; echo got $line")
        .spawn()
        .unwrap();
    let pid = child.pid();
    for field in [GROUP, SESSION] {
        assert_eq!(field_of_stat(pid, field), pid.to_string());
    }
    assert_ne!(field_of_stat(pid, TERMINAL), "0");
    let own = field_of_stat(std::process::id(), TERMINAL);
    assert_ne!(field_of_stat(pid, TERMINAL), own, "ours is not touched");
    let mut stdin = child.take_stdin().unwrap();
    stdin.write_all(b"a word\n").await.unwrap();
    let said = Lines::of(&mut child).rest().await;
    assert!(said.ends_with("got a word\r\n"), "{said:?}");
    assert!(within("the exit", child.handle().wait()).await.success());
}

#[tokio::test]
async fn what_is_typed_can_interrupt_it() {
    let mut child = on_terminal("echo ready; exec sleep 1000").spawn().unwrap();
    let mut lines = Lines::of(&mut child);
    assert_eq!(lines.next().await, "ready\r");
    let mut stdin = child.take_stdin().unwrap();
    stdin.write_all(b"\x03").await.unwrap();
    let exit = within("the exit", child.handle().wait()).await;
    assert_eq!(exit.status().signal_name(), Some("SIGINT"));
}

#[tokio::test]
async fn nothing_of_its_group_is_left_however_it_ends() {
    // One that ends by itself, and leaves somebody behind who does not care for hang-ups.
    let mut child = on_terminal("trap '' HUP INT TERM; sleep 1000 & echo $!")
        .spawn()
        .unwrap();
    let left = Lines::of(&mut child).next().await;
    let left: u32 = left.trim_end().parse().unwrap();
    within("the exit", child.handle().wait()).await;
    until("the end of who was left", || !runs(left));
    assert_reaped(child.pid());

    // One that has to be killed.
    let mut child = on_terminal("trap '' HUP INT TERM; sleep 1000 & echo $!; wait; wait")
        .spawn()
        .unwrap();
    let (pid, handle) = (child.pid(), child.handle());
    Lines::of(&mut child).next().await;
    within("the kill", handle.kill_now()).await;
    until("the end of the group", || !group_runs(pid));

    // One that nobody holds any more.
    let mut child = on_terminal("sleep 1000 & echo $!; wait").spawn().unwrap();
    let pid = child.pid();
    Lines::of(&mut child).next().await;
    drop(child);
    until("the end of the group", || !group_runs(pid));
}

#[tokio::test]
async fn what_it_said_last_is_read_to_the_end() {
    // More than a terminal holds at a time, and an exit right behind it.
    let mut child = on_terminal("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done")
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stdout = child.take_stdout().unwrap();
    within("the end", stdout.read_to_string(&mut said))
        .await
        .unwrap();
    assert_eq!(said.lines().count(), 2000);
    assert!(said.ends_with("line 1999\r\n"));
    assert!(within("the exit", child.handle().wait()).await.success());
}
