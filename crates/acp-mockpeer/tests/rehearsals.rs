//! Faults are found, each with its rule, and nothing else.

mod support;

use acp_mockpeer::{PeerSide, Scenario, rehearse};
use expect_test::{Expect, expect};
use support::{run, scenario};

const TURN: &str = r#"-> initialize
<- result for R027
-> session/new
<- result {"sessionId": "$s"}
-> session/prompt {"sessionId": "$s"} as prompt
<- session/update {"sessionId": "$s", "update": {"sessionUpdate": "agent_message_chunk"}}
<- session/update {"sessionId": "$s", "update": {"sessionUpdate": "tool_call"}}
<- session/request_permission {"sessionId": "$s"} as ask
-> result of ask
<- result of prompt {"stopReason": "end_turn"}
"#;

/// Puts a mutant below a line, and shows what is found.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(below: usize, mutant: &str, expected: Expect) {
    let mut lines: Vec<&str> = TURN.lines().collect();
    let line = format!("  mutant {mutant}");
    lines.insert(below, &line);
    let text = lines.join("\n") + "\n";
    let scenario = scenario("turn.acpt", &text);
    let mutants = scenario.mutants();
    let rehearsal = run(rehearse(&scenario, PeerSide::Agent, Some(&mutants[0])));
    let mut shown = String::new();
    for breach in &rehearsal.judge().breaches {
        shown.push_str(&format!("line {:?}: {breach}\n", breach.line.unwrap_or(0)));
    }
    let complaint = rehearsal.check().err();
    let complaint = complaint.as_deref().and_then(|text| text.lines().next());
    shown.push_str(complaint.unwrap_or("found"));
    expected.assert_eq(&shown);
}

