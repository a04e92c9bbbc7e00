//! A rule that was broken.

use std::fmt;

use super::Rule;
use acp_recording::PeerSide;

/// Something the side under test did, or did not do, against rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breach {
    /// The rules that are broken; none when the scenario names no rule for what it expected.
    pub rules: Vec<&'static Rule>,
    /// Who broke them.
    pub from: PeerSide,
    /// The line of the scenario that found it, or that waited when it happened.
    pub line: Option<usize>,
    /// The place in the transcript of the message that is wrong.
    pub entry: Option<usize>,
    /// What is wrong, in a sentence or a few.
    pub text: String,
    /// Whether it only looks so: a person has to decide.
    pub doubtful: bool,
    /// No rule is named, and the scenario says that it should be so, not must.
    pub(crate) advisory: bool,
}

impl Breach {
    /// Tells whether it fails a scenario: it broke a MUST or MUST NOT, or no
    /// rule is named and the scenario is not advisory. Others are warnings.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        if self.doubtful {
            return false;
        }
        match self.rules.as_slice() {
            [] => !self.advisory,
            rules => rules.iter().any(|rule| rule.level.is_must()),
        }
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
