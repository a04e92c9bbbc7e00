//! Tells a session again from its records, page by page.

use std::{collections::BTreeSet, sync::Arc};

use acp_host::{
    Block, Compaction, CompactionStatus, ContextUse, Delta, Event, EventBody, HostError, LoopId,
    Origin, Replay, SessionId, ToolEnd, ToolId,
};

use crate::kit::{
    history::record::{Ending, Record, What},
    history::{HistoryError, Kept},
};

/// The records of a session up to a position, read page by page.
#[derive(Debug)]
pub(in crate::kit) struct Records {
    kept: Kept,
    id: SessionId,
    next: u64,
    end: u64,
    page: std::vec::IntoIter<Record>,
}

impl Records {
    pub(in crate::kit) fn new(kept: Kept, id: SessionId, end: u64) -> Self {
        Self {
            kept,
            id,
            next: 0,
            end,
            page: Vec::new().into_iter(),
        }
    }

    /// Reads on; none at the end.
    pub(in crate::kit) async fn next(&mut self) -> Result<Option<Record>, HistoryError> {
        loop {
            if let Some(record) = self.page.next() {
                return Ok(Some(record));
            }
            if self.next >= self.end {
                return Ok(None);
            }
            let mut page = self.kept.0.read(&self.id, self.next).await?;
            if page.next <= self.next {
                let text = "the history ends before its end";
                return Err(HistoryError::failed(text));
            }
            let beyond = page.next.saturating_sub(self.end);
            let beyond = usize::try_from(beyond).unwrap_or(usize::MAX);
            page.records
                .truncate(page.records.len().saturating_sub(beyond));
            self.next = page.next;
            self.page = page.records.into_iter();
        }
    }
}

/// What a client is told of the records.
pub(in crate::kit) struct Journal {
    records: Records,
    told: Teller,
    events: std::vec::IntoIter<Event>,
}

impl Journal {
    pub(in crate::kit) fn new(records: Records, loop_id: LoopId) -> Self {
        Self {
            records,
            told: Teller::new(loop_id),
            events: Vec::new().into_iter(),
        }
    }
}

impl Replay for Journal {
    async fn next_event(&mut self) -> Result<Option<Event>, HostError> {
        loop {
            if let Some(event) = self.events.next() {
                return Ok(Some(event));
            }
            let events = match self.records.next().await? {
                Some(record) => self.told.tell(record),
                None => self.told.end_turn(),
            };
            if events.is_empty() {
                return Ok(None);
            }
            self.events = events.into_iter();
        }
    }
}

/// Makes events of records. Without I/O.
struct Teller {
    loop_id: LoopId,
    turn: Option<Arc<Origin>>,
    /// The number of the last event of the turn.
    last: u64,
    /// Tools that have not ended.
    open: BTreeSet<ToolId>,
}

impl Teller {
    fn new(loop_id: LoopId) -> Self {
        Self {
            loop_id,
            turn: None,
            last: 0,
            open: BTreeSet::new(),
        }
    }

    fn tell(&mut self, record: Record) -> Vec<Event> {
        let Record { turn, number, what } = record;
        let mut events = Vec::new();
        let is_known = |origin: &&Arc<Origin>| origin.turn == turn;
        let origin = match self.turn.as_ref().filter(is_known) {
            Some(origin) => Arc::clone(origin),
            None => {
                events = self.end_turn();
                let origin = Arc::new(Origin::new(self.loop_id.clone(), turn));
                let started = EventBody::TurnStarted {
                    command: None,
                    index: 0,
                };
                events.push(Event::new(Arc::clone(&origin), 0, started));
                self.turn = Some(Arc::clone(&origin));
                origin
            }
        };
        self.last = number;
        match &what {
            What::ToolRequested(tool) | What::ToolStarted(tool) => {
                self.open.insert(tool.id.clone());
            }
            What::ToolCompleted(end) => {
                self.open.remove(&end.id);
            }
            _ => {}
        }
        let body = body(what, || format!("{}.compaction{number}", origin.turn));
        events.push(Event::new(origin, number, body));
        events
    }

    /// Ends the tools of a turn that did not come to its end: nothing runs in a
    /// conversation that is over.
    fn end_turn(&mut self) -> Vec<Event> {
        let Some(origin) = self.turn.take() else {
            return Vec::new();
        };
        let open = std::mem::take(&mut self.open).into_iter();
        let ends = open.map(|id| {
            self.last += 1;
            let end = EventBody::ToolCompleted(Box::new(ToolEnd::failed(id)));
            Event::new(Arc::clone(&origin), self.last, end)
        });
        ends.collect()
    }
}

fn body(what: What, compaction: impl FnOnce() -> String) -> EventBody {
    match what {
        What::Asked(blocks) => EventBody::UserMessage(blocks),
        What::Said(Block::Text(text)) => EventBody::Delta(Delta::Text(text)),
        What::Said(Block::Thinking(text)) => EventBody::Delta(Delta::Thinking(text)),
        What::Said(Block::Refusal(text)) => EventBody::Delta(Delta::Refusal(text)),
        What::Said(block) => EventBody::StepDone(vec![block]),
        What::ToolRequested(tool) => EventBody::ToolRequested(Box::new(tool)),
        What::ToolStarted(tool) => EventBody::ToolStarted(Box::new(tool)),
        What::ToolProgressed(progress) => EventBody::ToolProgressed(Box::new(progress)),
        What::ToolCompleted(end) => EventBody::ToolCompleted(Box::new(end)),
        What::Planned(entries) => EventBody::PlanChanged(entries),
        What::Used { used, limit } => EventBody::ContextMeasured(ContextUse::new(used, limit)),
        What::Compacted(summary) => {
            let status = CompactionStatus::Completed(summary);
            EventBody::Compacting(Box::new(Compaction::new(compaction(), status)))
        }
        What::Ended(Ending::Done) => EventBody::TurnDone,
        What::Ended(_) => EventBody::TurnInterrupted,
        What::Forgotten { .. } => {
            let text = "The beginning of this conversation is no longer remembered.\n";
            EventBody::Delta(Delta::Thinking(text.into()))
        }
    }
}
