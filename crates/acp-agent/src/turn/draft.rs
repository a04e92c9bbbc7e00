//! An event on its way to the client, update by update.
//!
//! An update is made when there is room for it, and counts only when it is sent. So
//! an event that is given up, refused or dropped leaves nothing behind: the client and
//! this side agree on what the client knows.

use std::{sync::Arc, vec};

use acp_host::{Block, EventBody, SessionInfo, ToolCall, ToolId};
use acp_protocol::v1::SessionUpdate;

use super::message_ids::ChunkKind;

/// An update that is not sent yet.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) update: SessionUpdate,
    pub(crate) then: ClientKnows,
}

impl Draft {
    pub(crate) fn new(update: impl Into<SessionUpdate>, then: ClientKnows) -> Self {
        Self {
            update: update.into(),
            then,
        }
    }
}

/// The state that the client knows once an update is sent.
#[derive(Debug)]
pub(crate) enum ClientKnows {
    /// Nothing that later updates depend on.
    Nothing,
    /// This many more bytes of a message.
    Text {
        kind: ChunkKind,
        message: Arc<str>,
        bytes: usize,
    },
    /// A part of a message that is no text.
    Part { message: Arc<str> },
    /// A message that is no part of the model's step.
    Aside { kind: ChunkKind, message: Arc<str> },
    /// This of a tool call.
    Tool(Box<ToolCall>),
    /// The end of a tool call.
    ToolEnd(ToolId),
    /// The title of the session, and when something last happened in it.
    Info(SessionInfo),
    /// The commands of the session.
    Commands,
}

/// An event of which the client may know a part.
#[derive(Debug)]
pub(crate) struct PendingEvent {
    pub(super) left: Left,
    /// It is of a sub-agent.
    pub(super) is_foreign: bool,
}

/// The rest of an event.
#[derive(Debug)]
pub(super) enum Left {
    /// All of it, as long as there is an event.
    Event(Option<EventBody>),
    /// Blocks of a finished step, behind what deltas said of them.
    Step(StepRest),
    /// Text that is a message of its own.
    Aside(Option<String>),
    /// Updates as they are.
    Updates(vec::IntoIter<SessionUpdate>),
    /// A short update that is sent with the one before: both, or neither.
    Companion(Option<SessionUpdate>),
}

/// The rest of a finished step.
#[derive(Debug)]
pub(super) struct StepRest {
    pub(super) blocks: vec::IntoIter<Block>,
    /// The state that the client knows of the blocks that are left.
    pub(super) known: KnownOfStep,
}

/// How much of the current step the client knows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownOfStep {
    /// Bytes of its text.
    pub(super) message: usize,
    /// Bytes of its thoughts.
    pub(super) thought: usize,
    /// Blocks that are neither.
    pub(super) others: usize,
}

impl PendingEvent {
    /// An event of the session or of the turn of its prompt.
    pub(crate) fn new(body: EventBody) -> Self {
        Self {
            left: Left::Event(Some(body)),
            is_foreign: false,
        }
    }

    /// An event of a sub-agent.
    pub(crate) fn of_sub_agent(body: EventBody) -> Self {
        Self {
            is_foreign: true,
            ..Self::new(body)
        }
    }

    /// Text for the user that the model did not say.
    pub(crate) fn aside(text: String) -> Self {
        Self {
            left: Left::Aside(Some(text)),
            is_foreign: false,
        }
    }

    /// Whether the next update goes with the one before.
    pub(crate) fn has_companion(&self) -> bool {
        matches!(self.left, Left::Companion(Some(_)))
    }

    /// Whether the client never sees anything of it.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(&self.left, Left::Updates(updates) if updates.as_slice().is_empty())
    }

    /// Updates that need no translation.
    pub(crate) fn of_updates(updates: Vec<SessionUpdate>) -> Self {
        Self {
            left: Left::Updates(updates.into_iter()),
            is_foreign: false,
        }
    }
}
