//! Sessions that go on over several runs: what is remembered, by whom, and what is told.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::{Ended, Run, acp_command, wait_until_gone};

/// A repository, and a place for what is kept.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("project/.git")).unwrap();
        fs::create_dir_all(dir.path().join("project/src")).unwrap();
        Self { dir }
    }

    fn acp(&self, args: &[&str]) -> Run {
        let state = self.dir.path().join("state");
        let run = acp_command(args).with_env("XDG_STATE_HOME", state);
        run.in_folder(&self.dir.path().join("project"))
    }

    /// Runs to a good end.
    #[track_caller]
    fn good(&self, args: &[&str]) -> Ended {
        let ended = self.acp(args).end();
        assert_eq!(ended.code, Some(0), "{args:?}: {ended:?}");
        ended
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.good(args).out).unwrap()
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.path().join("state/acp/sessions")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let of_kind = |path: &PathBuf| path.extension().is_some_and(|it| it == extension);
        paths.filter(of_kind).collect()
    }
}

fn events(ended: &Ended) -> Vec<Value> {
    let lines = ended.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[track_caller]
fn kept(ended: &Ended) -> Value {
    let mut events = events(ended).into_iter();
    events.find(|event| event["event"] == "kept").unwrap()
}

#[test]
fn the_next_run_goes_on() {
    let project = Project::new();
    let first = project.good(&["run", "-s", "one", "echo", "--agent", "demo"]);
    assert!(
        first.err.contains("[acp] session one: begun\n"),
        "{}",
        first.err
    );
    let second = project.good(&["run", "--session", "one", "earlier"]);
    assert_eq!(second.out, "1. echo\n");
    assert!(
        second.err.contains("[acp] session one: resumed\n"),
        "{}",
        second.err
    );
    // The last one, from anywhere in the repository.
    let below = project.dir.path().join("project/src");
    let third = project.acp(&["run", "--continue", "--json", "earlier"]);
    let third = third.in_folder(&below).end();
    let expected = json!({"v": 1, "event": "kept", "name": "one", "agent": "demo",
        "opened": "resumed", "handedOn": 0, "refusal": null});
    assert_eq!(kept(&third), expected);
    let session = events(&third)[0].clone();
    assert_eq!(session["event"], "session");
    let works_in = project.dir.path().canonicalize().unwrap().join("project");
    assert_eq!(session["cwd"], works_in.to_str().unwrap());
    // Another name is another session, and one-shot runs are none.
    assert_eq!(
        project.good(&["run", "-s", "two", "earlier"]).out,
        "There are no earlier prompts.\n"
    );
    project.good(&["run", "echo"]);
    let listed = project.json(&["sessions", "list", "--json"]);
    let names: Vec<_> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// Says what it is asked to a file, and goes on in sessions as its first argument says.
const FORGETFUL: &str = r#"
    while hear; do case $line in
    *'"initialize"'*) answer "{\"protocolVersion\":1,\"agentCapabilities\":$CAPS}";;
    *'"session/new"'*) answer "{\"sessionId\":\"s$$\"}";;
    *'"session/load"'*|*'"session/resume"'*) $REOPEN;;
    *'"session/prompt"'*) printf '%s\n' "$line" >>"$ASKED"; update=$id
        sid=${line#*\"sessionId\":\"}; sid=${sid%%\"*}
        say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"$sid\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"answer\"}}}}"
        id=$update; end end_turn;;
    esac; done"#;

#[test]
fn what_the_agent_forgot_is_handed_on() {
    for (caps, reopen, opened, refusal) in [
        ("{}", "refuse x", "handed_on", Value::Null),
        ("{\"loadSession\":true}", "answer {}", "loaded", Value::Null),
        (
            "{\"loadSession\":true,\"sessionCapabilities\":{\"resume\":{}}}",
            "refuse {\"code\":-32002,\"message\":\"no-such-session\"}",
            "handed_on",
            "no-such-session".into(),
        ),
    ] {
        let project = Project::new();
        let asked = project.dir.path().join("asked");
        let run = |prompt: &str| {
            let run = project
                .acp(&["run", "-s", "one", "--json", prompt])
                .with_agent(FORGETFUL);
            let run = run.with_env("CAPS", caps).with_env("REOPEN", reopen);
            let ended = run.with_env("ASKED", &asked).end();
            assert_eq!(ended.code, Some(0), "{ended:?}");
            ended
        };
        assert_eq!(kept(&run("first")).get("opened"), Some(&"begun".into()));
        let second = run("second");
        let messages = if opened == "handed_on" { 2 } else { 0 };
        let told = kept(&second);
        assert_eq!(
            (&told["opened"], &told["handedOn"], &told["refusal"]),
            (&opened.into(), &messages.into(), &refusal)
        );
        let prompts = fs::read_to_string(&asked).unwrap();
        let last: Value = serde_json::from_str(prompts.lines().last().unwrap()).unwrap();
        let text = last["params"]["prompt"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("second"), "{text}");
        let history = "user:\n> first\nagent:\n> answer\n";
        assert_eq!(text.contains(history), opened == "handed_on", "{text}");
        let line = second
            .err
            .lines()
            .find(|line| line.contains("session one"))
            .unwrap();
        assert_eq!(
            line.contains("told the last 2 messages"),
            opened == "handed_on",
            "{line}"
        );
        // The user's own words are kept, not what was handed on with them.
        let history = project.json(&["sessions", "history", "--json"]);
        let prompts: Vec<_> = history["turns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| (&turn["prompt"]["text"], &turn["report"]["text"]))
            .collect();
        let answer = &Value::from("answer");
        assert_eq!(
            prompts,
            [(&"first".into(), answer), (&"second".into(), answer)]
        );
        let count = project.json(&["sessions", "show", "--json"])["former"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(count, usize::from(opened == "handed_on"));
    }
}

#[test]
fn a_session_that_is_asked_for_by_its_id_is_that_or_none() {
    let project = Project::new();
    project.good(&["run", "-s", "one", "echo"]);
    let id = project.json(&["sessions", "show", "one", "--json"])["sessionId"].clone();
    project.good(&["run", "-s", "one", "--new", "echo new"]);
    assert_eq!(
        project.good(&["run", "-s", "one", "earlier"]).out,
        "1. echo new\n"
    );
    let back = project.good(&["run", "--resume", id.as_str().unwrap(), "earlier"]);
    assert_eq!(back.out, "1. echo\n");
    assert_eq!(
        project.json(&["sessions", "show", "--json"])["sessionId"],
        id
    );
    let below = project.dir.path().join("project/src");
    let unknown = project.acp(&["run", "-s", "one", "--resume", "nobody", "echo"]);
    let unknown = unknown.in_folder(&below).end();
    assert_eq!(unknown.code, Some(10), "{}", unknown.err);
    let none = project
        .acp(&["run", "-s", "two", "--resume", "nobody", "echo"])
        .end();
    assert_eq!(
        (none.code, none.out.as_str()),
        (Some(10), ""),
        "{}",
        none.err
    );
    assert!(
        none.err.contains("there is no such session"),
        "{}",
        none.err
    );
    assert_eq!(project.files("json").len(), 1, "nothing is kept of it");
    let history = project.good(&["sessions", "history", "one"]).out;
    assert!(
        history.contains("> echo\n") && history.contains("(begun anew)"),
        "{history}"
    );
}

#[test]
fn what_is_set_holds_for_turns_to_come() {
    let project = Project::new();
    project.good(&["run", "-s", "one", "echo"]);
    let set = project.good(&["set", "mode", "act", "--session", "one"]);
    assert_eq!(
        set.out,
        "session one: the mode act, before each turn from now on\n"
    );
    project.good(&["set", "option", "thoughts", "false"]);
    for prompt in ["echo", "echo again"] {
        let ended = project.good(&["run", "-c", "--json", prompt]);
        let session = events(&ended)[0].clone();
        assert_eq!(session["modes"]["currentModeId"], "act");
        assert_eq!(session["configOptions"][2]["currentValue"], false);
    }
    // What the command line says goes before, for its run alone.
    let ended = project.good(&["run", "-c", "--mode", "ask", "--json", "echo"]);
    assert_eq!(events(&ended)[0]["modes"]["currentModeId"], "ask");
    let wrong = project.acp(&["set", "mode", "fly"]).end();
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.err.contains("the agent offers ask, act"),
        "{}",
        wrong.err
    );
    let wrong = project
        .acp(&["set", "mode", "act", "--session", "none"])
        .end();
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("there are these: one"), "{}", wrong.err);
    project.good(&["set", "clear"]);
    let shown = project.json(&["sessions", "show", "--json"]);
    assert_eq!(
        shown["settings"],
        json!({"model": null, "mode": null, "options": {}})
    );
}

#[test]
fn a_run_that_is_killed_leaves_a_session_that_goes_on() {
    let project = Project::new();
    project.good(&["run", "-s", "one", "echo"]);
    let mut running = project.acp(&["run", "-s", "one", "wait"]).start();
    running.wait_some_output();
    running.signal(Signal::KILL);
    let mark = running.mark().to_owned();
    wait_until_gone(&mark);
    let ended = project.good(&["run", "-s", "one", "earlier"]);
    assert!(ended.err.contains("session one: resumed"), "{}", ended.err);
    assert!(ended.out.starts_with("1. echo\n"), "{}", ended.out);
    let history = project.good(&["sessions", "history", "one"]).out;
    assert!(history.contains("> wait\n(interrupted)\n"), "{history}");
}

#[test]
fn a_damaged_record_is_put_aside_and_told() {
    let project = Project::new();
    project.good(&["run", "-s", "one", "echo"]);
    let record = project.files("json").remove(0);
    fs::write(&record, "{\"version\":1,").unwrap();
    let listed = project.good(&["sessions"]).out;
    assert!(listed.contains("cannot be read"), "{listed}");
    let ended = project.good(&["run", "-s", "one", "echo"]);
    assert!(ended.err.contains("was damaged"), "{}", ended.err);
    assert!(ended.err.contains("session one: begun"), "{}", ended.err);
    let aside = fs::read_to_string(record.with_extension("damaged-1")).unwrap();
    assert_eq!(aside, "{\"version\":1,");
}

#[test]
fn closed_ones_begin_anew_and_deleted_ones_are_gone() {
    let project = Project::new();
    project.good(&["run", "-s", "one", "echo first"]);
    let closed = project.good(&["sessions", "close", "one"]);
    assert_eq!(closed.out, "session one is closed\n");
    let listed = project.json(&["sessions", "list", "--json"]);
    assert_eq!(listed["sessions"][0]["state"], "closed");
    assert_eq!(
        project.good(&["run", "-s", "one", "earlier"]).out,
        "There are no earlier prompts.\n"
    );

    let remembered = |count: usize| {
        let listed = project.json(&["sessions", "agent", "--agent", "demo", "--json"]);
        let sessions = listed["sessions"].as_array().unwrap().clone();
        assert_eq!(sessions.len(), count, "{sessions:?}");
        sessions
    };
    assert_eq!(remembered(2)[0]["name"], "one");
    let deleted = project.good(&["sessions", "delete", "one"]);
    assert_eq!(deleted.out, "session one is deleted\n");
    remembered(0);
    assert_eq!(project.files("json").len() + project.files("lock").len(), 0);
    let again = project.acp(&["sessions", "delete", "one"]).end();
    assert_eq!(again.code, Some(2), "{}", again.err);
}

#[test]
fn an_agent_that_refuses_to_delete_keeps_the_session_here_too() {
    let project = Project::new();
    let agent = r#"hear; answer '{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"delete":{}}}}'
        hear; case $line in *session/delete*) refuse '{"code":-32000,"message":"not-now"}'; hear;; esac
        answer '{"sessionId":"s"}'; hear; end end_turn; hear"#;
    let ended = project
        .acp(&["run", "-s", "one", "x"])
        .with_agent(agent)
        .end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let refused = project.acp(&["sessions", "delete", "one"]).end();
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("--here"), "{}", refused.err);
    assert_eq!(project.files("json").len(), 1);
    project.good(&["sessions", "delete", "one", "--here"]);
    assert_eq!(project.files("json").len(), 0);
}

#[test]
fn a_command_that_holds_a_secret_is_not_kept() {
    let project = Project::new();
    let agent = r#"start; end end_turn; hear; : --api-key=abcdefgh12345678"#;
    let ended = project
        .acp(&["run", "-s", "one", "x"])
        .with_agent(agent)
        .end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let kept = fs::read_to_string(&project.files("json")[0]).unwrap();
    assert!(!kept.contains("abcdefgh12345678"), "{kept}");
    let again = project.acp(&["run", "-s", "one", "y"]).end();
    assert_eq!(again.code, Some(2));
    assert!(
        again.err.contains("its command is not kept"),
        "{}",
        again.err
    );
}
