//! Small faults: what a message of the side under test is turned into, so that
//! it breaks exactly one rule, or the scenario alone.

use std::fmt;

use super::pattern::{Pattern, hex, quoted};
use crate::rules::Rule;

/// An edit of one message that has to break exactly one rule; or none, where the
/// scenario expects what no rule demands.
///
/// It stands below the message in the scenario:
///
/// ```text
/// <- result {"protocolVersion": 1}
///   mutant R032 set result.protocolVersion 2
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mutant {
    /// The line in the scenario, counted from 1.
    pub line: usize,
    /// The line of the step that it changes.
    pub step: usize,
    /// The rule that it has to break; `None` where the scenario itself has to find fault.
    pub rule: Option<&'static Rule>,
    pub(crate) edit: Edit,
}

/// What stands in the place of a rule where none is broken.
pub(crate) const SCENARIO: &str = "scenario";

/// What is done to a message.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// It is not sent.
    Drop,
    Twice,
    /// It is sent behind so many more messages of its side.
    Later(u32),
    /// It is sent before so many messages that came before it.
    Sooner(u32),
    Set(Path, Pattern),
    Remove(Path),
    /// The answer is this error.
    Error(Pattern),
    /// The answer is this result.
    Result(Pattern),
    /// Another message, as it stands here.
    Insert(Pattern, Place),
    Bytes(Vec<u8>, Place),
    /// The side closes behind it.
    CloseAfter,
}

/// Where something is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Before,
    After,
    Instead,
}

/// Where in a message: `params.update.content.0.text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path(pub(crate) Vec<String>);

impl Mutant {
    /// Returns what it has to break, as it is written: a rule, or `scenario`.
    #[must_use]
    pub fn breaks(&self) -> &'static str {
        self.rule.map_or(SCENARIO, |rule| rule.id)
    }
}

impl fmt::Display for Mutant {
    /// Writes it as it stands in a scenario.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mutant {} {}", self.breaks(), self.edit)
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drop => f.write_str("drop"),
            Self::Twice => f.write_str("twice"),
            Self::Later(count) => write!(f, "later {count}"),
            Self::Sooner(count) => write!(f, "sooner {count}"),
            Self::Set(path, value) => write!(f, "set {path} {value}"),
            Self::Remove(path) => write!(f, "remove {path}"),
            Self::Error(error) => write!(f, "error {error}"),
            Self::Result(result) => write!(f, "result {result}"),
            Self::Insert(message, place) => write!(f, "insert {message} {}", place.word()),
            Self::Bytes(bytes, place) => {
                let place = place.word();
                match std::str::from_utf8(bytes) {
                    Ok(text) => write!(f, "bytes {} {place}", quoted(text)),
                    Err(_) => write!(f, "hex \"{}\" {place}", hex(bytes)),
                }
            }
            Self::CloseAfter => f.write_str("close after"),
        }
    }
}

impl Place {
    pub(crate) const ALL: [Self; 3] = [Self::Before, Self::After, Self::Instead];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::Instead => "instead",
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}
