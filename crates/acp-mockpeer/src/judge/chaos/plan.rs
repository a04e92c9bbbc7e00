//! The valid conversation that chaos spoils.
//!
//! What is not known before it is spoken stands as a name between two `@`; it is
//! put in after the line was spoiled, so the spoiled lines follow from the seed
//! alone.

use serde_json::{Value, json};

use super::mutate::Line;
use super::random::SeededRandom;
use super::selection::{Lines, Place};

/// The names that stand for what is not known before.
pub(super) const SESSION: &str = "@session@";
pub(super) const CWD: &str = "@cwd@";
pub(super) const WORDS: &str = "@words@";

/// The first id of chaos; those before it are of the conversation around.
const FIRST_ID: usize = 1000;

/// A line of chaos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// Where it stands among those that may be left out.
    pub(super) place: Option<Place>,
    pub(super) line: Line,
    /// It was said before.
    pub(super) again: bool,
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

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut request = notification(method, params);
    request["id"] = id.into();
    request
}

fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(super) fn initialize(id: u64) -> Value {
    let info = json!({"name": "acp-check-chaos", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info});
    request(id, "initialize", params)
}

pub(super) fn new_session(id: Value) -> Value {
    request(id, "session/new", json!({"cwd": CWD, "mcpServers": []}))
}

pub(super) fn cancel() -> Value {
    notification("session/cancel", json!({"sessionId": SESSION}))
}

/// Answers what was never asked.
fn stray_answer(random: &mut SeededRandom) -> Value {
    json!({"jsonrpc": "2.0", "id": FIRST_ID + random.below(100), "result": {}})
}

impl Planned {
    /// A line that stands in no plan.
    pub(super) fn aside(line: Line) -> Self {
        Self {
            place: None,
            line,
            again: false,
            owes: None,
        }
    }

    /// Says in words what was done to it; nothing when it is as it was.
    pub(super) fn done(&self) -> String {
        let again = self.again.then_some("sent it twice");
        let done = self.line.done.iter().copied().chain(again);
        done.collect::<Vec<_>>().join(", ")
    }
}

/// Throws what a client says.
pub(super) fn client(random: &mut SeededRandom) -> ClientPlan {
    let opened = !random.once_in(6);
    let count = random.between(3, 10);
    let lines = throw(random, count, 0, client_line);
    ClientPlan {
        opened,
        lines,
        closes: random.once_in(8),
    }
}

fn client_line(random: &mut SeededRandom, id: usize) -> Value {
    let prompt = json!([{"type": "text", "text": WORDS}]);
    let (method, params) = match random.below(13) {
        0..=2 => (
            "session/prompt",
            json!({"sessionId": SESSION, "prompt": prompt}),
        ),
        3 => return new_session(id.into()),
        4 => ("session/list", json!({})),
        5 => {
            let params = json!({"sessionId": "nobody", "cwd": CWD, "mcpServers": []});
            ("session/load", params)
        }
        6 => (
            "session/set_mode",
            json!({"sessionId": SESSION, "modeId": "nothing"}),
        ),
        7 => (
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {}}),
        ),
        8 => ("_chaos/unknown", json!({"a": [1, 2, {"b": null}]})),
        9 => return cancel(),
        10 => return notification("_chaos/news", json!({})),
        11 => {
            let params = json!({"requestId": FIRST_ID + random.below(10)});
            return notification("$/cancel_request", params);
        }
        _ => return stray_answer(random),
    };
    request(id, method, params)
}

/// Throws what an agent says besides, while this request of the client waits.
pub(super) fn agent(random: &mut SeededRandom, in_a_turn: bool, turn: u32) -> Vec<Planned> {
    let count = random.between(0, if in_a_turn { 6 } else { 2 });
    throw(random, count, turn, agent_line)
}

/// Throws lines, numbered from 1.
fn throw(
    random: &mut SeededRandom,
    count: usize,
    turn: u32,
    line: fn(&mut SeededRandom, usize) -> Value,
) -> Vec<Planned> {
    let first_id = FIRST_ID + usize::try_from(turn).unwrap_or_default() * 100;
    let mut lines = Vec::new();
    for index in 0..count {
        lines.push(planned(line(random, first_id + index), random));
    }
    shuffle(&mut lines, random);
    for (number, planned) in (1..).zip(&mut lines) {
        planned.place = Some((turn, number));
    }
    lines
}

/// Leaves the lines that are wanted, spoiled as far as they are to be; each owes an
/// answer only if it `counts`, and is a line of its own.
pub(super) fn chosen(lines: Vec<Planned>, wanted: Option<&Lines>, counts: bool) -> Vec<Planned> {
    let mut lines: Vec<Planned> = lines
        .into_iter()
        .filter_map(|planned| cut(planned, wanted))
        .collect();
    settle(&mut lines, counts);
    lines
}

