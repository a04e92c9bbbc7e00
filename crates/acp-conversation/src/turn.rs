//! One turn: what was said and which tools were called, in order, and how it ended.

use acp_protocol::v1::{ContentChunk, MessageId, StopReason, ToolCallId};
use acp_text::cut_bytes;

use crate::limits::{ConversationLimits, MAX_ID, MAX_TURN_ENTRIES};
use crate::{QuestionNumber, TokenUsage};

/// One turn of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConversationTurn {
    /// The messages, tool calls and questions in order.
    pub entries: Vec<TurnEntry>,
    /// Why the agent ended the turn; `None` while it has not.
    pub stop_reason: Option<StopReason>,
    /// How many tokens went where, as far as the agent says so.
    pub tokens: Option<TokenUsage>,
    /// How much happened.
    pub counts: TurnCounts,
    pub(crate) bytes: usize,
    /// The newest id of a message, by role.
    ids: [Option<MessageId>; 3],
    /// Whether updates were lost since the last message ended, by role.
    is_torn: [bool; 3],
}

/// How much happened in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnCounts {
    /// Updates.
    pub updates: u64,
    /// Updates of kinds that this version of the protocol does not name.
    pub unrecognized: u64,
    /// Updates that were lost before they could be read, or made no sense.
    pub lost: u64,
    /// Pieces of the agent's messages that are no text: pictures, links, files.
    pub attachments: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that failed.
    pub failed_tool_calls: u64,
    /// Messages, tool calls and questions that were dropped to make room.
    pub dropped: u64,
}

/// Something that stands in a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEntry {
    /// A message.
    Message(TurnMessage),
    /// A tool call, when it was first seen.
    ToolCall(ToolCallId),
    /// A question to the user, when it was asked.
    Question(QuestionNumber),
}

/// A message, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnMessage {
    /// Who it comes from.
    pub role: MessageRole,
    /// Its id, if the agent gives it one.
    pub id: Option<MessageId>,
    /// The text; nothing of it is changed.
    pub text: String,
    /// There was more of it than is kept.
    pub is_cut: bool,
    /// Something of it may have been lost.
    pub is_torn: bool,
    /// What comes next from the same role belongs to it.
    is_open: bool,
}

/// Who a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageRole {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// The agent, thinking.
    Thought,
}

/// What a chunk changed in the messages of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageChange<'a> {
    /// The message as it is now.
    pub message: &'a TurnMessage,
    /// It begins with this chunk.
    pub begins: bool,
    /// It begins because of a tool call in between, and has the id of the message before.
    pub resumes: bool,
}

impl ConversationTurn {
    /// Walks over the messages of a role.
    pub fn messages(&self, role: MessageRole) -> impl DoubleEndedIterator<Item = &TurnMessage> {
        let messages = self.entries.iter().filter_map(|entry| match entry {
            TurnEntry::Message(message) => Some(message),
            _ => None,
        });
        messages.filter(move |message| message.role == role)
    }

    /// Returns the last message of the agent that is not blank.
    ///
    /// Agents speak before they call a tool ("Let me look.") and after; a caller wants
    /// what they said in the end. At any time it is that of what was read so far: a turn
    /// that was cancelled or broke off has one too.
    #[must_use]
    pub fn report(&self) -> Option<&TurnMessage> {
        self.messages(MessageRole::Agent)
            .rfind(|message| !message.is_blank())
    }

    /// Tells whether the report is all that the agent said at its end: not cut, and nothing
    /// lost of it or behind it. Without a report, whether nothing was lost at all.
    #[must_use]
    pub fn report_is_whole(&self) -> bool {
        match self.report() {
            Some(report) => report.is_whole() && !self.is_torn[MessageRole::Agent as usize],
            None => self.counts.lost == 0,
        }
    }

    /// Returns everything that the agent said, one message after the other with an empty
    /// line between, and at most so many bytes of its beginning.
    ///
    /// For a turn that was cancelled or broke off: some agents then end it with a message
    /// of their own.
    #[must_use]
    pub fn said(&self, max: usize) -> String {
        let mut said = String::new();
        for message in self.messages(MessageRole::Agent) {
            if !said.is_empty() {
                said.push_str("\n\n");
            }
            said.push_str(&message.text);
            if said.len() > max {
                break;
            }
        }
        said.truncate(cut_bytes(&said, max).len());
        said
    }

