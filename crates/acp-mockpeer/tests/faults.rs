//! Every kind of fault, planted in one side and reported by the other at the right line.

mod support;

use acp_mockpeer::{Play, PlayOutcome};
use expect_test::{Expect, expect};
use support::{meet, run, scenario};

/// What the client under these tests expects of its agent.
const CLIENT: &str = r#"# A turn.
-> initialize
<- result {"protocolVersion": 1}
-> session/new
<- result {"sessionId": "$s"}
-> session/prompt {"sessionId": "$s"} as prompt
<- session/update+ {"sessionId": "$s", "update": {"sessionUpdate": "agent_message_chunk"}}
<- result of prompt {"stopReason": "end_turn"} within 2s
"#;

/// Says what was reported: verdict, the step's line, what happened, findings.
fn told(outcome: &PlayOutcome) -> String {
    let mut told = String::new();
    if let Some(failure) = &outcome.failure {
        told.push_str(&format!("line {}: {}", failure.line, failure.summary));
        if let Some(because) = &failure.because {
            told.push_str(&format!(" ({because})"));
        }
        told.push('\n');
    }
    for found in &outcome.findings {
        let line = found
            .line
            .map_or("no line".to_owned(), |line| format!("line {line}"));
        told.push_str(&format!("{line}: {}\n", found.finding));
    }
    if told.is_empty() {
        told.push_str(&format!("{:?}\n", outcome.verdict));
    }
    told
}

