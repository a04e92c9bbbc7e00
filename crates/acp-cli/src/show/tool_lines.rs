//! The lines that tell of tool calls: one when a call begins, one when it ends.

use std::collections::{HashMap, VecDeque};

use acp_protocol::v1::{ToolCall, ToolCallId, ToolCallStatus, ToolCallUpdate};

use super::line::one_line;

/// Tool calls whose state is remembered, so that each line is printed once. Beyond
/// it the oldest are forgotten, and would be announced again.
const MAX_TOOLS: usize = 1024;

/// What has been said of each tool call.
#[derive(Default)]
pub(crate) struct ToolLines {
    calls: HashMap<ToolCallId, Call>,
    order: VecDeque<ToolCallId>,
}

/// What there is to say now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A call begins.
    Begins(String),
    /// A call ended; `at_once` when nothing was said of it before.
    Ends { line: String, at_once: bool },
}

#[derive(Default)]
struct Call {
    title: String,
    kind: Option<String>,
    state: State,
}

#[derive(Default, PartialEq)]
enum State {
    #[default]
    Unsaid,
    Begun,
    Ended(ToolCallStatus),
}

impl ToolLines {
    /// Takes a `tool_call`.
    pub(crate) fn call(&mut self, call: &ToolCall) -> Option<News> {
        let known = self.entry(&call.tool_call_id);
        known.title = one_line(&call.title);
        if let Some(kind) = &call.kind {
            known.kind = Some(one_line(kind.as_str()));
        }
        known.news(call.status.as_ref())
    }

    /// Takes a `tool_call_update`, which may come for a call nobody announced.
    pub(crate) fn update(&mut self, change: &ToolCallUpdate) -> Option<News> {
        let known = self.entry(&change.tool_call_id);
        if let Some(title) = &change.title {
            known.title = one_line(title);
        }
        if let Some(kind) = &change.kind {
            known.kind = Some(one_line(kind.as_str()));
        }
        known.news(change.status.as_ref())
    }

    fn entry(&mut self, id: &ToolCallId) -> &mut Call {
        if !self.calls.contains_key(id) {
            if self.order.len() == MAX_TOOLS
                && let Some(oldest) = self.order.pop_front()
            {
                self.calls.remove(&oldest);
            }
            self.order.push_back(id.clone());
        }
        self.calls.entry(id.clone()).or_default()
    }
}

impl Call {
    fn news(&mut self, status: Option<&ToolCallStatus>) -> Option<News> {
        match status {
            Some(end @ (ToolCallStatus::Completed | ToolCallStatus::Failed)) => {
                let ended = State::Ended(end.clone());
                if self.state == ended {
                    return None;
                }
                let at_once = self.state == State::Unsaid;
                self.state = ended;
                let line = format!("{}: {}", self.words(), end.as_str());
                Some(News::Ends { line, at_once })
            }
            // Some agents use an id again.
            Some(_) if matches!(self.state, State::Ended(_)) => {
                self.state = State::Begun;
                Some(News::Begins(self.words()))
            }
            _ if self.state == State::Unsaid => {
                self.state = State::Begun;
                Some(News::Begins(self.words()))
            }
            _ => None,
        }
    }

    fn words(&self) -> String {
        match (&self.kind, self.title.as_str()) {
            (Some(kind), "") => kind.clone(),
            (Some(kind), title) => format!("{kind} {title}"),
            (None, "") => "a call that was not announced".to_owned(),
            (None, title) => title.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::v1::ToolKind;

    fn call(id: &str, status: &str) -> ToolCall {
        ToolCall::new(id, "Read\nnotes.md")
            .with_kind(ToolKind::Read)
            .with_status(ToolCallStatus::from(status))
    }

    fn change(id: &str, status: &str) -> ToolCallUpdate {
        ToolCallUpdate::new(id).with_status(ToolCallStatus::from(status))
    }

    fn begins(line: &str) -> Option<News> {
        Some(News::Begins(line.to_owned()))
    }

    fn ends(line: &str, at_once: bool) -> Option<News> {
        let line = line.to_owned();
        Some(News::Ends { line, at_once })
    }

    #[test]
    fn a_call_has_a_line_when_it_begins_and_when_it_ends() {
        let mut lines = ToolLines::default();
        assert_eq!(
            lines.call(&call("t", "pending")),
            begins("read Read notes.md")
        );
        assert_eq!(lines.update(&change("t", "in_progress")), None);
        assert_eq!(lines.call(&call("t", "in_progress")), None, "said already");
        let completed = ends("read Read notes.md: completed", false);
        assert_eq!(lines.update(&change("t", "completed")), completed);
        assert_eq!(lines.update(&change("t", "completed")), None);
        let failed = ends("read Read notes.md: failed", false);
        assert_eq!(lines.update(&change("t", "failed")), failed);
        assert_eq!(
            lines.call(&call("t", "pending")),
            begins("read Read notes.md"),
            "used again"
        );
    }

    #[test]
    fn calls_nobody_announced_are_told_too() {
        let mut lines = ToolLines::default();
        let unknown = ends("a call that was not announced: completed", true);
        assert_eq!(lines.update(&change("t", "completed")), unknown);
        let described = ToolCallUpdate::new("u")
            .with_title("Look")
            .with_kind(ToolKind::Search);
        assert_eq!(lines.update(&described), begins("search Look"));
        assert_eq!(
            lines.call(&call("v", "failed")),
            ends("read Read notes.md: failed", true)
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut lines = ToolLines::default();
        for n in 0..2 * MAX_TOOLS {
            lines.call(&call(&n.to_string(), "pending"));
        }
        assert_eq!(
            (lines.calls.len(), lines.order.len()),
            (MAX_TOOLS, MAX_TOOLS)
        );
    }
}