    /// Tells whether the agent said or did anything. Thoughts alone are no answer.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.counts.tool_calls + self.counts.attachments > 0 || self.report().is_some()
    }

    /// Takes note that updates were lost here: text of the messages that go on, perhaps.
    pub(crate) fn lose(&mut self, updates: u64) {
        self.counts.lost = self.counts.lost.saturating_add(updates);
        self.is_torn = [true; 3];
        self.open(None).for_each(|message| message.is_torn = true);
    }

    /// Adds a chunk to the message that goes on: the last one of the same role, unless its
    /// id is another one or a tool call came in between.
    pub(crate) fn chunk(
        &mut self,
        role: MessageRole,
        chunk: &ContentChunk,
        limits: &ConversationLimits,
    ) -> Option<MessageChange<'_>> {
        let id = chunk.message_id.as_ref();
        let id = id.filter(|id| id.as_str().len() <= MAX_ID);
        let known = &mut self.ids[role as usize];
        let is_same = id.is_some() && known.as_ref() == id;
        if let Some(id) = id.filter(|_| !is_same)
            && known.replace(id.clone()).is_some()
        {
            self.is_torn[role as usize] = false;
            self.open(role).for_each(|message| message.is_open = false);
        }
        let begins = self.say(role, chunk.as_text()?, limits)?;
        Some(MessageChange {
            message: self.messages(role).rfind(|message| message.is_open)?,
            begins,
            resumes: begins && is_same,
        })
    }

    /// Adds a text to the message that goes on, and tells whether it begins one; `None`
    /// where there is no text.
    pub(crate) fn say(
        &mut self,
        role: MessageRole,
        text: &str,
        limits: &ConversationLimits,
    ) -> Option<bool> {
        if text.is_empty() {
            return None;
        }
        let begins = self.open(role).next().is_none();
        if begins {
            let message = TurnMessage {
                role,
                id: self.ids[role as usize].clone(),
                text: String::new(),
                is_cut: false,
                is_torn: std::mem::take(&mut self.is_torn[role as usize]),
                is_open: true,
            };
            self.push(TurnEntry::Message(message));
        }
        let message = self.open(role).next()?;
        self.bytes += message.push(text, limits.message);
        while self.bytes > limits.message_bytes && self.drop_oldest() {}
        Some(begins)
    }

    /// Takes note of a tool call that is seen for the first time; it ends the messages.
    pub(crate) fn call(&mut self, id: &ToolCallId) {
        self.is_torn = [false; 3];
        self.open(None).for_each(|message| message.is_open = false);
        self.push(TurnEntry::ToolCall(id.clone()));
    }

    /// Walks over the messages that go on, of one role or of all.
    fn open(
        &mut self,
        role: impl Into<Option<MessageRole>>,
    ) -> impl Iterator<Item = &mut TurnMessage> {
        let role = role.into();
        // A tool call has ended the messages before it; a question ends none.
        let entries = self.entries.iter_mut().rev();
        let entries = entries.take_while(|entry| !matches!(entry, TurnEntry::ToolCall(_)));
        let messages = entries.filter_map(|entry| match entry {
            TurnEntry::Message(message) => Some(message),
            _ => None,
        });
        messages.filter(move |it| it.is_open && role.is_none_or(|role| role == it.role))
    }

    /// Adds an entry behind the others.
    pub(crate) fn push(&mut self, entry: TurnEntry) {
        self.bytes += entry.bytes();
        self.entries.push(entry);
        if self.entries.len() > MAX_TURN_ENTRIES {
            self.drop_oldest();
        }
    }

    /// Drops the oldest entry, a thought before anything else; never the report, a message
    /// that goes on, or the newest.
    fn drop_oldest(&mut self) -> bool {
        let report = self.report().map(std::ptr::from_ref);
        let older = &self.entries[..self.entries.len().saturating_sub(1)];
        let find = |is_wanted: fn(&TurnEntry) -> bool| {
            older.iter().position(|entry| {
                is_wanted(entry)
                    && !matches!(entry, TurnEntry::Message(message)
                        if message.is_open || report == Some(std::ptr::from_ref(message)))
            })
        };
        let thought = find(
            |entry| matches!(entry, TurnEntry::Message(message) if message.role == MessageRole::Thought),
        );
        let gone = thought
            .or_else(|| find(|_| true))
            .map(|at| self.entries.remove(at));
        self.bytes -= gone.as_ref().map_or(0, TurnEntry::bytes);
        self.counts.dropped += u64::from(gone.is_some());
        gone.is_some()
    }
}

impl TurnMessage {
    /// Tells whether there is nothing but white space in it.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Tells whether it is all that was said: not cut, and nothing of it lost.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.is_cut && !self.is_torn
    }

    /// Adds a text as far as there is room, and returns the bytes that were added. Nothing
    /// comes behind a gap: it would make another sense.
    fn push(&mut self, text: &str, max: usize) -> usize {
        if self.is_cut {
            return 0;
        }
        let kept = cut_bytes(text, max.saturating_sub(self.text.len()));
        self.text.push_str(kept);
        self.is_cut = kept.len() < text.len();
        kept.len()
    }
}

impl TurnEntry {
    fn bytes(&self) -> usize {
        let kept = match self {
            Self::Message(message) => message.text.len(),
            Self::ToolCall(id) => id.as_str().len(),
            Self::Question(_) => 0,
        };
        size_of::<Self>() + kept
    }
}
