//! `--json` against its published schema: every kind of event that a run can write, written
//! by real runs.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use jsonschema::Validator;
use serde_json::{Value, json};
use support::{Ended, acp, acp_alone};

/// The schema as it is printed, with and without what may be added to it later.
fn schemas() -> (Value, Validator, Validator) {
    let printed = Command::new(env!("CARGO_BIN_EXE_acp"))
        .args(["schema", "run-events"])
        .output()
        .unwrap();
    assert!(printed.status.success());
    let schema: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let published = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/run-events.schema.json"
    );
    assert_eq!(
        printed.stdout,
        fs::read(published).unwrap(),
        "the one in docs"
    );
    let mut strict = schema.clone();
    for (_, event) in strict["$defs"].as_object_mut().unwrap() {
        event["additionalProperties"] = json!(false);
    }
    let compile = |schema| jsonschema::validator_for(schema).unwrap();
    let (loose, strict) = (compile(&schema), compile(&strict));
    (schema, loose, strict)
}

fn lines(ended: &Ended) -> Vec<Value> {
    let lines = ended.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_kind_of_event_is_as_its_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("config/acp");
    fs::create_dir_all(&home).unwrap();
    let script = r#"printf '%s\n' "$1"; hear() { IFS= read -r line || exit 0; id=${line#*\"id\":}; id=${id%%[!0-9]*}; }
        say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
        hear; say '"result":{"protocolVersion":1,"authMethods":[{"id":"key","name":"Key"}]}'
        hear; say '"error":{"code":-32000,"message":"log in"}'
        hear; say '"result":{}'
        hear; say '"result":{"sessionId":"s"}'
        hear; say '"result":{"stopReason":"end_turn"}'; hear"#;
    let agents = json!({"sh": {"command": "/bin/sh", "args": ["-c", script], "probe": []}});
    let mut config = String::from("[agents.keyed]\ncommand = \"/bin/sh\"\nprobe = []\n");
    config.push_str(&format!("args = {}\n", agents["sh"]["args"]));
    fs::write(home.join("config.toml"), config).unwrap();
    let state = tempfile::tempdir().unwrap();
    let in_folder = |args: &[&str]| {
        let mut all = vec!["--json", "--agent", "demo"];
        all.extend(args);
        let run = acp_alone(&all).in_folder(folder.path());
        run.with_env("XDG_STATE_HOME", state.path()).end()
    };
    fs::write(folder.path().join("notes.md"), "one\ntwo\n").unwrap();
    let runs = [
        in_folder(&["--allow", "all", "ask"]),
        in_folder(&["--files", "read", "read notes.md"]),
        in_folder(&["--files", "write", "--allow", "edits", "write made.md"]),
        in_folder(&["--terminals", "--allow", "all", "terminal echo hello"]),
        in_folder(&["--answer", "defaults", "form"]),
        in_folder(&["--answer", "decline", "question"]),
        in_folder(&["refuse"]),
        in_folder(&["--session", "kept", "echo hi"]),
        in_folder(&["fail"]),
        in_folder(&["--idle-timeout", "1", "wait"]),
        in_folder(&["--model", "none-such", "echo hi"]),
        acp(&["--json", "x"], "start; text half; exit 4").end(),
        acp_alone(&["--json", "--agent", "keyed", "x"])
            .with_env("XDG_CONFIG_HOME", folder.path().join("config"))
            .end(),
        acp_alone(&["--json", "--agent", "none-such", "x"]).end(),
    ];
    let (schema, loose, strict) = schemas();
    let mut seen = BTreeSet::new();
    for ended in &runs {
        let lines = lines(ended);
        for line in &lines {
            for (kind, schema) in [("", &loose), (" strictly", &strict)] {
                let wrong: Vec<_> = schema.iter_errors(line).map(|e| e.to_string()).collect();
                assert_eq!(wrong, Vec::<String>::new(), "{line}{kind}");
            }
            seen.insert(line["event"].as_str().unwrap().to_owned());
        }
        let end = lines.last().unwrap();
        assert_eq!(end["event"], "end");
        assert_eq!(end["exitCode"].as_i64(), ended.code.map(Into::into));
        let ends = lines.iter().filter(|line| line["event"] == "end");
        assert_eq!(ends.count(), 1);
    }
    let known = schema["$defs"].as_object().unwrap().keys().cloned();
    let mut known: BTreeSet<String> = known.collect();
    // It takes an agent that is faster than its reader by 64 MiB.
    known.remove("gap");
    // It takes two runs in one session; their tests say what it looks like.
    known.remove("steered");
    assert_eq!(seen, known);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        3,
        "one was made"
    );
}

#[test]
fn what_is_no_event_is_refused_by_the_schema() {
    let (_, schema, _) = schemas();
    assert!(schema.is_valid(&json!({"v": 1, "event": "gap", "dropped": 2})));
    assert!(schema.is_valid(&json!({"v": 1, "event": "gap", "dropped": 2, "more": 1})));
    for wrong in [
        json!({"event": "gap", "dropped": 2}),
        json!({"v": 2, "event": "gap", "dropped": 2}),
        json!({"v": 1, "event": "gap"}),
        json!({"v": 1, "event": "gap", "dropped": "2"}),
        json!({"v": 1, "event": "from_the_future"}),
        json!({"v": 1}),
        json!([]),
    ] {
        assert!(!schema.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn quiet_gives_the_report_alone() {
    let script = r#"start; text 'Let me look.'
        update '{"sessionUpdate":"tool_call","toolCallId":"t","title":"Look","status":"completed"}'
        text 'Two tests '; text 'fail.'; end end_turn; hear"#;
    let ended = acp(&["--quiet", "x"], script).end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(
        (ended.out.as_str(), ended.err.as_str()),
        ("Two tests fail.\n", "")
    );
    let broken = acp(&["-q", "x"], "start; text half; exit 4").end();
    assert_eq!(broken.code, Some(5));
    assert_eq!(broken.out, "half\n");
    assert!(
        broken.err.starts_with("acp: failed to keep in touch"),
        "{}",
        broken.err
    );
}

#[test]
fn the_demo_agent_says_how_to_go_on_when_nobody_chose_it() {
    let folder = tempfile::tempdir().unwrap();
    let by_default = || {
        acp_alone(&["echo hi"])
            .with_env("PATH", folder.path())
            .end()
    };
    let bare = by_default();
    assert_eq!((bare.code, &*bare.out), (Some(0), "hi\n"));
    assert!(
        bare.err.contains("`acp agents` lists real ones"),
        "{}",
        bare.err
    );
    let agent = folder.path().join("opencode");
    fs::write(&agent, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let with_one = by_default();
    assert!(
        with_one.err.contains("`acp run --agent opencode "),
        "{}",
        with_one.err
    );
    let chosen = acp_alone(&["--agent", "demo", "echo hi"]).end();
    assert_eq!((&*chosen.out, &*chosen.err), ("hi\n", ""));
    let configured = acp_alone(&["echo hi"]).with_env("ACP_AGENT", "demo").end();
    assert_eq!((&*configured.out, &*configured.err), ("hi\n", ""));
    let quiet = acp_alone(&["--quiet", "echo hi"]).end();
    assert_eq!((&*quiet.out, &*quiet.err), ("hi\n", ""));
}
