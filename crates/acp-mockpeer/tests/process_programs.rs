//! The programs, as processes: the mock client against the mock agent, each
//! variable of the environment, and what only a process can do.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use acp_mockpeer::{Ended, Play, PlayOutcome, Scenario};
use acp_process::{Environment, Launch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_acp-mockpeer");

/// A file that is gone when the test is over.
struct Script(PathBuf);

impl Script {
    fn new(text: &str) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("acp-mockpeer-{}-{number}.acpt", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn mock_agent() -> Launch {
    Launch::new(PROGRAM)
        .with_args(["agent"])
        .with_environment(Environment::inherited(["PATH"]))
}

/// Plays a client against the mock agent with this script and environment.
fn against(client: &str, launch: &Launch) -> PlayOutcome {
    let client = Scenario::parse("client.acpt", client).unwrap();
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(Play::client(&client).against(launch))
        .unwrap()
}

fn scripted(client: &str, agent: &str) -> PlayOutcome {
    let script = Script::new(agent);
    let launch = mock_agent().with_env("ACP_MOCK_SCRIPT", &script.0);
    against(client, &launch)
}

const HELLO: &str = "-> initialize\n<- result {\"protocolVersion\": 1}\n";

#[test]
fn the_default_agent_serves_a_turn_and_more() {
    let outcome = against(
        r#"
-> initialize
<- result {"protocolVersion": 1, "agentInfo": {"name": "acp-mockpeer", "version": any string}}
-> session/new
<- result {"sessionId": "$first"}
-> session/new
<- result {"sessionId": not $first} 
-> session/prompt {"sessionId": "$first"} as prompt
<- session/update {"update": {"sessionUpdate": "agent_message_chunk"}}
<- session/update {"update": {"sessionUpdate": "agent_thought_chunk"}}
<- session/update {"update": {"sessionUpdate": "tool_call", "toolCallId": "$tool", "kind": "read", "status": "pending"}}
<- session/update {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "$tool", "status": "completed"}}
<- session/update {"update": {"sessionUpdate": "plan", "entries": [any, any]}}
<- session/request_permission {"toolCall": {"toolCallId": "$tool"}, "options": [{"kind": "allow_once"}, {"kind": "reject_once"}]} as ask
-> error to ask -32603
<- result of prompt {"stopReason": "end_turn"}
-> raw session/prompt {"sessionId": "nobody", "prompt": []} as lost
<- error to lost -32602
-> session/new {"cwd": ""} as nowhere
<- error to nowhere -32602
-> request _other/method as other
<- error to other -32601
-> notify _other/news
-> session/prompt {"sessionId": "$first"} as again
<- session/update+
<- session/request_permission as ask2
-> session/cancel {"sessionId": "$first"}
-> result of ask2 {"outcome": {"outcome": "cancelled"}}
<- result of again {"stopReason": "cancelled"}
-> close
<- exit 0 within 3s
"#,
        &mock_agent(),
    );
    outcome.assert_passed();
}

#[test]
fn signals_end_the_agent_in_good_order() {
    for signal in ["SIGINT", "SIGTERM"] {
        against(
            &format!("{HELLO}-> signal {signal}\n<- exit 0 within 3s\n"),
            &mock_agent(),
        )
        .assert_passed();
    }
    against(
        &format!("{HELLO}-> signal SIGKILL\n<- exit by SIGKILL within 3s\n"),
        &mock_agent(),
    )
    .assert_passed();
}

#[test]
fn variables_of_the_environment() {
    let with = |name: &str, value: &str| mock_agent().with_env(name, value);
    for (name, value, code) in [
        ("ACP_MOCK_EXIT_CODE", "7", 7),
        ("ACP_MOCK_EXIT_CODE", "0", 0),
        ("ACP_MOCK_EXIT_CODE", "seven", 78),
        ("ACP_MOCK_MALFORMED_OUTPUT", "true", 78),
        ("ACP_MOCK_DIE_AFTER_INIT", "yes", 78),
        ("ACP_MOCK_SCRIPT", "/nowhere/at-all.acpt", 78),
    ] {
        let client = format!("<- close within 5s\n<- exit {code}\n");
        against(&client, &with(name, value)).assert_passed();
    }
    let outcome = against(
        &format!("<- text \"this line is no message\\n\"\n{HELLO}"),
        &with("ACP_MOCK_MALFORMED_OUTPUT", "1"),
    );
    outcome.assert_passed();
    let outcome = against(
        &format!("{HELLO}<- close\n<- exit 91\n"),
        &with("ACP_MOCK_DIE_AFTER_INIT", "1"),
    );
    outcome.assert_passed();
}

#[test]
fn a_script_that_is_none_is_refused() {
    let script = Script::new("-> initialise\n");
    let outcome = against(
        "<- close within 5s\n<- exit 78\n",
        &mock_agent().with_env("ACP_MOCK_SCRIPT", &script.0),
    );
    outcome.assert_passed();
    assert!(
        outcome
            .stderr
            .contains(":1:4: there is no `initialise`; did you mean `initialize`?"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn exits_and_signals_of_the_agent() {
    scripted(
        &format!("{HELLO}<- exit 3\n"),
        &format!("{HELLO}<- exit 3\n"),
    )
    .assert_passed();
    scripted(
        &format!("{HELLO}<- exit by SIGKILL\n"),
        &format!("{HELLO}<- exit by SIGKILL\n"),
    )
    .assert_passed();
    let outcome = scripted(
        &format!("{HELLO}<- exit 4\n"),
        &format!("{HELLO}<- exit 3\n"),
    );
    assert!(!outcome.passed());
    let failure = outcome.failure.unwrap();
    assert_eq!(
        (failure.line, failure.summary.as_str()),
        (3, "the agent ended with exit code 3")
    );
}

#[test]
fn stdout_closes_while_the_agent_lives() {
    let outcome = scripted(
        &format!("{HELLO}<- close within 2s\n-> session/new\n-> close\n<- exit 0 within 3s\n"),
        &format!("{HELLO}<- close\n-> session/new\n-> close\n"),
    );
    outcome.assert_passed();
}

#[test]
fn a_flooded_stderr_holds_nobody_up() {
    let outcome = scripted(
        &format!("{HELLO}-> session/new\n<- result\n"),
        &format!(
            "<- stderr flood of 4MiB\n{HELLO}-> session/new\n<- result\n<- stderr \"bye\\n\"\n"
        ),
    );
    outcome.assert_passed();
    assert!(outcome.stderr.ends_with("bye\n"), "{}", outcome.stderr);
}

#[test]
fn a_stubborn_grandchild_is_not_left_behind() {
    let began = Instant::now();
    // It would hold our pipes open for most of a day, and ignores polite signals.
    let outcome = scripted(
        &format!("{HELLO}<- notify _grandchild\n-> notify _go\n<- exit 0\n"),
        &format!(
            "{HELLO}<- grandchild for 1437m\n<- notify _grandchild\n-> notify _go\n<- exit 0\n"
        ),
    );
    outcome.assert_passed();
    assert_eq!(outcome.ended, Some(Ended::Code(0)));
    assert!(began.elapsed() < Duration::from_secs(30));
    // It was killed with its group; the system takes a moment to make that true.
    while sleepers() > 0 {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "the grandchild still sleeps"
        );
        std::thread::yield_now();
    }
}

/// Counts the processes that sleep as the grandchild does.
#[cfg(target_os = "linux")]
fn sleepers() -> usize {
    let processes = std::fs::read_dir("/proc").unwrap();
    let sleeps = |entry: std::io::Result<std::fs::DirEntry>| {
        let command = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        (command == b"sleep\x0086220\x00").then_some(())
    };
    processes.filter_map(sleeps).count()
}

#[cfg(not(target_os = "linux"))]
fn sleepers() -> usize {
    0
}

#[test]
fn who_does_not_read_is_found_out() {
    // The agent reads nothing more: a pipe takes some, and then no more.
    let outcome = scripted(
        &format!("patience: 2s\n{HELLO}-> notify _fill {{}} padded to 4MiB\n"),
        &format!("{HELLO}<- stop reading\n<- wait 20s\n"),
    );
    let failure = outcome.failure.unwrap();
    assert_eq!(
        (failure.line, failure.summary.as_str()),
        (4, "the agent did not read for 2s")
    );
}

#[test]
fn a_flood_does_not_stop_the_clock() {
    let began = Instant::now();
    let outcome = scripted(
        &format!("limit: 1s\n{HELLO}<- any*\n<- notify _never\n"),
        &format!("{HELLO}repeat 1000000\n<- notify _tick\nend\n"),
    );
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.summary, "the play took longer than 1s");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn commands_that_play_nothing() {
    let run = |args: &[&str]| {
        let output = std::process::Command::new(PROGRAM)
            .args(args)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let good = Script::new(HELLO);
    let bad = Script::new("-> initialize\n<- reslt\n");
    let (good, bad) = (good.0.to_str().unwrap(), bad.0.to_str().unwrap());
    assert_eq!(
        run(&["lint", good]),
        (Some(0), String::new(), String::new())
    );
    let (code, _, error) = run(&["lint", good, bad]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("2:4: there is no `reslt`; did you mean `result`?"),
        "{error}"
    );
    let recording = Script::new(
        "{\"t\": 1, \"dir\": \"client->agent\", \"line\": \"{\\\"cwd\\\":\\\"/home/ada/x\\\",\\\"token\\\":\\\"t0ps3cret\\\"}\"}\n",
    );
    let path = recording.0.to_str().unwrap();
    let (code, redacted, _) = run(&["redact", path, "--path", "/home/ada/x=/project"]);
    assert_eq!(code, Some(0));
    assert!(
        redacted.contains(r#"{\"cwd\":\"/project\",\"token\":\"[redacted]\"}"#),
        "{redacted}"
    );
    let (code, written, _) = run(&["scenario", path, "--exact"]);
    assert_eq!(code, Some(0));
    assert!(written.contains("-> text "), "{written}");
    for wrong in [
        &["redact", path, "--path", "x"][..],
        &["scenario", good],
        &["lint", "/nowhere"],
    ] {
        let (code, _, error) = run(wrong);
        assert_ne!(code, Some(0), "{error}");
        assert!(error.starts_with("acp-mockpeer: "), "{error}");
    }
}

#[test]
fn what_is_recorded_holds_no_secret() {
    let recorded = Script::new("");
    let script = Script::new(&format!(
        "{HELLO}<- notify _log {{\"text\": \"$key\", \"home\": \"/home/ada\"}}\n"
    ));
    let key = "canary-5f3a-value";
    let output = std::process::Command::new(PROGRAM)
        .args(["client", "--script"])
        .arg(&script.0)
        .args(["--set", &format!("key={key}"), "--record"])
        .arg(&recorded.0)
        .args([
            "--",
            PROGRAM,
            "agent",
            "--set",
            &format!("key={key}"),
            "--script",
        ])
        .arg(&script.0)
        .env("MOCK_API_KEY", key)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let kept = std::fs::read_to_string(&recorded.0).unwrap();
    assert!(
        kept.contains("_log") && !kept.contains(key) && !kept.contains("/home/ada"),
        "{kept}"
    );
}

#[test]
fn the_client_program_reports() {
    let script = Script::new(&format!("{HELLO}-> session/new\n<- error\n"));
    let output = std::process::Command::new(PROGRAM)
        .arg("client")
        .arg("--script")
        .arg(&script.0)
        .args(["--", PROGRAM, "agent"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8(output.stderr).unwrap();
    assert!(report.contains("   4 | <- error\n"), "{report}");
    assert!(
        report.contains("because  at the answer: expected an error, got a result"),
        "{report}"
    );
}
