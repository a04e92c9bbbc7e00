//! Turns the events of a turn into records, and appends them to the history.

use std::{
    mem,
    sync::{Arc, OnceLock},
    time::Duration,
};

use acp_host::{
    Block, CompactionStatus, Delta, EventBody, HostError, SessionId, ToolProgress, TurnFailure,
    TurnId,
};
use parking_lot::{Mutex, MutexGuard};

use crate::kit::{
    history::Earlier,
    history::record::{Record, RecordBody, RecordedEnd},
    history::{HistoryError, SharedHistory},
};

/// How much text is kept back at most until it is written: a crash may lose it,
/// and each write costs a disk's pause.
const MAX_PENDING_TEXT: usize = 64 << 10;

/// How long text is kept back at most until it is written: nobody misses more than
/// this behind a crash, and a disk is not written to with every word.
const MAX_PENDING_TIME: Duration = Duration::from_secs(1);

/// How many records are kept back at most.
const MAX_PENDING_RECORDS: usize = 64;

/// How often a turn that begins tries to take its session from others who write
/// to it at the same moment.
const TAKES: usize = 8;

/// Notes the events of a turn. Pieces of one text become one record, and
/// updates of one thing replace each other.
///
/// Records are written when a tool begins and when it ends, before the turn
/// waits for the user, when there are many, when text has waited for a second, and at
/// the end.
#[derive(Debug)]
pub(in crate::kit) struct Recorder {
    history: SharedHistory,
    session: SessionId,
    turn: TurnId,
    pending: Mutex<Pending>,
    /// Held while something is written, so that writes come one by one.
    position: tokio::sync::Mutex<Position>,
    /// The position of the first record of the turn.
    first: OnceLock<u64>,
}

#[derive(Debug, Default)]
struct Pending {
    records: Vec<Record>,
    text: usize,
    /// A task writes them when their time has come.
    is_timed: bool,
}

impl Pending {
    fn take(&mut self) -> Vec<Record> {
        self.text = 0;
        mem::take(&mut self.records)
    }
}

/// Where the turn goes on.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// Wherever the session ends, once something is written.
    End,
    /// At this position.
    At(u64),
    /// Nowhere: something that was sent is missing.
    Lost,
}

impl Recorder {
    pub(in crate::kit) fn new(
        history: SharedHistory,
        session: SessionId,
        turn: TurnId,
    ) -> Arc<Self> {
        Arc::new(Self {
            history,
            session,
            turn,
            pending: Mutex::default(),
            position: tokio::sync::Mutex::new(Position::End),
            first: OnceLock::new(),
        })
    }

