//! The rules of the protocol, each under an id.
//!
//! They are what the protocol's documents and its schema demand, sentence by
//! sentence. A scenario names those it proves; a [`Breach`]
//! names those that were broken.

mod breach;
mod check;
mod finding;
pub(crate) mod shape;
pub(crate) mod table;

use std::fmt;
use std::sync::LazyLock;

use strum::{EnumString, IntoStaticStr};

use acp_recording::PeerSide;
pub use breach::Breach;
pub use check::Check;
pub use finding::Finding;

/// The table of the rules.
///
/// # Examples
///
/// ```
/// use acp_mockpeer::{Rules, PeerSide};
///
/// let rule = Rules::get("R120").unwrap();
/// assert!(rule.level.is_must() && rule.binds(PeerSide::Agent));
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
#[non_exhaustive]
pub struct Rule {
    /// The id, `R120`.
    pub id: &'static str,
    /// The sides that the rule binds.
    pub sides: &'static [PeerSide],
    /// How much it demands.
    pub level: Level,
    /// What it is about: a method, or a part of the protocol.
    pub topic: &'static str,
    /// What it says, in our words.
    pub text: &'static str,
    /// Where the protocol says it: page and line of its documents, or line of its schema.
    pub source: &'static str,
    /// What has to be looked at to decide it.
    pub decided_by: RuleEvidence,
    /// The ids of rules that one and the same fault may break too.
    pub twins: Vec<&'static str>,
    /// The ids of the same check in the protocol's official test kit.
    pub tck: Vec<&'static str>,
}

/// How much a rule demands.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::Display,
    EnumString,
    IntoStaticStr,
)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Level {
    /// It must be so.
    Must,
    /// It must not be so.
    #[strum(serialize = "MUST NOT")]
    MustNot,
    /// It should be so.
    Should,
    /// It should not be so.
    #[strum(serialize = "SHOULD NOT")]
    ShouldNot,
}

/// What has to be looked at to tell whether a rule is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum RuleEvidence {
    /// The lines of the conversation.
    Wire,
    /// The lines, and files or processes.
    #[strum(to_string = "files", serialize = "trace+fs")]
    Files,
    /// Things around the program: how it is installed, who the user is.
    #[strum(to_string = "environment", serialize = "env")]
    Environment,
    /// What a person sees.
    #[strum(to_string = "interface", serialize = "ui")]
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
    /// Tells whether a side has to keep it.
    #[must_use]
    pub fn binds(&self, side: PeerSide) -> bool {
        self.sides.contains(&side)
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
        self.into()
    }
}

impl RuleEvidence {
    /// Tells whether a scenario can decide it: by lines, or by lines and files.
    #[must_use]
    pub fn is_decidable(self) -> bool {
        matches!(self, Self::Wire | Self::Files)
    }
}
