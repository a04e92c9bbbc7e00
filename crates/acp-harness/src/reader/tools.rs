//! The calls of a turn, bounded in number and size.

use acp_protocol::v1::ToolCallId;
use indexmap::IndexMap;

use super::{ReaderBounds, ToolRecord};

/// The calls of a turn, in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    bounds: ReaderBounds,
    records: IndexMap<ToolCallId, ToolRecord>,
    /// Bytes of what can be let go, over all records.
    bytes: usize,
}

impl Tools {
    pub(super) fn within(bounds: ReaderBounds) -> Self {
        Self {
            bounds,
            ..Self::default()
        }
    }

    /// Changes what is known of a call; one that is not known is from now on.
    pub(super) fn change(
        &mut self,
        id: &ToolCallId,
        change: impl FnOnce(&mut ToolRecord, &ReaderBounds),
    ) {
        match self.records.get(id) {
            Some(record) => self.bytes -= record.bytes(),
            None => self.make_place(),
        }
        let record = self.records.entry(id.clone());
        let record = record.or_insert_with(|| ToolRecord::new(id));
        change(record, &self.bounds);
        self.bytes += record.bytes();
        self.make_room();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ToolRecord> {
        self.records.values()
    }

    pub(super) fn into_records(self) -> Vec<ToolRecord> {
        self.records.into_values().collect()
    }

    /// Forgets a call for one more.
    fn make_place(&mut self) {
        if self.records.len() >= self.bounds.tools.max(1) {
            self.forget_oldest();
        }
    }

    /// Makes what is kept small enough: calls are stripped of what can be let go, those
    /// that have ended before those that run, the oldest first; and forgotten if that is
    /// not enough.
    fn make_room(&mut self) {
        while self.bytes > self.bounds.tool_bytes && !self.records.is_empty() {
            let heavy = |record: &ToolRecord| record.payload() > 0;
            let ended = |record: &ToolRecord| record.ended && heavy(record);
            let oldest = self.records.values().position(ended);
            let oldest = oldest.or_else(|| self.records.values().position(heavy));
            match oldest.and_then(|at| self.records.get_index_mut(at)) {
                Some((_, record)) => {
                    self.bytes -= record.payload();
                    record.strip();
                }
                None => self.forget_oldest(),
            }
        }
    }

    /// Forgets the oldest call that has ended, or else the oldest of all.
    fn forget_oldest(&mut self) {
        let ended = self.records.values().position(|record| record.ended);
        if let Some((_, gone)) = self.records.shift_remove_index(ended.unwrap_or(0)) {
            self.bytes -= gone.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::RawJson;
    use acp_protocol::v1::{ToolCallContent, ToolCallStatus, ToolCallUpdate};
    use proptest::prelude::*;

    fn update(id: &str, bytes: usize) -> ToolCallUpdate {
        let text = "x".repeat(bytes);
        ToolCallUpdate::new(id).with_content(vec![
            ToolCallContent::text(&*text),
            ToolCallContent::diff("/p", text),
        ])
    }

    fn learn(tools: &mut Tools, update: &ToolCallUpdate, ends: bool) {
        tools.change(&update.tool_call_id, |record, bounds| {
            record.learn_update(update, bounds);
            record.ended |= ends;
        });
    }

    fn shown(tools: &Tools) -> Vec<(&str, bool)> {
        let records = tools.records.values();
        records
            .map(|record| (record.id.as_str(), record.stripped))
            .collect()
    }

    fn bounds(tools: usize, tool_bytes: usize) -> ReaderBounds {
        ReaderBounds {
            tools,
            tool_text: 1000,
            tool_bytes,
        }
    }

    #[test]
    fn those_that_ended_make_room_first() {
        let mut one = Tools::within(bounds(10, usize::MAX));
        learn(&mut one, &update("new0", 900), false);
        let mut tools = Tools::within(bounds(10, 5 * one.bytes + one.bytes / 2));
        for (id, ends) in [
            ("runs", false),
            ("ended", true),
            ("new0", false),
            ("new1", false),
        ] {
            learn(&mut tools, &update(id, 900), ends);
        }
        learn(&mut tools, &update("new2", 900), false);
        assert!(shown(&tools).iter().all(|(_, stripped)| !stripped));
        learn(&mut tools, &update("new3", 900), false);
        let stripped = |tools: &Tools| {
            let records = tools.records.values().filter(|record| record.stripped);
            records
                .map(|record| record.id.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(stripped(&tools), ["ended"]);
        // Nothing that has ended is left.
        learn(&mut tools, &update("new4", 900), false);
        assert_eq!(stripped(&tools), ["runs", "ended"]);
    }

    #[test]
    fn those_that_ended_are_forgotten_first() {
        let mut tools = Tools::within(bounds(3, usize::MAX));
        learn(&mut tools, &update("runs", 1), false);
        for n in 0..5 {
            learn(&mut tools, &update(&format!("t{n}"), 1), true);
        }
        let names: Vec<_> = shown(&tools).into_iter().map(|(id, _)| id).collect();
        assert_eq!(names, ["runs", "t3", "t4"]);
    }

    #[test]
    fn one_that_is_too_large_alone_is_stripped_or_forgotten() {
        let mut tools = Tools::within(bounds(10, 1500));
        learn(&mut tools, &update("t", 900), true);
        assert_eq!(shown(&tools), [("t", true)]);
        learn(&mut tools, &update(&"long".repeat(1000), 1), true);
        assert_eq!(tools.records.len() as u64, 0);
        assert_eq!(tools.bytes, 0);
    }

    proptest! {
        #[test]
        fn all_bounds_are_kept(
            steps in prop::collection::vec(
                (0_usize..12, 0_usize..2000, any::<bool>(), 0_usize..300), 1..60),
        ) {
            let mut tools = Tools::within(bounds(6, 6000));
            for (id, bytes, ends, args) in steps {
                let mut update = update(&format!("t{id}"), bytes);
                update.raw_input = Some(RawJson::of(&"a".repeat(args)).unwrap());
                update.raw_output = Some(RawJson::of(&"b".repeat(bytes)).unwrap());
                update.status = ends.then_some(ToolCallStatus::Completed);
                learn(&mut tools, &update, ends);
                let bytes: usize = tools.records.values().map(ToolRecord::bytes).sum();
                prop_assert_eq!(bytes, tools.bytes);
                prop_assert!(bytes <= 6000 && tools.records.len() <= 6);
            }
        }
    }
}
