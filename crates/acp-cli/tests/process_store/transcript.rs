//! What a client makes of updates.

use std::collections::BTreeMap;

use serde_json::Value;

/// A turn, as it looks in the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Turn {
    pub(crate) asked: String,
    thought: String,
    said: String,
    /// The tools, and how they stand.
    tools: BTreeMap<String, String>,
    plan: Option<Value>,
}

impl Turn {
    /// A turn that answers this, and has these updates.
    pub(crate) fn new(asked: &str, updates: &[Value]) -> Self {
        let mut turn = Self {
            asked: asked.to_owned(),
            ..Self::default()
        };
        updates.iter().for_each(|update| turn.add(update));
        turn
    }

    fn add(&mut self, update: &Value) {
        let text = || update["content"]["text"].as_str().unwrap_or_default();
        match update["sessionUpdate"].as_str() {
            Some("user_message_chunk") => self.asked.push_str(text()),
            Some("agent_thought_chunk") => self.thought.push_str(text()),
            Some("agent_message_chunk") => self.said.push_str(text()),
            Some("tool_call" | "tool_call_update") => {
                let tool = update["toolCallId"].as_str().unwrap().to_owned();
                let status = update["status"].as_str().map(str::to_owned);
                let known = self.tools.entry(tool).or_default();
                *known = status.unwrap_or_else(|| std::mem::take(known));
            }
            Some("plan") => self.plan = Some(update["entries"].clone()),
            _ => {}
        }
    }
}

/// The turns of a session that is told again.
pub(crate) fn turns(updates: &[Value]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for update in updates {
        if update["sessionUpdate"] == "user_message_chunk" {
            turns.push(Turn::default());
        }
        if let Some(turn) = turns.last_mut() {
            turn.add(update);
        }
    }
    turns
}
