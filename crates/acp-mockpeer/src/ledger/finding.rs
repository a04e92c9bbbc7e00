//! What is wrong with a line.

use std::fmt;

use crate::Check;
use crate::schema::Violation;

/// Something a line broke that holds for every line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    check: Check,
    rules: &'static [&'static str],
    message: String,
}

impl Finding {
    pub(crate) fn new(check: Check, rules: &'static [&'static str], message: String) -> Self {
        Self {
            check,
            rules,
            message,
        }
    }

    pub(crate) fn shape(violation: &Violation) -> Self {
        Self::new(
            Check::Shape,
            &[],
            format!("at {}: {}", violation.path, violation.message),
        )
    }

    /// Returns the check that found it.
    #[must_use]
    pub fn check(&self) -> Check {
        self.check
    }

    /// Returns the ids of the requirements that are broken, where one fits.
    #[must_use]
    pub fn rules(&self) -> &'static [&'static str] {
        self.rules
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.message)?;
        if !self.rules.is_empty() {
            write!(f, " ({})", self.rules.join(", "))?;
        }
        Ok(())
    }
}
