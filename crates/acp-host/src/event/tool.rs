//! Tool calls and plans.

use derive_setters::Setters;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Block, Json, ToolId};

/// A tool call: what the agent is about to do, is doing or did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", strip_option)]
pub struct ToolCall {
    /// Names this execution of the tool.
    pub id: ToolId,
    /// The tool's own name, such as `edit_file`.
    pub name: String,
    /// What it does, for people: `Change notes.md`.
    pub title: String,
    /// What sort of thing it does; clients choose icons and permissions by it.
    pub kind: ToolKind,
    /// The files it touches.
    pub locations: Vec<ToolLocation>,
    /// Its arguments, as the model wrote them.
    pub input: Option<Json>,
    /// What it shows before it has run: the change it is going to make, most often.
    #[setters(skip)]
    pub content: Vec<ToolContent>,
}

impl ToolCall {
    /// Names a call of a tool and says what it does.
    pub fn new(id: impl Into<ToolId>, name: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            title: title.into(),
            kind: ToolKind::Other,
            locations: Vec::new(),
            input: None,
            content: Vec::new(),
        }
    }

    /// Names one more file that it touches.
    #[must_use]
    pub fn with_location(mut self, location: ToolLocation) -> Self {
        self.locations.push(location);
        self
    }

    /// Adds something to show before it has run.
    #[must_use]
    pub fn with_content(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }
}

/// What sort of thing a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Changes files or content.
    Edit,
    /// Removes files or data.
    Delete,
    /// Moves or renames files.
    Move,
    /// Looks for information.
    Search,
    /// Runs commands or code.
    Execute,
    /// Reasons or plans.
    Think,
    /// Fetches data from elsewhere.
    Fetch,
    /// Switches the mode of the session.
    SwitchMode,
    /// Does anything else.
    #[default]
    Other,
}

/// A file that a tool touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", strip_option)]
pub struct ToolLocation {
    /// The file, an absolute path.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

impl ToolLocation {
    /// Names a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            line: None,
        }
    }
}

/// Something a tool call shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolContent {
    /// Text, a picture, a link.
    Block(Block),
    /// A change of a file.
    Diff(Diff),
    /// The running output of a terminal of the client, by its id.
    Terminal(String),
}

impl ToolContent {
    /// Shows a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Block(Block::text(text))
    }
}

/// A change of a file, as its text before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct Diff {
    /// The file, an absolute path.
    pub path: PathBuf,
    /// The text before; none for a new file.
    pub old_text: Option<String>,
    /// The text after.
    pub new_text: String,
}

impl Diff {
    /// A new file and its text.
    pub fn new(path: impl Into<PathBuf>, new_text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            old_text: None,
            new_text: new_text.into(),
        }
    }
}

/// The progress of a tool call; a member that is `None` has not changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[setters(prefix = "with_", into, strip_option)]
pub struct ToolProgress {
    /// Which call.
    pub id: ToolId,
    /// Its new title.
    pub title: Option<String>,
    /// All that it shows now, in place of what it showed before.
    #[setters(into = false)]
    pub content: Option<Vec<ToolContent>>,
    /// All files it touches, in place of those named before.
    #[setters(into = false)]
    pub locations: Option<Vec<ToolLocation>>,
}

impl ToolProgress {
    /// The progress of a call, without a change yet.
    pub fn new(id: impl Into<ToolId>) -> Self {
        Self {
            id: id.into(),
            title: None,
            content: None,
            locations: None,
        }
    }
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", strip_option)]
pub struct ToolEnd {
    /// Which call.
    pub id: ToolId,
    /// Whether it failed, was refused or was cancelled.
    pub is_error: bool,
    /// All that it shows now; empty leaves what was shown before.
    #[setters(skip)]
    pub content: Vec<ToolContent>,
    /// What it returned, as it is.
    pub output: Option<Json>,
}

impl ToolEnd {
    /// The call did what it should.
    pub fn completed(id: impl Into<ToolId>) -> Self {
        Self {
            id: id.into(),
            is_error: false,
            content: Vec::new(),
            output: None,
        }
    }

    /// The call failed, was refused or was cancelled.
    pub fn failed(id: impl Into<ToolId>) -> Self {
        Self {
            is_error: true,
            ..Self::completed(id)
        }
    }

    /// Adds something to show.
    #[must_use]
    pub fn with_content(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_")]
pub struct PlanEntry {
    /// What is to be done.
    pub text: String,
    /// How much it matters.
    pub priority: PlanPriority,
    /// How far it is.
    pub status: PlanStatus,
}

impl PlanEntry {
    /// A step of medium priority that has not begun.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            priority: PlanPriority::Medium,
            status: PlanStatus::Pending,
        }
    }
}

/// How much a step of a plan matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanPriority {
    /// The goal depends on it.
    High,
    /// It matters.
    Medium,
    /// It would be nice.
    Low,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}
