//! A turn, read into few kinds of events.
//!
//! [`read`] is a view of the [`Conversation`]: it takes the updates of a turn as they come,
//! and gives text, reasoning, calls of tools and their results. Agents announce
//! tools in many ways; the events are always a call before its result and one result for a
//! call, and nothing that an agent sends is an error of the turn. A failed tool is a result
//! that says so.
//!
//! ```
//! use acp_conversation::Conversation;
//! use acp_harness::reader::{ReaderEvent, read};
//! use acp_protocol::v1::{SessionUpdate, ToolCallStatus, ToolCallUpdate};
//!
//! let mut conversation = Conversation::new();
//! // An agent tells the end of a call that it never announced.
//! let end = ToolCallUpdate::status("t-1", ToolCallStatus::Completed).with_title("read_file");
//! let events = read(&mut conversation, &SessionUpdate::from(end));
//! let [ReaderEvent::Call(call), ReaderEvent::Result(result)] = &events[..] else {
//!     panic!("a call, and its result");
//! };
//! assert_eq!((&*call.name, call.synthesised), ("read_file", true));
//! assert!(!result.failed);
//! ```

use acp_conversation::limits::MAX_TOOL_TEXT;
use acp_conversation::{Conversation, ConversationChange, ToolCallState};
use acp_protocol::RawJson;
use acp_protocol::v1::{ContentChunk, SessionUpdate, ToolCallId, ToolKind};

/// Something that happened in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReaderEvent {
    /// The agent sent text.
    Text(String),
    /// The agent sent a thought.
    Reasoning(String),
    /// The agent calls a tool.
    Call(ToolCalled),
    /// A tool that was called has ended.
    Result(ToolEnded),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCalled {
    /// The id of the call.
    pub id: ToolCallId,
    /// The name of the tool: the agent's name for it; or else the title, if that looks
    /// like a name; or else the kind.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The kind, if the agent gave one.
    pub kind: Option<ToolKind>,
    /// The input of the tool, if the agent gave it and it is not too long.
    pub args: Option<RawJson>,
    /// Whether the agent never announced it, and it is known by its end.
    pub synthesised: bool,
}

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolEnded {
    /// The id of the call.
    pub id: ToolCallId,
    /// Its content as text, or else its raw output. As the agent wrote it, but for its
    /// length; see [`text`](crate::text) before it is shown.
    pub text: String,
    /// Whether there was more of it.
    pub cut: bool,
    /// Whether the tool failed.
    pub failed: bool,
}

/// Takes an update into a conversation, and returns its events: mostly one or none; a call
/// and its result when both become known at once.
pub fn read(conversation: &mut Conversation, update: &SessionUpdate) -> Vec<ReaderEvent> {
    match (update, conversation.update(update)) {
        (SessionUpdate::AgentMessageChunk(chunk), _) => event_of(chunk, ReaderEvent::Text),
        (SessionUpdate::AgentThoughtChunk(chunk), _) => event_of(chunk, ReaderEvent::Reasoning),
        (_, ConversationChange::ToolCall(change)) => {
            let announces = matches!(update, SessionUpdate::ToolCall(_));
            let called = change
                .is_called
                .then(|| ReaderEvent::Call(ToolCalled::of(change.call, !announces)));
            // An agent may report another end, or use the id again: there is one result.
            let ended = (change.ends && change.call.ends == 1)
                .then(|| ReaderEvent::Result(ToolEnded::of(change.call)));
            called.into_iter().chain(ended).collect()
        }
        _ => Vec::new(),
    }
}

/// The text of a chunk; pictures and the like have none.
fn event_of(chunk: &ContentChunk, event: fn(String) -> ReaderEvent) -> Vec<ReaderEvent> {
    let text = chunk.as_text().filter(|text| !text.is_empty());
    text.map(|text| event(text.to_owned()))
        .into_iter()
        .collect()
}

impl ToolCalled {
    fn of(call: &ToolCallState, synthesised: bool) -> Self {
        Self {
            id: call.id.clone(),
            name: call.tool_name().to_owned(),
            title: call.title.clone().unwrap_or_default(),
            kind: call.kind.clone(),
            args: call.raw_input.clone(),
            synthesised,
        }
    }
}

impl ToolEnded {
    fn of(call: &ToolCallState) -> Self {
        let (text, cut) = call.text(MAX_TOOL_TEXT);
        Self {
            id: call.id.clone(),
            text,
            cut,
            failed: call.has_failed(),
        }
    }
}
