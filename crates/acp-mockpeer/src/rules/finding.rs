//! What is wrong with a line.

use std::fmt;

use serde_json::Value;

use crate::rules;
use crate::rules::Check;
use crate::schema::Violation;

/// Something a line broke that holds for every line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The check that found it.
    pub check: Check,
    /// The ids of the rules that are broken, where one fits.
    pub rules: Vec<&'static str>,
    /// What is wrong.
    pub message: String,
    /// Whether it only looks wrong: a person has to decide.
    pub doubtful: bool,
}

impl Finding {
    pub(crate) fn new(check: Check, rules: &[&'static str], message: String) -> Self {
        Self {
            check,
            rules: rules.to_vec(),
            message,
            doubtful: false,
        }
    }

    /// It may be meant well: a person has to decide.
    pub(crate) fn doubtful(mut self) -> Self {
        self.doubtful = true;
        self
    }

    /// What the schema does not allow in a part of a message.
    pub(crate) fn shape(method: &str, part: &Value, violation: &Violation) -> Self {
        let rule = rules::shape::broken_by(method, part, violation);
        Self::new(
            Check::Shape,
            rule.as_slice(),
            format!("at {}: {}", violation.path, violation.message),
        )
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
