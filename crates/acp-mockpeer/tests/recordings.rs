//! Recordings as scenarios, and played again.

mod support;

use acp_mockpeer::{
    PeerSide, Play, RecordedEvent, Recording, RecordingEntry, Scenario, Style, redactor, transcribe,
};
use expect_test::{Expect, expect};
use std::time::Duration;
use support::{meet, run, scenario};

/// Makes a recording of lines that begin with an arrow.
fn recording(lines: &[&str]) -> Recording {
    let entries = lines.iter().enumerate().map(|(index, line)| {
        let (from, what) = match line.split_at(3) {
            ("-> ", rest) => (PeerSide::Client, rest),
            ("<- ", rest) => (PeerSide::Agent, rest),
            _ => panic!("{line}"),
        };
        RecordingEntry {
            at: Duration::from_millis(u64::try_from(index).unwrap()),
            from,
            what: match what {
                "close" => RecordedEvent::Close,
                "exit 0" => RecordedEvent::Exit(0),
                "killed" => RecordedEvent::Killed(9),
                other => match other.strip_prefix("half ") {
                    Some(half) => RecordedEvent::Unfinished(half.into()),
                    None => RecordedEvent::Line(other.into()),
                },
            },
        }
    });
    Recording::new(entries.collect())
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(recording: &Recording, style: Style, expected: Expect) {
    let text = transcribe(recording, style);
    expected.assert_eq(&text);
    scenario("skeleton.acpt", &text);
}

fn a_turn() -> Recording {
    recording(&[
        r#"-> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
        r#"<- {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"ada","version":"7"}}}"#,
        r#"-> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/ada","mcpServers":[]}}"#,
        r#"<- {"jsonrpc":"2.0","id":1,"result":{"sessionId":"5f3a"}}"#,
        r#"-> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"5f3a","prompt":[{"type":"text","text":"what costs $cwd?"}]}}"#,
        r#"<- {"jsonrpc":"2.0","method":"session/update","params":{"update":{"content":{"text":"$5 and $x","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"5f3a"}}"#,
        r#"<- {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"5f3a","toolCall":{"toolCallId":"c"},"options":[]}}"#,
        r#"-> {"jsonrpc":"2.0","id":3,"method":"_ada/ping"}"#,
        r#"-> {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}"#,
        r#"<- {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#,
        r#"<- {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
        "-> close",
        "<- close",
        "<- exit 0",
    ])
}

#[test]
fn a_turn_as_a_scenario() {
    check(
        &a_turn(),
        Style::Exact,
        expect![[r##"
        # A conversation with ada 7.
        allow: rules

        -> initialize {"protocolVersion":1}
        <- result {"protocolVersion":1,"agentInfo":{"name":"ada","version":"7"}}
        -> session/new {"cwd":"/home/ada","mcpServers":[]}
        <- result {"sessionId":"$session"}
        -> session/prompt {"sessionId":"$session","prompt":[{"type":"text","text":"what costs $$cwd?"}]}
        <- session/update {"update":{"content":{"text":"$5 and $$x","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"$session"}
        <- session/request_permission {"sessionId":"$session","toolCall":{"toolCallId":"c"},"options":[]}
        -> request _ada/ping absent as ping5
        -> result {"outcome":{"outcome":"cancelled"}}
        <- error of ping5 {"code":-32601,"message":"no"}
        <- result {"stopReason":"end_turn"}
        -> close
        <- exit 0
    "##]],
    );
    check(
        &a_turn(),
        Style::Agent,
        expect![[r##"
        # A conversation with ada 7.
        allow: rules

        -> initialize
        <- result {"protocolVersion":1,"agentInfo":{"name":"ada","version":"7"}}
        -> session/new
        <- result {"sessionId":"$session"}
        -> session/prompt {"sessionId": "$session"}
        <- session/update {"update":{"content":{"text":"$5 and $$x","type":"text"},"sessionUpdate":"agent_message_chunk"},"sessionId":"$session"}
        <- session/request_permission {"sessionId":"$session","toolCall":{"toolCallId":"c"},"options":[]}
        -> request _ada/ping as ping5
        -> answer
        <- error of ping5 {"code":-32601,"message":"no"}
        <- result {"stopReason":"end_turn"}
        <- exit 0
    "##]],
    );
}

/// What the client said, for agents that answer in their own way.
#[test]
fn a_client_that_is_played_again() {
    let heard = recording(&[
        r#"-> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
        r#"<- {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#,
        r#"-> {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"old","cwd":"/home/ada/x","mcpServers":[]}}"#,
        r#"<- {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","update":{"sessionUpdate":"plan","entries":[]}}}"#,
        r#"<- {"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}"#,
        r#"-> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/home/ada/x","mcpServers":[]}}"#,
        r#"<- {"jsonrpc":"2.0","id":2,"result":{"sessionId":"5f3a"}}"#,
        r#"-> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"5f3a","prompt":[{"type":"text","text":"read it"}]}}"#,
        r#"<- {"jsonrpc":"2.0","id":"r","method":"fs/read_text_file","params":{"sessionId":"5f3a","path":"/home/ada/x/a.txt"}}"#,
        r#"-> {"jsonrpc":"2.0","id":"r","result":{"content":"cost: $5"}}"#,
        r#"<- {"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"5f3a","toolCall":{"toolCallId":"c","title":"Run it"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}"#,
        r#"-> {"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}"#,
        r#"-> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"5f3a"}}"#,
        r#"<- {"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}"#,
        "-> close",
        "<- exit 0",
    ]);
    check(
        &heard,
        Style::Client,
        expect![[r##"
        # A conversation that was recorded.
        allow: unexpected, unknown-method, rules
        patience: 10m
        limit: 60m

        whenever <- any request
          -> error {"code": -32601, "message": "this was not asked when it was recorded"}
        end

        whenever <- session/request_permission {"toolCall": {"title": "Run it"}, "options": [..., {"kind": "reject_once", "optionId": "$option"}, ...]}
          -> result {"outcome": {"outcome": "selected", "optionId": "$option"}}
        end

        whenever <- fs/read_text_file {"path": "$cwd/a.txt"}
          -> result {"content":"cost: $5"}
        end

        -> initialize {"protocolVersion":1}
        <- answer
        -> raw session/load {"sessionId":"old","cwd":"$cwd","mcpServers":[]}
        <- answer
        -> session/new {"cwd":"$cwd","mcpServers":[]}
        <- result {"sessionId": "$session"}
        -> session/prompt {"sessionId":"$session","prompt":[{"type":"text","text":"read it"}]}
        <- any notification
        -> session/cancel {"sessionId":"$session"}
        <- answer
    "##]],
    );
}

#[test]
fn what_is_no_message_stays_what_it_was() {
    let odd = recording(&[
        "<- log: ready",
        "-> 42",
        r#"-> {"jsonrpc":"2.0","id":null,"method":"initialize"}"#,
        r#"-> {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"one"}}"#,
        r#"<- {"jsonrpc":"2.0","id":"a","result":{"protocolVersion":1},"extra":true}"#,
        r#"<- {"jsonrpc":"2.0","id":"b","result":{}}"#,
        r#"<- {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","sessionId":"t"}}"#,
        r#"<- {"jsonrpc":"2.0","method":"odd method","params":[1]}"#,
        "<- half {\"jsonrpc\"",
        "<- killed",
    ]);
    check(
        &odd,
        Style::Exact,
        expect![[r##"
        # A conversation that was recorded.

        <- text "log: ready\n"
        -> text "42\n"
        -> text "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"initialize\"}\n"
        -> raw initialize {"protocolVersion":"one"}
        <- text "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"protocolVersion\":1},\"extra\":true}\n"
        <- text "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"result\":{}}\n"
        <- text "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"sessionId\":\"t\"}}\n"
        <- raw notify "odd method" [1]
        <- text "{\"jsonrpc\""
        <- exit by SIGKILL
    "##]],
    );
    check(
        &odd,
        Style::Agent,
        expect![[r##"
        # A conversation that was recorded.

        <- text "log: ready\n"
        # the client sent something here that is no message
        # the client sent something here that is no message
        -> initialize
        <- text "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"protocolVersion\":1},\"extra\":true}\n"
        <- text "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"result\":{}}\n"
        <- text "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"sessionId\":\"t\"}}\n"
        <- raw notify "odd method" [1]
        <- text "{\"jsonrpc\""
        <- exit by SIGKILL
    "##]],
    );
}

/// A recording plays against itself: one side is the client, the other the agent.
#[test]
fn recordings_meet_themselves() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/recordings");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let recording = Recording::load(&path).unwrap();
        let client = scenario("client.acpt", &transcribe(&recording, Style::Exact));
        let agent = agent_of(&recording);
        let (agent, client) = run(meet(Play::agent(&agent), Play::client(&client)));
        agent.assert_passed();
        client.assert_passed();
        // A client that says the same, and hears it in any form.
        let again = scenario("again.acpt", &transcribe(&recording, Style::Client));
        let (_, again) = run(meet(
            Play::agent(&agent_of(&recording)),
            Play::client(&again),
        ));
        again.assert_passed();
        count += 1;
    }
    assert_eq!(count, 5);
}

fn agent_of(recording: &Recording) -> Scenario {
    scenario("agent.acpt", &transcribe(recording, Style::Agent))
}

#[test]
fn what_was_played_can_be_kept_and_read_again() {
    let turn = scenario("turn.acpt", &transcribe(&a_turn(), Style::Agent));
    let client = scenario(
        "client.acpt",
        &transcribe(&a_turn(), Style::Exact).replace("<- exit 0", ""),
    );
    let (_, client) = run(meet(Play::agent(&turn), Play::client(&client)));
    client.assert_passed();
    let mut file = Vec::new();
    client.transcript.write(&mut file).unwrap();
    let read = Recording::read("kept", file.as_slice()).unwrap();
    assert_eq!(read, client.transcript);
    // In it, homes are redacted and the rest stays.
    let redacted = read.redacted(&redactor());
    let mut text = Vec::new();
    redacted.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("/home/user") && !text.contains("/home/ada"),
        "{text}"
    );
    assert_eq!(redacted.entries().len(), read.entries().len());
}

#[test]
fn a_recording_that_is_none() {
    let error = Recording::read("x.ndjson", "\n{\"t\": 1}\n".as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.ndjson:2: `dir` has to be \"client->agent\" or \"agent->client\""
    );
}
