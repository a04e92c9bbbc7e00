//! What a session tells besides its turns: commands, title, notices, compaction.

use derive_setters::Setters;
use std::time::SystemTime;

use crate::Block;

/// A command that the user may begin a prompt with, as `/name`.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct Command {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What to write behind it, if something is expected there.
    pub hint: Option<String>,
}

impl Command {
    /// Names a command.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            hint: None,
        }
    }
}

/// What a session is about, and when something last happened in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct SessionInfo {
    /// What it is about; `None` takes an earlier title back.
    pub title: Option<String>,
    /// When something last happened in it.
    #[setters(into = false)]
    pub updated_at: Option<SystemTime>,
}

impl SessionInfo {
    /// A session without a title.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Something the user should know that is no part of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct Notice {
    /// How much it matters.
    pub severity: NoticeSeverity,
    /// What it is.
    pub title: String,
    /// More of it.
    pub description: Option<String>,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSeverity {
    /// It is good to know.
    Info,
    /// It may need attention.
    Warning,
    /// Something went wrong.
    Error,
}

impl Notice {
    /// Tells something.
    pub fn new(severity: NoticeSeverity, title: impl Into<String>) -> Self {
        Self {
            severity,
            title: title.into(),
            description: None,
        }
    }
}

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
    /// It has ended; the summary as a whole, or empty if it was told in pieces.
    Completed(Vec<Block>),
    /// It has failed, in words that the client may read.
    Failed(Option<String>),
    /// Nobody wants it any more.
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
    /// Its progress could not be told.
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
            Self::PublicationFailed => "its progress could not be told",
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
