//! What is remembered of an update because it was told.

use acp_host::ToolId;
use acp_protocol::{
    Patch,
    v1::{ContentBlock, ContentChunk, SessionUpdate},
};

/// What is remembered of an update because it was told. An update that was not
/// told after all has to be forgotten, else nobody ever tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SentMark {
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

impl SentMark {
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