/// Spoils a line only as far as it is to be; `None` when it is left out.
pub(super) fn cut(mut planned: Planned, wanted: Option<&Lines>) -> Option<Planned> {
    if let (Some(wanted), Some(place)) = (wanted, planned.place) {
        planned.line.undo_to(wanted.changes(place)?);
    }
    Some(planned)
}

fn agent_line(random: &mut SeededRandom, id: usize) -> Value {
    let text = json!({"type": "text", "text": "A line of chaos.\n"});
    let update = match random.below(11) {
        0 | 1 => json!({"sessionUpdate": "agent_message_chunk", "content": text}),
        2 => json!({"sessionUpdate": "agent_thought_chunk", "content": text}),
        3 => json!({
            "sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "Look", "kind": "read",
            "status": "pending", "locations": [{"path": "/nowhere", "line": 1}],
        }),
        4 => json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed",
            "content": [{"type": "content", "content": text}],
        }),
        5 => json!({
            "sessionUpdate": "plan",
            "entries": [{"content": "One", "priority": "high", "status": "pending"}],
        }),
        6 => json!({"sessionUpdate": "current_mode_update", "currentModeId": "nothing"}),
        7 => {
            let params = json!({
                "sessionId": SESSION, "toolCall": {"toolCallId": "call-1"},
                "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}],
            });
            return request(id, "session/request_permission", params);
        }
        8 => {
            let params = json!({"sessionId": SESSION, "path": "/nowhere/at-all"});
            return request(id, "fs/read_text_file", params);
        }
        9 => return request(id, "_chaos/unknown", json!({})),
        _ => return stray_answer(random),
    };
    notification(
        "session/update",
        json!({"sessionId": SESSION, "update": update}),
    )
}

/// Spoils three lines of four.
fn planned(value: Value, random: &mut SeededRandom) -> Planned {
    let mut line = Line::whole(&value);
    let mut owes = value.get("method").and(value.get("id")).cloned();
    if !random.once_in(4) {
        line.spoil(random);
        owes = None;
    }
    Planned {
        owes,
        ..Planned::aside(line)
    }
}

/// Sends some twice, and some before those that stood before them.
fn shuffle(lines: &mut Vec<Planned>, random: &mut SeededRandom) {
    if !lines.is_empty() && random.once_in(3) {
        let at = random.below(lines.len());
        let mut again = lines[at].clone();
        again.again = true;
        again.owes = None;
        lines.insert(at, again);
    }
    if lines.len() > 1 && random.once_in(3) {
        let at = random.below(lines.len() - 1);
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
        let plan = |round| client(&mut SeededRandom::new(5, &[round]));
        let mut owing = 0;
        let mut closing = 0;
        for round in 0..300 {
            let plan_of = plan(round);
            assert_eq!(plan_of, plan(round));
            assert!((3..=11).contains(&plan_of.lines.len()));
            closing += usize::from(plan_of.closes);
            let lines = chosen(plan_of.lines, None, true);
            owing += lines.iter().filter(|line| line.owes.is_some()).count();
        }
        assert!(owing > 100 && closing > 10, "{owing} {closing}");
    }

    #[test]
    fn what_is_not_wanted_is_left_out() {
        let lines = client(&mut SeededRandom::new(5, &[4])).lines;
        let changed = lines.iter().position(|one| !one.line.done.is_empty());
        let changed = changed.expect("a line is spoiled");
        let place = lines[changed].place.expect("it has a place");
        let wanted: Lines = format!("{}/0", place.1).parse().expect("it can be read");
        let left = chosen(lines.clone(), Some(&wanted), true);
        assert_eq!(left.len(), 1);
        assert!(left[0].line.done.is_empty() && left[0].place == Some(place));
        let all: Vec<String> = (1..=lines.len()).map(|line| line.to_string()).collect();
        let all: Lines = all.join(",").parse().expect("they can be read");
        assert_eq!(
            chosen(lines.clone(), Some(&all), true),
            chosen(lines, None, true)
        );
    }

    #[test]
    fn who_is_glued_to_another_is_owed_nothing() {
        let whole = |owes: u64| Planned {
            owes: Some(owes.into()),
            ..Planned::aside(Line::whole(&json!({})))
        };
        let mut lines = vec![whole(1), whole(2), whole(3)];
        lines[0].line.bytes.pop();
        settle(&mut lines, true);
        let owes: Vec<_> = lines.iter().map(|line| line.owes.is_some()).collect();
        assert_eq!(owes, [true, false, true]);
    }
}
