//! `--ask`: a person at a terminal answers what the agent asks.
#![cfg(target_os = "linux")]

mod support;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use support::{PRELUDE, acp_alone};

/// Both ends of a terminal.
fn terminal() -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    (master.into(), slave)
}

/// Runs on a terminal: each time the first text shows, the second is typed. Gives the exit
/// code, standard output, and what was on the screen.
fn run(args: &[&str], typed: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let all = ["--agent", "demo"].iter().chain(args);
    run_agent(&all.copied().collect::<Vec<_>>(), typed)
}

/// The same with an agent that is named in the arguments.
fn run_agent(args: &[&str], typed: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let (mut master, slave) = terminal();
    let child = Command::new(env!("CARGO_BIN_EXE_acp"))
        .args(["run", "--ask"])
        .args(args)
        .env("XDG_CONFIG_HOME", "/no/such/folder")
        .stdin(slave.try_clone().unwrap())
        .stderr(slave)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    let (_over, ended) = mpsc::channel::<()>();
    // A question that is never asked must not keep the tests waiting.
    thread::spawn(move || {
        if ended.recv_timeout(Duration::from_secs(30)) == Err(mpsc::RecvTimeoutError::Timeout) {
            kill_process(pid, Signal::KILL).unwrap();
        }
    });
    let mut screen = String::new();
    let mut from = 0;
    for (shown, line) in typed {
        while !screen[from..].contains(shown) {
            let mut bytes = [0; 4096];
            let read = master.read(&mut bytes);
            let read = read.unwrap_or_else(|_| panic!("no {shown:?} came: {screen}"));
            screen.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        from = screen.len();
        master.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), out, screen)
}

#[test]
fn a_permission_is_given_by_a_person() {
    let (code, out, screen) = run(&["ask"], &[("Which?", "1")]);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("The agent asks: edit"), "{screen}");
    let (_, refused, _) = run(&["ask"], &[("Which?", "what"), ("One of the numbers", "")]);
    assert_ne!(out, refused);
    // What the rules allow is not asked about.
    let (code, allowed, screen) = run(&["--allow", "all", "ask"], &[]);
    assert_eq!((code, allowed), (Some(0), out), "{screen}");
}

#[test]
fn a_person_allows_a_protected_write_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let path = folder.join(".git/config");
    let path = path.to_str().unwrap();
    let script = format!(
        r#"{PRELUDE}start; prompt=$id
        say '{{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":{{"sessionId":"s","path":"{path}","content":"evil"}}}}'
        hear; text done; id=$prompt; end end_turn; hear"#
    );
    let cwd = folder.to_str().unwrap();
    let args = [
        "--files", "write", "--cwd", cwd, "x", "--", "/bin/sh", "-c", &script,
    ];
    let (code, _, screen) = run_agent(&args, &[("[y/N]", "n")]);
    assert_eq!(code, Some(0), "{screen}");
    assert!(
        screen.contains(path) && screen.contains("is protected"),
        "{screen}"
    );
    assert!(!Path::new(path).exists());
    let (code, _, screen) = run_agent(&args, &[("[y/N]", "y")]);
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "evil");
}

#[test]
fn a_question_is_answered_by_a_person() {
    let (code, out, screen) = run(&["question"], &[("> ", "2")]);
    assert_eq!(code, Some(0), "{screen}{out}");
    assert!(out.starts_with("I water the "), "{out}{screen}");
    let (_, declined, _) = run(&["question"], &[("> ", "!")]);
    assert_eq!(declined, "You do not want to say.\n");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let ended = acp_alone(&["--ask", "hello"]).end();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.err.starts_with("acp: --ask needs a terminal"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("--allow"), "{}", ended.err);
}
