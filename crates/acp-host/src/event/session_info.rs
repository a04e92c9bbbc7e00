//! Events of a session as a whole: commands, title, notices.

use derive_setters::Setters;
use std::time::SystemTime;

/// A command that the user may begin a prompt with, as `/name`.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What to write behind it, if something is expected there.
    pub hint: Option<String>,
}

impl SlashCommand {
    /// Names a command.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            hint: None,
        }
    }
}

/// What a session is about, and when something last happened in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct SessionInfo {
    /// What it is about; `None` takes an earlier title back.
    pub title: Option<String>,
    /// When something last happened in it.
    #[setters(into = false)]
    pub updated_at: Option<SystemTime>,
}

impl SessionInfo {
    /// A session without a title.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Something the user should know that is no part of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct Notice {
    /// How much it matters.
    pub severity: NoticeSeverity,
    /// What it is.
    pub title: String,
    /// More of it.
    pub description: Option<String>,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeSeverity {
    /// It is good to know.
    Info,
    /// It may need attention.
    Warning,
    /// Something went wrong.
    Error,
}

impl Notice {
    /// A notice under a title.
    pub fn new(severity: NoticeSeverity, title: impl Into<String>) -> Self {
        Self {
            severity,
            title: title.into(),
            description: None,
        }
    }
}
