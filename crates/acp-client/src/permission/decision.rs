//! What was decided about a permission request, and why.

use std::fmt;
use std::path::PathBuf;

use acp_protocol::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, SelectedPermissionOutcome,
    ToolKind,
};

use super::request::is_ambiguous;
use crate::protected::ProtectedPath;

/// What was answered, and why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// Whether the tool may run.
    pub allowed: bool,
    /// The option that was picked; `None` stands for `cancelled`.
    pub option: Option<PermissionOption>,
    /// What led to it.
    pub reason: Reason,
}

/// Why a [`Policy`](super::Policy) answered as it did; prints as a short clause.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The level allows everything.
    EverythingAllowed,
    /// The level allows tools of this kind.
    KindAllowed(ToolKind),
    /// The level allows tools of this kind inside the folder, and all paths are.
    InsideWorkspace(ToolKind),
    /// The level allows nothing.
    NothingAllowed,
    /// The agent did not say what kind of tool it is.
    KindMissing,
    /// The level does not cover this kind.
    KindNotAllowed(ToolKind),
    /// The tool would change files and names none.
    NoPaths(ToolKind),
    /// The tool names more paths than are looked at.
    TooManyPaths,
    /// A path lies outside the folder.
    Outside(PathBuf),
    /// A path is protected, and only a person can allow it.
    Protected(ProtectedPath),
    /// Options of different kinds share an id.
    AmbiguousOptions,
    /// The agent sent more about the tool, and it was not read in time.
    AnnouncementUnread,
    /// What the call carries does not fit its kind.
    Contradiction(ToolKind),
    /// It would be allowed, but no option allows it for this once.
    NoAllowOnce,
    /// Several options allow it for this once: it is a question, and only a person can
    /// answer it.
    AskedAsChoice,
    /// A person was asked and did not answer in time.
    TimedOut,
}

impl Decision {
    /// Creates the answer for what may not run.
    #[must_use]
    pub fn reject(options: &[PermissionOption], reason: Reason) -> Self {
        Self {
            allowed: false,
            option: rejection(options).cloned(),
            reason,
        }
    }

    /// Returns the answer as it goes to the agent.
    #[must_use]
    pub fn outcome(&self) -> RequestPermissionOutcome {
        selecting(self.option.as_ref())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EverythingAllowed => write!(f, "everything is allowed"),
            Self::KindAllowed(kind) => write!(f, "{} tools are allowed", kind.as_str()),
            Self::InsideWorkspace(kind) => {
                write!(
                    f,
                    "{} tools are allowed inside the working folder",
                    kind.as_str()
                )
            }
            Self::NothingAllowed => write!(f, "nothing is allowed"),
            Self::KindMissing => write!(f, "the agent does not say what kind of tool it is"),
            Self::KindNotAllowed(kind) => write!(f, "{} tools are not allowed", kind.as_str()),
            Self::NoPaths(kind) => write!(f, "the {} names no path", kind.as_str()),
            Self::TooManyPaths => write!(f, "it names too many paths to look at"),
            Self::Outside(path) => write!(f, "{} is outside the working folder", path.display()),
            Self::Protected(path) => write!(f, "{path}"),
            Self::AmbiguousOptions => write!(f, "options of different kinds have the same id"),
            Self::AnnouncementUnread => {
                write!(f, "what the agent said of the tool was not read in time")
            }
            Self::Contradiction(kind) => {
                write!(
                    f,
                    "it calls itself {} but carries something else",
                    kind.as_str()
                )
            }
            Self::NoAllowOnce => write!(f, "no option allows it for this once"),
            Self::AskedAsChoice => {
                write!(f, "it is a question in the shape of a permission request")
            }
            Self::TimedOut => write!(f, "nobody answered in time"),
        }
    }
}

/// Makes the answer that picks an option; `cancelled` without one.
pub(super) fn selecting(option: Option<&PermissionOption>) -> RequestPermissionOutcome {
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        let selected = SelectedPermissionOutcome::new(option.option_id.clone());
        RequestPermissionOutcome::Selected(selected)
    })
}

/// Finds the option that refuses with the least consequence; none where its id may stand
/// for another one.
pub(super) fn rejection(options: &[PermissionOption]) -> Option<&PermissionOption> {
    if is_ambiguous(options) {
        return None;
    }
    let first = |kind| options.iter().find(|option| option.kind == kind);
    first(PermissionOptionKind::RejectOnce).or_else(|| first(PermissionOptionKind::RejectAlways))
}
