//! A conversation that is shortened, so that it fits the model.

use acp_host::{Block, Compaction, CompactionStatus, EventBody};

use crate::kit::{Turn, TurnError};

impl Turn {
    /// Begins to shorten the conversation, and reports it, if the client shows
    /// that.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    pub async fn compact(&self) -> Result<RunningCompaction<'_>, TurnError> {
        let running = RunningCompaction {
            turn: self,
            id: self.name("compaction"),
            has_ended: false,
        };
        running.send(CompactionStatus::InProgress).await?;
        Ok(running)
    }
}

/// A conversation that is being shortened. Dropped without an end, it is
/// reported as cancelled.
#[derive(Debug)]
#[must_use = "dropping it cancels the compaction"]
pub struct RunningCompaction<'t> {
    turn: &'t Turn,
    id: String,
    has_ended: bool,
}

impl RunningCompaction<'_> {
    /// Ends it well: this summary stands for the conversation up to here. The
    /// history keeps it as [`RecordBody::Compacted`](crate::kit::RecordBody::Compacted).
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it may have been reported as cancelled.
    pub async fn complete(mut self, summary: impl Into<String>) -> Result<(), TurnError> {
        let summary = vec![Block::text(summary)];
        self.send(CompactionStatus::Completed(summary)).await?;
        self.has_ended = true;
        Ok(())
    }

    /// Ends it badly; the conversation stays as it is.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled or the client is gone.
    ///
    /// # Cancel safety
    ///
    /// As [`complete`](Self::complete).
    pub async fn fail(mut self, why: impl Into<String>) -> Result<(), TurnError> {
        let failed = CompactionStatus::Failed(Some(why.into()));
        self.send(failed).await?;
        self.has_ended = true;
        Ok(())
    }

    async fn send(&self, status: CompactionStatus) -> Result<(), TurnError> {
        self.turn.send(self.event(status)).await
    }

    fn event(&self, status: CompactionStatus) -> EventBody {
        EventBody::Compacting(Box::new(Compaction::new(self.id.as_str(), status)))
    }
}

impl Drop for RunningCompaction<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.turn.send_now(self.event(CompactionStatus::Cancelled));
        }
    }
}
