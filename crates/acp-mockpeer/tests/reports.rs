//! Reports as people read them.

mod support;

use acp_mockpeer::{Play, PlayOutcome};
use expect_test::{Expect, expect};
use support::{meet, run, scenario};

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(outcome: &PlayOutcome, expected: Expect) {
    expected.assert_eq(&outcome.to_string());
}

/// The client's outcome.
fn played(agent: &str, client: &str) -> PlayOutcome {
    let agent = scenario("agent.acpt", agent);
    let client = scenario("cancel.acpt", client);
    run(meet(Play::agent(&agent), Play::client(&client))).1
}

const HELLO: &str = "-> initialize\n<- result\n-> session/new\n<- result {\"sessionId\": \"$s\"}\n";

const CLIENT: &str = r#"# A cancelled turn ends as cancelled.
proves: R120, R121

-> initialize
<- result
-> session/new
<- result {"sessionId": "$s"}
-> session/prompt {"sessionId": "$s"} as prompt
<- session/update*
-> session/cancel {"sessionId": "$s"}
<- session/update*
<- result of prompt {"stopReason": "cancelled"} within 2s
"#;

#[test]
fn passed() {
    check(
        &played(
            &format!(
                "{HELLO}-> session/prompt\n-> session/cancel\n<- result {{\"stopReason\": \"cancelled\"}}\n"
            ),
            CLIENT,
        ),
        expect![[r#"
            cancel.acpt: passed
        "#]],
    );
}

#[test]
fn another_value() {
    check(
        &played(
            &format!("{HELLO}-> session/prompt\n-> session/cancel\n<- session/update\n<- result\n"),
            CLIENT,
        ),
        expect![[r#"
            cancel.acpt: failed
              A cancelled turn ends as cancelled.
              proves R120, R121

                12 | <- result of prompt {"stopReason": "cancelled"} within 2s
              the agent sent what no step expects
                expected  the result of `prompt` (session/prompt) {"stopReason": "cancelled"} (line 12)
                      or  the notification session/update (line 11)
                     got  {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
                 because  at result.stopReason: expected "cancelled", got "end_turn"

              the conversation, as the client saw it
                   0.000 -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
                   0.000 <- {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
                   0.000 -> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/home/ada/project","mcpServers":[]}}
                   0.000 <- {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}
                   0.000 -> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"hello"}]}}
                   0.000 -> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}
                   0.000 <- {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}}}
              *    0.000 <- {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
        "#]],
    );
}

#[test]
fn nothing_came() {
    check(
        &played(
            &format!("{HELLO}-> session/prompt\n-> session/cancel\n<- nothing for 10s\n"),
            CLIENT,
        ),
        expect![[r#"
            cancel.acpt: failed
              A cancelled turn ends as cancelled.
              proves R120, R121

                12 | <- result of prompt {"stopReason": "cancelled"} within 2s
              it did not come within 2s
                expected  the result of `prompt` (session/prompt) {"stopReason": "cancelled"} (line 12)
                      or  the notification session/update (line 11)

              the conversation, as the client saw it
                   0.000 -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
                   0.000 <- {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
                   0.000 -> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/home/ada/project","mcpServers":[]}}
                   0.000 <- {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}
                   0.000 -> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"hello"}]}}
                   0.000 -> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}
        "#]],
    );
}

#[test]
fn broken_checks_and_secrets() {
    let key = format!("sk-{}", "a1B2".repeat(6));
    check(
        &played(
            &format!(
                "<- text \"using {key}\\n\"\n{HELLO}-> session/prompt\n-> session/cancel\n\
                 <- raw session/update {{\"sessionId\": \"$s\", \"update\": {{\"sessionUpdate\": \"plan\"}}}}\n\
                 <- result {{\"stopReason\": \"cancelled\"}}\n"
            ),
            CLIENT,
        ),
        expect![[r#"
            cancel.acpt: failed
              A cancelled turn ends as cancelled.
              proves R120, R121

                 5 | <- result
              the agent broke a check: noise: this line is no JSON: expected value at line 1 column 1 (R004, R005, R007)
                    line  using [redacted]

                11 | <- session/update*
              the agent broke a check: shape: at params.update: "entries" is a required property (R138)
                    line  {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan"}}}

              the conversation, as the client saw it
                   0.000 -> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
                   0.000 <- using [redacted]
                   0.000 <- {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
                   0.000 -> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/home/ada/project","mcpServers":[]}}
                   0.000 <- {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}
                … 6 lines after
        "#]],
    );
}

#[test]
fn skipped_and_broken() {
    check(
        &played(
            "-> initialize\n<- result\n",
            &format!("needs: agent loadSession\n{CLIENT}"),
        ),
        expect![[r#"
            cancel.acpt: skipped: the agent does not advertise `loadSession`
        "#]],
    );
    check(
        &played(
            "-> initialize\n<- result\n",
            "-> initialize {\"protocolVersion\": any}\n<- result\n",
        ),
        expect![[r#"
            cancel.acpt: this scenario cannot be played as it is

                 1 | -> initialize {"protocolVersion": any}
              `any` cannot be sent; say what is sent and what may come instead: `"hello" | any`
        "#]],
    );
}
