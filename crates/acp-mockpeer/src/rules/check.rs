//! The checks every conversation must pass, and the names to switch them off by.

use std::fmt;

/// Something that is checked on every line, unless it is allowed by name.
///
/// A scenario allows one in its header (`allow: noise`), a Rust test by
/// `Play::allow`, a command line by `--allow noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Check {
    /// A line that is no JSON object, blank ones included.
    Noise,
    /// A last line without its line feed.
    UnfinishedLine,
    /// A message that is neither request, notification nor answer, or has an
    /// id that may not be one.
    Envelope,
    /// Params, a result or an error that the pinned schema does not allow.
    Shape,
    /// A method that is not in the schema and does not begin with `_`, or that
    /// the other side has to ask.
    UnknownMethod,
    /// An answer to nothing that is open: never asked, or answered before.
    UnknownAnswer,
    /// A request under an id that still waits for its answer.
    ReusedId,
    /// Something asked before `initialize` was answered.
    Uninitialized,
    /// A session that was never made or opened.
    UnknownSession,
    /// Use of what the other side did not advertise.
    Unadvertised,
    /// What a rule forbids, though the schema allows it.
    Rules,
    /// A line that no step expects; allowed ones are passed over.
    Unexpected,
}

impl Check {
    /// Every check.
    pub const ALL: [Self; 12] = [
        Self::Noise,
        Self::UnfinishedLine,
        Self::Envelope,
        Self::Shape,
        Self::UnknownMethod,
        Self::UnknownAnswer,
        Self::ReusedId,
        Self::Uninitialized,
        Self::UnknownSession,
        Self::Unadvertised,
        Self::Rules,
        Self::Unexpected,
    ];

    /// Returns the check's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Noise => "noise",
            Self::UnfinishedLine => "unfinished-line",
            Self::Envelope => "envelope",
            Self::Shape => "shape",
            Self::UnknownMethod => "unknown-method",
            Self::UnknownAnswer => "unknown-answer",
            Self::ReusedId => "reused-id",
            Self::Uninitialized => "uninitialized",
            Self::UnknownSession => "unknown-session",
            Self::Unadvertised => "unadvertised",
            Self::Rules => "rules",
            Self::Unexpected => "unexpected",
        }
    }

    /// Finds a check by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
