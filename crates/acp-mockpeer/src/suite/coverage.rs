//! Which scenarios try which rule, and which rules none can.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use super::scenarios;
use crate::language::{Mutant, Scenario};
use crate::rules::{Rule, RuleEvidence, Rules};
use acp_recording::PeerSide;

/// Rule and side, and why no scenario tries it.
const UNDECIDED: &str = include_str!("../rules/undecided.tsv");

/// What the suite has for a rule and one of the sides that it binds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Coverage {
    /// The rule.
    pub rule: &'static Rule,
    /// The side that has to keep it.
    pub side: PeerSide,
    /// The names of the scenarios that prove it.
    pub scenarios: Vec<&'static str>,
    /// The mutants that have to break it, with the names of their scenarios.
    pub mutants: Vec<(&'static str, Mutant)>,
}

/// Returns what the suite has for every rule and every side that it binds.
#[must_use]
pub fn coverage() -> &'static [Coverage] {
    static ALL: LazyLock<Vec<Coverage>> = LazyLock::new(|| {
        let rules = Rules::all().iter();
        rules
            .flat_map(|rule| rule.sides.iter().map(|side| Coverage::of(rule, *side)))
            .collect()
    });
    &ALL
}

impl Coverage {
    fn of(rule: &'static Rule, side: PeerSide) -> Self {
        let suite = scenarios(side).iter();
        let proves = suite.clone().filter(|scenario| {
            let mut proved = scenario.header.proves.iter();
            proved.any(|id| id == rule.id)
        });
        let mutants = suite.flat_map(|scenario| {
            let mutants = scenario.mutants().into_iter();
            let breaks = mutants.filter(|mutant| mutant.rule == Some(rule));
            breaks.map(|mutant| (&*scenario.file, mutant))
        });
        Self {
            rule,
            side,
            scenarios: proves.map(|scenario| &*scenario.file).collect(),
            mutants: mutants.collect(),
        }
    }

    /// Tells whether a scenario proves it and a mutant breaks it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.scenarios.is_empty() && !self.mutants.is_empty()
    }

    /// Returns why no scenario tries it.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        if !self.scenarios.is_empty() {
            return None;
        }
        let key = format!("{} {}", self.rule, self.side);
        let said = REASONS.get(key.as_str()).copied();
        said.or(match self.rule.decided_by {
            RuleEvidence::Wire | RuleEvidence::Files => None,
            RuleEvidence::Environment => Some("What it is about lies outside of the conversation."),
            RuleEvidence::Interface => Some("What it is about is seen by a person."),
        })
    }
}

static REASONS: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let lines = UNDECIDED.lines().skip(1);
    lines.filter_map(|line| line.split_once('\t')).collect()
});

/// Writes tables for people: what tries each rule, and which rules nothing tries.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::new();
    let (tried, others): (Vec<&Coverage>, Vec<&Coverage>) =
        coverage().iter().partition(|all| !all.scenarios.is_empty());
    // Writing into a text does not fail.
    let _ = write!(
        text,
        "{} scenarios for agents and {} for clients try {} of {} rules, with {} mutants.\n\n",
        scenarios(PeerSide::Agent).len(),
        scenarios(PeerSide::Client).len(),
        count(&tried),
        Rules::all().len(),
        tried.iter().map(|all| all.mutants.len()).sum::<usize>()
            + ruleless().map(|one| one.mutants().len()).sum::<usize>(),
    );
    for side in [PeerSide::Agent, PeerSide::Client] {
        let _ = write!(
            text,
            "### Rules for {side}s\n\n\
             | rule | level | what it says | scenarios | mutants | official kit |\n\
             |---|---|---|---|---|---|\n"
        );
        for all in tried.iter().filter(|all| all.side == side) {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                all.rule,
                all.rule.level,
                cell(all.rule.text),
                links(&all.scenarios),
                all.mutants.len(),
                all.rule.tck.join(" "),
            );
        }
        text.push('\n');
    }
    text.push_str(
        "### What no rule says, and the official kit tries\n\n\
         | scenario | what it is about | mutants | official kit |\n|---|---|---|---|\n",
    );
    for scenario in ruleless() {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            links(&[&scenario.file]),
            cell(&scenario.header.title),
            scenario.mutants().len(),
            scenario.header.tck.join(" "),
        );
    }
    text.push_str(
        "\n### Rules that no scenario tries\n\n\
         | rule | level | side | what it says | why not |\n|---|---|---|---|---|\n",
    );
    for all in others {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            all.rule,
            all.rule.level,
            all.side,
            cell(all.rule.text),
            all.reason().unwrap_or("Not yet."),
        );
    }
    text
}

/// Returns the scenarios that prove no rule.
fn ruleless() -> impl Iterator<Item = &'static Scenario> {
    let all = [PeerSide::Agent, PeerSide::Client]
        .into_iter()
        .flat_map(scenarios);
    all.filter(|scenario| scenario.header.proves.is_empty())
}

fn count(all: &[&Coverage]) -> usize {
    let mut ids: Vec<&str> = all.iter().map(|all| all.rule.id).collect();
    ids.dedup();
    ids.len()
}

fn links(names: &[&str]) -> String {
    let link = |name: &&str| {
        let short = name.rsplit('/').next().unwrap_or(name);
        let short = short.trim_end_matches(".acpt");
        format!("[{short}](../crates/acp-mockpeer/suite/{name})")
    };
    names.iter().map(link).collect::<Vec<_>>().join(", ")
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_proves_no_rule_is_of_the_official_kit_and_finds_a_fault() {
        for scenario in ruleless() {
            let header = &scenario.header;
            assert!(!header.tck.is_empty(), "{}", scenario.file);
            let mutants = scenario.mutants();
            // Over a pipe in memory, who has closed has ended.
            let only_a_process_can = scenario.source.contains("<- exit");
            assert!(
                only_a_process_can || !mutants.is_empty(),
                "{}",
                scenario.file
            );
            assert!(mutants.iter().all(|mutant| mutant.rule.is_none()));
        }
    }

    #[test]
    fn what_is_listed_as_undecided_is_a_rule_that_nothing_tries() {
        assert_eq!(REASONS.len(), UNDECIDED.lines().count() - 1);
        for (key, why) in REASONS.iter() {
            let all = coverage().iter();
            let named = |all: &&Coverage| format!("{} {}", all.rule, all.side) == *key;
            let found = all.clone().find(named);
            let found = found.unwrap_or_else(|| panic!("there is no {key}"));
            assert!(!why.is_empty() && !found.is_complete(), "{key} is tried");
        }
    }
}
