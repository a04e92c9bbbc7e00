//! A conversation that is shortened, so that it fits the model.

use crate::{Block, HostError};

/// How the conversation is being shortened, so that it fits the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// Names this attempt.
    pub id: String,
    /// How far it is.
    pub status: CompactionStatus,
}

impl Compaction {
    /// Names an attempt and says how far it is.
    pub fn new(id: impl Into<String>, status: CompactionStatus) -> Self {
        Self {
            id: id.into(),
            status,
        }
    }
}

/// How far a compaction is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionStatus {
    /// It runs.
    InProgress,
    /// It runs, and this is a further piece of its summary.
    Summary(Block),
    /// It has ended; the summary as a whole, or empty if it was sent in pieces.
    Completed(Vec<Block>),
    /// It has failed, in words that the client may read.
    Failed(Option<String>),
    /// It was cancelled.
    Cancelled,
}

/// Why a compaction that the user asked for did not come about.
#[derive(Debug)]
pub enum CompactRejectReason {
    /// It was cancelled or interrupted.
    Cancelled,
    /// It failed; only the public text of the error reaches the client.
    Failed(HostError),
}
