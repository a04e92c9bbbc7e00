//! Turns what a turn tells into records, and records into events.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use acp_host::{
    Block, ContextUse, Delta, Event, EventBody, HostError, LoopId, Origin, SessionId, TurnId,
};

use super::history::{Kept, Record, What};

/// How much text is kept back at most until it is written.
const MAX_PENDING_TEXT: usize = 64 << 10;

/// Takes note of what a turn tells. Pieces of one text become one record.
#[derive(Debug)]
pub(super) struct Recorder {
    kept: Kept,
    session: SessionId,
    turn: TurnId,
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    records: Vec<Record>,
    text: usize,
}

impl Recorder {
    pub(super) fn new(kept: Kept, session: SessionId, turn: TurnId) -> Self {
        Self {
            kept,
            session,
            turn,
            pending: Mutex::default(),
        }
    }

    /// Takes note of what was told. True when what was noted so far should be
    /// written.
    pub(super) fn note(&self, number: u64, what: What) -> bool {
        let mut pending = self.pending();
        let is_text = match &what {
            What::Said(Block::Text(text) | Block::Thinking(text) | Block::Refusal(text)) => {
                pending.text += text.len();
                true
            }
            _ => false,
        };
        let last = pending.records.last_mut().map(|record| &mut record.what);
        if !last.is_some_and(|last| join(last, &what)) {
            let record = Record::new(self.turn.clone(), number, what);
            pending.records.push(record);
        }
        !is_text || pending.text >= MAX_PENDING_TEXT
    }

    /// Writes what was noted.
    pub(super) async fn save(&self) -> Result<(), HostError> {
        let pending = mem::take(&mut *self.pending());
        if pending.records.is_empty() {
            return Ok(());
        }
        self.kept.0.append(&self.session, pending.records).await
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        // Nothing that can panic runs under it.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a piece of text to the text it continues. False if it does not.
fn join(last: &mut What, next: &What) -> bool {
    match (last, next) {
        (What::Said(Block::Text(last)), What::Said(Block::Text(next)))
        | (What::Said(Block::Thinking(last)), What::Said(Block::Thinking(next)))
        | (What::Said(Block::Refusal(last)), What::Said(Block::Refusal(next))) => {
            last.push_str(next);
            true
        }
        _ => false,
    }
}

/// What is kept of an event.
pub(super) fn what(body: &EventBody) -> Option<What> {
    Some(match body {
        EventBody::UserMessage(blocks) => What::Asked(blocks.clone()),
        EventBody::Delta(Delta::Text(text)) => What::Said(Block::Text(text.clone())),
        EventBody::Delta(Delta::Thinking(text)) => What::Said(Block::Thinking(text.clone())),
        EventBody::Delta(Delta::Refusal(text)) => What::Said(Block::Refusal(text.clone())),
        EventBody::ToolRequested(tool) => What::ToolRequested((**tool).clone()),
        EventBody::ToolStarted(tool) => What::ToolStarted((**tool).clone()),
        EventBody::ToolProgressed(progress) => What::ToolProgressed((**progress).clone()),
        EventBody::ToolCompleted(end) => What::ToolCompleted((**end).clone()),
        EventBody::PlanChanged(entries) => What::Planned(entries.clone()),
        EventBody::ContextMeasured(measured) => What::Used {
            used: measured.used,
            limit: measured.limit,
        },
        EventBody::TurnDone => What::Ended { is_done: true },
        EventBody::TurnFailed(_) | EventBody::TurnInterrupted => What::Ended { is_done: false },
        _ => return None,
    })
}

/// The events that records were made of, in order.
pub(super) fn journal(records: Vec<Record>, loop_id: &LoopId) -> Vec<Event> {
    let mut events = Vec::with_capacity(records.len());
    let mut turn: Option<Arc<Origin>> = None;
    for Record {
        turn: id,
        number,
        what,
    } in records
    {
        let origin = match &turn {
            Some(origin) if origin.turn == id => Arc::clone(origin),
            _ => {
                let origin = Arc::new(Origin::new(loop_id.clone(), id));
                let started = EventBody::TurnStarted {
                    command: None,
                    index: 0,
                };
                events.push(Event::new(Arc::clone(&origin), 0, started));
                turn = Some(Arc::clone(&origin));
                origin
            }
        };
        events.push(Event::new(origin, number, body(what)));
    }
    events
}

fn body(what: What) -> EventBody {
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
        What::Ended { is_done: true } => EventBody::TurnDone,
        What::Ended { is_done: false } => EventBody::TurnInterrupted,
    }
}
