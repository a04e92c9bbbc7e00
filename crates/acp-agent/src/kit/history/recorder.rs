//! Turns what a turn tells into records, and appends them to the history.

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use acp_host::{
    Block, CompactionStatus, Delta, EventBody, HostError, SessionId, ToolProgress, TurnFailure,
    TurnId,
};
use parking_lot::{Mutex, MutexGuard};

use crate::kit::{
    history::journal::Records,
    history::record::{Ending, Record, What},
    history::{HistoryError, Kept},
};

/// How much text is kept back at most until it is written: a crash may lose it,
/// and each write costs a disk's pause.
const MAX_PENDING_TEXT: usize = 64 << 10;

/// How many records are kept back at most.
const MAX_PENDING_RECORDS: usize = 64;

/// How often a turn that begins tries to take its session from others who write
/// to it at the same moment.
const TAKES: usize = 8;

/// Takes note of what a turn tells. Pieces of one text become one record, and
/// news of one thing replace each other.
///
/// Records are written when a tool begins and when it ends, before the turn
/// waits for the user, when there are many, and at the end.
#[derive(Debug)]
pub(in crate::kit) struct Recorder {
    kept: Kept,
    session: SessionId,
    turn: TurnId,
    pending: Mutex<Pending>,
    /// Held while something is written, so that writes come one by one.
    place: tokio::sync::Mutex<Place>,
    /// The position of the first record of the turn.
    first: OnceLock<u64>,
}

#[derive(Debug, Default)]
struct Pending {
    records: Vec<Record>,
    text: usize,
    /// The number of what was noted last.
    last: u64,
}

impl Pending {
    fn take(&mut self) -> Vec<Record> {
        self.text = 0;
        mem::take(&mut self.records)
    }
}

/// Where the turn goes on.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Wherever the session ends, once something is written.
    End,
    /// At this position.
    At(u64),
    /// Nowhere: something that was told is missing.
    Lost,
}

impl Recorder {
    pub(in crate::kit) fn new(kept: Kept, session: SessionId, turn: TurnId) -> Arc<Self> {
        Arc::new(Self {
            kept,
            session,
            turn,
            pending: Mutex::default(),
            place: tokio::sync::Mutex::new(Place::End),
            first: OnceLock::new(),
        })
    }

    /// Takes note of what was told. True when what was noted so far should be
    /// written.
    ///
    /// The number is that of the event in the turn. A sub-agent numbers its own
    /// events, so those take the number of what was noted last.
    pub(in crate::kit) fn note(&self, number: Option<u64>, what: What) -> bool {
        let mut pending = self.pending();
        let number = number.unwrap_or(pending.last);
        pending.last = number;
        let is_boundary = matches!(what, What::ToolStarted(_) | What::ToolCompleted(_));
        if let What::Said(Block::Text(text) | Block::Thinking(text) | Block::Refusal(text)) = &what
        {
            pending.text += text.len();
        }
        let rest = match pending.records.last_mut() {
            Some(last) => join(last, number, what),
            None => Some(what),
        };
        if let Some(what) = rest {
            let record = Record::new(self.turn.clone(), number, what);
            pending.records.push(record);
        }
        is_boundary
            || pending.text >= MAX_PENDING_TEXT
            || pending.records.len() >= MAX_PENDING_RECORDS
    }

    /// Writes what was noted. It is written also if nobody waits for that.
    ///
    /// # Errors
    ///
    /// Each time, once something could not be written.
    pub(in crate::kit) async fn save(self: &Arc<Self>) -> Result<(), HostError> {
        let this = Arc::clone(self);
        let written = tokio::spawn(async move { this.write().await }).await;
        written.map_err(HostError::internal)?
    }

    async fn write(&self) -> Result<(), HostError> {
        let mut place = self.place.lock().await;
        let records = self.pending().take();
        let count = records.len() as u64;
        let written = match *place {
            Place::Lost => return Err(HostError::public("a part of the turn is not remembered")),
            _ if records.is_empty() => return Ok(()),
            Place::End => self.take_session(records).await,
            Place::At(at) => {
                let appended = self.kept.0.append(&self.session, at, records).await;
                appended.map(|()| at)
            }
        };
        match written {
            Ok(at) => {
                self.first.get_or_init(|| at);
                *place = Place::At(at + count);
                Ok(())
            }
            Err(error) => {
                *place = Place::Lost;
                Err(error.into())
            }
        }
    }

    /// Appends the first records of the turn, wherever the session ends.
    async fn take_session(&self, records: Vec<Record>) -> Result<u64, HistoryError> {
        for _ in 1..TAKES {
            let at = self.end().await?;
            match self.kept.0.append(&self.session, at, records.clone()).await {
                Err(HistoryError::Moved) => {}
                appended => return appended.map(|()| at),
            }
        }
        let at = self.end().await?;
        let appended = self.kept.0.append(&self.session, at, records).await;
        appended.map(|()| at)
    }

    async fn end(&self) -> Result<u64, HistoryError> {
        let known = self.kept.0.get(&self.session).await?;
        Ok(known.ok_or(HistoryError::NotFound)?.length)
    }

    /// What happened in the session before the turn.
    pub(in crate::kit) fn earlier(&self) -> Option<Records> {
        let end = *self.first.get()?;
        Some(Records::new(self.kept.clone(), self.session.clone(), end))
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        // Nothing that can panic runs under it.
        self.pending.lock()
    }
}

/// Adds to the last record what continues or replaces it. Gives back what does
/// neither.
fn join(last: &mut Record, number: u64, next: What) -> Option<What> {
    match (&mut last.what, next) {
        (What::Said(Block::Text(last)), What::Said(Block::Text(next)))
        | (What::Said(Block::Thinking(last)), What::Said(Block::Thinking(next)))
        | (What::Said(Block::Refusal(last)), What::Said(Block::Refusal(next))) => {
            last.push_str(&next);
        }
        (What::ToolProgressed(was), What::ToolProgressed(next)) if was.id == next.id => {
            last.number = number;
            progress(was, next);
        }
        (What::Planned(_), next @ What::Planned(_))
        | (What::Used { .. }, next @ What::Used { .. }) => {
            (last.number, last.what) = (number, next);
        }
        (_, next) => return Some(next),
    }
    None
}

fn progress(was: &mut ToolProgress, next: ToolProgress) {
    let ToolProgress {
        title,
        content,
        locations,
        ..
    } = next;
    was.title = title.or(was.title.take());
    was.content = content.or(was.content.take());
    was.locations = locations.or(was.locations.take());
}

/// What is kept of an event.
pub(in crate::kit) fn what(body: &EventBody) -> Option<What> {
    Some(match body {
        EventBody::StepDone(blocks) => match &blocks[..] {
            [block] => What::Said(block.clone()),
            _ => return None,
        },
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
        EventBody::Compacting(compaction) => match &compaction.status {
            CompactionStatus::Completed(summary) => What::Compacted(summary.clone()),
            _ => return None,
        },
        _ => return None,
    })
}

/// How a turn is remembered to have ended.
pub(in crate::kit) fn ending(end: &EventBody) -> Ending {
    match end {
        EventBody::TurnDone => Ending::Done,
        EventBody::TurnFailed(TurnFailure::MaxTokens) => Ending::MaxTokens,
        EventBody::TurnFailed(TurnFailure::ToolLimit) => Ending::MaxSteps,
        EventBody::TurnFailed(TurnFailure::Refused) => Ending::Refused,
        EventBody::TurnFailed(_) => Ending::Failed,
        _ => Ending::Interrupted,
    }
}
