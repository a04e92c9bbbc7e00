//! The checks every conversation must pass, and the names to switch them off by.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// Something that is checked on every line, unless it is allowed by name.
///
/// A scenario allows one in its header (`allow: noise`), a Rust test by
/// `Play::allow`, a command line by `--allow noise`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    EnumString,
    IntoStaticStr,
    VariantArray,
    strum::Display,
)]
#[strum(serialize_all = "kebab-case")]
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
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the check's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Finds a check by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Lists the names of all checks, for people.
    #[must_use]
    pub fn names() -> String {
        Self::ALL
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    }
}
