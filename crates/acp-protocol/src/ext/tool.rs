//! Tool calls.

use crate::codec::Unrecognized;
use crate::lenient::{self, Forgiven};
use crate::v1::{
    Content, ContentBlock, Diff, Terminal, TerminalId, ToolCall, ToolCallContent, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate,
};

impl ToolCallContent {
    /// Makes content of a text.
    pub fn text(text: impl Into<String>) -> Self {
        Content::new(ContentBlock::text(text)).into()
    }

    /// Makes content of a change to a file.
    pub fn diff(path: impl Into<String>, new_text: impl Into<String>) -> Self {
        Diff::new(path, new_text).into()
    }

    /// Makes content of a terminal.
    pub fn terminal(terminal: impl Into<TerminalId>) -> Self {
        Terminal::new(terminal).into()
    }
}

impl ToolCallContent {
    /// Understands content of an unknown type: some agents put a content block where its
    /// object belongs.
    pub(crate) fn mend(other: Unrecognized) -> Self {
        match other.raw().parse() {
            Ok(ContentBlock::Unrecognized(_)) | Err(_) => Self::Unrecognized(other),
            Ok(block) => {
                lenient::report("ToolCallContent", "content", Forgiven::Bare);
                block.into()
            }
        }
    }
}

impl From<ContentBlock> for ToolCallContent {
    fn from(content: ContentBlock) -> Self {
        Content::new(content).into()
    }
}

impl ToolCallLocation {
    /// Makes a location of a file and a line, counted from 1.
    pub fn at_line(path: impl Into<String>, line: u32) -> Self {
        Self::new(path).with_line(line)
    }
}

impl ToolCallStatus {
    /// Tells whether the call has come to its end.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

impl ToolCallUpdate {
    /// Tells that a call has a new status.
    pub fn status(id: impl Into<crate::v1::ToolCallId>, status: ToolCallStatus) -> Self {
        Self::new(id).with_status(status)
    }

    /// Carries the update out; members that it does not have stay what they are.
    pub fn apply_to(self, call: &mut ToolCall) {
        fn set<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }

        if let Some(title) = self.title {
            call.title = title;
        }
        if let Some(content) = self.content {
            call.content = content;
        }
        if let Some(locations) = self.locations {
            call.locations = locations;
        }
        set(&mut call.name, self.name);
        set(&mut call.kind, self.kind);
        set(&mut call.status, self.status);
        set(&mut call.raw_input, self.raw_input);
        set(&mut call.raw_output, self.raw_output);
        set(&mut call.meta, self.meta);
    }
}

/// A tool call as the subject of a permission request.
impl From<ToolCall> for ToolCallUpdate {
    fn from(call: ToolCall) -> Self {
        let mut update = Self::new(call.tool_call_id);
        update.title = Some(call.title);
        update.name = call.name;
        update.kind = call.kind;
        update.status = call.status;
        update.content = Some(call.content).filter(|content| !content.is_empty());
        update.locations = Some(call.locations).filter(|locations| !locations.is_empty());
        update.raw_input = call.raw_input;
        update.raw_output = call.raw_output;
        update.meta = call.meta;
        update
    }
}
