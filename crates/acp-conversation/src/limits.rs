//! Every limit of this crate, with its reason.
//!
//! A peer decides how much it sends, so each thing that is kept of it has a limit in
//! number and one in bytes.

/// Tool calls of a conversation, the oldest dropped first. A turn with a thousand tool
/// calls has been seen.
pub const MAX_TOOL_CALLS: usize = 1024;

/// Bytes kept of all tool calls. Agents send the whole output of a tool again with each
/// update; one copy of it is kept.
pub const MAX_TOOL_BYTES: usize = 8 << 20;

/// Bytes kept of the beginning of one tool call's texts, of its raw input, of its raw
/// output, and of the files it changes. Longer texts were written for a file, and nobody
/// reads them here.
pub const MAX_TOOL_TEXT: usize = 256 << 10;

/// Bytes kept of the end of one tool call's texts, where they are longer: commands say at
/// their end how they went.
pub const MAX_TOOL_TEXT_END: usize = 16 << 10;

/// Parts of one tool call's content. Most calls have one.
pub const MAX_TOOL_PARTS: usize = 256;

/// Paths of one tool call. Nobody can agree to a change of more files than this unseen.
pub const MAX_TOOL_PATHS: usize = 256;

/// Texts of one tool call's raw input that are kept because they may be paths: a call that
/// edits hundreds of places has as many.
pub const MAX_INPUT_NAMES: usize = 1024;

/// Bytes of these texts, of one tool call.
pub const MAX_INPUT_NAMES_BYTES: usize = 64 << 10;

/// Bytes of a raw input in which paths are looked for. Files that are written as a whole
/// have less; of a longer one it counts that something of it was not looked at.
pub const MAX_READ_INPUT: usize = 1 << 20;

/// Kinds of one tool call that are remembered. A call has one, or two where an agent learns
/// more of it; one with as many as this is not to be understood.
pub const MAX_TOOL_KINDS: usize = 8;

/// Bytes of a path (`PATH_MAX` of Linux). A longer one is counted and not kept, because
/// its beginning would name another file.
pub const MAX_PATH: usize = 4 << 10;

/// Bytes of a title, of a tool's name, of an address.
pub const MAX_TITLE: usize = 4 << 10;

/// Bytes of an id of a tool call, a message or a terminal. Ids have some forty; a tool
/// call with a longer one is counted and not kept.
pub const MAX_ID: usize = 1 << 10;

/// Bytes of the name of a kind, a status, a mode or a currency.
pub const MAX_NAME: usize = 128;

/// Turns of a conversation, the oldest dropped first.
pub const MAX_TURNS: usize = 1024;

/// Messages, tool calls and questions of one turn in their order, the oldest dropped first.
pub const MAX_TURN_ENTRIES: usize = 8192;

/// Bytes of one message. The longest answers of models have some hundred thousand tokens,
/// half of this.
pub const MAX_MESSAGE: usize = 1 << 20;

/// Bytes kept of all messages.
pub const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// Questions of a conversation: those with an outcome dropped first, then the oldest.
pub const MAX_QUESTIONS: usize = 1024;

/// Bytes kept of all questions. Most have less than one KiB.
pub const MAX_QUESTION_BYTES: usize = 2 << 20;

/// Options of a permission request. Agents offer three or four.
pub const MAX_QUESTION_OPTIONS: usize = 64;

/// Entries of a plan. Plans are made to be read.
pub const MAX_PLAN_ENTRIES: usize = 256;

/// Bytes of an entry of a plan, of a notice's title and description, and of the message of
/// a question.
pub const MAX_LINE: usize = 4 << 10;

/// Names of commands.
pub const MAX_COMMANDS: usize = 1024;

/// Notices, the newest.
pub const MAX_NOTICES: usize = 64;

/// How much a conversation keeps, where that is not the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationLimits {
    /// Tool calls.
    pub tool_calls: usize,
    /// Bytes of the beginning of one tool call's texts; with 0 no content is kept, only
    /// the paths that it names.
    pub tool_text: usize,
    /// Bytes of all tool calls.
    pub tool_bytes: usize,
    /// Bytes of one message.
    pub message: usize,
    /// Bytes of all messages.
    pub message_bytes: usize,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self {
            tool_calls: MAX_TOOL_CALLS,
            tool_text: MAX_TOOL_TEXT,
            tool_bytes: MAX_TOOL_BYTES,
            message: MAX_MESSAGE,
            message_bytes: MAX_MESSAGE_BYTES,
        }
    }
}

/// Returns a value of an open list of names; one that the protocol does not name is cut.
pub(crate) fn short_name<T: Clone + for<'a> From<&'a str>>(value: &T, name: &str) -> T {
    match name.len() <= MAX_NAME {
        true => value.clone(),
        false => acp_text::cut_bytes(name, MAX_NAME).into(),
    }
}
