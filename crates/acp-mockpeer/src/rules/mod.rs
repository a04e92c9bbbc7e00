//! The rules of the protocol, each under an id.
//!
//! They are what the protocol's documents and its schema demand, sentence by
//! sentence. A scenario names those it proves; a [`Breach`]
//! names those that were broken.

mod breach;
mod check;
mod finding;
pub(crate) mod shape;
mod table;

use std::fmt;
use std::sync::LazyLock;

use acp_recording::Side;
pub use breach::Breach;
pub use check::Check;
pub use finding::Finding;

/// The table of the rules.
///
/// # Examples
///
/// ```
/// use acp_mockpeer::{Rules, Side};
///
/// let rule = Rules::get("R120").unwrap();
/// assert!(rule.level().is_must() && rule.binds(Side::Agent));
/// assert!(Rules::all().contains(rule));
/// ```
#[derive(Debug)]
pub struct Rules {
    all: Vec<Rule>,
    /// What no rule of the documents says in words, and holds all the same.
    unwritten: [Rule; 2],
}

/// One rule of the protocol.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rule {
    id: &'static str,
    sides: &'static [Side],
    level: Level,
    topic: &'static str,
    text: &'static str,
    source: &'static str,
    decided_by: DecidedBy,
    twins: Vec<&'static str>,
    tck: Vec<&'static str>,
}

/// How much a rule demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// It must be so.
    Must,
    /// It must not be so.
    MustNot,
    /// It should be so.
    Should,
    /// It should not be so.
    ShouldNot,
}

/// What has to be looked at to tell whether a rule is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DecidedBy {
    /// The lines of the conversation.
    Wire,
    /// The lines, and files or processes.
    Files,
    /// Things around the program: how it is installed, who the user is.
    Environment,
    /// What a person sees.
    Interface,
}

impl Rules {
    /// The rule under which everything goes that the schema does not allow and
    /// that no rule of its own is about.
    pub const SCHEMA: &'static str = "schema";

    /// The rule for what JSON-RPC and the order of the conversation demand
    /// without a sentence in the protocol's documents.
    pub const ORDER: &'static str = "order";

    /// Returns every rule, in the order of the ids.
    #[must_use]
    pub fn all() -> &'static [Rule] {
        &RULES.all
    }

    /// Finds a rule by its id; `schema` and `order` are ids too.
    #[must_use]
    pub fn get(id: &str) -> Option<&'static Rule> {
        let rules = &*RULES;
        let at = rules.all.binary_search_by(|rule| rule.id.cmp(id)).ok();
        at.map(|at| &rules.all[at])
            .or_else(|| rules.unwritten.iter().find(|rule| rule.id == id))
    }
}

static RULES: LazyLock<Rules> = LazyLock::new(table::read);

impl Rule {
    /// Returns the id, `R120`.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Returns the sides that the rule binds.
    #[must_use]
    pub fn sides(&self) -> &'static [Side] {
        self.sides
    }

    /// Tells whether a side has to keep it.
    #[must_use]
    pub fn binds(&self, side: Side) -> bool {
        self.sides.contains(&side)
    }

    /// Returns how much it demands.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns what it is about: a method, or a part of the protocol.
    #[must_use]
    pub fn topic(&self) -> &'static str {
        self.topic
    }

    /// Returns what it says, in our words.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Returns where the protocol says it: page and line of its documents, or
    /// line of its schema.
    #[must_use]
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Returns what has to be looked at to decide it.
    #[must_use]
    pub fn decided_by(&self) -> DecidedBy {
        self.decided_by
    }

    /// Returns the ids of rules that one and the same fault may break too.
    #[must_use]
    pub fn twins(&self) -> &[&'static str] {
        &self.twins
    }

    /// Returns the ids of the same check in the protocol's official test kit.
    #[must_use]
    pub fn tck(&self) -> &[&'static str] {
        &self.tck
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl Level {
    /// Tells whether who breaks the rule fails: MUST or MUST NOT.
    #[must_use]
    pub fn is_must(self) -> bool {
        matches!(self, Self::Must | Self::MustNot)
    }

    /// Returns the level in the words of the documents: `MUST NOT`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::MustNot => "MUST NOT",
            Self::Should => "SHOULD",
            Self::ShouldNot => "SHOULD NOT",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl DecidedBy {
    /// Tells whether a scenario can decide it: by lines, or by lines and files.
    #[must_use]
    pub fn is_decidable(self) -> bool {
        matches!(self, Self::Wire | Self::Files)
    }
}
