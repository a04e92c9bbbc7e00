//! What a project may say that nobody trusts.
//!
//! Its file comes with what was cloned, so it is a stranger's. It may be more careful than
//! the user, and nothing else: it chooses no agent and no model, lengthens no time, runs no
//! program, reaches no address, and lets an agent do no more than it may without that file.
//! The table of settings names the rule for each of them.

use std::fmt;
use std::time::Duration;

use acp_client::limits::INITIALIZE_TIMEOUT;
use acp_harness::Registry;
use serde::Serialize;

use super::Agent;
use super::file::Source;
use super::limits::IDLE_TIMEOUT;
use super::load::find;
use super::settings::{Document, Layer, Origin};
use super::value::{Time, Word};
use crate::values::Bound;

/// Something that was said and does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Note {
    /// The setting.
    #[serde(rename = "setting")]
    pub(crate) name: &'static str,
    /// Who said it.
    pub(crate) origin: Origin,
    /// Why it does not count.
    #[serde(rename = "reason")]
    pub(crate) why: String,
    /// Whether it was denied to a project, which its user should be told of.
    pub(crate) denied: bool,
}

impl Note {
    /// Something that a project may not say.
    pub(super) fn denied(name: &'static str, origin: Origin, why: impl Into<String>) -> Self {
        Self {
            name,
            origin,
            why: why.into(),
            denied: true,
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name, origin, why, ..
        } = self;
        write!(f, "`{name}` of {origin} is ignored: {why}")
    }
}

/// Why a project may not say something, or nothing.
pub(super) type Refusal = Option<&'static str>;

/// The rule for a choice among what the user has: it is the user's.
pub(super) fn as_chosen<T: PartialEq>(said: &T, own: Option<&T>) -> Refusal {
    (own != Some(said)).then_some("only a file that you trust chooses it")
}

/// The rule for rights: as many as the user gives, or fewer.
pub(super) fn at_most<T: Copy + Default + Ord>(said: &T, own: Option<&T>) -> Refusal {
    let most = own.copied().unwrap_or_default();
    (*said > most).then_some("it allows more than you do, and this file is not trusted")
}

const LONGER: &str = "it takes longer than you allow, and this file is not trusted";

/// The rule for a time that has no end unless somebody sets one.
pub(super) fn no_longer(said: &Time, own: Option<&Time>) -> Refusal {
    own.is_some_and(|own| Duration::from(*said) > Duration::from(*own))
        .then_some(LONGER)
}

/// The rule for the time to start.
pub(super) fn no_later(said: &Time, own: Option<&Time>) -> Refusal {
    no_longer(said, own.or(Some(&INITIALIZE_TIMEOUT.into())))
}

/// The rule for the time of silence.
pub(super) fn no_more_idle(said: &Bound, own: Option<&Bound>) -> Refusal {
    let end = |bound: &Bound| bound.0.unwrap_or(Duration::MAX);
    let most = own.map_or(IDLE_TIMEOUT, end);
    (end(said) > most).then_some(LONGER)
}

/// Session modes by which agents do less than usual, as many of them call these modes; the
/// least careful first.
const CAREFUL_MODES: &[&str] = &["ask", "plan", "read-only"];

/// The rule for modes: a careful one, and one that is no less careful than the user's.
/// Modes are consent by another name, and what any other one does is the agent's to say.
pub(super) fn careful(said: &Word, own: Option<&Word>) -> Refusal {
    let care = |mode: &Word| CAREFUL_MODES.iter().position(|it| *it == mode.as_str());
    let is_careful = care(said).is_some() && care(said) >= own.and_then(care);
    (!is_careful).then_some("an agent may do more in that mode, and this file is not trusted")
}

/// Notes the tables of a project that nobody trusts: they name programs and addresses.
pub(super) fn deny_tables(document: &Document, source: &Source) -> Vec<Note> {
    let why = "it names programs or addresses, and this file is not trusted";
    let tables = [
        ("agents", document.agents.as_ref().map(toml::Spanned::span)),
        ("mcp", document.mcp.as_ref().map(toml::Spanned::span)),
        (
            "registry",
            document.registry.as_ref().map(toml::Spanned::span),
        ),
    ];
    let said = tables.into_iter().filter_map(|(name, span)| {
        let origin = source.origin(&span?);
        Some(Note::denied(name, origin, why))
    });
    said.collect()
}

/// Takes model, effort and mode from who chose them for another agent than the one that is
/// used in the end: each agent has its own.
pub(super) fn part_from_other_agents(
    layer: &mut Layer,
    chosen: &Agent,
    registry: &Registry,
) -> Vec<Note> {
    let Some(said) = &layer.agent else {
        return Vec::new();
    };
    if find(&said.value, registry).as_ref() == Some(chosen) {
        return Vec::new();
    }
    let why = format!("it was chosen for the agent {}", said.value);
    let parted = [
        ("model", layer.model.take()),
        ("effort", layer.effort.take()),
        ("mode", layer.mode.take()),
    ];
    let notes = parted.into_iter().filter_map(|(name, setting)| {
        Some(Note {
            name,
            origin: setting?.origin,
            why: why.clone(),
            denied: false,
        })
    });
    notes.collect()
}