    /// Notes an event that was sent. True when the notes so far should be
    /// written.
    ///
    /// The number is that of the event in the turn. Text that is noted is written
    /// within [`MAX_PENDING_TIME`], whatever comes behind it.
    pub(in crate::kit) fn note(self: &Arc<Self>, number: u64, what: RecordBody) -> bool {
        let mut pending = self.pending();
        let is_boundary = matches!(
            what,
            RecordBody::ToolStarted(_) | RecordBody::ToolCompleted(_)
        );
        if let RecordBody::Said(Block::Text(text) | Block::Thinking(text) | Block::Refusal(text)) =
            &what
        {
            pending.text += text.len();
            if !pending.is_timed {
                pending.is_timed = self.write_soon();
            }
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

    /// Has what was noted written when its time has come. False without a runtime.
    fn write_soon(self: &Arc<Self>) -> bool {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return false;
        };
        let recorder = Arc::downgrade(self);
        runtime.spawn(async move {
            tokio::time::sleep(MAX_PENDING_TIME).await;
            if let Some(recorder) = recorder.upgrade() {
                recorder.pending().is_timed = false;
                // If it fails, the turn learns of it with its next write.
                let _ = recorder.write().await;
            }
        });
        true
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
        let mut position = self.position.lock().await;
        let records = self.pending().take();
        let count = records.len() as u64;
        let written = match *position {
            Position::Lost => {
                return Err(HostError::public("a part of the turn is not remembered"));
            }
            _ if records.is_empty() => return Ok(()),
            Position::End => self.take_session(records).await,
            Position::At(at) => {
                let appended = self.history.0.append(&self.session, at, records).await;
                appended.map(|()| at)
            }
        };
        match written {
            Ok(at) => {
                self.first.get_or_init(|| at);
                *position = Position::At(at + count);
                Ok(())
            }
            Err(error) => {
                *position = Position::Lost;
                Err(error.into())
            }
        }
    }

    /// Appends the first records of the turn, wherever the session ends.
    async fn take_session(&self, records: Vec<Record>) -> Result<u64, HistoryError> {
        for _ in 1..TAKES {
            let at = self.end().await?;
            match self
                .history
                .0
                .append(&self.session, at, records.clone())
                .await
            {
                Err(HistoryError::Moved) => {}
                appended => return appended.map(|()| at),
            }
        }
        let at = self.end().await?;
        let appended = self.history.0.append(&self.session, at, records).await;
        appended.map(|()| at)
    }

    async fn end(&self) -> Result<u64, HistoryError> {
        let known = self.history.0.get(&self.session).await?;
        Ok(known.ok_or(HistoryError::NotFound)?.length)
    }

    /// What happened in the session before the turn.
    pub(in crate::kit) fn earlier(&self) -> Option<Earlier> {
        let end = *self.first.get()?;
        Some(Earlier::new(
            self.history.clone(),
            self.session.clone(),
            end,
        ))
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        // Nothing that can panic runs under it.
        self.pending.lock()
    }
}

/// Adds to the last record what continues or replaces it. Gives back what does
/// neither.
fn join(last: &mut Record, number: u64, next: RecordBody) -> Option<RecordBody> {
    match (&mut last.body, next) {
        (RecordBody::Said(Block::Text(last)), RecordBody::Said(Block::Text(next)))
        | (RecordBody::Said(Block::Thinking(last)), RecordBody::Said(Block::Thinking(next)))
        | (RecordBody::Said(Block::Refusal(last)), RecordBody::Said(Block::Refusal(next))) => {
            last.push_str(&next);
        }
        (RecordBody::ToolProgressed(was), RecordBody::ToolProgressed(next))
            if was.id == next.id =>
        {
            last.number = number;
            progress(was, next);
        }
        (RecordBody::Planned(_), next @ RecordBody::Planned(_))
        | (RecordBody::Used { .. }, next @ RecordBody::Used { .. }) => {
            (last.number, last.body) = (number, next);
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
pub(in crate::kit) fn record_of(body: &EventBody) -> Option<RecordBody> {
    Some(match body {
        EventBody::StepDone(blocks) => match &blocks[..] {
            [block] => RecordBody::Said(block.clone()),
            _ => return None,
        },
        EventBody::Delta(Delta::Text(text)) => RecordBody::Said(Block::Text(text.clone())),
        EventBody::Delta(Delta::Thinking(text)) => RecordBody::Said(Block::Thinking(text.clone())),
        EventBody::Delta(Delta::Refusal(text)) => RecordBody::Said(Block::Refusal(text.clone())),
        EventBody::ToolRequested(tool) => RecordBody::ToolRequested((**tool).clone()),
        EventBody::ToolStarted(tool) => RecordBody::ToolStarted((**tool).clone()),
        EventBody::ToolProgressed(progress) => RecordBody::ToolProgressed((**progress).clone()),
        EventBody::ToolCompleted(end) => RecordBody::ToolCompleted((**end).clone()),
        EventBody::PlanChanged(entries) => RecordBody::Planned(entries.clone()),
        EventBody::ContextMeasured(measured) => RecordBody::Used {
            used: measured.used,
            limit: measured.limit,
            cost: measured.cost.as_deref().cloned(),
        },
        EventBody::Compacting(compaction) => match &compaction.status {
            CompactionStatus::Completed(summary) => RecordBody::Compacted(summary.clone()),
            _ => return None,
        },
        _ => return None,
    })
}

/// How a turn is remembered to have ended.
pub(in crate::kit) fn ending(end: &EventBody) -> RecordedEnd {
    match end {
        EventBody::TurnDone => RecordedEnd::Done,
        EventBody::TurnFailed(TurnFailure::MaxTokens) => RecordedEnd::MaxTokens,
        EventBody::TurnFailed(TurnFailure::ToolLimit) => RecordedEnd::MaxSteps,
        EventBody::TurnFailed(TurnFailure::Refused) => RecordedEnd::Refused,
        EventBody::TurnFailed(_) => RecordedEnd::Failed,
        _ => RecordedEnd::Interrupted,
    }
}
