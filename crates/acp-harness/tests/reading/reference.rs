//! The rules of reading, said with the whole past at hand.

use acp_protocol::RawJson;
use acp_protocol::v1::{
    ContentBlock, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};
use serde_json::Value;

/// The same, said with the whole past at hand: each update is looked at with all that came
/// before it, and the call is put together anew by the protocol's own rules.
pub(crate) fn expected(updates: &[SessionUpdate]) -> Vec<String> {
    let as_update = |update: &SessionUpdate| match update {
        SessionUpdate::ToolCall(call) => Some(ToolCallUpdate::from((**call).clone())),
        SessionUpdate::ToolCallUpdate(update) => Some((**update).clone()),
        _ => None,
    };
    let ends =
        |update: &ToolCallUpdate| update.status.as_ref().is_some_and(ToolCallStatus::is_final);
    let mut lines = Vec::new();
    for (at, update) in updates.iter().enumerate() {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) if chunk.as_text() != Some("") => {
                lines.push(format!("text {:?}", chunk.as_text().unwrap()));
            }
            SessionUpdate::AgentThoughtChunk(chunk) if chunk.as_text() != Some("") => {
                lines.push(format!("thought {:?}", chunk.as_text().unwrap()));
            }
            _ => {}
        }
        let Some(now) = as_update(update) else {
            continue;
        };
        let id = now.tool_call_id.clone();
        let past: Vec<_> = updates[..at]
            .iter()
            .filter(|update| as_update(update).is_some_and(|update| update.tool_call_id == id))
            .collect();
        let announces = |update: &SessionUpdate| matches!(update, SessionUpdate::ToolCall(_));
        let was_over = past.iter().any(|update| ends(&as_update(update).unwrap()));
        let was_called = was_over || past.iter().any(|update| announces(update));
        let mut whole = ToolCall::new(id.clone(), "");
        for update in past.into_iter().chain([update]) {
            as_update(update).unwrap().apply_to(&mut whole);
        }
        if !was_called && (announces(update) || ends(&now)) {
            let how = if announces(update) { "call" } else { "made up" };
            let args = whole.raw_input.as_ref().map_or("", RawJson::as_str);
            lines.push(format!(
                "{how} {} {}({args})",
                id.as_str(),
                tool_name(&whole)
            ));
        }
        if !was_over && ends(&now) {
            let how = if whole.status == Some(ToolCallStatus::Failed) {
                "failed"
            } else {
                "done"
            };
            lines.push(format!("{how} {} {:?}", id.as_str(), tool_text(&whole)));
        }
    }
    lines
}

pub(crate) fn tool_name(call: &ToolCall) -> String {
    let candidates = [call.name.as_deref(), Some(&*call.title)];
    let is_name = |text: &&str| ["grep", "read_file", "x.y-z"].contains(text);
    let kind = match call.kind {
        Some(ToolKind::Read) => "read",
        Some(ToolKind::Execute) => "execute",
        _ => "other",
    };
    candidates
        .into_iter()
        .flatten()
        .find(is_name)
        .unwrap_or(kind)
        .to_owned()
}

pub(crate) fn tool_text(call: &ToolCall) -> String {
    let mut text = String::new();
    for part in &call.content {
        let part = match part {
            ToolCallContent::Content(content) => match &content.content {
                ContentBlock::Text(text) => text.text.clone(),
                _ => "[image image/png]".to_owned(),
            },
            ToolCallContent::Diff(diff) => {
                format!("patch /p/f: new, {} lines", diff.new_text.lines().count())
            }
            _ => String::new(),
        };
        if !part.is_empty() {
            let apart = if text.is_empty() || text.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            text = format!("{text}{apart}{part}");
        }
    }
    match &call.raw_output {
        Some(output) if text.is_empty() => match output.to_value() {
            Value::String(text) => text,
            other => other.to_string(),
        },
        _ => text,
    }
}

/// The messages of a turn, cut apart first and looked at then.
pub(crate) fn expected_report(updates: &[SessionUpdate]) -> String {
    let mut messages = expected_messages(updates).into_iter();
    let last = messages.rfind(|message| !message.trim().is_empty());
    last.unwrap_or_default()
}

pub(crate) fn expected_messages(updates: &[SessionUpdate]) -> Vec<String> {
    let mut messages = vec![String::new()];
    for (at, update) in updates.iter().enumerate() {
        let past = &updates[..at];
        let seen = |id: &str| {
            past.iter().any(|update| match update {
                SessionUpdate::ToolCall(call) => call.tool_call_id == *id,
                SessionUpdate::ToolCallUpdate(update) => update.tool_call_id == *id,
                _ => false,
            })
        };
        let id_of = |update: &SessionUpdate| match update {
            SessionUpdate::AgentMessageChunk(chunk) => chunk.message_id.clone(),
            _ => None,
        };
        match update {
            SessionUpdate::ToolCall(call) if !seen(call.tool_call_id.as_str()) => {
                messages.push(String::new());
            }
            SessionUpdate::ToolCallUpdate(update) if !seen(update.tool_call_id.as_str()) => {
                messages.push(String::new());
            }
            SessionUpdate::AgentMessageChunk(chunk) => {
                let before = past.iter().rev().find_map(id_of);
                if let (Some(before), Some(now)) = (before, id_of(update))
                    && before != now
                {
                    messages.push(String::new());
                }
                messages
                    .last_mut()
                    .unwrap()
                    .push_str(chunk.as_text().unwrap());
            }
            _ => {}
        }
    }
    messages.retain(|message| !message.is_empty());
    messages
}
