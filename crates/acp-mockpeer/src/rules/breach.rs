//! A rule that was broken.

use std::fmt;

use super::Rule;
use acp_recording::Side;

/// Something the side under test did, or did not do, against rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub(crate) rules: Vec<&'static Rule>,
    pub(crate) from: Side,
    pub(crate) line: Option<usize>,
    pub(crate) entry: Option<usize>,
    pub(crate) text: String,
    pub(crate) doubtful: bool,
    /// No rule is named, and the scenario says that it should be so, not must.
    pub(crate) advisory: bool,
}

impl Breach {
    /// Returns the rules that are broken; none when the scenario names no rule
    /// for what it expected.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Returns who broke them.
    #[must_use]
    pub fn from(&self) -> Side {
        self.from
    }

    /// Returns the line of the scenario that found it, or that waited when it happened.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the place in the transcript of the message that is wrong.
    #[must_use]
    pub fn entry(&self) -> Option<usize> {
        self.entry
    }

    /// Returns what is wrong, in a sentence or a few.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether it fails a scenario: it broke a MUST or MUST NOT, or no
    /// rule is named and the scenario is not advisory. Others are warnings.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        if self.doubtful {
            return false;
        }
        match self.rules.as_slice() {
            [] => !self.advisory,
            rules => rules.iter().any(|rule| rule.level().is_must()),
        }
    }

    /// Tells whether it only looks so: a person has to decide.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.doubtful
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rule) in self.rules.iter().enumerate() {
            write!(f, "{}{rule}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(if self.rules.is_empty() { "" } else { ": " })?;
        f.write_str(&self.text)?;
        f.write_str(if self.doubtful { " (doubtful)" } else { "" })
    }
}
