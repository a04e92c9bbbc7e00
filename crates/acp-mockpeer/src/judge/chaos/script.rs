//! The valid conversation that chaos spoils.
//!
//! What is not known before it is spoken stands as a name between two `@`; it is
//! put in after the line was spoiled, so the spoiled lines follow from the seed
//! alone.

use serde_json::{Value, json};

use super::dice::Dice;
use super::mutate::Line;

/// The names that stand for what is not known before.
pub(super) const SESSION: &str = "@session@";
pub(super) const CWD: &str = "@cwd@";
pub(super) const WORDS: &str = "@words@";

/// The first id of chaos; those before it are of the conversation around.
const FIRST_ID: usize = 1000;

/// A line of chaos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) line: Line,
    /// The id under which it has to be answered.
    pub(super) owes: Option<Value>,
}

/// What a client says in a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientPlan {
    /// The conversation is opened in order before chaos begins.
    pub(super) opened: bool,
    pub(super) lines: Vec<Planned>,
    /// The client closes behind the last line, and asks nothing more.
    pub(super) closes: bool,
}

pub(super) fn initialize(id: u64) -> String {
    let info = json!({"name": "acp-check-chaos", "version": env!("CARGO_PKG_VERSION")});
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info},
    })
    .to_string()
}

pub(super) fn new_session(id: &Value) -> String {
    let params = json!({"cwd": CWD, "mcpServers": []});
    json!({"jsonrpc": "2.0", "id": id, "method": "session/new", "params": params}).to_string()
}

pub(super) fn cancel() -> String {
    let params = json!({"sessionId": SESSION});
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}).to_string()
}

/// Throws what a client says.
pub(super) fn client(dice: &mut Dice) -> ClientPlan {
    let opened = !dice.once_in(6);
    let mut lines = Vec::new();
    for index in 0..dice.between(3, 10) {
        lines.push(planned(client_line(dice, FIRST_ID + index), dice));
    }
    shuffle(&mut lines, dice);
    settle(&mut lines, true);
    ClientPlan {
        opened,
        lines,
        closes: dice.once_in(8),
    }
}

fn client_line(dice: &mut Dice, id: usize) -> Value {
    let request = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let prompt = || {
        let text = json!({"type": "text", "text": WORDS});
        request(
            "session/prompt",
            json!({"sessionId": SESSION, "prompt": [text]}),
        )
    };
    match dice.below(13) {
        0..=2 => prompt(),
        3 => request("session/new", json!({"cwd": CWD, "mcpServers": []})),
        4 => request("session/list", json!({})),
        5 => request(
            "session/load",
            json!({"sessionId": "nobody", "cwd": CWD, "mcpServers": []}),
        ),
        6 => request(
            "session/set_mode",
            json!({"sessionId": SESSION, "modeId": "nothing"}),
        ),
        7 => request(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {}}),
        ),
        8 => request("_chaos/unknown", json!({"a": [1, 2, {"b": null}]})),
        9 => {
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": SESSION}})
        }
        10 => json!({"jsonrpc": "2.0", "method": "_chaos/news", "params": {}}),
        11 => json!({
            "jsonrpc": "2.0",
            "method": "$/cancel_request",
            "params": {"requestId": FIRST_ID + dice.below(10)},
        }),
        // An answer to what was never asked.
        _ => json!({"jsonrpc": "2.0", "id": FIRST_ID + dice.below(100), "result": {}}),
    }
}

/// Throws what an agent says besides, while this request of the client waits.
pub(super) fn agent(dice: &mut Dice, in_a_turn: bool, first_id: usize) -> Vec<Planned> {
    let most = if in_a_turn { 6 } else { 2 };
    let mut lines = Vec::new();
    for index in 0..dice.between(0, most) {
        lines.push(planned(agent_line(dice, FIRST_ID + first_id + index), dice));
    }
    shuffle(&mut lines, dice);
    settle(&mut lines, in_a_turn);
    lines
}

