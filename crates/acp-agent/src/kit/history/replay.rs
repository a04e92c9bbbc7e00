//! Replays a session from its records.

use std::{collections::BTreeSet, sync::Arc};

use acp_host::{
    Block, Compaction, CompactionStatus, ContextUse, Delta, EventBody, HostError, HostEvent,
    LoopId, Replay, ToolEnd, ToolId, TurnOrigin,
};

use super::{Earlier, Record, RecordBody, RecordedEnd};

/// The events of the records of a session.
pub(in crate::kit) struct RecordReplay {
    records: Earlier,
    events_of: EventMaker,
    events: std::vec::IntoIter<HostEvent>,
}

impl RecordReplay {
    pub(in crate::kit) fn new(records: Earlier, loop_id: LoopId) -> Self {
        Self {
            records,
            events_of: EventMaker::new(loop_id),
            events: Vec::new().into_iter(),
        }
    }
}

impl Replay for RecordReplay {
    async fn next_event(&mut self) -> Result<Option<HostEvent>, HostError> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            let events = match self.records.read().await? {
                Some(record) => self.events_of.record(record),
                None => self.events_of.end_turn(),
            };
            if events.is_empty() {
                return Ok(None);
            }
            self.events = events.into_iter();
        }
    }
}

/// Makes events of records. Without I/O.
struct EventMaker {
    loop_id: LoopId,
    turn: Option<Arc<TurnOrigin>>,
    /// The number of the last event of the turn.
    last: u64,
    /// Tools that have not ended.
    open: BTreeSet<ToolId>,
}

impl EventMaker {
    fn new(loop_id: LoopId) -> Self {
        Self {
            loop_id,
            turn: None,
            last: 0,
            open: BTreeSet::new(),
        }
    }

    fn record(&mut self, record: Record) -> Vec<HostEvent> {
        let Record {
            turn,
            number,
            body: what,
        } = record;
        let mut events = Vec::new();
        let is_known = |origin: &&Arc<TurnOrigin>| origin.turn == turn;
        let origin = match self.turn.as_ref().filter(is_known) {
            Some(origin) => Arc::clone(origin),
            None => {
                events = self.end_turn();
                let origin = Arc::new(TurnOrigin::new(self.loop_id.clone(), turn));
                let started = EventBody::TurnStarted {
                    command: None,
                    index: 0,
                };
                events.push(HostEvent::new(Arc::clone(&origin), 0, started));
                self.turn = Some(Arc::clone(&origin));
                origin
            }
        };
        self.last = number;
        match &what {
            RecordBody::ToolRequested(tool) | RecordBody::ToolStarted(tool) => {
                self.open.insert(tool.id.clone());
            }
            RecordBody::ToolCompleted(end) => {
                self.open.remove(&end.id);
            }
            _ => {}
        }
        let body = body(what, || format!("{}.compaction{number}", origin.turn));
        events.push(HostEvent::new(origin, number, body));
        events
    }

    /// Ends the tools of a turn that did not come to its end: nothing runs in a
    /// conversation that is over.
    fn end_turn(&mut self) -> Vec<HostEvent> {
        let Some(origin) = self.turn.take() else {
            return Vec::new();
        };
        let open = std::mem::take(&mut self.open).into_iter();
        let ends = open.map(|id| {
            self.last += 1;
            let end = EventBody::ToolCompleted(Box::new(ToolEnd::failed(id)));
            HostEvent::new(Arc::clone(&origin), self.last, end)
        });
        ends.collect()
    }
}

fn body(what: RecordBody, compaction: impl FnOnce() -> String) -> EventBody {
    match what {
        RecordBody::Asked(blocks) => EventBody::UserMessage(blocks),
        RecordBody::Said(Block::Text(text)) => EventBody::Delta(Delta::Text(text)),
        RecordBody::Said(Block::Thinking(text)) => EventBody::Delta(Delta::Thinking(text)),
        RecordBody::Said(Block::Refusal(text)) => EventBody::Delta(Delta::Refusal(text)),
        RecordBody::Said(block) => EventBody::StepDone(vec![block]),
        RecordBody::ToolRequested(tool) => EventBody::ToolRequested(Box::new(tool)),
        RecordBody::ToolStarted(tool) => EventBody::ToolStarted(Box::new(tool)),
        RecordBody::ToolProgressed(progress) => EventBody::ToolProgressed(Box::new(progress)),
        RecordBody::ToolCompleted(end) => EventBody::ToolCompleted(Box::new(end)),
        RecordBody::Planned(entries) => EventBody::PlanChanged(entries),
        RecordBody::Used { used, limit } => {
            EventBody::ContextMeasured(ContextUse::new(used, limit))
        }
        RecordBody::Compacted(summary) => {
            let status = CompactionStatus::Completed(summary);
            EventBody::Compacting(Box::new(Compaction::new(compaction(), status)))
        }
        RecordBody::Ended(RecordedEnd::Done) => EventBody::TurnDone,
        RecordBody::Ended(_) => EventBody::TurnInterrupted,
        RecordBody::Forgotten { .. } => {
            let text = "The beginning of this conversation is no longer remembered.\n";
            EventBody::Delta(Delta::Thinking(text.into()))
        }
    }
}
