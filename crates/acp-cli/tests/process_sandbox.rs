//! `--sandbox`, and what is told of processes that an agent detaches.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::Write;
use std::path::Path;

use support::{acp, acp_alone};

#[expect(clippy::disallowed_methods, reason = "a test says that it is skipped")]
fn skip(why: &str) {
    let note = format!("SKIPPED: no sandbox on this machine: {why}\n");
    std::io::stderr().write_all(note.as_bytes()).unwrap();
}

/// Tells by its text whether it can read a key of the user, and writes a file.
const NOSY: &str = r#"start
    if cat "$HOME/.ssh/id" >&2; then text leaked; else text hidden; fi
    echo made >made; end end_turn; hear"#;

#[test]
fn an_agent_is_held_to_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap().join("home");
    let project = home.join("project");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::create_dir_all(&project).unwrap();
    fs::write(home.join(".ssh/id"), "a key").unwrap();
    let run = |args: &[&str]| {
        acp(args, NOSY)
            .in_folder(&project)
            .with_env("HOME", home.to_str().unwrap())
            .end()
    };
    assert_eq!(run(&["x"]).out, "leaked\n");
    fs::remove_file(project.join("made")).unwrap();
    for flag in ["--sandbox", "--sandbox=offline"] {
        let ended = run(&[flag, "x"]);
        if ended.code != Some(0) && std::env::var_os("CI").is_none_or(|ci| ci != "true") {
            return skip(&ended.err);
        }
        assert_eq!(ended.out, "hidden\n", "{flag}: {}", ended.err);
        assert_eq!(fs::read_to_string(project.join("made")).unwrap(), "made\n");
        fs::remove_file(project.join("made")).unwrap();
    }
    let wide = acp_alone(&["--sandbox", "x"])
        .in_folder(&home)
        .with_env("HOME", home.to_str().unwrap())
        .end();
    assert!(wide.err.contains("it holds the home folder"), "{wide:?}");
}

/// Asks for a command that reads a key of the user, and says how that ended.
fn commanding(key: &Path) -> String {
    format!(
        r#"start; prompt=$id
        say '{{"jsonrpc":"2.0","id":7,"method":"terminal/create","params":{{"sessionId":"s","command":"sh","args":["-c","echo made >made; exec cat {}"]}}}}'
        hear; terminal=$(expr "$line" : '.*"terminalId":"\([^"]*\)"')
        say "{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"terminal/wait_for_exit\",\"params\":{{\"sessionId\":\"s\",\"terminalId\":\"$terminal\"}}}}"
        hear; case $line in *'"exitCode":0'*) text leaked;; *'"exitCode":1'*) text hidden;; *) text "$line";; esac
        id=$prompt; end end_turn; hear"#,
        key.display()
    )
}

#[test]
fn commands_of_an_agent_are_held_too() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap().join("home");
    let project = home.join("project");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::create_dir_all(&project).unwrap();
    fs::write(home.join(".ssh/id"), "a key").unwrap();
    let run = |args: &[&str]| {
        acp(args, &commanding(&home.join(".ssh/id")))
            .in_folder(&project)
            .with_env("HOME", home.to_str().unwrap())
            .end()
    };
    assert_eq!(run(&["--terminals", "x"]).out, "leaked\n");
    for flag in ["--sandbox", "--sandbox=offline"] {
        fs::remove_file(project.join("made")).unwrap();
        let ended = run(&["--terminals", flag, "x"]);
        if ended.code != Some(0) && std::env::var_os("CI").is_none_or(|ci| ci != "true") {
            return skip(&ended.err);
        }
        assert_eq!(ended.out, "hidden\n", "{flag}: {}", ended.err);
        assert_eq!(fs::read_to_string(project.join("made")).unwrap(), "made\n");
    }
}

#[test]
fn processes_that_an_agent_detached_are_ended_and_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"start; (setsid sh -c 'trap "" TERM; : >ready; exec sleep 1000' >/dev/null 2>&1 &)
        until [ -e ready ]; do :; done; text done; end end_turn; hear"#;
    let ended = acp(&["x"], script).in_folder(folder.path()).end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let note = "the agent had detached 1 process; ended with the agent";
    assert!(ended.err.contains(note), "{}", ended.err);
}
