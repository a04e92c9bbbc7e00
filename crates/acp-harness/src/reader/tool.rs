//! What is known of one call of a tool.

use acp_protocol::RawJson;
use acp_protocol::v1::{
    Diff, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolKind,
};

use super::render::{self, Bounded};
use super::{ReaderBounds, ToolCalled, ToolEnded};
use crate::limits::{MAX_TOOL_ARGS, MAX_TOOL_TITLE};
use acp_text::cut_bytes;

/// What is known of one call of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolRecord {
    /// The id of the call.
    pub id: ToolCallId,
    /// The name the agent gives the tool, if it gives one.
    pub name: Option<String>,
    /// The newest title.
    pub title: String,
    /// The newest kind.
    pub kind: Option<ToolKind>,
    /// The newest status.
    pub status: Option<ToolCallStatus>,
    /// What the tool was given, if the agent said so and it is not too long.
    pub args: Option<RawJson>,
    /// The changes to files that its newest content holds.
    pub diffs: Vec<DiffRecord>,
    /// Whether more was known of it, which had to make room.
    pub stripped: bool,
    content: Bounded,
    output: Bounded,
    pub(super) called: bool,
    pub(super) ended: bool,
}

/// A change to a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DiffRecord {
    /// The file.
    pub path: String,
    /// Lines of the file before; `None` for a new file.
    pub old_lines: Option<usize>,
    /// Lines of the file after.
    pub new_lines: usize,
    /// Both texts, if they are not too long.
    pub texts: Option<Diff>,
}

impl ToolRecord {
    pub(super) fn new(id: &ToolCallId) -> Self {
        Self {
            id: id.clone(),
            name: None,
            title: String::new(),
            kind: None,
            status: None,
            args: None,
            diffs: Vec::new(),
            stripped: false,
            content: Bounded::default(),
            output: Bounded::default(),
            called: false,
            ended: false,
        }
    }

    /// Returns what the tool is called: what the agent says; or else the title, if that
    /// looks like a name; or else the kind.
    #[must_use]
    pub fn called_name(&self) -> &str {
        if let Some(name) = self.name.as_deref().filter(|name| is_name_like(name)) {
            name
        } else if is_name_like(&self.title) {
            &self.title
        } else {
            self.kind.as_ref().unwrap_or(&ToolKind::Other).as_str()
        }
    }

