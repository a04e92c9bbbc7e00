//! The tool calls of a conversation, limited in number and bytes.

use acp_protocol::v1::{SessionUpdate, ToolCallId, ToolCallUpdate};
use indexmap::IndexMap;

use crate::limits::{ConversationLimits, MAX_ID};
use crate::tool_call::{ToolCallChange, ToolCallState};

/// The tool calls of a conversation, in the order in which they were first seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCalls {
    limits: ConversationLimits,
    calls: IndexMap<ToolCallId, ToolCallState>,
    bytes: usize,
    /// Calls that were dropped, or never kept for the length of their ids.
    pub dropped: u64,
    /// How often the content or the paths of a call were dropped.
    pub stripped: u64,
}

impl ToolCalls {
    /// Creates an empty list that keeps this much.
    #[must_use]
    pub fn within(limits: ConversationLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Takes in an update of the session; `None` when it says nothing of a tool call, or
    /// the id of the call is too long.
    pub fn update(&mut self, update: &SessionUpdate) -> Option<ToolCallChange<'_>> {
        match update {
            SessionUpdate::ToolCall(call) => self.apply(&(**call).clone().into(), true),
            SessionUpdate::ToolCallUpdate(update) => self.apply(update, false),
            _ => None,
        }
    }

    /// Takes in the subject of a permission request. It comes for a call that runs, so its
    /// status is not looked at.
    pub fn ask(&mut self, subject: &ToolCallUpdate) -> Option<ToolCallChange<'_>> {
        let mut subject = subject.clone();
        subject.status = None;
        self.apply(&subject, false)
    }

    /// Returns a call as it is with the subject of a permission request laid over it, and
    /// changes nothing here.
    #[must_use]
    pub fn overlaid(&self, subject: &ToolCallUpdate) -> ToolCallState {
        let id = &subject.tool_call_id;
        let known = self.calls.get(id).cloned();
        let mut call = known.unwrap_or_else(|| ToolCallState::new(id.clone()));
        call.learn(subject, &self.limits);
        call
    }

    /// Returns a call by its id.
    #[must_use]
    pub fn get(&self, id: &ToolCallId) -> Option<&ToolCallState> {
        self.calls.get(id)
    }

    /// Walks over the calls that are kept.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ToolCallState> + ExactSizeIterator {
        self.calls.values()
    }

    /// Walks over the calls that were called and never ended.
    pub fn open(&self) -> impl Iterator<Item = &ToolCallState> {
        self.iter().filter(|call| call.is_called && call.ends == 0)
    }

    /// Returns the bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn apply(&mut self, update: &ToolCallUpdate, announces: bool) -> Option<ToolCallChange<'_>> {
        let id = &update.tool_call_id;
        if id.as_str().len() > MAX_ID {
            self.dropped += 1;
            return None;
        }
        let is_new = !self.calls.contains_key(id);
        if is_new && self.calls.len() >= self.limits.tool_calls.max(1) {
            self.drop_oldest(id);
        }
        let call = self.calls.entry(id.clone());
        let call = call.or_insert_with(|| ToolCallState::new(id.clone()));
        self.bytes -= if is_new { 0 } else { call.bytes() };
        call.learn(update, &self.limits);
        let [begins, is_called, ends] = call.move_on(update.status.as_ref(), announces);
        self.bytes += call.bytes();
        self.make_room(id);
        Some(ToolCallChange {
            call: self.calls.get(id)?,
            is_new,
            begins: is_new || begins,
            is_called,
            ends,
        })
    }

    /// Strips calls, and drops calls if that is not enough. The newest is stripped last,
    /// and never dropped.
    fn make_room(&mut self, newest: &ToolCallId) {
        while self.bytes > self.limits.tool_bytes {
            let heavy = self.oldest(newest, ToolCallState::is_heavy);
            if heavy.is_none() && self.drop_oldest(newest) {
                continue;
            }
            let at = heavy.or_else(|| self.calls.get_index_of(newest));
            if let Some((_, call)) = at.and_then(|at| self.calls.get_index_mut(at))
                && call.is_heavy()
            {
                self.bytes -= call.bytes();
                call.strip();
                self.bytes += call.bytes();
                self.stripped += 1;
            }
            if heavy.is_none() {
                return;
            }
        }
    }

    fn drop_oldest(&mut self, newest: &ToolCallId) -> bool {
        let oldest = self.oldest(newest, |_| true);
        let gone = oldest.and_then(|at| self.calls.shift_remove_index(at));
        self.bytes -= gone.as_ref().map_or(0, |(_, gone)| gone.bytes());
        self.dropped += u64::from(gone.is_some());
        gone.is_some()
    }

    /// Finds the oldest call that ended, or else the oldest of all but the newest.
    fn oldest(
        &self,
        newest: &ToolCallId,
        is_wanted: impl Fn(&ToolCallState) -> bool,
    ) -> Option<usize> {
        let is_wanted = |call: &ToolCallState| call.id != *newest && is_wanted(call);
        let ended = |call: &ToolCallState| call.ended.is_some() && is_wanted(call);
        let ended = self.calls.values().position(ended);
        ended.or_else(|| self.calls.values().position(is_wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::RawJson;
    use acp_protocol::v1::{ToolCallContent, ToolCallLocation, ToolCallStatus};
    use proptest::prelude::*;

    fn update(id: &str, bytes: usize, status: &str) -> ToolCallUpdate {
        let text = "x".repeat(bytes);
        let content = vec![
            ToolCallContent::text(&*text),
            ToolCallContent::diff("/p", text),
        ];
        ToolCallUpdate::status(id, ToolCallStatus::from(status)).with_content(content)
    }

    fn calls(limits: ConversationLimits, updates: &[ToolCallUpdate]) -> ToolCalls {
        let mut calls = ToolCalls::within(limits);
        for update in updates {
            calls.update(&update.clone().into());
        }
        calls
    }

    fn limits(tool_calls: usize, tool_bytes: usize) -> ConversationLimits {
        ConversationLimits {
            tool_calls,
            tool_bytes,
            ..ConversationLimits::default()
        }
    }

    fn ids(calls: &ToolCalls, of: impl Fn(&&ToolCallState) -> bool) -> Vec<&str> {
        let calls = calls.iter().filter(of);
        calls.map(|call| call.id.as_str()).collect()
    }

    #[test]
    fn calls_that_ended_make_room_first() {
        let one = calls(ConversationLimits::default(), &[update("new0", 900, "x")]).bytes();
        let limits = limits(10, 5 * one + one / 2);
        let mut updates: Vec<_> = ["runs", "ended", "new0", "new1", "new2"]
            .map(|id| update(id, 900, if id == "ended" { "failed" } else { "x" }))
            .into();
        let stripped = |calls: &ToolCalls| ids(calls, |call| call.is_stripped).join(" ");
        assert_eq!(stripped(&calls(limits, &updates)), "");
        updates.push(update("new3", 900, "x"));
        assert_eq!(stripped(&calls(limits, &updates)), "ended");
        // Nothing that has ended is left.
        updates.push(update("new4", 900, "x"));
        let calls = calls(limits, &updates);
        assert_eq!((&*stripped(&calls), calls.stripped), ("runs ended", 2));
        let runs = calls.get(&"runs".into()).unwrap();
        assert_eq!(runs.text(99), (String::new(), true));
        assert_eq!(runs.more_parts, 2);
        assert!(runs.has_more_paths, "no policy may think that it knows all");
    }

    #[test]
    fn calls_that_ended_are_dropped_first() {
        let limits = limits(3, usize::MAX);
        let mut updates = vec![update("runs", 1, "x")];
        updates.extend((0..5).map(|n| update(&format!("t{n}"), 1, "completed")));
        let calls = calls(limits, &updates);
        assert_eq!(ids(&calls, |_| true), ["runs", "t3", "t4"]);
        assert_eq!(calls.dropped, 3);
    }

    #[test]
    fn the_newest_call_stays_whatever_its_size() {
        let limits = limits(10, 1000);
        let updates = [update("a", 900, "completed"), update("b", 900, "x")];
        let mut calls = calls(limits, &updates);
        assert_eq!(ids(&calls, |call| call.is_stripped), ["b"]);
        let long = update(&"b".repeat(MAX_ID + 1), 1, "x");
        assert_eq!(calls.update(&long.into()), None);
        assert_eq!((calls.iter().len(), calls.dropped), (1, 2));
    }

    proptest! {
        #[test]
        fn all_limits_hold(
            steps in prop::collection::vec((
                (0_usize..12, 0_usize..2000, any::<bool>(), 0_usize..300),
                (0_usize..6000, 0_usize..40, 0_usize..6000),
            ), 1..60),
        ) {
            let limits = limits(6, 100_000);
            let mut calls = ToolCalls::within(limits);
            for ((id, bytes, ends, input), (title, paths, path)) in steps {
                let status = if ends { "completed" } else { "in_progress" };
                let mut update = update(&format!("t{id}"), bytes, status);
                update.title = Some("é".repeat(title));
                update.raw_input = Some(RawJson::of(&"a".repeat(input)).unwrap());
                update.raw_output = Some(RawJson::of(&"b".repeat(bytes)).unwrap());
                let path = |n| ToolCallLocation::new(format!("/{n}/{}", "p".repeat(path)));
                update.locations = Some((0..paths).map(path).collect());
                let change = calls.update(&update.into()).unwrap();
                let newest = change.call.bytes();
                let bytes: usize = calls.iter().map(ToolCallState::bytes).sum();
                prop_assert_eq!(bytes, calls.bytes());
                prop_assert!(bytes <= 100_000.max(newest) && calls.iter().len() <= 6);
            }
        }
    }
}
