//! What happens in a turn, read into few kinds of events, and what is known in the end.
//!
//! A [`TurnReducer`] takes the updates of a turn as they come, and gives text, reasoning,
//! calls of tools and their results. It is a function of what it was given: it waits for
//! nothing and asks nobody. Agents announce tools in many ways; what comes out is always
//! a call before its result, one result for a call, and nothing that an agent sends is an
//! error of the turn. A failed tool is a result that says so.
//!
//! ```
//! use acp_harness::reader::{ReaderEvent, TurnReducer};
//! use acp_protocol::v1::{SessionUpdate, ToolCallStatus, ToolCallUpdate};
//!
//! let mut reducer = TurnReducer::new();
//! // An agent tells the end of a call that it never announced.
//! let end = ToolCallUpdate::status("t-1", ToolCallStatus::Completed).with_title("read_file");
//! let events = reducer.read(&SessionUpdate::from(end));
//! let [ReaderEvent::Call(call), ReaderEvent::Result(result)] = &events[..] else {
//!     panic!("a call, and its result");
//! };
//! assert_eq!((&*call.name, call.synthesised), ("read_file", true));
//! assert!(!result.failed);
//! ```

mod facts;
mod render;
mod tool;
mod tools;

use acp_protocol::RawJson;
use acp_protocol::v1::{
    ContentChunk, PromptResponse, SessionUpdate, ToolCallId, ToolCallStatus, ToolKind,
};

pub use facts::{NoticeRecord, TokenUsage, TurnFacts};
pub use tool::{DiffRecord, ToolRecord};

use crate::limits::{MAX_TOOL_TEXT, MAX_TURN_TOOL_BYTES, MAX_TURN_TOOLS};
use tools::Tools;

/// Something that happened in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReaderEvent {
    /// The agent said something.
    Text(String),
    /// The agent thought something.
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
    /// The name of the tool: what the agent says it is; or else the title, if that looks
    /// like a name; or else the kind.
    pub name: String,
    /// What the agent calls it for people.
    pub title: String,
    /// The kind, if the agent said one.
    pub kind: Option<ToolKind>,
    /// What the tool was given, if the agent said so and it is not too long.
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
    /// What came of it: its content as text, or else what it put out. As the agent wrote
    /// it, but for its length; see [`text`](crate::text) before it is shown.
    pub text: String,
    /// Whether there was more of it.
    pub cut: bool,
    /// Whether the tool failed.
    pub failed: bool,
}

/// How much is kept of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderBounds {
    /// Calls of tools; of more, the oldest are counted only.
    pub tools: usize,
    /// Bytes of the text of one result.
    pub tool_text: usize,
    /// Bytes of all that is kept of tools; of more, the oldest keep their names only.
    pub tool_bytes: usize,
}

impl Default for ReaderBounds {
    fn default() -> Self {
        Self {
            tools: MAX_TURN_TOOLS,
            tool_text: MAX_TOOL_TEXT,
            tool_bytes: MAX_TURN_TOOL_BYTES,
        }
    }
}

impl ReaderBounds {
    /// Sets how many calls of tools are kept.
    #[must_use]
    pub fn with_tools(mut self, tools: usize) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the bytes of the text of one result.
    #[must_use]
    pub fn with_tool_text(mut self, bytes: usize) -> Self {
        self.tool_text = bytes;
        self
    }

    /// Sets the bytes of all that is kept of tools.
    #[must_use]
    pub fn with_tool_bytes(mut self, bytes: usize) -> Self {
        self.tool_bytes = bytes;
        self
    }
}

/// Reads the updates of one turn.
#[derive(Clone, Debug, Default)]
pub struct TurnReducer {
    tools: Tools,
    facts: TurnFacts,
}

impl TurnReducer {
    /// Begins a turn.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a turn, and keeps this much of it.
    #[must_use]
    pub fn within(bounds: ReaderBounds) -> Self {
        Self {
            tools: Tools::within(bounds),
            facts: TurnFacts::default(),
        }
    }

    /// Reads an update, and returns what it means: mostly one event or none; a call and its
    /// result when both become known at once.
    pub fn read(&mut self, update: &SessionUpdate) -> Vec<ReaderEvent> {
        self.facts.updates += 1;
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                self.facts.learn_tokens_of(chunk.meta.as_deref());
                let said = text_of(chunk);
                self.facts.said |= !said.trim().is_empty();
                event_of(said, ReaderEvent::Text)
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                self.facts.learn_tokens_of(chunk.meta.as_deref());
                let thought = text_of(chunk);
                self.facts.thought |= !thought.trim().is_empty();
                event_of(thought, ReaderEvent::Reasoning)
            }
            SessionUpdate::ToolCall(call) => {
                self.tool(&call.tool_call_id, true, |record, bounds| {
                    record.learn_call(call, bounds);
                    call.status.as_ref()
                })
            }
            SessionUpdate::ToolCallUpdate(update) => {
                self.tool(&update.tool_call_id, false, |record, bounds| {
                    record.learn_update(update, bounds);
                    update.status.as_ref()
                })
            }
            other => {
                self.facts.learn(other);
                Vec::new()
            }
        }
    }

    /// Takes note of updates that were lost, or made no sense.
    ///
    /// A call that was announced in one of them is known by its end.
    pub fn lose(&mut self, updates: u64) {
        self.facts.lost = self.facts.lost.saturating_add(updates);
    }

    /// Reads the answer that ends the turn.
    pub fn end(&mut self, response: &PromptResponse) {
        self.facts.learn_tokens_of(response.meta.as_deref());
        self.facts.stop_reason = Some(response.stop_reason.clone());
    }

    /// Takes note of tokens that were told elsewhere, in place of what was told before.
    pub fn learn_tokens(&mut self, tokens: TokenUsage) {
        self.facts.tokens = Some(tokens);
    }

    /// Returns what is known of the turn so far, besides its tools.
    #[must_use]
    pub fn facts(&self) -> &TurnFacts {
        &self.facts
    }

    /// Walks over the calls that are kept, in the order in which they were first seen.
    pub fn tools(&self) -> impl Iterator<Item = &ToolRecord> {
        self.tools.iter()
    }

    /// Ends reading, and returns what is known of the turn, its tools included.
    #[must_use]
    pub fn into_facts(self) -> TurnFacts {
        let mut facts = self.facts;
        facts.tools = self.tools.into_records();
        facts
    }

    fn tool<'a>(
        &mut self,
        id: &ToolCallId,
        announces: bool,
        learn: impl FnOnce(&mut ToolRecord, &ReaderBounds) -> Option<&'a ToolCallStatus>,
    ) -> Vec<ReaderEvent> {
        let mut events = Vec::new();
        let facts = &mut self.facts;
        self.tools.change(id, |record, bounds| {
            let ends = learn(record, bounds).is_some_and(ToolCallStatus::is_final);
            if !record.called && (announces || ends) {
                record.called = true;
                facts.calls += 1;
                events.push(ReaderEvent::Call(record.called_event(!announces)));
            }
            if ends && !record.ended {
                record.ended = true;
                let result = record.ended_event();
                facts.failed_tools += u64::from(result.failed);
                events.push(ReaderEvent::Result(result));
            }
        });
        events
    }
}

/// The text of a chunk; pictures and the like have none.
fn text_of(chunk: &ContentChunk) -> &str {
    chunk.as_text().unwrap_or_default()
}

fn event_of(text: &str, event: fn(String) -> ReaderEvent) -> Vec<ReaderEvent> {
    if text.is_empty() {
        Vec::new()
    } else {
        vec![event(text.to_owned())]
    }
}
