//! Every way a run can end has its own exit code and says what to do.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::time::Duration;

use support::{Ended, acp, acp_alone};

#[track_caller]
fn check(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    for word in words {
        assert!(
            ended.err.contains(word),
            "{word:?} is not in {:?}",
            ended.err
        );
    }
}

#[test]
fn end_of_turn_is_0_and_its_text_ends_with_a_line_end() {
    let ended = acp(&["hi"], "start; text 'Hel'; text 'lo.'; end end_turn; hear").end();
    check(&ended, 0, &[]);
    assert_eq!(ended.out, "Hello.\n");
    assert_eq!(ended.err, "");
}

#[test]
fn the_prompt_may_come_from_standard_input() {
    let script = r#"start; case $line in *'"text":"from\nbelow"'*) text yes;; *) text "no";; esac; end end_turn"#;
    let ended = acp(&["-"], script).end_with_input("from\nbelow\n");
    check(&ended, 0, &[]);
    assert_eq!(ended.out, "yes\n");
}

#[test]
fn usage_is_2() {
    check(&acp_alone(&[]).end(), 2, &["acp: the prompt is empty"]);
    check(&acp_alone(&["--frobnicate"]).end(), 2, &["Usage: acp run"]);
    check(
        &acp_alone(&["--agent", "no-such-agent", "x"]).end(),
        2,
        &["failed to find the agent `no-such-agent`", "after --"],
    );
    check(
        &acp_alone(&["--allow", "much", "x"]).end(),
        2,
        &["possible values: none, reads, edits, all"],
    );
    check(
        &acp_alone(&[" \n", "--", "x"]).end(),
        2,
        &["acp: the prompt is empty"],
    );
    check(
        &acp_alone(&["-", "--", "x"]).end_with_input("\n"),
        2,
        &["acp: the prompt is empty"],
    );
    check(
        &acp_alone(&["--cwd", "/no/such/folder", "x", "--", "x"]).end(),
        2,
        &["failed to work in /no/such/folder"],
    );
    check(
        &acp_alone(&["--cwd", "/bin/sh", "x", "--", "x"]).end(),
        2,
        &["failed to work in /bin/sh"],
    );
}

#[test]
fn a_mode_the_agent_does_not_have_is_2_and_lists_those_it_has() {
    let script = r#"hear; answer '{"protocolVersion":1}'; hear
        answer '{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"A"},{"id":"code","name":"C"}]}}'; hear"#;
    let ended = acp(&["--mode", "fly", "x"], script).end();
    check(
        &ended,
        2,
        &[
            "acp: failed to set the mode to \"fly\": the agent offers ask, code",
            "choose one of these with --mode",
        ],
    );
    check(
        &acp(&["--mode", "fly", "x"], "start").end(),
        2,
        &["leave --mode out"],
    );
}

