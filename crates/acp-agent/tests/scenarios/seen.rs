//! What was said in scenarios, against what can be said.

use std::collections::{BTreeMap, BTreeSet};

use acp_mockpeer::{PeerSide, RecordedEvent, Recording};
use acp_protocol::v1::methods::{AgentMethod, ClientMethod};
use serde_json::Value;

/// How each request can be refused. The agent's own answers: wrong parameters,
/// a wrong moment, its host's failure, what nobody knows, no login, what is not
/// registered, and the client's wish. Of the client's, any error will do.
const REFUSALS: &[(&str, &[i64])] = &[
    ("initialize", &[-32602, -32600]),
    ("authenticate", &[-32602, -32600, -32603, -32601, -32800]),
    ("logout", &[-32602, -32600, -32603, -32601, -32800]),
    ("session/new", &[-32602, -32600, -32603, -32000, -32800]),
    (
        "session/load",
        &[-32602, -32600, -32603, -32002, -32000, -32601, -32800],
    ),
    (
        "session/resume",
        &[-32602, -32600, -32603, -32002, -32000, -32601, -32800],
    ),
    (
        "session/list",
        &[-32602, -32600, -32603, -32000, -32601, -32800],
    ),
    ("session/close", &[-32602, -32600, -32002, -32800]),
    (
        "session/delete",
        &[-32602, -32600, -32603, -32000, -32601, -32800],
    ),
    (
        "session/prompt",
        &[-32602, -32600, -32603, -32002, -32000, -32800],
    ),
    (
        "session/set_mode",
        &[-32602, -32600, -32603, -32002, -32000, -32601, -32800],
    ),
    (
        "session/set_config_option",
        &[-32602, -32600, -32603, -32002, -32000, -32601, -32800],
    ),
    // It is a notification: as a request it does not exist.
    ("session/cancel", &[-32601]),
];

/// All that an update can be about.
const UPDATES: [&str; 14] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
];

/// All reasons for which a turn stops.
const STOPS: [&str; 5] = [
    "end_turn",
    "max_tokens",
    "max_turn_requests",
    "refusal",
    "cancelled",
];

/// What was said in scenarios.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Methods that were answered well.
    results: BTreeSet<String>,
    /// The errors with which they were answered.
    errors: BTreeMap<String, BTreeSet<i64>>,
    /// Notifications of either side.
    told: BTreeSet<(String, String)>,
    updates: BTreeSet<String>,
    stops: BTreeSet<String>,
}

impl Seen {
    /// Takes note of a conversation.
    pub(crate) fn watch(&mut self, conversation: &Recording) {
        let mut asked: BTreeMap<(String, String), String> = BTreeMap::new();
        for entry in conversation.entries() {
            let RecordedEvent::Line(line) = &entry.what else {
                continue;
            };
            let Ok(message) = serde_json::from_slice::<Value>(line) else {
                continue;
            };
            let method = message["method"].as_str().map(ToOwned::to_owned);
            let id = message.get("id").map(ToString::to_string);
            let name = |side: PeerSide| format!("{side:?}");
            match (method, id) {
                (Some(method), Some(id)) => {
                    asked.insert((name(entry.from), id), method);
                }
                (Some(method), None) => {
                    if let Some(kind) = message["params"]["update"]["sessionUpdate"].as_str() {
                        self.updates.insert(kind.to_owned());
                    }
                    self.told.insert((name(entry.from), method));
                }
                (None, Some(id)) => {
                    if let Some(method) = asked.remove(&(name(entry.from.other()), id)) {
                        self.answered(method, &message);
                    }
                }
                (None, None) => {}
            }
        }
    }

    fn answered(&mut self, method: String, message: &Value) {
        if let Some(stop) = message["result"]["stopReason"].as_str() {
            self.stops.insert(stop.to_owned());
        }
        match message["error"]["code"].as_i64() {
            Some(code) => drop(self.errors.entry(method).or_default().insert(code)),
            None => drop(self.results.insert(method)),
        }
    }

    /// What is missing, and what should not have been said.
    pub(crate) fn compare(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for method in AgentMethod::ALL {
            self.compare_own(method.name(), &mut wrong);
        }
        for method in ClientMethod::ALL {
            let method = method.name();
            let is_told = ["session/update", "elicitation/complete"].contains(&method);
            if is_told {
                self.need_told("Agent", method, &mut wrong);
                continue;
            }
            if !self.results.contains(method) {
                wrong.push(format!("no client answers {method}"));
            }
            if !self.errors.contains_key(method) {
                wrong.push(format!("no client refuses {method}"));
            }
        }
        for side in ["Agent", "Client"] {
            self.need_told(side, "$/cancel_request", &mut wrong);
        }
        let missing = |what: &str, all: &[&str], seen: &BTreeSet<String>| {
            let missing = all.iter().filter(|one| !seen.contains(**one));
            missing
                .map(|one| format!("no {what} is {one}"))
                .collect::<Vec<_>>()
        };
        wrong.extend(missing("update", &UPDATES, &self.updates));
        wrong.extend(missing("end of a turn", &STOPS, &self.stops));
        wrong
    }

    fn compare_own(&self, method: &str, wrong: &mut Vec<String>) {
        let row = REFUSALS.iter().find(|(known, _)| *known == method);
        let Some((_, refusals)) = row else {
            wrong.push(format!("nobody says how {method} can be refused"));
            return;
        };
        let refusals: BTreeSet<i64> = refusals.iter().copied().collect();
        let none = BTreeSet::new();
        let seen = self.errors.get(method).unwrap_or(&none);
        for code in refusals.difference(seen) {
            wrong.push(format!("{method} is never refused by {code}"));
        }
        for code in seen.difference(&refusals) {
            wrong.push(format!("{method} is refused by {code}, and nobody says so"));
        }
        if method == "session/cancel" {
            self.need_told("Client", method, wrong);
        } else if !self.results.contains(method) {
            wrong.push(format!("{method} never works"));
        }
    }

    fn need_told(&self, side: &str, method: &str, wrong: &mut Vec<String>) {
        if !self.told.contains(&(side.to_owned(), method.to_owned())) {
            wrong.push(format!("no {side} sends {method}"));
        }
    }
}
