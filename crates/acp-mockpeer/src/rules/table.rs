//! Reads the table of the rules.

use super::{Level, Rule, RuleEvidence, Rules};
use acp_recording::PeerSide;

/// One rule a line. A star behind a level: the documents demand it without the
/// keyword. `twins` are rules that the same fault may break.
const TEXT: &str = include_str!("rules.tsv");

const BOTH: &[PeerSide] = &[PeerSide::Agent, PeerSide::Client];

/// Reads the rows of a table of ours, below its head: fields between tabs.
pub(crate) fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = text.lines().skip(1);
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

/// Tells whether a word is one of those of a field.
pub(crate) fn lists(field: &str, word: &str) -> bool {
    field.split(' ').any(|one| one == word)
}

pub(super) fn read() -> Rules {
    Rules {
        // The text is part of this crate, and a test reads all of it.
        all: rows(TEXT).filter_map(rule).collect(),
        unwritten: [
            unwritten(Rules::SCHEMA, "Every message is as the schema says"),
            unwritten(
                Rules::ORDER,
                "Messages follow JSON-RPC 2.0 and the order of the conversation",
            ),
        ],
    }
}

fn rule(fields: [&'static str; 9]) -> Option<Rule> {
    let [
        id,
        sides,
        level,
        topic,
        text,
        source,
        decided_by,
        twins,
        tck,
    ] = fields;
    Some(Rule {
        id,
        sides: match sides {
            "agent" => &[PeerSide::Agent],
            "client" => &[PeerSide::Client],
            "both" => BOTH,
            _ => return None,
        },
        level: level.trim_end_matches('*').parse().ok()?,
        topic,
        text,
        source,
        decided_by: decided_by.parse().ok()?,
        twins: twins.split_whitespace().collect(),
        tck: tck.split_whitespace().collect(),
    })
}

fn unwritten(id: &'static str, text: &'static str) -> Rule {
    Rule {
        id,
        sides: BOTH,
        level: Level::Must,
        topic: "all",
        text,
        source: "schema",
        decided_by: RuleEvidence::Wire,
        twins: Vec::new(),
        tck: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_rule() {
        let rules = read();
        assert_eq!(rules.all.len(), TEXT.lines().count() - 1);
        assert_eq!(rules.all.len(), 222);
        assert!(rules.all.is_sorted_by(|a, b| a.id < b.id));
        let decided_by = |by| {
            let rules = rules.all.iter();
            rules.filter(|rule| rule.decided_by == by).count()
        };
        assert_eq!(decided_by(RuleEvidence::Wire), 173);
        assert_eq!(decided_by(RuleEvidence::Files), 14);
    }

    #[test]
    fn twins_are_twins_of_each_other() {
        for rule in Rules::all() {
            for twin in &rule.twins {
                let twin = Rules::get(twin).unwrap_or_else(|| panic!("{rule}: {twin}"));
                assert!(twin.twins.contains(&rule.id), "{rule} and {twin}");
            }
        }
    }
}
