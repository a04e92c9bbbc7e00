//! What is known of a turn besides what was said.

use acp_protocol::Meta;
use acp_protocol::v1::{
    NoticeSeverity, Plan, PlanEntry, SessionConfigOption, SessionModeId, SessionUpdate, StopReason,
    UsageUpdate,
};
use serde_json::Value;

use super::ToolRecord;
use crate::limits::{
    MAX_COMMANDS, MAX_NOTICE_TEXT, MAX_NOTICES, MAX_PLAN_ENTRIES, MAX_PLAN_TEXT, MAX_TOOL_TITLE,
};
use acp_text::cut_bytes;

/// What is known of a turn besides what was said.
///
/// Of what replaces itself (plan, usage, mode, options) only the newest is kept.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TurnFacts {
    /// Why the agent stopped; `None` while it has not.
    pub stop_reason: Option<StopReason>,
    /// How full the context is, and what it cost.
    pub usage: Option<UsageUpdate>,
    /// How many tokens went where.
    pub tokens: Option<TokenUsage>,
    /// The plan.
    pub plan: Option<Plan>,
    /// The mode, if the agent changed it.
    pub mode: Option<SessionModeId>,
    /// The configuration, if the agent changed it.
    pub config_options: Option<Vec<SessionConfigOption>>,
    /// The title of the session, if the agent gave it one.
    pub title: Option<String>,
    /// The names of the commands the agent has.
    pub commands: Vec<String>,
    /// What the agent wanted to be noticed, the newest.
    pub notices: Vec<NoticeRecord>,
    /// The calls of tools that are kept, in the order in which they were first seen.
    pub tools: Vec<ToolRecord>,
    /// How many tools were called.
    pub calls: u64,
    /// How many tools failed.
    pub failed_tools: u64,
    /// How many updates there were.
    pub updates: u64,
    /// How many updates of kinds that nobody has heard of.
    pub unheard_of: u64,
    /// How many updates were lost before they could be read, or made no sense.
    pub lost: u64,
    /// Whether anything was said that is not blank.
    pub said: bool,
    /// Whether anything was thought that is not blank.
    pub thought: bool,
}

/// Something an agent wanted to be noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoticeRecord {
    /// How bad it is.
    pub severity: NoticeSeverity,
    /// What it is.
    pub title: String,
    /// More about it.
    pub description: Option<String>,
}

/// How many tokens went where, as far as the agent says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// All of them.
    pub total: Option<u64>,
    /// Those that were read.
    pub input: Option<u64>,
    /// Those that were written.
    pub output: Option<u64>,
    /// Those that were thought.
    pub thought: Option<u64>,
    /// Those that were read out of a cache.
    pub cached_read: Option<u64>,
    /// Those that were written into a cache.
    pub cached_write: Option<u64>,
}

impl TokenUsage {
    /// Reads what agents put under `usage`; `None` when nothing of it is there.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let read = Self {
            total: number("totalTokens"),
            input: number("inputTokens"),
            output: number("outputTokens"),
            thought: number("thoughtTokens"),
            cached_read: number("cachedReadTokens"),
            cached_write: number("cachedWriteTokens"),
        };
        (read != Self::default()).then_some(read)
    }
}

impl TurnFacts {
    /// Tells whether the turn came to its end with nothing said and nothing done.
    ///
    /// Some agents end so when their model could not be reached. Thoughts alone are no
    /// answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stop_reason.is_some() && !self.said && self.calls == 0
    }

    /// Walks over the calls that have not ended.
    pub fn open_tools(&self) -> impl Iterator<Item = &ToolRecord> {
        let called = self.tools.iter().filter(|tool| tool.called);
        called.filter(|tool| !tool.ended)
    }

    pub(super) fn learn(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::Plan(plan) => self.plan = Some(bounded_plan(plan)),
            SessionUpdate::UsageUpdate(usage) => {
                let mut usage = (**usage).clone();
                usage.meta = None;
                if let Some(cost) = &mut usage.cost {
                    cost.meta = None;
                }
                self.usage = Some(usage);
            }
            SessionUpdate::CurrentModeUpdate(update) => {
                self.mode = Some(update.current_mode_id.clone());
            }
            SessionUpdate::ConfigOptionUpdate(update) => {
                self.config_options = Some(update.config_options.clone());
            }
            SessionUpdate::SessionInfoUpdate(update) => {
                let title = update.title.clone();
                title
                    .map(|title| cut_bytes(&title, MAX_TOOL_TITLE).to_owned())
                    .apply_to(&mut self.title);
            }
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let commands = update.available_commands.iter().take(MAX_COMMANDS);
                self.commands = commands
                    .map(|command| cut_bytes(&command.name, MAX_TOOL_TITLE).to_owned())
                    .collect();
            }
            SessionUpdate::Notice(notice) => {
                if self.notices.len() >= MAX_NOTICES {
                    self.notices.remove(0);
                }
                let cut = |text: &String| cut_bytes(text, MAX_NOTICE_TEXT).to_owned();
                self.notices.push(NoticeRecord {
                    severity: notice.severity.clone(),
                    title: cut(&notice.title),
                    description: notice.description.as_ref().map(cut),
                });
            }
            SessionUpdate::Unrecognized(_) => self.unheard_of += 1,
            // What the user said is known; compaction changes nothing that is kept.
            _ => {}
        }
    }

    pub(super) fn learn_tokens_of(&mut self, meta: Option<&Meta>) {
        let told = meta.and_then(|meta| meta.get("usage"));
        if let Some(tokens) = told.and_then(TokenUsage::read) {
            self.tokens = Some(tokens);
        }
    }
}

fn bounded_plan(plan: &Plan) -> Plan {
    let entries = plan.entries.iter().take(MAX_PLAN_ENTRIES);
    Plan::new(entries.map(|entry| {
        PlanEntry::new(
            cut_bytes(&entry.content, MAX_PLAN_TEXT),
            entry.priority.clone(),
            entry.status.clone(),
        )
    }))
}
