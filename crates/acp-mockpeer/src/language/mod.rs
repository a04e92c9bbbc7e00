//! Scenarios: conversations as text.

mod error;
pub(crate) mod matching;
pub(crate) mod merge;
pub(crate) mod mutant;
pub(crate) mod names;
mod parse;
pub(crate) mod pattern;
pub(crate) mod reader;
pub(crate) mod step;
pub(crate) mod walk;
pub(crate) mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

pub use error::ParseError;
pub use mutant::Mutant;
pub use step::ExitAs;

use serde_json::Value;

use crate::language::matching::Bindings;
use crate::language::writing::{Inventor, write};
use crate::rules::{Check, Rule};
use acp_recording::PeerSide;
use pattern::Pattern;
use step::Item;

/// How long a step waits for the other side, if neither the step nor the header says.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(5);

/// How long a whole scenario may take, if its header does not say.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(60);

/// A conversation to be played, as it was read from text.
///
/// # Examples
///
/// ```
/// use acp_mockpeer::Scenario;
///
/// let scenario = Scenario::parse("hello.acpt", "\
/// ## An agent says hello.
/// -> initialize {\"protocolVersion\": 1}
/// <- result {\"protocolVersion\": 1}
/// ")?;
/// assert_eq!(scenario.header.proves, [""; 0]);
/// # Ok::<(), acp_mockpeer::ParseError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Scenario {
    /// The name under which the scenario was read.
    pub file: Arc<str>,
    /// The text.
    pub source: Arc<str>,
    /// What the scenario says about itself.
    pub header: Header,
    pub(crate) items: Arc<[Item]>,
}

/// What a scenario says about itself before its first step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Header {
    /// The first sentence of the file: its first comment.
    pub title: String,
    /// The ids of the requirements the scenario proves.
    pub proves: Vec<String>,
    /// The ids of the same checks in the protocol's official test kit.
    pub tck: Vec<String>,
    /// The only side the scenario is for, `None` when it tests both.
    pub side: Option<PeerSide>,
    /// The capabilities without which the scenario is skipped.
    pub needs: Vec<Need>,
    /// The checks that are switched off.
    pub allow: BTreeSet<Check>,
    pub(crate) patience: Duration,
    pub(crate) limit: Duration,
    pub(crate) tasks: Vec<Pattern>,
    /// Whether a step that fails and is for no rule is only a warning.
    pub advisory: bool,
}

/// A capability without which a scenario means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Who must advertise it.
    pub side: PeerSide,
    /// Where it stands below the capabilities, such as `sessionCapabilities.list`.
    pub path: String,
}

impl Scenario {
    /// Reads a scenario from text; `file` is the name that messages show.
    ///
    /// # Errors
    ///
    /// [`ParseError`] with the place and what was expected there.
    pub fn parse(file: &str, text: &str) -> Result<Self, ParseError> {
        parse::scenario(file, text)
    }

    /// Reads a scenario from a file.
    ///
    /// # Errors
    ///
    /// [`LoadError`] when the file cannot be read, or is no scenario.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| LoadError::Read {
            path: path.display().to_string(),
            source,
        })?;
        Self::parse(&path.display().to_string(), &text).map_err(LoadError::Parse)
    }

    /// Returns the mutants that stand below its messages, in the order of the lines.
    #[must_use]
    pub fn mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        walk::each_step(&self.items, &mut |step| {
            all.extend_from_slice(&step.mutants)
        });
        all
    }

    /// Returns the rules that steps and lines below messages are for.
    pub(crate) fn rules(&self) -> BTreeSet<&'static Rule> {
        let mut all = BTreeSet::new();
        walk::each_step(&self.items, &mut |step| {
            all.extend(&step.rules);
            step.demands
                .iter()
                .for_each(|demand| all.extend(&demand.rules));
        });
        all
    }

    /// Returns what a client under test is told to do, as a JSON array of
    /// arrays such as `["prompt", "hello"]`.
    ///
    /// # Errors
    ///
    /// What is wrong with them: a name that stands for nothing in `values`.
    pub fn tasks(&self, values: &BTreeMap<String, Value>) -> Result<Value, String> {
        let mut names: Bindings = values
            .iter()
            .map(|(name, value)| (name.as_str().into(), value.clone()))
            .collect();
        let known: BTreeSet<Arc<str>> = names.keys().cloned().collect();
        let mut tasks = Vec::new();
        for task in &self.header.tasks {
            let json = write(task, &mut names, &mut Inventor::default());
            let json = json.map_err(|vague| vague.to_string())?;
            tasks.push(serde_json::from_str(&json).map_err(|error| error.to_string())?);
        }
        // A name that was made up here means nothing to anybody else.
        match names.keys().find(|name| !known.contains(*name)) {
            Some(name) => Err(format!("nobody says what ${name} stands for")),
            None => Ok(Value::Array(tasks)),
        }
    }

    /// Returns a line of the text, counted from 1.
    pub(crate) fn source_line(&self, line: usize) -> &str {
        self.source
            .lines()
            .nth(line.saturating_sub(1))
            .unwrap_or_default()
    }
}

pub(crate) use parse::lone_pattern;

/// Tells whether a text can stand in a scenario as a pattern.
pub(crate) fn reads_as_pattern(text: &str) -> bool {
    parse::lone_pattern(text).is_ok()
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario")
            .field("file", &self.file)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl Default for Header {
    /// Says nothing.
    fn default() -> Self {
        Self {
            title: String::new(),
            proves: Vec::new(),
            tck: Vec::new(),
            side: None,
            needs: Vec::new(),
            allow: BTreeSet::new(),
            patience: DEFAULT_PATIENCE,
            limit: DEFAULT_LIMIT,
            tasks: Vec::new(),
            advisory: false,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.side, self.path)
    }
}

/// A scenario could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file could not be read.
    #[error("read {path}")]
    Read {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// The file is no scenario.
    #[error("{0}")]
    Parse(ParseError),
}