fn agent_line(dice: &mut Dice, id: usize) -> Value {
    let update = |update: Value| {
        let params = json!({"sessionId": SESSION, "update": update});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
    };
    let text = json!({"type": "text", "text": "A line of chaos.\n"});
    match dice.below(11) {
        0 | 1 => update(json!({"sessionUpdate": "agent_message_chunk", "content": text})),
        2 => update(json!({"sessionUpdate": "agent_thought_chunk", "content": text})),
        3 => update(json!({
            "sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "Look", "kind": "read",
            "status": "pending", "locations": [{"path": "/nowhere", "line": 1}],
        })),
        4 => update(json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed",
            "content": [{"type": "content", "content": text}],
        })),
        5 => update(json!({
            "sessionUpdate": "plan",
            "entries": [{"content": "One", "priority": "high", "status": "pending"}],
        })),
        6 => update(json!({"sessionUpdate": "current_mode_update", "currentModeId": "nothing"})),
        7 => json!({
            "jsonrpc": "2.0", "id": id, "method": "session/request_permission",
            "params": {
                "sessionId": SESSION,
                "toolCall": {"toolCallId": "call-1"},
                "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}],
            },
        }),
        8 => json!({
            "jsonrpc": "2.0", "id": id, "method": "fs/read_text_file",
            "params": {"sessionId": SESSION, "path": "/nowhere/at-all"},
        }),
        9 => json!({"jsonrpc": "2.0", "id": id, "method": "_chaos/unknown", "params": {}}),
        _ => json!({"jsonrpc": "2.0", "id": FIRST_ID + dice.below(100), "result": {}}),
    }
}

/// Spoils three lines of four.
fn planned(value: Value, dice: &mut Dice) -> Planned {
    let mut line = Line::whole(&value.to_string());
    let mut owes = value.get("method").and(value.get("id")).cloned();
    if !dice.once_in(4) {
        line.spoil(dice);
        owes = None;
    }
    Planned { line, owes }
}

/// Sends some twice, and some before those that stood before them.
fn shuffle(lines: &mut Vec<Planned>, dice: &mut Dice) {
    if !lines.is_empty() && dice.once_in(3) {
        let at = dice.below(lines.len());
        let mut again = lines[at].clone();
        again.line.done.push("sent it twice");
        again.owes = None;
        lines.insert(at, again);
    }
    if lines.len() > 1 && dice.once_in(3) {
        let at = dice.below(lines.len() - 1);
        lines.swap(at, at + 1);
    }
}

/// Owes an answer only what begins a line of its own.
fn settle(lines: &mut [Planned], counts: bool) {
    let mut fresh = true;
    for planned in lines {
        if !fresh || !counts {
            planned.owes = None;
        }
        fresh = planned.line.ends();
    }
}

/// Puts in what is known by now.
pub(super) fn filled(bytes: &[u8], known: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (name, value) in known {
        let quoted = Value::from(*value).to_string();
        let value = &quoted.as_bytes()[1..quoted.len() - 1];
        let mut at = 0;
        while let Some(found) = find(&bytes[at..], name.as_bytes()) {
            let start = at + found;
            bytes.splice(start..start + name.len(), value.iter().copied());
            at = start + value.len();
        }
    }
    bytes
}

pub(super) fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_in() {
        let known = [(SESSION, "a\"@cwd@"), (CWD, "/x")];
        assert_eq!(
            filled(b"@session@,@session@ @cw", &known),
            br#"a\"/x,a\"/x @cw"#
        );
        assert_eq!(filled(b"", &known), b"");
    }

    #[test]
    fn a_plan_follows_from_its_dice() {
        let plan = |round| client(&mut Dice::new(5, &[round]));
        let mut owing = 0;
        let mut closing = 0;
        for round in 0..300 {
            let plan_of = plan(round);
            assert_eq!(plan_of, plan(round));
            assert!((3..=11).contains(&plan_of.lines.len()));
            owing += plan_of
                .lines
                .iter()
                .filter(|line| line.owes.is_some())
                .count();
            closing += usize::from(plan_of.closes);
        }
        assert!(owing > 100 && closing > 10, "{owing} {closing}");
    }

    #[test]
    fn who_is_glued_to_another_is_owed_nothing() {
        let whole = |json: &str, owes: Option<u64>| Planned {
            line: Line::whole(json),
            owes: owes.map(Value::from),
        };
        let mut lines = vec![
            whole("{}", Some(1)),
            whole("{}", Some(2)),
            whole("{}", Some(3)),
        ];
        lines[0].line.bytes.pop();
        settle(&mut lines, true);
        let owes: Vec<_> = lines.iter().map(|line| line.owes.is_some()).collect();
        assert_eq!(owes, [true, false, true]);
    }
}
