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
        let id = self.begin_compaction().await?;
        Ok(self.resume_compaction(id))
    }

    /// Reports that a compaction begins, and gives its id.
    pub(in crate::kit) async fn begin_compaction(&self) -> Result<String, TurnError> {
        let running = self.resume_compaction(self.name("compaction"));
        running.send(CompactionStatus::InProgress).await?;
        Ok(running.detach())
    }

    /// The compaction of an id, which runs.
    pub(in crate::kit) fn resume_compaction(&self, id: String) -> RunningCompaction<'_> {
        RunningCompaction {
            turn: self,
            id,
            has_ended: false,
        }
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

    /// Ends it badly, for a reason that is nobody's business.
    pub(in crate::kit) async fn fail_quietly(mut self) -> Result<(), TurnError> {
        self.send(CompactionStatus::Failed(None)).await?;
        self.has_ended = true;
        Ok(())
    }

    /// Lets it run on, and gives its id.
    fn detach(mut self) -> String {
        self.has_ended = true;
        std::mem::take(&mut self.id)
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