#[test]
fn a_mode_is_set_before_the_prompt() {
    let script = r#"hear; answer '{"protocolVersion":1}'; hear
        answer '{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"A"},{"id":"code","name":"C"}]}}'
        hear; text "$(expr "$line" : '.*"modeId":"\([a-z]*\)')"; answer '{}'; hear; end end_turn"#;
    let ended = acp(&["--json", "--mode", "code", "x"], script).end();
    check(&ended, 0, &[]);
    assert!(ended.out.contains(r#""text":"code""#), "{}", ended.out);
}

#[test]
fn an_agent_that_cannot_be_started_is_3() {
    let run = |command: &str| acp_alone(&["x", "--", command]).end();
    check(
        &run("no-such-agent-here"),
        3,
        &[
            "there is no program no-such-agent-here",
            "give the full path",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    check(&run(script.to_str().unwrap()), 3, &["/no/such/interpreter"]);
}

#[test]
fn a_login_that_is_missing_is_4_and_the_ways_are_told() {
    let script = r#"hear; answer '{"protocolVersion":1,"authMethods":[{"id":"k","name":"API key"}]}'
        hear; refuse '{"code":-32000,"message":"log in first"}'; hear"#;
    let ended = acp(&["x"], script).end();
    check(
        &ended,
        4,
        &["the agent wants a login first", "API key", "log in first"],
    );
}

#[test]
fn an_agent_that_dies_is_5_with_its_status_and_last_words() {
    let ended = acp(
        &["x"],
        "start; text 'I am'; echo 'out of memory' >&2; exit 3",
    )
    .end();
    check(&ended, 5, &["it ended: exit code 3", "| out of memory"]);
    assert_eq!(ended.out, "I am\n");
    assert!(ended.took < Duration::from_secs(5), "{:?}", ended.took);
    let ended = acp(&["x"], "start; kill -9 $$").end();
    check(&ended, 5, &["it ended: ended by SIGKILL"]);
    let ended = acp(&["x"], "echo 'unknown option --acp' >&2; exit 1").end();
    check(
        &ended,
        5,
        &[
            "| unknown option --acp",
            "is it an agent of the Agent Client Protocol?",
        ],
    );
}

#[test]
fn an_agent_that_closes_its_output_and_lives_on_is_5_and_ended() {
    let ended = acp(&["x"], "start; exec >&-; while :; do sleep 600; done").end();
    check(&ended, 5, &["the peer closed the connection"]);
}

#[test]
fn another_version_or_another_protocol_is_6() {
    let run = |script: &str| acp(&["x"], script).end();
    check(
        &run("hear; answer '{\"protocolVersion\":2}'; hear"),
        6,
        &["the agent speaks 2", "newer acp"],
    );
    check(
        &run("hear; answer '{}'; hear"),
        6,
        &["the answer makes no sense"],
    );
    check(
        &run("start; answer '{\"stopped\":true}'; hear"),
        6,
        &["breaks the protocol"],
    );
    check(
        &run("start; end tired; hear"),
        6,
        &["a reason that acp does not know: tired"],
    );
}

#[test]
fn a_refusal_is_7_and_limits_are_8() {
    let run = |reason: &str| acp(&["x"], &format!("start; end {reason}; hear")).end();
    check(&run("refusal"), 7, &["the agent refused"]);
    check(&run("max_tokens"), 8, &["limit of tokens"]);
    check(&run("max_turn_requests"), 8, &["limit of requests"]);
}

#[test]
fn an_agent_that_takes_too_long_is_9() {
    let ended = acp(
        &["--start-timeout", "1", "x"],
        "echo 'getting ready' >&2; hear; hear",
    )
    .end();
    check(
        &ended,
        9,
        &[
            "hear the first byte of the agent within 1 s",
            "--start-timeout",
            "| getting ready",
        ],
    );
    let script = "hear; answer '{\"protocolVersion\":1}'; hear; hear";
    let ended = acp(&["--start-timeout", "1", "x"], script).end();
    check(&ended, 9, &["open a session within 1 s"]);
}

#[test]
fn an_error_of_the_agent_is_10() {
    let script = r#"start; refuse '{"code":400,"message":"bad model","data":{"model":"x"}}'; hear"#;
    let ended = acp(&["x"], script).end();
    check(
        &ended,
        10,
        &[
            "the agent answered bad model (400)",
            r#"the agent adds: {"model":"x"}"#,
        ],
    );
}

#[test]
fn a_turn_the_agent_cancels_is_130() {
    check(
        &acp(&["x"], "start; end cancelled; hear").end(),
        130,
        &["the agent cancelled its turn"],
    );
}

#[test]
fn without_a_command_the_demo_agent_shows_a_turn() {
    let ended = acp_alone(&["hello"]).end();
    let refused = ["[plan] ", "[tool] edit ", ": refused (nothing is allowed"];
    check(&ended, 0, &refused);
    assert!(ended.out.starts_with("Hello!"), "{}", ended.out);
    assert!(ended.out.ends_with('\n'));
    let ended = acp_alone(&["--allow", "edits", "hello"]).end();
    let allowed = ": allowed (edit tools are allowed inside the working folder)";
    check(&ended, 0, &[allowed, "[tool] edit ", ": completed"]);
}

#[test]
fn agents_work_in_the_folder_and_get_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let script = r#"hear; answer '{"protocolVersion":1}'; hear; cwd=$line; answer '{"sessionId":"s"}'; hear
        case $cwd in *"\"cwd\":\"$PWD\""*) text "$KEY in $PWD";; esac; end end_turn"#;
    let run = acp(&["x"], script)
        .in_folder(folder.path())
        .with_env("KEY", "secret");
    let ended = run.end();
    assert_eq!(ended.out, format!("secret in {}\n", real.display()));
}
