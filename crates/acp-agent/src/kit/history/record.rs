//! A record of a turn.

use acp_host::{Block, Cost, PlanEntry, ToolCall, ToolEnd, ToolProgress, TurnId};
use serde::{Deserialize, Serialize};

/// One thing that happened in a turn.
///
/// Stores keep it in the form that `serde` gives it. Later versions may add
/// variants and fields; what they read of an earlier one stays the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The turn.
    pub turn: TurnId,
    /// Its number in the turn; later ones have greater numbers. Turn and number
    /// together name a record for good.
    pub number: u64,
    /// What happened.
    #[serde(rename = "what")]
    pub body: RecordBody,
}

impl Record {
    /// Takes note of something.
    pub fn new(turn: TurnId, number: u64, body: RecordBody) -> Self {
        Self { turn, number, body }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RecordBody {
    /// The user asked this; the turn began.
    Asked(Vec<Block>),
    /// The agent said, thought, declined or showed this.
    Said(Block),
    /// A tool was announced.
    ToolRequested(ToolCall),
    /// A tool began.
    ToolStarted(ToolCall),
    /// A tool got on.
    ToolProgressed(ToolProgress),
    /// A tool ended.
    ToolCompleted(ToolEnd),
    /// The plan became this.
    Planned(Vec<PlanEntry>),
    /// So many of so many tokens were in use.
    Used {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        limit: u64,
        /// The cost of the session so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    /// The conversation up to here was shortened to this summary.
    Compacted(Vec<Block>),
    /// The turn ended. A turn without an end was interrupted by a crash.
    Ended(RecordedEnd),
    /// So many earlier records of the session are no longer kept. No turn says
    /// it; a store puts it in front of the first record that it still has.
    Forgotten {
        /// How many.
        records: u64,
    },
}

/// How a turn ended that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RecordedEnd {
    /// The agent had said what it had to say.
    Done,
    /// The answer grew longer than the model may write.
    MaxTokens,
    /// The turn asked for more steps than it may.
    MaxSteps,
    /// The model declined.
    Refused,
    /// The turn was cancelled.
    Interrupted,
    /// The turn failed.
    Failed,
}
