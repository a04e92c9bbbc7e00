//! `--sandbox`, and what is told of processes that an agent detaches.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::Write;

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
