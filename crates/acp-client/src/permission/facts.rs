//! What is known of a tool call when its permission is asked.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use acp_protocol::v1::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation, ToolCallUpdate,
    ToolKind,
};

use crate::limits::{MAX_KNOWN_TOOLS, MAX_TOOL_PATHS};

/// What an agent said about one tool call, gathered from everything that names it:
/// the announcement, its updates, and the permission request itself.
///
/// All of it is the agent's own word.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFacts {
    id: ToolCallId,
    title: Option<String>,
    kind: Option<ToolKind>,
    paths: Vec<PathBuf>,
    too_many_paths: bool,
    has_diff: bool,
    has_terminal: bool,
}

impl ToolFacts {
    /// Creates facts about a call of which only the id is known.
    #[must_use]
    pub fn new(id: ToolCallId) -> Self {
        Self {
            id,
            title: None,
            kind: None,
            paths: Vec::new(),
            too_many_paths: false,
            has_diff: false,
            has_terminal: false,
        }
    }

    /// Adds what a `tool_call` says.
    pub fn learn_call(&mut self, call: &ToolCall) {
        self.title = Some(call.title.clone());
        if let Some(kind) = &call.kind {
            self.kind = Some(kind.clone());
        }
        self.learn_places(&call.locations, &call.content);
    }

    /// Adds what a `tool_call_update`, or the `toolCall` of a permission, says.
    ///
    /// What it leaves out stays as it was (so the kind of a permission request wins
    /// over the announced one, and stands in for nothing when it is missing).
    pub fn learn_update(&mut self, update: &ToolCallUpdate) {
        if let Some(title) = &update.title {
            self.title = Some(title.clone());
        }
        if let Some(kind) = &update.kind {
            self.kind = Some(kind.clone());
        }
        self.learn_places(
            update.locations.as_deref().unwrap_or_default(),
            update.content.as_deref().unwrap_or_default(),
        );
    }

    /// Returns the id of the call.
    #[must_use]
    pub fn id(&self) -> &ToolCallId {
        &self.id
    }

    /// Returns the newest title.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// Returns the newest kind, or `None` when the agent never gave one.
    #[must_use]
    pub fn kind(&self) -> Option<&ToolKind> {
        self.kind.as_ref()
    }

    /// Returns every path that was ever named: locations and diffs.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Tells whether more paths were named than are kept, so that
    /// [`paths`](Self::paths) is not all of them.
    #[must_use]
    pub fn has_too_many_paths(&self) -> bool {
        self.too_many_paths
    }

    /// Tells whether the call carries a change to a file.
    #[must_use]
    pub fn has_diff(&self) -> bool {
        self.has_diff
    }

    /// Tells whether the call carries a terminal.
    #[must_use]
    pub fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    fn learn_places(&mut self, locations: &[ToolCallLocation], content: &[ToolCallContent]) {
        for location in locations {
            self.learn_path(&location.path);
        }
        for part in content {
            match part {
                ToolCallContent::Diff(diff) => {
                    self.has_diff = true;
                    self.learn_path(&diff.path);
                }
                ToolCallContent::Terminal(_) => self.has_terminal = true,
                _ => {}
            }
        }
    }

    fn learn_path(&mut self, path: &str) {
        let path = PathBuf::from(path);
        if self.paths.contains(&path) {
            return;
        }
        if self.paths.len() < MAX_TOOL_PATHS {
            self.paths.push(path);
        } else {
            self.too_many_paths = true;
        }
    }
}

/// The tool calls a session has told of, the newest [`MAX_KNOWN_TOOLS`].
#[derive(Debug, Default)]
pub(crate) struct KnownTools {
    calls: HashMap<ToolCallId, ToolFacts>,
    order: VecDeque<ToolCallId>,
}

impl KnownTools {
    /// Learns from an update of the session; most say nothing about tools.
    pub(crate) fn learn(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::ToolCall(call) => self.entry(&call.tool_call_id).learn_call(call),
            SessionUpdate::ToolCallUpdate(change) => {
                self.entry(&change.tool_call_id).learn_update(change)
            }
            _ => {}
        }
    }

    /// Puts what was announced under what a permission request says.
    pub(crate) fn complete(&self, asked: &ToolCallUpdate) -> ToolFacts {
        let mut facts = match self.calls.get(&asked.tool_call_id) {
            Some(known) => known.clone(),
            None => ToolFacts::new(asked.tool_call_id.clone()),
        };
        facts.learn_update(asked);
        facts
    }

    fn entry(&mut self, id: &ToolCallId) -> &mut ToolFacts {
        if !self.calls.contains_key(id) {
            if self.order.len() == MAX_KNOWN_TOOLS
                && let Some(oldest) = self.order.pop_front()
            {
                self.calls.remove(&oldest);
            }
            self.order.push_back(id.clone());
        }
        self.calls
            .entry(id.clone())
            .or_insert_with(|| ToolFacts::new(id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(id: &str, kind: ToolKind, path: &str) -> SessionUpdate {
        let call = ToolCall::new(id, "Announced")
            .with_kind(kind)
            .with_locations(vec![ToolCallLocation::new(path)]);
        SessionUpdate::ToolCall(Box::new(call))
    }

    #[test]
    fn what_the_request_says_stands_over_what_was_announced() {
        let mut known = KnownTools::default();
        known.learn(&announced("t", ToolKind::Read, "/a"));
        let silent = known.complete(&ToolCallUpdate::new("t"));
        assert_eq!(silent.kind(), Some(&ToolKind::Read));
        assert_eq!(silent.title(), Some("Announced"));
        let spoken = ToolCallUpdate::new("t")
            .with_kind(ToolKind::Edit)
            .with_title("Asked")
            .with_locations(vec![
                ToolCallLocation::new("/b"),
                ToolCallLocation::new("/a"),
            ]);
        let spoken = known.complete(&spoken);
        assert_eq!(spoken.kind(), Some(&ToolKind::Edit));
        assert_eq!(spoken.title(), Some("Asked"));
        assert_eq!(
            spoken.paths(),
            [PathBuf::from("/a"), "/b".into()],
            "all that were named"
        );
    }

    #[test]
    fn updates_add_to_the_announcement() {
        let mut known = KnownTools::default();
        known.learn(&announced("t", ToolKind::Other, "/a"));
        let update = ToolCallUpdate::new("t").with_kind(ToolKind::Delete);
        known.learn(&SessionUpdate::ToolCallUpdate(Box::new(update)));
        let facts = known.complete(&ToolCallUpdate::new("t"));
        assert_eq!(facts.kind(), Some(&ToolKind::Delete));
        assert_eq!(facts.paths(), [PathBuf::from("/a")]);
    }

    #[test]
    fn other_calls_say_nothing() {
        let mut known = KnownTools::default();
        known.learn(&announced("t", ToolKind::Read, "/a"));
        let facts = known.complete(&ToolCallUpdate::new("u"));
        assert_eq!(facts, ToolFacts::new("u".into()));
    }

    #[test]
    fn the_oldest_calls_are_forgotten() {
        let mut known = KnownTools::default();
        for n in 0..=MAX_KNOWN_TOOLS {
            known.learn(&announced(&n.to_string(), ToolKind::Read, "/a"));
        }
        let kind = |id: &str| known.complete(&ToolCallUpdate::new(id)).kind().cloned();
        assert_eq!(kind("0"), None);
        assert_eq!(kind("1"), Some(ToolKind::Read));
        assert_eq!(kind(&MAX_KNOWN_TOOLS.to_string()), Some(ToolKind::Read));
        assert_eq!(known.calls.len(), MAX_KNOWN_TOOLS);
    }
}
