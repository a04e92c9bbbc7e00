//! Tool calls and terminals: what was shown of them, and when.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{MOST, broken, kept};
use crate::rules::Finding;

/// The tool calls and terminals of the sessions of a conversation.
#[derive(Debug, Default)]
pub(super) struct Calls {
    shown: HashMap<String, HashSet<String>>,
    /// The sessions in whose turn a call was shown.
    at_work: HashSet<String>,
    terminals: HashMap<(String, String), Terminal>,
}

#[derive(Debug, Default)]
struct Terminal {
    is_shown: bool,
    is_released: bool,
}

impl Calls {
    /// A session is told again from its beginning.
    pub(super) fn begin_again(&mut self, session: &str) {
        self.shown.remove(session);
    }

    /// A turn begins.
    pub(super) fn begin_turn(&mut self, session: &str) {
        self.at_work.remove(session);
    }

    /// The agent has the client do something for a turn.
    pub(super) fn used(&self, session: &str) -> Option<Finding> {
        let is_known = self.at_work.contains(session) || self.at_work.len() >= MOST;
        (!is_known).then(|| {
            let text = "no tool call of this turn shows what this is for";
            broken(&["R127"], text).doubtful()
        })
    }

    /// The agent tells something of a session.
    pub(super) fn told(&mut self, session: &str, update: &Value) -> Option<Finding> {
        let kind = update["sessionUpdate"].as_str()?;
        if !matches!(kind, "tool_call" | "tool_call_update") {
            return None;
        }
        let is_new = self.show(session, &update["toolCallId"]);
        let gone = self.contents(session, &update["content"]);
        match &update["toolCallId"] {
            Value::String(id) if kind == "tool_call" && !is_new => Some(broken(
                &["R128"],
                format!("another tool call has the id {id:?}"),
            )),
            _ => gone,
        }
    }

    /// The agent asks whether a call may be done.
    pub(super) fn asked(&mut self, session: &str, call: &Value) -> Option<Finding> {
        let id = call["toolCallId"].as_str()?.to_owned();
        let known = self.shown.get(session);
        let is_known = known.is_some_and(|known| known.contains(&id) || known.len() >= MOST);
        let gone = self.contents(session, &call["content"]);
        match is_known {
            true => gone,
            // The question itself may show all there is to see.
            false => {
                let text = format!("the tool call {id:?} was not shown before it is asked about");
                Some(broken(&["R112"], text).doubtful())
            }
        }
    }

    /// The agent releases a terminal.
    pub(super) fn released(&mut self, session: &str, terminal: &Value) {
        if let Some(terminal) = self.terminal(session, terminal) {
            terminal.is_released = true;
        }
    }

    /// The client made a terminal; its id may have been that of another before.
    pub(super) fn made(&mut self, session: &str, terminal: &Value) {
        if let Some(terminal) = self.terminal(session, terminal) {
            *terminal = Terminal::default();
        }
    }

    /// Notes a call; `false` if it is known.
    fn show(&mut self, session: &str, id: &Value) -> bool {
        let Some(id) = id.as_str() else { return true };
        if self.at_work.len() < MOST {
            self.at_work.insert(session.to_owned());
        }
        let known = kept(&mut self.shown, session.to_owned());
        known.is_none_or(|known| known.len() >= MOST || known.insert(id.to_owned()))
    }

    /// Notes the terminals that are shown; one that is gone is shown too late (R135).
    fn contents(&mut self, session: &str, content: &Value) -> Option<Finding> {
        let mut gone = None;
        for shown in content.as_array().into_iter().flatten() {
            if shown["type"] != "terminal" {
                continue;
            }
            if let Some(terminal) = self.terminal(session, &shown["terminalId"]) {
                if terminal.is_released && !terminal.is_shown {
                    let id = &shown["terminalId"];
                    let text = format!("the terminal {id} is shown only when it is released");
                    gone = Some(broken(&["R135"], text));
                }
                terminal.is_shown = true;
            }
        }
        gone
    }

    fn terminal(&mut self, session: &str, id: &Value) -> Option<&mut Terminal> {
        let key = (session.to_owned(), id.as_str()?.to_owned());
        kept(&mut self.terminals, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The rule that was broken, if one was.
    fn rule(found: Option<Finding>) -> &'static str {
        found.map_or("", |found| found.rules[0])
    }

    fn call(id: &str) -> Value {
        json!({"sessionUpdate": "tool_call", "toolCallId": id})
    }

    #[test]
    fn an_id_is_of_one_call_of_a_session() {
        let mut calls = Calls::default();
        assert_eq!(calls.told("s", &call("a")), None);
        assert_eq!(calls.told("r", &call("a")), None);
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "a"});
        assert_eq!(calls.told("s", &update), None);
        assert_eq!(rule(calls.told("s", &call("a"))), "R128");
        calls.begin_again("s");
        assert_eq!(calls.told("s", &call("a")), None);
    }

    #[test]
    fn a_call_is_seen_before_it_is_asked_about() {
        let mut calls = Calls::default();
        let id = json!({"toolCallId": "a"});
        assert_eq!(rule(calls.asked("s", &id)), "R112");
        calls.told("s", &call("a"));
        assert_eq!(calls.asked("s", &id), None);
        assert_eq!(rule(calls.asked("r", &id)), "R112");
    }

    #[test]
    fn what_the_client_does_is_shown_in_its_turn() {
        let mut calls = Calls::default();
        assert_eq!(rule(calls.used("s")), "R127");
        calls.told("s", &call("a"));
        assert_eq!(calls.used("s"), None);
        assert_eq!(rule(calls.used("r")), "R127");
        calls.begin_turn("s");
        assert_eq!(rule(calls.used("s")), "R127");
    }

    #[test]
    fn a_terminal_is_shown_before_it_is_gone() {
        let mut calls = Calls::default();
        let shows = json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "content": [{"type": "terminal", "terminalId": "t"}]});
        calls.made("s", &json!("t"));
        calls.released("s", &json!("t"));
        assert_eq!(rule(calls.told("s", &shows)), "R135");
        calls.made("s", &json!("t"));
        assert_eq!(calls.told("s", &shows), None);
        calls.released("s", &json!("t"));
        // It was shown before, and is only shown on.
        assert_eq!(calls.told("s", &shows), None);
    }
}
