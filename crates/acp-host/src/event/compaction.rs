//! A conversation that is shortened, so that it fits the model.

use crate::Block;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactRejectReason {
    /// The session has too much to do.
    ControlLaneFull,
    /// The session is about to end.
    ShuttingDown,
    /// It was interrupted.
    Interrupted,
    /// It was cancelled.
    Cancelled,
    /// The conversation went on meanwhile.
    StaleBasis,
    /// Its progress could not be sent.
    PublicationFailed,
    /// There is nothing that could do it.
    Unavailable,
    /// It failed.
    ExecutionFailed,
    /// The summary could not be used.
    InvalidSummary,
    /// What is left could not be measured.
    ContextCountFailed,
    /// The summary was too long.
    SummaryTooLarge,
    /// It is not known how much fits the model.
    ContextLimitUnknown,
    /// What must be kept is too long already.
    RetainedTailTooLarge,
    /// The host failed.
    Internal,
}

impl CompactRejectReason {
    /// What the client reads: words that name no internals, one for each reason.
    pub fn public_text(self) -> &'static str {
        match self {
            Self::ControlLaneFull => "the session has too much to do; try again later",
            Self::ShuttingDown => "the session is shutting down",
            Self::Interrupted => "it was interrupted",
            Self::Cancelled => "it was cancelled",
            Self::StaleBasis => "the conversation went on meanwhile; try again",
            Self::PublicationFailed => "its progress could not be sent",
            Self::Unavailable => "this session cannot shorten its conversation",
            Self::ExecutionFailed | Self::Internal => "the conversation could not be shortened",
            Self::InvalidSummary => "the summary could not be used",
            Self::ContextCountFailed => "what is left could not be measured",
            Self::SummaryTooLarge => "the summary was too long",
            Self::ContextLimitUnknown => "it is not known how much fits the model",
            Self::RetainedTailTooLarge => "what must be kept is too long already",
        }
    }
}
