//! `--json`: one event a line, updates as the agent wrote them, and always an end.
#![cfg(target_os = "linux")]

mod support;

use serde_json::{Value, json};
use support::{Ended, acp, acp_alone};

fn events(ended: &Ended) -> Vec<Value> {
    ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_whole_run() {
    let script = r#"hear; answer '{"protocolVersion":1,"agentInfo":{"name":"a","version":"2"}}'; hear
        update '{"sessionUpdate":"available_commands_update","availableCommands":[]}'
        answer '{"sessionId":"s","modes":{"currentModeId":"m","availableModes":[]}}'; hear
        say '{"jsonrpc":"2.0","method":"session/update","params":{ "update":{"unknown":[1.0,"\u00e4"],"sessionUpdate":"from_the_future"}, "sessionId":"s" }}'
        update '{"sessionUpdate":"tool_call"}'
        text done; end end_turn; hear"#;
    let ended = acp(&["--json", "x"], script).end();
    assert_eq!(ended.code, Some(0));
    let events = events(&ended);
    assert_eq!(events[0]["sessionId"], "s");
    assert_eq!(events[0]["opened"], "new");
    assert_eq!(events[0]["agent"], "sh");
    assert_eq!(events[0]["agentInfo"], json!({"name": "a", "version": "2"}));
    assert_eq!(events[0]["modes"]["currentModeId"], "m");
    assert_eq!(events[0]["configOptions"], Value::Null);
    assert_eq!(
        events[1]["params"]["update"]["sessionUpdate"],
        "available_commands_update"
    );
    let as_sent = r#"{"v":1,"event":"update","params":{ "update":{"unknown":[1.0,"\u00e4"],"sessionUpdate":"from_the_future"}, "sessionId":"s" }}"#;
    assert_eq!(ended.out.lines().nth(2), Some(as_sent));
    assert_eq!(
        events[3]["params"]["update"],
        json!({"sessionUpdate": "tool_call"})
    );
    assert_eq!(events[4]["params"]["update"]["content"]["text"], "done");
    let end = json!({"v": 1, "event": "end", "sessionId": "s", "stopReason": "end_turn",
        "exitCode": 0, "report": "done", "reportIsWhole": false, "error": null});
    assert_eq!(events[5..], [end]);
    let error = events[3]["error"].as_str().unwrap();
    assert!(error.contains("toolCallId"), "{error}");
    assert!(events[4].get("error").is_none());
}

/// A piece of the answer that cannot be read, and one in a line that is too long.
const LOSSES: [(&str, &str); 2] = [
    (
        r#"update '{"sessionUpdate":"agent_message_chunk","content":["a"]}'"#,
        "1 update that cannot be read",
    ),
    (
        r#"printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'
           head -c 34000000 /dev/zero | tr '\0' x; printf '"}}}}\n'"#,
        "1 update: too long to be read",
    ),
];

#[test]
fn whatever_is_lost_of_an_answer_is_said() {
    for (loss, note) in LOSSES {
        let script = format!("start; text before; {loss}; end end_turn; hear");
        let ended = acp(&["--json", "x"], &script).end();
        assert_eq!(ended.code, Some(0));
        let events = events(&ended);
        let [.., lost, end] = &events[..] else {
            panic!("{events:?}");
        };
        match lost["event"].as_str() {
            Some("gap") => assert_eq!(lost["dropped"], 1),
            _ => assert!(lost["error"].is_string(), "{lost}"),
        }
        assert_eq!(end["report"], "before");
        assert_eq!(end["reportIsWhole"], false);
        let ended = acp(&["x"], &script).end();
        assert_eq!((ended.code, &*ended.out), (Some(0), "before\n"));
        assert!(ended.err.contains(note), "{}", ended.err);
        let ended = acp(&["-q", "x"], &script).end();
        assert_eq!((ended.code, &*ended.out), (Some(0), "before\n"));
        let note = "part of the report was lost, or cut";
        assert!(ended.err.contains(note), "{}", ended.err);
    }
}

#[test]
fn nothing_said_and_something_lost_is_no_whole_report() {
    let (loss, _) = LOSSES[0];
    let ended = acp(
        &["--json", "x"],
        &format!("start; {loss}; end end_turn; hear"),
    )
    .end();
    let events = events(&ended);
    let end = events.last().unwrap();
    assert_eq!(
        (&end["report"], &end["reportIsWhole"]),
        (&Value::Null, &json!(false))
    );
}

#[test]
fn failures_are_the_end_too() {
    let ended = acp(&["--json", "x"], "start; text half; exit 4").end();
    let events = events(&ended);
    let end = events.last().unwrap();
    assert_eq!(ended.code, Some(5));
    assert_eq!(end["event"], "end");
    assert_eq!(end["exitCode"], 5);
    assert_eq!(end["stopReason"], Value::Null);
    assert_eq!(
        end["error"]["message"],
        "failed to keep in touch with the agent: it ended: exit code 4"
    );
    assert!(end["error"]["hint"].is_string());
    assert!(
        ended.err.starts_with("acp: failed to keep in touch"),
        "{}",
        ended.err
    );
    let ended = acp_alone(&["--json", "", "--", "x"]).end();
    assert_eq!(ended.out.lines().count(), 1);
    assert_eq!(self::events(&ended)[0]["exitCode"], 2);
}
