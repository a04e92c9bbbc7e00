//! What a turn came to.

use std::time::Duration;

use acp_client::{Decided, ExitStatus};
use acp_conversation::Conversation;
use acp_protocol::v1::{AuthMethodId, Implementation, SessionId, StopReason};

use super::{HarnessError, TimeLimit};
use crate::transcript::TranscriptStats;

/// What a turn came to.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// The last message of the agent; see
    /// [`ConversationTurn::report`](acp_conversation::ConversationTurn::report). It is what
    /// there is of it when the turn did not come to its end.
    pub report: String,
    /// Everything the agent said in the turn, one message after the other, with a blank
    /// line between: the first MiB. Where a turn did not come to its end, the report may be
    /// the agent's word about that; what it said before is here.
    pub said: String,
    /// Whether the report is all that was said in the end: not cut, and nothing lost of it or
    /// behind it. A line of more than 32 MiB is lost, and so is an update that cannot be read.
    pub report_is_whole: bool,
    /// How it ended.
    pub end: TurnEnding,
    /// The session, to go on in. `None` when the turn did not end cleanly: the next one
    /// then finds out itself what the session is still good for.
    pub session_id: Option<SessionId>,
    /// How the session came to be; `None` when the turn was stopped before there was one.
    pub opened: Option<Opened>,
    /// The turn as it was read: messages, tool calls, plan, usage, diffs.
    pub conversation: Conversation,
    /// What of the conversation was handed on to a new session.
    pub history: TranscriptStats,
    /// What was decided about permissions, the newest of it.
    pub decisions: Vec<Decided>,
    /// What the agent said it is.
    pub agent: Option<Implementation>,
    /// The method by which the agent was logged in to for this turn.
    pub login: Option<AuthMethodId>,
    /// How its process ended; `None` for an agent that is no child of ours.
    pub exit: Option<ExitStatus>,
}

/// How a turn ended.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum TurnEnding {
    /// The agent ended it; `cancelled` when it was asked to.
    Answered(StopReason),
    /// It was stopped before the agent got its prompt.
    #[default]
    Stopped,
    /// It was stopped, the agent did not end it, and its process was ended.
    Abandoned,
    /// It took too long, and was cancelled. There was output, else it would be an error.
    TimedOut {
        /// Which of the bounds it was.
        limit: TimeLimit,
        /// The bound.
        after: Duration,
        /// Whether the agent did not answer the cancel either, so that its process was
        /// ended.
        abandoned: bool,
    },
    /// It failed. There was output, else it would be an error.
    Failed(HarnessError),
}

/// How a session came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opened {
    /// A new one was opened.
    New,
    /// The agent went on with one it remembered.
    Resumed,
    /// The agent loaded one it remembered.
    Loaded,
}

impl TurnOutcome {
    /// A turn that was stopped before the agent got its prompt.
    pub(super) fn stopped() -> Self {
        Self {
            report_is_whole: true,
            ..Self::default()
        }
    }

    /// Returns why the turn ended, in a word: the agent's own, or `cancelled`, `abandoned`,
    /// `timeout`, `error`.
    #[must_use]
    pub fn stop_reason(&self) -> &str {
        match &self.end {
            TurnEnding::Answered(reason) => reason.as_str(),
            TurnEnding::Stopped => "cancelled",
            TurnEnding::Abandoned => "abandoned",
            TurnEnding::TimedOut { .. } => "timeout",
            TurnEnding::Failed(_) => "error",
        }
    }

    /// Tells whether the agent ended the turn as if all was well, with nothing said and
    /// nothing done. Some do so when their model could not be reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.end, TurnEnding::Answered(StopReason::EndTurn))
            && !self.conversation.turn.has_output()
    }
}