/// Plants a fault in the agent of a turn: its steps stand in place of `<- FAULT`.
#[track_caller]
fn agent(before: &str, after: &str, expected: Expect) {
    let faulty = "-> initialize\n<- result\n-> session/new as new\n<- result of new {\"sessionId\": \"$s\"}\n\
                  -> session/prompt as prompt\n@\n<- session/update\n<- result of prompt\n";
    let faulty = faulty.replacen("<- result\n", &format!("{before}\n"), 1);
    let (head, tail) = faulty.split_once("@\n").unwrap();
    let after = if after.is_empty() { tail } else { after };
    let faulty = scenario("faulty.acpt", &format!("{head}{after}\n"));
    check(
        Play::agent(&faulty),
        Play::client(&scenario("turn.acpt", CLIENT)),
        expected,
    );
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(faulty: Play, strict: Play, expected: Expect) {
    let (_, outcome) = run(meet(faulty, strict));
    expected.assert_eq(&told(&outcome));
}

const WELL: &str = "<- result";

#[test]
fn no_fault() {
    agent(
        WELL,
        "",
        expect![[r#"
        Passed
    "#]],
    );
}

#[test]
fn noise() {
    agent(
        r#"<- text "ready\n"
<- result"#,
        "",
        expect![[r#"
            line 3: noise: this line is no JSON: expected value at line 1 column 1 (R004, R005, R007)
        "#]],
    );
    agent(
        r#"<- text "\n"
<- result"#,
        "",
        expect![[r#"
            line 3: noise: this line is blank (R004, R005)
        "#]],
    );
    agent(
        r#"<- text "[1]\n"
<- result"#,
        "",
        expect![[r#"
            line 3: noise: this line is JSON, but no object (R004, R005)
        "#]],
    );
    agent(
        r#"<- hex ff fe 0a
<- result"#,
        "",
        expect![[r#"
            line 3: noise: this line is not UTF-8 (R001)
        "#]],
    );
    agent(
        r#"<- result after bom"#,
        "",
        expect![[r#"
            line 3: it did not come within 5s
            line 3: noise: this line is no JSON: expected value at line 1 column 1 (R004, R005)
        "#]],
    );
}

#[test]
fn wrong_shape() {
    agent(
        r#"<- raw result {"protocolVersion": "1"}"#,
        "",
        expect![[r#"
            line 3: the agent sent what no step expects (at result.protocolVersion: expected 1, got "1")
            line 3: shape: at result.protocolVersion: "1" is not of type "integer" (R031)
        "#]],
    );
    agent(
        WELL,
        r#"<- raw session/update {"sessionId": "$s", "update": {"sessionUpdate": "dance"}}"#,
        expect![[r#"
            line 7: the agent sent what no step expects (at params.update.sessionUpdate: expected "agent_message_chunk", got "dance")
            line 7: shape: at params.update.sessionUpdate: this is none of "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "usage_update", "notice", "compaction_update", "compaction_summary_chunk"
        "#]],
    );
    agent(
        WELL,
        r#"<- raw session/update {"sessionId": "$s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}}}
<- result of prompt"#,
        expect![[r#"
            line 7: shape: at params.update.content: "text" is a required property
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- raw result of prompt {"stopReason": "tired"}"#,
        expect![[r#"
            line 8: the agent sent what no step expects (at result.stopReason: expected "end_turn", got "tired")
            line 8: shape: at result.stopReason: this is none of "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled" (R110)
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- raw error to prompt {"code": "x"}"#,
        expect![[r#"
            line 8: the agent sent what no step expects (at the answer: expected a result, got an error)
            line 8: shape: at error: "message" is a required property (R013)
            line 8: shape: at error.code: "x" is not valid under any of the schemas listed in the 'anyOf' keyword (R020)
        "#]],
    );
}

#[test]
fn wrong_envelope() {
    agent(
        r#"<- raw message {"id": 1, "result": {"protocolVersion": 1}}"#,
        "",
        expect![[r#"
            line 3: envelope: `jsonrpc` has to be "2.0" (R004)
        "#]],
    );
    agent(
        r#"<- raw message {"jsonrpc": "2.0"}
<- result"#,
        "",
        expect![[r#"
            line 3: envelope: this is no request, no notification and no answer (R004)
        "#]],
    );
    agent(
        r#"<- raw message {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1}, "error": {"code": 1, "message": ""}}"#,
        "",
        expect![[r#"
            line 3: envelope: an answer has a result or an error, not both (R013)
        "#]],
    );
}

#[test]
fn wrong_ids() {
    agent(
        r#"<- raw result {"protocolVersion": 1} with id 99
<- result"#,
        "",
        expect![[r#"
            line 3: unknown-answer: nothing that was asked has the id 99 and waits for an answer (R019)
        "#]],
    );
    agent(
        r#"<- raw result {"protocolVersion": 1} with id "1"
<- result"#,
        "",
        expect![[r#"
            line 3: unknown-answer: the answer has the id "1", and what was asked has 1: an id comes back as it was sent, with its type (R019)
        "#]],
    );
    agent(
        r#"<- raw result {"protocolVersion": 1} with id null
<- result"#,
        "",
        expect![[r#"
            line 3: unknown-answer: nothing that was asked has the id null and waits for an answer (R019)
        "#]],
    );
}

#[test]
fn answered_twice() {
    agent(
        WELL,
        r#"<- session/update
<- result of prompt
<- raw result of prompt {"stopReason": "end_turn"}"#,
        expect![[r#"
            no line: unknown-answer: nothing that was asked has the id 3 and waits for an answer (R019)
        "#]],
    );
}

#[test]
fn wrong_order() {
    agent(
        WELL,
        r#"<- result of prompt"#,
        expect![[r#"
        line 7: the agent sent what no step expects
    "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- session/update {"update": {"sessionUpdate": "plan"}}
<- result of prompt"#,
        expect![[r#"
            line 7: the agent sent what no step expects (at params.update.sessionUpdate: expected "agent_message_chunk", got "plan")
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- result of prompt {"stopReason": "refusal"}"#,
        expect![[r#"
            line 8: the agent sent what no step expects (at result.stopReason: expected "end_turn", got "refusal")
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- error to prompt -32603"#,
        expect![[r#"
            line 8: the agent sent what no step expects (at the answer: expected a result, got an error)
        "#]],
    );
}

#[test]
fn unadvertised() {
    agent(
        WELL,
        r#"<- raw fs/read_text_file {"sessionId": "$s", "path": "/a"}"#,
        expect![[r#"
            line 7: the agent sent what no step expects
            line 7: unadvertised: fs/read_text_file needs `fs.readTextFile`, which was not advertised (R140, R141, R036)
        "#]],
    );
    agent(
        WELL,
        r#"<- raw session/update {"sessionId": "$s", "update": {"sessionUpdate": "notice", "severity": "info", "title": "hi"}}"#,
        expect![[r#"
            line 7: the agent sent what no step expects (at params.update.sessionUpdate: expected "agent_message_chunk", got "notice")
            line 7: unadvertised: a notice needs `session.notices`, which was not advertised (R036)
        "#]],
    );
}

#[test]
fn unknown_things() {
    agent(
        WELL,
        r#"<- raw notify session/dance {}"#,
        expect![[r#"
            line 7: the agent sent what no step expects
            line 7: unknown-method: the schema has no method session/dance, and own ones begin with `_` (R180)
        "#]],
    );
    agent(
        WELL,
        r#"<- raw session/update {"sessionId": "nobody", "update": {"sessionUpdate": "plan", "entries": []}}"#,
        expect![[r#"
            line 7: the agent sent what no step expects (at params.sessionId: expected "$s", which is "s-1", got "nobody")
            line 7: unknown-session: no session "nobody" was made or opened
        "#]],
    );
    agent(
        r#"<- raw session/update {"sessionId": "nobody", "update": {"sessionUpdate": "plan", "entries": []}}
<- result"#,
        "",
        expect![[r#"
            line 3: the agent sent what no step expects
            line 3: uninitialized: session/update came before initialize was answered
            line 3: unknown-session: no session "nobody" was made or opened
        "#]],
    );
}

#[test]
fn late_and_never() {
    agent(
        WELL,
        r#"<- session/update
<- wait 3s
<- result of prompt"#,
        expect![[r#"
            line 8: it did not come within 2s
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
-> nothing for 4s"#,
        expect![[r#"
            line 8: it did not come within 2s
        "#]],
    );
}

#[test]
fn the_end_comes_early() {
    agent(
        WELL,
        r#"<- session/update
<- close"#,
        expect![[r#"
            line 8: the agent closed
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- exit 3"#,
        expect![[r#"
            line 8: the agent closed
        "#]],
    );
    agent(
        WELL,
        r#"<- session/update
<- text "{\"jsonrpc\": "
<- close"#,
        expect![[r#"
            line 8: the agent closed
            line 8: unfinished-line: the last line has no line feed (R003)
        "#]],
    );
}
