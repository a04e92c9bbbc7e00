//! The parts of what a tool call shows: texts, changes to files, terminals.

use acp_protocol::v1::{ContentBlock, Diff, EmbeddedResourceResource, TerminalId, ToolCallContent};
use acp_text::{cut_bytes, last_bytes, one_line};

use crate::limits::{MAX_ID, MAX_PATH, MAX_TITLE, MAX_TOOL_TEXT_END};

/// One part of what a tool call shows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolCallPart {
    /// A text.
    Text(KeptText),
    /// A change to a file.
    Change(FileChange),
    /// The output of a terminal, which is served elsewhere.
    Terminal(TerminalId),
    /// Something without a text, named: `image image/png`, or an address.
    Named(String),
}

/// The beginning of a text, and the end of one that is too long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptText {
    /// The beginning of the text: all of it, unless it is cut.
    pub beginning: String,
    /// The end of a text that is cut, as far as there was room for it.
    pub end: String,
    /// Lines of the whole text.
    pub lines: usize,
    /// Whether the text was longer than what is kept of its beginning.
    pub is_cut: bool,
}

/// A change to a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FileChange {
    /// The file, as far as it is kept.
    pub path: String,
    /// Lines of the file before; `None` for a new file.
    pub old_lines: Option<usize>,
    /// Lines of the file after.
    pub new_lines: usize,
    /// Both texts, where there was room for them; without the path.
    pub texts: Option<Diff>,
}

/// Bytes that are left for the texts of a tool call.
pub(crate) struct Room {
    text: usize,
    end: usize,
    files: usize,
}

impl Room {
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            text: bytes,
            end: bytes.min(MAX_TOOL_TEXT_END),
            files: bytes,
        }
    }
}

impl ToolCallPart {
    pub(crate) fn new(part: &ToolCallContent, room: &mut Room) -> Self {
        let block = match part {
            ToolCallContent::Content(content) => &content.content,
            ToolCallContent::Diff(diff) => return Self::Change(FileChange::new(diff, room)),
            ToolCallContent::Terminal(it) if it.terminal_id.as_str().len() <= MAX_ID => {
                return Self::Terminal(it.terminal_id.clone());
            }
            other => return Self::named(other.tag()),
        };
        match block {
            ContentBlock::Text(text) => Self::Text(KeptText::new(&text.text, room)),
            ContentBlock::Image(image) => Self::named(&format!("image {}", image.mime_type)),
            ContentBlock::Audio(audio) => Self::named(&format!("audio {}", audio.mime_type)),
            ContentBlock::ResourceLink(link) => Self::named(&link.uri),
            ContentBlock::Resource(resource) => match &resource.resource {
                EmbeddedResourceResource::TextResourceContents(file) => {
                    Self::Text(KeptText::new(&file.text, room))
                }
                EmbeddedResourceResource::BlobResourceContents(file) => Self::named(&file.uri),
                _ => Self::named(block.tag()),
            },
            other => Self::named(other.tag()),
        }
    }

    fn named(name: &str) -> Self {
        Self::Named(cut_bytes(name, MAX_TITLE).to_owned())
    }

    pub(crate) fn bytes(&self) -> usize {
        let kept = match self {
            Self::Text(text) => text.bytes(),
            Self::Change(change) => {
                let texts = change.texts.as_ref();
                let old = texts.and_then(|texts| texts.old_text.as_ref());
                let new = texts.map_or(0, |texts| texts.new_text.len());
                change.path.len() + new + old.map_or(0, String::len)
            }
            Self::Terminal(terminal) => terminal.as_str().len(),
            Self::Named(name) => name.len(),
        };
        size_of::<Self>() + kept
    }
}

impl KeptText {
    pub(crate) fn new(text: &str, room: &mut Room) -> Self {
        let beginning = cut_bytes(text, room.text);
        room.text -= beginning.len();
        let end = last_bytes(&text[beginning.len()..], room.end);
        room.end -= end.len();
        Self {
            is_cut: beginning.len() < text.len(),
            beginning: beginning.to_owned(),
            end: end.to_owned(),
            lines: text.lines().count(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.beginning.len() + self.end.len()
    }
}

impl FileChange {
    fn new(diff: &Diff, room: &mut Room) -> Self {
        let old = diff.old_text.as_deref();
        let bytes = diff.new_text.len() + old.map_or(0, str::len);
        let texts = (bytes <= room.files).then(|| {
            room.files -= bytes;
            let mut texts = Diff::new("", &*diff.new_text);
            texts.old_text.clone_from(&diff.old_text);
            texts
        });
        Self {
            path: cut_bytes(&diff.path, MAX_PATH).to_owned(),
            old_lines: old.map(|text| text.lines().count()),
            new_lines: diff.new_text.lines().count(),
            texts,
        }
    }

    /// Says in one line which file is changed, and how much.
    #[must_use]
    pub fn heading(&self) -> String {
        let path = one_line(&self.path, MAX_PATH);
        match self.old_lines {
            Some(old) => format!("patch {path}: {old} to {} lines", self.new_lines),
            None => format!("patch {path}: new, {} lines", self.new_lines),
        }
    }
}
