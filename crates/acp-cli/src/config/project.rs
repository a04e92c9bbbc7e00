//! What a project may say that nobody trusts.
//!
//! Its file comes with what was cloned, so it is a stranger's. It may choose among what
//! the user has, and be more careful than the user: nothing that it says runs a program,
//! reaches an address, or lets an agent do more than it may without that file.

use std::fmt;

use acp_harness::Registry;
use serde::Serialize;

use super::Agent;
use super::file::Source;
use super::load::find;
use super::settings::{Document, Layer, Origin, Setting};
use super::value::Word;

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

/// Session modes by which agents do less than usual, as many of them call these modes.
const CAREFUL_MODES: &[&str] = &["ask", "plan", "read-only"];

/// Takes from what a project says whatever it may not say, and tells of it.
pub(super) fn restrict(
    layer: &mut Layer,
    document: &Document,
    source: &Source,
    global: &Layer,
    registry: &Registry,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let names = "it names programs or addresses, and this folder is not trusted";
    let spans = [
        ("agents", document.agents.as_ref().map(toml::Spanned::span)),
        ("mcp", document.mcp.as_ref().map(toml::Spanned::span)),
        (
            "registry",
            document.registry.as_ref().map(toml::Spanned::span),
        ),
    ];
    for (name, span) in spans {
        if let Some(span) = span {
            notes.push(Note::denied(name, source.origin(&span), names));
        }
    }
    let widens = "it allows more than you do, and this folder is not trusted";
    narrow("allow", &mut layer.allow, &global.allow, widens, &mut notes);
    narrow("files", &mut layer.files, &global.files, widens, &mut notes);
    narrow(
        "terminals",
        &mut layer.terminals,
        &global.terminals,
        widens,
        &mut notes,
    );
    let goes_unasked = |agent: &mut Setting<Word>| {
        let chosen = global.agent.as_ref().map(|chosen| &chosen.value);
        chosen != Some(&agent.value) && asks_in_no_mode(&agent.value, registry)
    };
    if let Some(agent) = layer.agent.take_if(goes_unasked) {
        // They were chosen for it.
        (layer.model, layer.effort, layer.mode) = (None, None, None);
        let why = "it runs tools without asking, and this folder is not trusted";
        notes.push(Note::denied("agent", agent.origin, why));
    }
    // Of an agent that is named elsewhere another one may come in the place.
    let agent = layer.agent.as_ref();
    let is_careful = |mode: &Word| {
        CAREFUL_MODES.contains(&mode.as_str())
            || (global.mode.is_none() && asks(agent, mode, registry))
    };
    if let Some(mode) = layer.mode.take_if(|mode| !is_careful(&mode.value)) {
        let why = "an agent may do more in that mode, and this folder is not trusted";
        notes.push(Note::denied("mode", mode.origin, why));
    }
    notes
}

/// Takes a value away that allows more than the user does.
fn narrow<T: Copy + Default + Ord>(
    name: &'static str,
    said: &mut Option<Setting<T>>,
    global: &Option<Setting<T>>,
    why: &str,
    notes: &mut Vec<Note>,
) {
    let most = global.as_ref().map(|global| global.value);
    let most = most.unwrap_or_default();
    if let Some(said) = said.take_if(|said| said.value > most) {
        notes.push(Note::denied(name, said.origin, why));
    }
}

/// Tells whether it is known that this agent asks in this mode.
fn asks(agent: Option<&Setting<Word>>, mode: &Word, registry: &Registry) -> bool {
    let entry = agent.and_then(|agent| registry.get(agent.value.as_str()));
    entry.is_some_and(|entry| entry.quirks.asking_mode.as_deref() == Some(mode.as_str()))
}

/// Tells whether it is known that this agent runs tools without asking, in every mode.
fn asks_in_no_mode(agent: &Word, registry: &Registry) -> bool {
    let entry = registry.get(agent.as_str());
    entry.is_some_and(|entry| entry.quirks.unasked_tools && entry.quirks.asking_mode.is_none())
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
