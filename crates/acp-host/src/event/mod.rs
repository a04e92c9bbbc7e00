//! The events of a session.

pub(crate) mod compaction;
pub(crate) mod content;
pub(crate) mod form;
pub(crate) mod form_field;
pub(crate) mod gate;
pub(crate) mod session_info;
pub(crate) mod tool;

use derive_setters::Setters;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

use crate::{
    Block, CommandId, CompactRejectReason, Compaction, ConfigOption, Gate, GateId, HostError,
    LoopId, Notice, PlanEntry, SessionInfo, SlashCommand, ToolCall, ToolEnd, ToolProgress, TurnId,
};

/// One thing that happened.
///
/// Events of one turn share their [`TurnOrigin`] and are numbered by the host from
/// 0 upwards, so that turn and number together name an event for good: the same
/// event reported again (from a journal, say) has the same name.
#[derive(Debug, Setters)]
#[setters(prefix = "with_", strip_option)]
pub struct HostEvent {
    /// The turn that it belongs to; none if it concerns the session as a whole.
    pub origin: Option<Arc<TurnOrigin>>,
    /// Its number within its turn (within the session, if it has no turn).
    pub number: u64,
    /// Whether the client may learn of it.
    pub visibility: Visibility,
    /// What happened.
    pub body: EventBody,
}

impl HostEvent {
    /// An event of a turn.
    pub fn new(origin: Arc<TurnOrigin>, number: u64, body: EventBody) -> Self {
        Self {
            origin: Some(origin),
            number,
            visibility: Visibility::Public,
            body,
        }
    }

    /// An event of the session as a whole.
    pub fn of_session(number: u64, body: EventBody) -> Self {
        Self {
            origin: None,
            number,
            visibility: Visibility::Public,
            body,
        }
    }
}

/// The turn of a loop that an event belongs to.
#[derive(Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", strip_option)]
pub struct TurnOrigin {
    /// The loop: the session's own or that of a sub-agent.
    pub loop_id: LoopId,
    /// The turn.
    pub turn: TurnId,
    /// The turn that started the loop, if the loop is a sub-agent's.
    pub parent: Option<Arc<TurnOrigin>>,
}

impl TurnOrigin {
    /// Names a turn of a loop.
    pub fn new(loop_id: impl Into<LoopId>, turn: impl Into<TurnId>) -> Self {
        Self {
            loop_id: loop_id.into(),
            turn: turn.into(),
            parent: None,
        }
    }

    /// Whether both name the same turn of the same loop.
    pub fn is_same_turn(&self, other: &TurnOrigin) -> bool {
        std::ptr::eq(self, other) || (self.turn == other.turn && self.loop_id == other.loop_id)
    }

    /// Whether this turn works for the other one, at whatever depth.
    pub fn descends_from(&self, other: &TurnOrigin) -> bool {
        std::iter::successors(self.parent.as_deref(), |origin| origin.parent.as_deref())
            .any(|origin| origin.is_same_turn(other))
    }
}

/// Whether an event may leave the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// The client may learn of it.
    #[default]
    Public,
    /// It stays inside; the facade drops it, whatever it is.
    Internal,
}

/// What happened.
#[derive(Debug)]
pub enum EventBody {
    /// A turn began, for a submission if `command` names one.
    TurnStarted {
        /// The submission that it answers.
        command: Option<CommandId>,
        /// Which turn of its loop it is, counted from 0.
        index: u64,
    },
    /// A submission joined a turn that was running already: that of this event.
    TurnFoldedInto {
        /// The submission.
        command: CommandId,
    },
    /// A submission waits for its turn, which has to begin within the bound that
    /// the facade sets (a minute, by default).
    InputQueued {
        /// The submission.
        command: CommandId,
    },
    /// A submission was withdrawn before its turn began.
    InputCancelled {
        /// The submission.
        command: CommandId,
        /// Why.
        reason: InputCancelReason,
    },
    /// A submission was refused.
    TurnRejected {
        /// The submission.
        command: CommandId,
        /// Why.
        reason: TurnRejectReason,
    },
    /// What the user asked in the turn. Only a journal reports it; a live client
    /// knows its prompt.
    UserMessage(Vec<Block>),
    /// The model said something more.
    Delta(Delta),
    /// The model finished a step; what it said in it, as a whole.
    ///
    /// The part that no delta reported is sent now, so a host that does not stream
    /// needs nothing else. Deltas of a step must be a beginning of it: after
    /// a lost one, send no more of them until the step is done.
    StepDone(Vec<Block>),
    /// The model asked for a tool; it has not begun.
    ToolRequested(Box<ToolCall>),
    /// A tool began.
    ToolStarted(Box<ToolCall>),
    /// A tool got on.
    ToolProgressed(Box<ToolProgress>),
    /// A tool ended.
    ToolCompleted(Box<ToolEnd>),
    /// The plan changed; this is the whole of it.
    PlanChanged(Vec<PlanEntry>),
    /// The context was measured.
    ContextMeasured(ContextUse),
    /// Other commands can be used now; these are all.
    CommandsChanged(Vec<SlashCommand>),
    /// Something was set by the agent itself; these are all options.
    ConfigChanged(Vec<ConfigOption>),
    /// The session has another title, or something happened in it. What has not
    /// changed since the last report is not sent again.
    InfoChanged(SessionInfo),
    /// There is something that the user should know. Sent to clients that show
    /// notices.
    Noticed(Box<Notice>),
    /// The conversation is being shortened. Sent to clients that show it.
    Compacting(Box<Compaction>),
    /// The compaction that was asked for has been made.
    CompactDone {
        /// What asked for it.
        command: CommandId,
    },
    /// The compaction that was asked for did not come about.
    CompactRejected {
        /// What asked for it.
        command: CommandId,
        /// Why.
        reason: CompactRejectReason,
    },
    /// The turn waits for a decision.
    GateOpened(Box<Gate>),
    /// A decision was made, or is no longer needed.
    GateResolved(GateId),
    /// The turn ended well. Ends the turn.
    TurnDone,
    /// The turn failed. Ends the turn.
    TurnFailed(TurnFailure),
    /// The turn was interrupted. Ends the turn.
    TurnInterrupted,
}