    /// Returns what came of it so far: its content as text, or else what it put out.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.result().text
    }

    /// Tells whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Tells whether it has ended badly.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.status == Some(ToolCallStatus::Failed)
    }

    pub(super) fn learn_call(&mut self, call: &ToolCall, bounds: &ReaderBounds) {
        self.title(&call.title);
        self.learn(
            call.name.as_deref(),
            call.kind.as_ref(),
            call.status.as_ref(),
        );
        // What is absent and what is empty cannot be told apart here, and an announcement
        // that comes late takes nothing back.
        if !call.content.is_empty() {
            self.content(&call.content, bounds);
        }
        self.raw(call.raw_input.as_ref(), call.raw_output.as_ref(), bounds);
    }

    pub(super) fn learn_update(&mut self, update: &ToolCallUpdate, bounds: &ReaderBounds) {
        if let Some(title) = &update.title {
            self.title(title);
        }
        self.learn(
            update.name.as_deref(),
            update.kind.as_ref(),
            update.status.as_ref(),
        );
        if let Some(content) = &update.content {
            self.content(content, bounds);
        }
        self.raw(
            update.raw_input.as_ref(),
            update.raw_output.as_ref(),
            bounds,
        );
    }

    pub(super) fn called_event(&self, synthesised: bool) -> ToolCalled {
        ToolCalled {
            id: self.id.clone(),
            name: self.called_name().to_owned(),
            title: self.title.clone(),
            kind: self.kind.clone(),
            args: self.args.clone(),
            synthesised,
        }
    }

    pub(super) fn ended_event(&self) -> ToolEnded {
        let result = self.result();
        ToolEnded {
            id: self.id.clone(),
            text: result.text.clone(),
            cut: result.cut || self.stripped,
            failed: self.has_failed(),
        }
    }

    /// Bytes of all that is kept.
    pub(super) fn bytes(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        size_of::<Self>() + self.id.as_str().len() + name + self.title.len() + self.payload()
    }

    /// Bytes of what can be let go.
    pub(super) fn payload(&self) -> usize {
        let args = self.args.as_ref().map_or(0, |args| args.as_str().len());
        let diffs = self.diffs.iter().map(DiffRecord::bytes);
        args + diffs.sum::<usize>() + self.content.text.len() + self.output.text.len()
    }

    /// Lets go what can be let go: what the tool was given, what it changed, what it said.
    pub(super) fn strip(&mut self) {
        self.args = None;
        self.diffs = Vec::new();
        self.content = Bounded::default();
        self.output = Bounded::default();
        self.stripped = true;
    }

    fn result(&self) -> &Bounded {
        if self.content.text.is_empty() {
            &self.output
        } else {
            &self.content
        }
    }

    fn title(&mut self, title: &str) {
        cut_bytes(title, MAX_TOOL_TITLE).clone_into(&mut self.title);
    }

    fn learn(
        &mut self,
        name: Option<&str>,
        kind: Option<&ToolKind>,
        status: Option<&ToolCallStatus>,
    ) {
        if let Some(name) = name {
            self.name = Some(cut_bytes(name, MAX_TOOL_TITLE).to_owned());
        }
        // What nobody has heard of may be of any length.
        if let Some(kind) = kind.filter(|kind| kind.as_str().len() <= MAX_NAME) {
            self.kind = Some(kind.clone());
        }
        if let Some(status) = status.filter(|status| status.as_str().len() <= MAX_NAME) {
            self.status = Some(status.clone());
        }
    }

    fn content(&mut self, parts: &[ToolCallContent], bounds: &ReaderBounds) {
        self.content = render::content(parts, bounds.tool_text);
        let mut room = bounds.tool_text;
        self.diffs = parts
            .iter()
            .filter_map(|part| match part {
                ToolCallContent::Diff(diff) => Some(DiffRecord::of(diff, &mut room)),
                _ => None,
            })
            .collect();
    }

    fn raw(&mut self, input: Option<&RawJson>, output: Option<&RawJson>, bounds: &ReaderBounds) {
        if let Some(args) = input {
            let fits = args.as_str().len() <= MAX_TOOL_ARGS;
            self.args = fits.then(|| args.clone());
        }
        if let Some(output) = output {
            self.output = render::raw(output, bounds.tool_text);
        }
    }
}

impl DiffRecord {
    /// Takes note of a diff, and of its texts while there is room for them.
    fn of(diff: &Diff, room: &mut usize) -> Self {
        let old_text = diff.old_text.as_deref();
        let bytes = diff.new_text.len() + old_text.map_or(0, str::len);
        let texts = (bytes <= *room).then(|| {
            *room -= bytes;
            let mut texts = diff.clone();
            texts.meta = None;
            texts
        });
        Self {
            path: cut_bytes(&diff.path, MAX_TOOL_TITLE).to_owned(),
            old_lines: old_text.map(render::lines),
            new_lines: render::lines(&diff.new_text),
            texts,
        }
    }

    fn bytes(&self) -> usize {
        let texts = self.texts.as_ref().map_or(0, |diff| {
            diff.new_text.len() + diff.old_text.as_ref().map_or(0, String::len) + diff.path.len()
        });
        size_of::<Self>() + size_of::<Diff>() + self.path.len() + texts
    }
}

/// Longest name of a tool; what is longer is a sentence.
const MAX_NAME: usize = 128;

/// Tells whether a text looks like the name of a tool, and not like words for people.
fn is_name_like(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let called = |name: Option<&str>, title: &str, kind: Option<ToolKind>| {
            let mut record = ToolRecord::new(&"t".into());
            record.name = name.map(str::to_owned);
            record.title = title.to_owned();
            record.kind = kind;
            record.called_name().to_owned()
        };
        let read = Some(ToolKind::Read);
        assert_eq!(
            called(Some("mcp__a__b"), "Title", read.clone()),
            "mcp__a__b"
        );
        assert_eq!(called(Some("two words"), "Title", read.clone()), "Title");
        assert_eq!(called(None, "read_file", read.clone()), "read_file");
        assert_eq!(called(None, "Read notes.md", read.clone()), "read");
        assert_eq!(called(None, "", read), "read");
        assert_eq!(called(None, "echo hi; ls", None), "other");
        assert_eq!(called(None, "1st", None), "other");
        assert_eq!(called(None, &"x".repeat(200), None), "other");
        let unheard = ToolKind::Unrecognized("juggle".into());
        assert_eq!(called(None, "", Some(unheard)), "juggle");
    }
}
