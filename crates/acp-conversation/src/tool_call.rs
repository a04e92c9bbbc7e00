//! What is known of one tool call.

use std::borrow::Cow;

use acp_protocol::RawJson;
use acp_protocol::v1::{
    ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use acp_text::{cut_bytes, json_text};
use indexmap::IndexSet;

use crate::input_names::InputNames;
use crate::limits::{
    ConversationLimits, MAX_NAME, MAX_PATH, MAX_TITLE, MAX_TOOL_KINDS, MAX_TOOL_PARTS,
    MAX_TOOL_PATHS, short_name,
};
use crate::part::{FileChange, KeptText, Room, ToolCallPart};

/// What is known of one tool call: all that an agent said of it in its announcement, its
/// updates, and the permission requests about it.
///
/// All of it is the agent's own word. What a message leaves out stays as it was. So does
/// what is empty in an announcement: an agent that announces a call once more takes
/// nothing back.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCallState {
    /// The id of the call.
    pub id: ToolCallId,
    /// The agent's name for the tool.
    pub name: Option<String>,
    /// The newest title: its first [`MAX_TITLE`] bytes.
    pub title: Option<String>,
    /// The newest kind, or `None` when the agent never gave one.
    pub kind: Option<ToolKind>,
    /// Every kind that was ever given, at most [`MAX_TOOL_KINDS`](crate::limits::MAX_TOOL_KINDS):
    /// a call that was announced as one thing is not harmless because it is asked for as
    /// another.
    pub kinds: Vec<ToolKind>,
    /// The newest status.
    pub status: Option<ToolCallStatus>,
    /// The newest locations.
    pub locations: Vec<ToolCallLocation>,
    /// Every path that was ever named, by a location or a change to a file.
    pub paths: IndexSet<String>,
    /// Whether more paths were named than are kept, so that `paths` is not all of them.
    pub has_more_paths: bool,
    input_names: InputNames,
    /// Whether the call ever carried a change to a file.
    pub has_diff: bool,
    /// Whether the call ever carried a terminal.
    pub has_terminal: bool,
    /// The newest content.
    pub content: Vec<ToolCallPart>,
    /// Parts of the newest content that are not kept.
    pub more_parts: usize,
    /// A number that rises when the content changes.
    pub revision: u64,
    /// The input of the tool, if the agent gave it and it is not too long.
    pub raw_input: Option<RawJson>,
    /// The output of the tool: a text as it is, and anything else as JSON.
    pub raw_output: Option<KeptText>,
    /// Whether the call was announced, or ended without that.
    pub is_called: bool,
    /// How the call ended; `None` while it runs, or runs again.
    pub ended: Option<ToolCallStatus>,
    /// How often the call ended: more than once where an agent reports another end, or
    /// uses the id again.
    pub ends: u64,
    /// Whether content or paths were dropped to make room.
    pub is_stripped: bool,
}

/// What a message changed in a tool call.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCallChange<'a> {
    /// The call as it is now.
    pub call: &'a ToolCallState,
    /// It was not known before.
    pub is_new: bool,
    /// It is known to run from now on: it is new, or an agent uses the id again.
    pub begins: bool,
    /// It counts as called from now on: it was announced, or ended without that.
    pub is_called: bool,
    /// It ended, in a way in which it had not ended before.
    pub ends: bool,
}

impl From<&ToolCallUpdate> for ToolCallState {
    fn from(update: &ToolCallUpdate) -> Self {
        let mut call = Self::new(update.tool_call_id.clone());
        call.learn(update, &ConversationLimits::default());
        call
    }
}

impl ToolCallState {
    /// Creates the state of a call of which only the id is known.
    #[must_use]
    pub fn new(id: ToolCallId) -> Self {
        Self {
            id,
            name: None,
            title: None,
            kind: None,
            kinds: Vec::new(),
            status: None,
            locations: Vec::new(),
            paths: IndexSet::new(),
            has_more_paths: false,
            input_names: InputNames::default(),
            has_diff: false,
            has_terminal: false,
            content: Vec::new(),
            more_parts: 0,
            revision: 0,
            raw_input: None,
            raw_output: None,
            is_called: false,
            ended: None,
            ends: 0,
            is_stripped: false,
        }
    }

