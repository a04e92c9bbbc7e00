//! What is remembered of an update because it was told.

use std::{collections::VecDeque, sync::Arc};

use acp_host::{Origin, ToolId};
use acp_protocol::{
    Patch,
    v1::{ContentBlock, ContentChunk, SessionUpdate},
};

use crate::session::Core;

/// What is remembered of an update because it was told. An update that was not
/// told after all has to be forgotten, else nobody ever tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Nothing.
    Nothing,
    /// The title of the session, and when something last happened in it.
    Info { title: bool, updated_at: bool },
    /// That commands were told.
    Commands,
    /// A tool call.
    Tool(ToolId),
    /// So many bytes of the step's text.
    Message(usize),
    /// So many bytes of the step's thought.
    Thought(usize),
}

impl Memory {
    /// What is remembered of an update.
    pub(crate) fn of(update: &SessionUpdate) -> Self {
        match update {
            SessionUpdate::SessionInfoUpdate(info) => Self::Info {
                title: !matches!(info.title, Patch::Keep),
                updated_at: !matches!(info.updated_at, Patch::Keep),
            },
            SessionUpdate::AvailableCommandsUpdate(_) => Self::Commands,
            SessionUpdate::ToolCall(call) => Self::Tool(ToolId::from(call.tool_call_id.as_str())),
            SessionUpdate::AgentMessageChunk(chunk) => Self::Message(bytes(chunk)),
            SessionUpdate::AgentThoughtChunk(chunk) => Self::Thought(bytes(chunk)),
            _ => Self::Nothing,
        }
    }
}

fn bytes(chunk: &ContentChunk) -> usize {
    match &chunk.content {
        ContentBlock::Text(text) => text.text.len(),
        _ => 0,
    }
}

/// Updates that are being told. What is left of them when this is dropped was
/// not told, and is forgotten.
pub(crate) struct Untold {
    core: Arc<Core>,
    /// The turn to which they belong.
    origin: Option<Arc<Origin>>,
    left: VecDeque<Memory>,
}

impl Untold {
    pub(crate) fn new<'a>(
        core: &Arc<Core>,
        origin: Option<&Arc<Origin>>,
        updates: impl IntoIterator<Item = &'a SessionUpdate>,
    ) -> Self {
        Self {
            core: Arc::clone(core),
            origin: origin.cloned(),
            left: updates.into_iter().map(Memory::of).collect(),
        }
    }

    /// Takes note that the next one is told.
    pub(crate) fn told(&mut self) {
        self.left.pop_front();
    }
}

impl Drop for Untold {
    fn drop(&mut self) {
        if self.left.is_empty() {
            return;
        }
        let mut slot = self.core.slot();
        for memory in &self.left {
            slot.forget(self.origin.as_deref(), memory);
        }
    }
}