#[test]
fn edits() {
    check(
        2,
        "R027 drop",
        expect![[r#"
            line 2: R027: expected the result of initialize (line 2); it did not come within 5s
            found"#]],
    );
    check(
        2,
        "R019 set id 77",
        expect![[r#"
            line 2: R019: nothing that was asked has the id 77 and waits for an answer
            found"#]],
    );
    check(
        2,
        "R019 set id \"1\"",
        expect![[r#"
            line 2: R019: the answer has the id "1", and what was asked has 1: an id comes back as it was sent, with its type
            found"#]],
    );
    check(
        2,
        "R027 remove result.protocolVersion",
        expect![[r#"
        line 2: R027: at result: "protocolVersion" is a required property
        found"#]],
    );
    check(
        2,
        "R031 set result.protocolVersion \"1\"",
        expect![[r#"
        line 2: R031: at result.protocolVersion: "1" is not of type "integer"
        found"#]],
    );
    check(
        2,
        "R027 error -32603",
        expect![[r#"
            line 2: R027: expected the result of initialize (line 2); at the answer: expected a result, got an error
            found"#]],
    );
    check(
        4,
        "R058 remove result.sessionId",
        expect![[r#"
        line 4: R058: at result: "sessionId" is a required property
        found"#]],
    );
    check(
        10,
        "R019 twice",
        expect![[r#"
        line 0: R019: nothing that was asked has the id 3 and waits for an answer
        found"#]],
    );
    check(
        10,
        "R110 set result.stopReason \"tired\"",
        expect![[r#"
        line 10: R110: at result.stopReason: this is none of "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"
        found"#]],
    );
    check(
        10,
        "R005 bytes \"done\\n\" before",
        expect![[r#"
        line 10: R004, R005, R007: this line is no JSON: expected value at line 1 column 1
        found"#]],
    );
    check(
        10,
        "R003 close after",
        expect!["`mutant R003 close after`: nobody noticed"],
    );
    check(
        6,
        "R141 insert {\"jsonrpc\": \"2.0\", \"id\": 50, \"method\": \"fs/read_text_file\", \"params\": {\"sessionId\": \"$s\", \"path\": \"/a\"}} before",
        expect![[r#"
            line 6: R140, R141, R036: fs/read_text_file needs `fs.readTextFile`, which was not advertised
            found"#]],
    );
}

/// Requests of the side with the fault get their answers, or are done without.
#[test]
fn requests() {
    check(
        8,
        "R016 set id true",
        expect![[r#"
        line 8: R016: an id is a string or a number
        found"#]],
    );
    check(
        8,
        "R018 set id 1.5",
        expect![[r#"
        line 8: R018: an id that is a number has no fraction
        found"#]],
    );
    check(
        8,
        "R017 set id null",
        expect![[r#"
        line 8: R017: a request has an id other than null
        found"#]],
    );
    check(
        8,
        "R004 drop",
        expect![[r#"
        line 8: expected the request session/request_permission {"sessionId": "$s"} (line 8); the agent sent what no step expects
        `mutant R004 drop`: it was not R004 that broke"#]],
    );
    check(
        8,
        "R004 remove jsonrpc",
        expect![[r#"
        line 8: R004: `jsonrpc` has to be "2.0"
        found"#]],
    );
}

#[test]
fn order() {
    check(
        6,
        "R004 later 1",
        expect![[r#"
        line 6: expected the notification session/update {"sessionId": "$s", "update": {"sessionUpdate": "agent_message_chunk"}} (line 6); at params.update.sessionUpdate: expected "agent_message_chunk", got "tool_call"
        `mutant R004 later 1`: it was not R004 that broke"#]],
    );
    check(
        7,
        "R004 sooner 1",
        expect![[r#"
        line 6: expected the notification session/update {"sessionId": "$s", "update": {"sessionUpdate": "agent_message_chunk"}} (line 6); at params.update.sessionUpdate: expected "agent_message_chunk", got "tool_call"
        `mutant R004 sooner 1`: it was not R004 that broke"#]],
    );
}

/// A mutant that changes nothing, or the wrong thing, is told.
#[test]
fn mutants_that_say_nothing() {
    check(
        2,
        "R027 remove result.agentInfo",
        expect![
            "`mutant R027 remove result.agentInfo`: its message was not sent, or has no such place"
        ],
    );
    check(
        2,
        "R027 set result.agentInfo null",
        expect!["`mutant R027 set result.agentInfo null`: nobody noticed"],
    );
    check(
        2,
        "R027 set result.protocolVersion \"1\"",
        expect![[r#"
        line 2: R031: at result.protocolVersion: "1" is not of type "integer"
        `mutant R027 set result.protocolVersion "1"`: it was not R027 that broke"#]],
    );
}

#[track_caller]
fn plain(text: &str, tested: PeerSide) -> String {
    let scenario: Scenario = scenario("plain.acpt", text);
    let complaint = run(rehearse(&scenario, tested, None)).check().err();
    let first = complaint.as_deref().and_then(|text| text.lines().next());
    first.unwrap_or("passed").to_owned()
}

#[test]
fn without_a_fault() {
    let both = [PeerSide::Agent, PeerSide::Client];
    assert_eq!(both.map(|tested| plain(TURN, tested)), ["passed", "passed"]);
    // The header may say whom it tests.
    let text = format!("side: agent\n{TURN}");
    assert_eq!(plain(&text, PeerSide::Agent), "passed");
    let text = "proves: R029\n-> initialize\n<- result\n  for R029 {\"agentInfo\": any}\n";
    let failed = "without a fault it has to pass, and without a warning";
    assert_eq!(plain(text, PeerSide::Agent), failed);
    let text = "proves: R024\n-> initialize\n<- result\n";
    assert_eq!(plain(text, PeerSide::Agent), "R024 does not bind the agent");
    let text = "proves: R029\n-> initialize\neither\n  <- result\nor\n  <- error 1 for R029\nend\n";
    assert_eq!(plain(text, PeerSide::Agent), "R029 was not tried");
}