impl EventBody {
    /// Whether it ends its turn.
    pub fn ends_turn(&self) -> bool {
        matches!(
            self,
            Self::TurnDone | Self::TurnFailed(_) | Self::TurnInterrupted
        )
    }
}

/// A piece of what a model says, the moment it says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Text for the user.
    Text(String),
    /// A thought.
    Thinking(String),
    /// Text in which the model declines.
    Refusal(String),
    /// Arguments of a tool, unfinished; never shown.
    ToolInput(String),
}

/// How much of the context is used.
#[derive(Clone, Debug, PartialEq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct ContextUse {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that fit.
    pub limit: u64,
    /// What the session has cost so far.
    pub cost: Option<Box<Cost>>,
}

/// An amount of money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// Of which currency, by its code of three letters.
    pub currency: String,
}

impl Cost {
    /// So much of a currency.
    pub fn new(amount: f64, currency: impl Into<String>) -> Self {
        Self {
            amount,
            currency: currency.into(),
        }
    }
}

impl ContextUse {
    /// So many of so many tokens are in use.
    pub fn new(used: u64, limit: u64) -> Self {
        Self {
            used,
            limit,
            cost: None,
        }
    }
}

/// Why a turn failed.
#[derive(Debug)]
pub enum TurnFailure {
    /// The model answered with nothing.
    EmptyResponse,
    /// The turn asked for more steps or tools than it may.
    ToolLimit,
    /// The answer grew longer than the model may write.
    MaxTokens,
    /// The model declined.
    Refused,
    /// The conversation no longer fits the model.
    ContextOverflow,
    /// The provider asks for patience.
    RateLimited {
        /// When to try again, if the provider said so.
        retry_after: Option<Duration>,
    },
    /// The user must log in first.
    AuthRequired,
    /// The code of the turn panicked.
    Panicked,
    /// Anything else; its public text reaches the client.
    Other(HostError),
}

/// Why a submission was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnRejectReason {
    /// Too many submissions wait already.
    QueueFull,
    /// The session is about to end.
    ShuttingDown,
    /// The host failed.
    Internal,
}

/// Why a submission was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputCancelReason {
    /// Somebody took it back.
    Retracted,
    /// The turn it waited for was interrupted.
    TurnInterrupted,
    /// The turn it waited for failed.
    TurnFailed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_is_found_at_any_depth() {
        let root = Arc::new(TurnOrigin::new("main", "t1"));
        let child = Arc::new(TurnOrigin::new("search", "t2").with_parent(Arc::clone(&root)));
        let grandchild = TurnOrigin::new("read", "t3").with_parent(Arc::clone(&child));
        assert!(child.descends_from(&root) && grandchild.descends_from(&root));
        assert!(grandchild.descends_from(&child));
        assert!(!root.descends_from(&root) && !root.descends_from(&child));
        assert!(!grandchild.descends_from(&TurnOrigin::new("main", "t0")));
        assert!(root.is_same_turn(&TurnOrigin::new("main", "t1")));
        assert!(!root.is_same_turn(&TurnOrigin::new("other", "t1")));
    }

    #[test]
    fn an_event_stays_small() {
        // Events are moved once for each piece of text that streams.
        assert!(size_of::<HostEvent>() <= 96, "{}", size_of::<HostEvent>());
    }
}
