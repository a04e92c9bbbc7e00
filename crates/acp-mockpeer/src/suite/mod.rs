//! The suite: scenarios that together try every rule which a conversation can
//! decide.

mod coverage;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::language::Scenario;
use acp_recording::PeerSide;
pub use coverage::{Coverage, coverage, markdown};

/// What the scenarios say to an agent to make it show something.
const WORDS: &str = include_str!("../../suite/words.toml");

// `AGENT` and `CLIENT`: name and text of every scenario.
include!(concat!(env!("OUT_DIR"), "/suite.rs"));

/// Returns the scenarios that test agents; we play the client.
#[must_use]
pub fn agent() -> &'static [Scenario] {
    static READ: LazyLock<Vec<Scenario>> = LazyLock::new(|| read(AGENT));
    &READ
}

/// Returns the scenarios that test clients; we play the agent.
#[must_use]
pub fn client() -> &'static [Scenario] {
    static READ: LazyLock<Vec<Scenario>> = LazyLock::new(|| read(CLIENT));
    &READ
}

/// Returns the scenarios that test a side.
#[must_use]
pub fn scenarios(tested: PeerSide) -> &'static [Scenario] {
    match tested {
        PeerSide::Agent => agent(),
        PeerSide::Client => client(),
    }
}

/// Finds a scenario by its name: `agent/initialize.acpt`.
#[must_use]
pub fn get(name: &str) -> Option<&'static Scenario> {
    let mut all = agent().iter().chain(client());
    all.find(|scenario| &*scenario.file == name)
}

/// Returns what the names of the suite stand for when nobody says otherwise:
/// `$say_text`, `$say_plan` and the like, and `$login`.
///
/// A [`Play`](crate::player::Play) knows them by itself.
#[must_use]
pub fn words() -> &'static BTreeMap<String, Value> {
    static READ: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
        let mut section = "";
        let lines = WORDS.lines().filter_map(|line| {
            if let Some(named) = line.strip_prefix('[') {
                section = named.trim_end_matches(']');
            }
            word(section, line)
        });
        lines.collect()
    });
    &READ
}

/// Reads a line `key = "text"`; its strings are JSON's.
fn word(section: &str, line: &str) -> Option<(String, Value)> {
    let (key, text) = line.split_once(" = ")?;
    let name = match section {
        "" => key.to_owned(),
        section => format!("{section}_{key}"),
    };
    Some((name, serde_json::from_str(text).ok()?))
}

fn read(all: &[(&str, &str)]) -> Vec<Scenario> {
    // These texts are part of this crate, and a test reads all of them.
    let all = all.iter();
    all.filter_map(|(name, text)| Scenario::parse(name, text).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read() {
        for (name, text) in AGENT.iter().chain(CLIENT) {
            if let Err(error) = Scenario::parse(name, text) {
                panic!("{error}");
            }
        }
        assert_eq!(agent().len() + client().len(), AGENT.len() + CLIENT.len());
    }

    #[test]
    fn every_word_can_be_read() {
        let lines = WORDS.lines().filter(|line| !line.trim().is_empty());
        let said = lines.filter(|line| !line.starts_with(['#', '[']));
        assert_eq!(words().len(), said.count());
        assert!(words().contains_key("say_text"));
    }

    /// A name that the suite makes an agent speak with, and nobody knows, would
    /// be made up.
    #[test]
    fn every_word_that_is_said_is_known() {
        for (name, text) in AGENT.iter().chain(CLIENT) {
            for said in text.split("$say_").skip(1) {
                let end = said.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let word = format!("say_{}", &said[..end.unwrap_or(said.len())]);
                assert!(words().contains_key(&word), "{name} says ${word}");
            }
        }
    }
}
