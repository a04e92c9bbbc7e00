//! Replays a session from its records.

use std::sync::Arc;

use acp_host::{
    Block, Compaction, CompactionStatus, ContextUse, Delta, EventBody, HostError, HostEvent,
    LoopId, Replay, TurnOrigin,
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
    /// The number of the next event of the turn, at least.
    next: u64,
}

impl EventMaker {
    fn new(loop_id: LoopId) -> Self {
        Self {
            loop_id,
            turn: None,
            next: 0,
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
                self.next = 0;
                origin
            }
        };
        // Earlier versions gave records of sub-agents the number of another one.
        let number = number.max(self.next);
        self.next = number + 1;
        let is_end = matches!(what, RecordBody::Ended(_));
        let body = body(what, || format!("{}.compaction{number}", origin.turn));
        events.push(HostEvent::new(origin, number, body));
        if is_end {
            self.turn = None;
        }
        events
    }

    /// Marks a turn whose end nobody wrote: what came last in it may be missing.
    fn end_turn(&mut self) -> Vec<HostEvent> {
        let Some(origin) = self.turn.take() else {
            return Vec::new();
        };
        let text = "This turn was interrupted; what came last may be missing.\n";
        let mark = EventBody::Delta(Delta::Thinking(text.into()));
        let number = std::mem::take(&mut self.next);
        vec![
            HostEvent::new(Arc::clone(&origin), number, mark),
            HostEvent::new(origin, number + 1, EventBody::TurnInterrupted),
        ]
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
        RecordBody::Used { used, limit, cost } => {
            let mut measured = ContextUse::new(used, limit);
            measured.cost = cost.map(Box::new);
            EventBody::ContextMeasured(measured)
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
