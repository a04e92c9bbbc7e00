//! What a turn came to: its last message.
//!
//! Agents speak before they call a tool ("Let me look.") and after; what a caller wants is
//! what they said in the end. So the report is the text after the last call of a tool, and
//! if there is none, the last that was not blank before it.

use acp_protocol::v1::{ContentChunk, MessageId, SessionUpdate, ToolCallId};
use indexmap::IndexSet;

use crate::limits::{MAX_REPORT, MAX_TURN_TOOLS};
use acp_text::cut_bytes;

/// Finds the report of a turn.
///
/// * Text of the agent belongs to the current message.
/// * A tool that is seen for the first time ends the message, and so does text whose
///   message has another id. Thoughts and news of tools that are known do not.
/// * The report is the last message; if that is blank, the last one that was not; if there
///   is none, nothing. A message of blanks alone is none.
///
/// At any time the report is that of what was read so far: a turn that was cancelled or
/// broke off has one too.
///
/// ```
/// use acp_harness::report::TurnReport;
/// use acp_protocol::v1::{SessionUpdate, ToolCall};
///
/// let mut report = TurnReport::new();
/// report.read(&SessionUpdate::agent_text("Let me look."));
/// report.read(&ToolCall::new("t-1", "read_file").into());
/// assert_eq!(report.text(), "Let me look.");
/// report.read(&SessionUpdate::agent_text("Two tests "));
/// report.read(&SessionUpdate::agent_text("fail."));
/// assert_eq!(report.text(), "Two tests fail.");
/// ```
#[derive(Clone, Debug)]
pub struct TurnReport {
    current: Message,
    /// The last message that was not blank, before the current one.
    completed: Message,
    /// Everything that was said.
    said: Message,
    /// What is said next belongs to another message.
    apart: bool,
    message: Option<MessageId>,
    /// Tools that were seen, the oldest forgotten first.
    tools: IndexSet<ToolCallId>,
    max: usize,
}

/// A message as far as it is kept.
#[derive(Clone, Debug, Default)]
struct Message {
    text: String,
    /// There was more than is kept; what comes behind would make another sense.
    cut: bool,
    /// Something of it was lost.
    torn: bool,
}

impl Message {
    /// Adds text, as long as no more than `max` bytes are kept.
    fn push(&mut self, text: &str, max: usize) {
        if !self.cut {
            let kept = cut_bytes(text, max - self.text.len());
            self.text.push_str(kept);
            self.cut = kept.len() < text.len();
        }
    }
}

impl TurnReport {
    /// Begins a turn.
    #[must_use]
    pub fn new() -> Self {
        Self::within(MAX_REPORT)
    }

    /// Begins a turn, of whose messages this many bytes are kept each.
    #[must_use]
    pub fn within(max: usize) -> Self {
        Self {
            current: Message::default(),
            completed: Message::default(),
            said: Message::default(),
            apart: false,
            message: None,
            tools: IndexSet::new(),
            max,
        }
    }

    /// Reads an update.
    pub fn read(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk(chunk),
            SessionUpdate::ToolCall(call) => self.tool(&call.tool_call_id),
            SessionUpdate::ToolCallUpdate(update) => self.tool(&update.tool_call_id),
            _ => {}
        }
    }

    /// Takes note that updates were lost here: text of the current message, perhaps.
    pub fn lose(&mut self) {
        self.current.torn = true;
    }

    /// Returns the report of what was read so far; empty when nothing was said.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.report().text
    }

    /// Returns everything that was said so far, one message after the other, with a blank
    /// line between; as much of its beginning as is kept of one message.
    ///
    /// For a turn that was cancelled or broke off: some agents then end it with a message
    /// of their own.
    #[must_use]
    pub fn said(&self) -> &str {
        &self.said.text
    }

    /// Tells whether the report is all that was said: it is not too long to be kept, and
    /// nothing was lost while it was said.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let report = self.report();
        !report.cut && !report.torn
    }

    /// Ends reading, and returns the report.
    #[must_use]
    pub fn into_text(self) -> String {
        if is_blank(&self.current.text) {
            self.completed.text
        } else {
            self.current.text
        }
    }

    fn report(&self) -> &Message {
        if is_blank(&self.current.text) {
            &self.completed
        } else {
            &self.current
        }
    }

    fn chunk(&mut self, chunk: &ContentChunk) {
        if let Some(id) = &chunk.message_id {
            if self.message.as_ref().is_some_and(|message| message != id) {
                self.complete();
            }
            self.message = Some(id.clone());
        }
        let said = chunk.as_text().unwrap_or_default();
        if said.is_empty() {
            return;
        }
        if std::mem::take(&mut self.apart) && !self.said.text.is_empty() {
            self.said.push("\n\n", self.max);
        }
        self.said.push(said, self.max);
        self.current.push(said, self.max);
    }

    fn tool(&mut self, id: &ToolCallId) {
        if self.tools.insert(id.clone()) {
            self.complete();
            if self.tools.len() > MAX_TURN_TOOLS {
                self.tools.shift_remove_index(0);
            }
        }
    }

    /// Ends the current message.
    fn complete(&mut self) {
        self.apart = true;
        let message = std::mem::take(&mut self.current);
        if !is_blank(&message.text) {
            self.completed = message;
        }
    }
}

impl Default for TurnReport {
    fn default() -> Self {
        Self::new()
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
