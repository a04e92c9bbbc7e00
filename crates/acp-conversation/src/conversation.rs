//! The fold of a conversation.

use std::collections::VecDeque;

use acp_protocol::v1::{
    ContentBlock, Cost, CreateElicitationRequest, Notice, Plan, PlanEntry, PromptResponse,
    RequestPermissionRequest, SessionModeId, SessionUpdate, ToolCallUpdate, UsageUpdate,
};
use acp_text::cut_bytes;

use crate::limits::{
    ConversationLimits, MAX_COMMANDS, MAX_LINE, MAX_NAME, MAX_NOTICES, MAX_PLAN_ENTRIES, MAX_TITLE,
    MAX_TURNS, short_name,
};

use crate::tool_call::ToolCallChange;
use crate::turn::{ConversationTurn, MessageChange, MessageRole, TurnEntry};
use crate::{QuestionNumber, Questions, TokenUsage, ToolCalls};

/// The state of a conversation, folded from its messages.
///
/// Give it each message in the order of the wire: the [prompt](Self::prompt) of a turn,
/// the [updates](Self::update), the [permission requests](Self::permission) and
/// [elicitations](Self::elicitation), their answers ([`Questions`]), and the
/// [end](Self::end). A turn begins by itself with the first update if no prompt is known.
///
/// Where one thing replaces another (plan, usage, mode, title, commands), the newest is
/// kept.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Conversation {
    /// The current turn, or the last one.
    pub turn: ConversationTurn,
    /// The turns before it that are kept.
    pub past: VecDeque<ConversationTurn>,
    /// Turns that were dropped to make room.
    pub dropped_turns: u64,
    /// The tool calls of all turns.
    pub tool_calls: ToolCalls,
    /// The questions to the user, of all turns, and their outcomes.
    pub questions: Questions,
    /// The plan.
    pub plan: Option<Plan>,
    /// Entries of the plan that are not kept.
    pub more_plan_entries: usize,
    /// How full the context is, and what it cost.
    pub usage: Option<UsageUpdate>,
    /// The mode, if the agent changed it.
    pub mode: Option<SessionModeId>,
    /// The title of the session, if the agent gave it one.
    pub title: Option<String>,
    /// The names of the commands that the agent has.
    pub commands: Vec<String>,
    /// What the agent wanted to be noticed, the newest last.
    pub notices: VecDeque<Notice>,
    limits: ConversationLimits,
    past_bytes: usize,
}