    /// Returns the name of the tool: the agent's name for it; or else the title, if that
    /// looks like a name; or else the kind.
    #[must_use]
    pub fn tool_name(&self) -> &str {
        let names = [self.name.as_deref(), self.title.as_deref()];
        let name = names.into_iter().flatten().find(|name| is_name_like(name));
        name.unwrap_or_else(|| self.kind.as_ref().unwrap_or(&ToolKind::Other).as_str())
    }

    /// Returns the changes to files that the newest content holds.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        self.content.iter().filter_map(|part| match part {
            ToolCallPart::Change(change) => Some(change),
            _ => None,
        })
    }

    /// Returns the result so far as text, at most this many bytes, and whether there was
    /// more: the content, or else the raw output.
    ///
    /// The parts of the content stand one below the other. A part without a text is named
    /// in brackets, a change to a file is one line, and a terminal is nothing.
    #[must_use]
    pub fn text(&self, max: usize) -> (String, bool) {
        let mut text = String::new();
        let mut is_cut = self.is_stripped || self.more_parts > 0;
        for part in &self.content {
            let part = match part {
                ToolCallPart::Text(kept) => {
                    is_cut |= kept.is_cut;
                    Cow::from(&kept.beginning)
                }
                ToolCallPart::Change(change) => change.heading().into(),
                ToolCallPart::Named(name) => format!("[{name}]").into(),
                ToolCallPart::Terminal(_) => continue,
            };
            if !(part.is_empty() || text.is_empty() || text.ends_with('\n')) {
                text.push('\n');
            }
            text.push_str(&part);
        }
        if text.is_empty()
            && let Some(output) = &self.raw_output
        {
            text.push_str(&output.beginning);
            is_cut |= output.is_cut;
        }
        is_cut |= text.len() > max;
        text.truncate(cut_bytes(&text, max).len());
        (text, is_cut)
    }

    /// Returns every text that a raw input of the call ever held and that may be a path: those
    /// of one line, keys among them, and the paths in patches. An agent may name a file
    /// there alone.
    pub fn input_names(&self) -> impl Iterator<Item = &str> {
        self.input_names.texts.iter().map(String::as_str)
    }

    /// Tells whether a raw input may have named more than is kept: it was too long, could
    /// not be read, or had too many texts.
    #[must_use]
    pub fn has_more_input_names(&self) -> bool {
        self.input_names.has_more
    }

    /// Tells whether the newest status is a failure.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.status == Some(ToolCallStatus::Failed)
    }

    /// Takes in what a message says of the call, but for its status.
    pub(crate) fn learn(&mut self, update: &ToolCallUpdate, limits: &ConversationLimits) {
        let short = |text: &String| cut_bytes(text, MAX_TITLE).to_owned();
        self.name = update.name.as_ref().map(short).or(self.name.take());
        self.title = update.title.as_ref().map(short).or(self.title.take());
        if let Some(kind) = &update.kind {
            let kind = short_name(kind, kind.as_str());
            if self.kinds.len() < MAX_TOOL_KINDS && !self.kinds.contains(&kind) {
                self.kinds.push(kind.clone());
            }
            self.kind = Some(kind);
        }
        let content = update.content.as_deref().unwrap_or_default();
        let locations = update.locations.as_deref().unwrap_or_default();
        for location in locations {
            self.learn_path(&location.path);
        }
        for part in content {
            match part {
                ToolCallContent::Diff(diff) => {
                    self.has_diff = true;
                    self.learn_path(&diff.path);
                }
                ToolCallContent::Terminal(_) => self.has_terminal = true,
                _ => {}
            }
        }
        if let Some(input) = &update.raw_input {
            self.input_names.learn(input);
        }
        let bytes = limits.tool_text;
        if bytes == 0 {
            return;
        }
        if update.locations.is_some() {
            let short = locations.iter().filter(|at| at.path.len() <= MAX_PATH);
            let plain = short.map(|at| {
                let mut plain = ToolCallLocation::new(at.path.as_str());
                plain.line = at.line;
                plain
            });
            self.locations = plain.take(MAX_TOOL_PATHS).collect();
        }
        if update.content.is_some() {
            let mut room = Room::new(bytes);
            let parts = content.iter().take(MAX_TOOL_PARTS);
            let parts: Vec<_> = parts
                .map(|part| ToolCallPart::new(part, &mut room))
                .collect();
            self.more_parts = content.len() - parts.len();
            self.revision += u64::from(parts != self.content);
            self.content = parts;
        }
        if let Some(input) = &update.raw_input {
            self.raw_input = (input.as_str().len() <= bytes).then(|| input.clone());
        }
        if let Some(output) = &update.raw_output {
            let json = Some(output.as_str()).filter(|json| *json != "null");
            let text = json_text(output.as_str());
            let text = text.as_deref().or(json).unwrap_or_default();
            self.raw_output = Some(KeptText::new(text, &mut Room::new(bytes)));
        }
    }

    /// Takes in a status, and returns whether the call begins again, is called, ends.
    pub(crate) fn move_on(
        &mut self,
        status: Option<&ToolCallStatus>,
        announces: bool,
    ) -> [bool; 3] {
        let status = status.map(|status| short_name(status, status.as_str()));
        let is_final = status.as_ref().is_some_and(ToolCallStatus::is_final);
        let begins = self.ended.is_some() && status.is_some() && !is_final;
        let is_called = !self.is_called && (announces || is_final);
        let ends = is_final && self.ended != status;
        self.is_called |= is_called;
        self.ends += u64::from(ends);
        if begins || is_final {
            self.ended = status.clone().filter(|_| is_final);
        }
        self.status = status.or(self.status.take());
        [begins, is_called, ends]
    }

    fn learn_path(&mut self, path: &str) {
        let has_room = path.len() <= MAX_PATH && self.paths.len() < MAX_TOOL_PATHS;
        if has_room && !self.paths.contains(path) {
            self.paths.insert(path.to_owned());
        }
        self.has_more_paths |= !has_room && !self.paths.contains(path);
    }

    /// Tells whether there is something to strip.
    pub(crate) fn is_heavy(&self) -> bool {
        let is_light =
            self.content.is_empty() && self.paths.is_empty() && self.locations.is_empty();
        let is_light = is_light && self.input_names.texts.is_empty();
        !is_light || self.raw_input.is_some() || self.raw_output.is_some()
    }

    /// Drops content and paths, and counts them.
    pub(crate) fn strip(&mut self) {
        self.more_parts += std::mem::take(&mut self.content).len();
        self.has_more_paths |= !std::mem::take(&mut self.paths).is_empty();
        self.input_names.strip();
        self.locations = Vec::new();
        (self.raw_input, self.raw_output) = (None, None);
        self.is_stripped = true;
    }

    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.name, &self.title].into_iter().flatten();
        let paths = self.paths.iter();
        let paths = paths.map(|path| path.len() + size_of::<[usize; 5]>());
        let locations = self.locations.iter();
        let input = self.raw_input.as_ref();
        let kinds = self.kinds.iter();
        size_of::<Self>()
            + self.id.as_str().len()
            + self.input_names.bytes()
            + kinds
                .map(|kind| size_of_val(kind) + kind.as_str().len())
                .sum::<usize>()
            + texts.map(String::len).sum::<usize>()
            + paths.sum::<usize>()
            + locations
                .map(|at| size_of_val(at) + at.path.len())
                .sum::<usize>()
            + self.content.iter().map(ToolCallPart::bytes).sum::<usize>()
            + input.map_or(0, |input| input.as_str().len())
            + self.raw_output.as_ref().map_or(0, KeptText::bytes)
    }
}

/// Tells whether a text looks like the name of a tool, and not like words for people.
fn is_name_like(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.'))
}
