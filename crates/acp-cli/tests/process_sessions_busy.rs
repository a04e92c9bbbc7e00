//! A session in which a turn runs: others wait, are refused, steer, set and cancel.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use support::{Ended, Run, Running, acp_command};

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn state(&self) -> std::path::PathBuf {
        self.0.path().join("state")
    }

    fn acp(&self, args: &[&str]) -> Run {
        let run = acp_command(args).with_env("XDG_STATE_HOME", self.state());
        run.in_folder(self.0.path())
    }

    fn end(&self, args: &[&str]) -> Ended {
        self.acp(args).end()
    }

    /// Begins a turn of the demo agent that does not end by itself.
    fn waiting(&self, name: &str) -> Running {
        let mut running = self.acp(&["run", "-s", name, "wait"]).start();
        running.wait_some_output();
        running
    }
}

#[track_caller]
fn check(ended: &Ended, code: i32, out: &str) {
    assert_eq!(
        (ended.code, &*ended.out),
        (Some(code), out),
        "{}",
        ended.err
    );
}

#[test]
fn the_second_waits_or_is_refused_and_others_cancel() {
    let project = Project::new();
    check(
        &project.end(&["cancel"]),
        0,
        "nothing to cancel: no turn runs in a kept session here\n",
    );
    let running = project.waiting("one");
    let refused = project.end(&["run", "-s", "one", "--if-busy", "refuse", "echo"]);
    check(&refused, 11, "");
    assert!(
        refused.err.contains("another turn runs in it"),
        "{}",
        refused.err
    );
    let bound = ["run", "-s", "one", "--busy-timeout", "1", "echo"];
    check(&project.end(&bound), 11, "");
    check(&project.end(&["sessions", "delete", "one"]), 11, "");
    let listed = project.end(&["sessions"]).out;
    assert!(listed.contains("running"), "{listed}");

    let mut second = project.acp(&["run", "-s", "one", "earlier"]).start();
    second.wait_for_err("waiting for the turn that runs in the session one");
    check(&project.end(&["cancel"]), 0, "session one: cancelled\n");
    let first = running.end();
    assert_eq!(first.code, Some(130), "{first:?}");
    let second = second.end();
    check(&second, 0, "1. wait\n");
}

#[test]
fn with_several_turns_it_is_said_which_is_cancelled() {
    let project = Project::new();
    let (one, two) = (project.waiting("one"), project.waiting("two"));
    let which = project.end(&["cancel"]);
    check(&which, 2, "");
    assert!(which.err.contains("several run here"), "{}", which.err);
    check(
        &project.end(&["cancel", "-s", "two"]),
        0,
        "session two: cancelled\n",
    );
    assert_eq!(two.end().code, Some(130));
    check(
        &project.end(&["cancel", "--all"]),
        0,
        "session one: cancelled\n",
    );
    assert_eq!(one.end().code, Some(130));
}

#[test]
fn a_turn_that_was_cancelled_by_another_can_be_killed_by_its_own_terminal() {
    let project = Project::new();
    let mut running = project.acp(&["run", "-s", "one", "deaf"]).start();
    running.wait_some_output();
    let cancel = project.acp(&["cancel"]).start();
    running.wait_for_err("cancelling; once more kills the agent");
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(130));
    let said = cancel.end();
    assert_eq!(said.code, Some(0), "{said:?}");
}

#[test]
fn a_setting_reaches_the_turn_that_runs() {
    let project = Project::new();
    let running = project.waiting("one");
    let said = "session one: the mode act, now and before each turn to come\n";
    check(&project.end(&["set", "mode", "act"]), 0, said);
    let wrong = project.end(&["set", "option", "thoughts", "perhaps"]);
    check(&wrong, 2, "");
    assert!(
        wrong.err.contains("the agent offers true, false"),
        "{}",
        wrong.err
    );
    check(&project.end(&["set", "clear"]), 11, "");
    project.end(&["cancel"]);
    running.end();
    let shown = project.end(&["sessions", "show"]).out;
    assert!(shown.contains("set to    the mode act\n"), "{shown}");
}

/// Works until it is told more, and says what.
const STEERED: &str = r#"hear
    answer '{"protocolVersion":1,"_meta":{"steering":{"supported":true,"idleBehaviors":["promptRequired"]}}}'
    hear; answer '{"sessionId":"s"}'; hear; prompt=$id; text 'working\n'
    hear; case $line in *_session/steering*'and more'*) answer '{"outcome":"injected"}'; text 'heard\n';; esac
    id=$prompt; end end_turn; hear"#;

#[test]
fn an_agent_that_takes_it_is_told_more_while_it_works() {
    let project = Project::new();
    let run = |args: &[&str]| project.acp(args).with_agent(STEERED);
    let mut running = run(&["run", "-s", "one", "begin"]).start();
    running.wait_for("working");
    let steered = run(&["run", "-s", "one", "--if-busy", "steer", "and more"]).end();
    check(&steered, 0, "");
    assert!(steered.err.contains("took it"), "{}", steered.err);
    let ended = running.end();
    check(&ended, 0, "heard\n");
    let history = project.end(&["sessions", "history"]).out;
    assert!(
        history.contains("> begin\n> and more\n\nworking\nheard\n"),
        "{history}"
    );
}

#[test]
fn one_that_takes_nothing_is_waited_for() {
    let project = Project::new();
    let running = project.waiting("one");
    let steer = ["run", "-s", "one", "--if-busy", "steer", "earlier"];
    fs::write(project.0.path().join("notes"), "x").unwrap();
    let attached = [&steer[..], &["--attach", "notes", "--busy-timeout", "1"]].concat();
    let attached = project.end(&attached);
    check(&attached, 11, "");
    let why = "what is attached cannot be told while the agent works";
    assert!(attached.err.contains(why), "{}", attached.err);
    let mut second = project.acp(&steer).start();
    let said = second.wait_for_err("waiting for the turn");
    assert!(said.contains("takes nothing more while it works"), "{said}");
    project.end(&["cancel"]);
    running.end();
    check(&second.end(), 0, "1. wait\n");
}

#[test]
fn who_dies_leaves_no_lock_and_no_cancel() {
    let project = Project::new();
    let running = project.waiting("one");
    let mark = running.mark().to_owned();
    running.signal(Signal::KILL);
    support::wait_until_gone(&mark);
    let left = |path: &Path| path.extension().is_some_and(|it| it == "sock");
    let entries = fs::read_dir(project.state().join("acp/sessions")).unwrap();
    assert!(
        entries.map(|it| it.unwrap().path()).any(|it| left(&it)),
        "its socket is left"
    );
    check(
        &project.end(&["cancel"]),
        0,
        "nothing to cancel: no turn runs in a kept session here\n",
    );
    let next = ["run", "-s", "one", "--if-busy", "refuse", "earlier"];
    check(&project.end(&next), 0, "1. wait\n");
}