/// What an update changed in a conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConversationChange<'a> {
    /// A text was added to a message.
    Message(MessageChange<'a>),
    /// A tool call changed.
    ToolCall(ToolCallChange<'a>),
    /// Something else changed, or nothing that is kept.
    Other,
}

impl Conversation {
    /// Creates the state of a conversation in which nothing was said, with the usual
    /// limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the state of a conversation of which this much is kept.
    #[must_use]
    pub fn within(limits: ConversationLimits) -> Self {
        Self {
            limits,
            tool_calls: ToolCalls::within(limits),
            ..Self::default()
        }
    }

    /// Begins a turn with a prompt of the user.
    pub fn prompt(&mut self, prompt: &[ContentBlock]) {
        // The turn before has ended, if only by the loss of its connection.
        self.questions.withdraw_permissions();
        let before = std::mem::take(&mut self.turn);
        if before != ConversationTurn::default() {
            self.past_bytes += before.bytes;
            self.past.push_back(before);
        }
        for text in prompt.iter().filter_map(ContentBlock::as_text) {
            self.turn.say(MessageRole::User, text, &self.limits);
        }
        self.make_room();
    }

    /// Takes in an update, and returns what it changed.
    pub fn update(&mut self, update: &SessionUpdate) -> ConversationChange<'_> {
        self.turn.counts.updates += 1;
        let (role, chunk) = match update {
            SessionUpdate::UserMessageChunk(chunk) => (MessageRole::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => (MessageRole::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => (MessageRole::Thought, chunk),
            SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_) => {
                return match self.tool_calls.update(update) {
                    Some(change) => ConversationChange::ToolCall(change.count(&mut self.turn)),
                    None => ConversationChange::Other,
                };
            }
            other => {
                self.learn(other);
                return ConversationChange::Other;
            }
        };
        if let Some(tokens) = TokenUsage::of_meta(chunk.meta.as_deref()) {
            self.turn.tokens = Some(tokens);
        }
        let is_text = chunk.as_text().is_some() || role != MessageRole::Agent;
        self.turn.counts.attachments += u64::from(!is_text);
        self.make_room();
        match self.turn.chunk(role, chunk, &self.limits) {
            Some(change) => ConversationChange::Message(change),
            None => ConversationChange::Other,
        }
    }

    /// Takes in a permission request with the call that it is about, and returns its number
    /// among the [questions](Self::questions).
    pub fn permission(&mut self, request: &RequestPermissionRequest) -> QuestionNumber {
        // A call whose id is too long is counted there, and changes nothing.
        let _ = self.ask(&request.tool_call);
        let number = self.questions.permission(request);
        self.turn.push(TurnEntry::Question(number));
        number
    }

    /// Takes in an elicitation, and returns its number among the
    /// [questions](Self::questions).
    pub fn elicitation(&mut self, request: &CreateElicitationRequest) -> QuestionNumber {
        let number = self.questions.elicitation(request);
        self.turn.push(TurnEntry::Question(number));
        number
    }

    /// Takes in the subject of a permission request alone, and returns what it changed in the
    /// call; `None` when the id of the call is too long.
    pub fn ask(&mut self, subject: &ToolCallUpdate) -> Option<ToolCallChange<'_>> {
        let change = self.tool_calls.ask(subject)?;
        Some(change.count(&mut self.turn))
    }

    /// Takes note that updates were lost here, or made no sense.
    pub fn lose(&mut self, updates: u64) {
        self.turn.lose(updates);
    }

    /// Takes in the answer that ends the turn, which withdraws the permission requests that
    /// are open.
    pub fn end(&mut self, response: &PromptResponse) {
        let tokens = TokenUsage::of_meta(response.meta.as_deref());
        self.turn.tokens = tokens.or(self.turn.tokens);
        self.questions.withdraw_permissions();
        let reason = &response.stop_reason;
        self.turn.stop_reason = Some(short_name(reason, reason.as_str()));
    }

    fn learn(&mut self, update: &SessionUpdate) {
        let short = |text: &str, max| cut_bytes(text, max).to_owned();
        match update {
            SessionUpdate::Plan(plan) => {
                let entries = plan.entries.iter().take(MAX_PLAN_ENTRIES);
                let entries = entries.map(|entry| {
                    let (priority, status) = (&entry.priority, &entry.status);
                    PlanEntry::new(
                        short(&entry.content, MAX_LINE),
                        short_name(priority, priority.as_str()),
                        short_name(status, status.as_str()),
                    )
                });
                self.plan = Some(Plan::new(entries));
                self.more_plan_entries = plan.entries.len().saturating_sub(MAX_PLAN_ENTRIES);
            }
            SessionUpdate::UsageUpdate(update) => {
                let mut usage = UsageUpdate::new(update.used, update.size);
                let cost = update.cost.as_ref();
                usage.cost =
                    cost.map(|cost| Cost::new(cost.amount, short(&cost.currency, MAX_NAME)));
                self.usage = Some(usage);
            }
            SessionUpdate::CurrentModeUpdate(update) => {
                self.mode = Some(short_name(
                    &update.current_mode_id,
                    update.current_mode_id.as_str(),
                ));
            }
            SessionUpdate::SessionInfoUpdate(update) => {
                let title = update.title.clone();
                title
                    .map(|title| short(&title, MAX_TITLE))
                    .apply_to(&mut self.title);
            }
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let commands = update.available_commands.iter().take(MAX_COMMANDS);
                self.commands = commands
                    .map(|command| short(&command.name, MAX_NAME))
                    .collect();
            }
            SessionUpdate::Notice(notice) => {
                let severity = &notice.severity;
                let mut kept = Notice::new(
                    short_name(severity, severity.as_str()),
                    short(&notice.title, MAX_LINE),
                );
                kept.description = notice
                    .description
                    .as_ref()
                    .map(|text| short(text, MAX_LINE));
                if self.notices.len() == MAX_NOTICES {
                    self.notices.pop_front();
                }
                self.notices.push_back(kept);
            }
            SessionUpdate::Unrecognized(_) => self.turn.counts.unrecognized += 1,
            // Compaction changes nothing that is kept, and options belong to the session.
            _ => {}
        }
    }

    /// Drops turns, the oldest first.
    fn make_room(&mut self) {
        let room = self.limits.message_bytes.saturating_sub(self.turn.bytes);
        while self.past.len() >= MAX_TURNS || self.past_bytes > room {
            let Some(gone) = self.past.pop_front() else {
                return;
            };
            self.past_bytes -= gone.bytes;
            self.dropped_turns += 1;
        }
    }
}

impl<'a> ToolCallChange<'a> {
    /// Takes note of the change in the turn in which it happened.
    fn count(self, turn: &mut ConversationTurn) -> Self {
        if self.is_new {
            turn.call(&self.call.id);
        }
        turn.counts.tool_calls += u64::from(self.is_called);
        let failed = self.ends && self.call.ends == 1 && self.call.has_failed();
        turn.counts.failed_tool_calls += u64::from(failed);
        self
    }
}
