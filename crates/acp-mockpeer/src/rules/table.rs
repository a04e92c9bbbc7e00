//! Reads the table of the rules.

use super::{Level, Rule, RuleEvidence, Rules};
use acp_recording::PeerSide;

/// One rule a line. A star behind a level: the documents demand it without the
/// keyword. `twins` are rules that the same fault may break.
const TEXT: &str = include_str!("rules.tsv");

const BOTH: &[PeerSide] = &[PeerSide::Agent, PeerSide::Client];

pub(super) fn read() -> Rules {
    Rules {
        // The text is part of this crate, and a test reads all of it.
        all: TEXT.lines().skip(1).filter_map(rule).collect(),
        unwritten: [
            unwritten(Rules::SCHEMA, "Every message is as the schema says"),
            unwritten(
                Rules::ORDER,
                "Messages follow JSON-RPC 2.0 and the order of the conversation",
            ),
        ],
    }
}

fn rule(line: &'static str) -> Option<Rule> {
    let mut fields = line.split('\t');
    let mut field = || fields.next();
    Some(Rule {
        id: field()?,
        sides: match field()? {
            "agent" => &[PeerSide::Agent],
            "client" => &[PeerSide::Client],
            "both" => BOTH,
            _ => return None,
        },
        level: field()?.trim_end_matches('*').parse().ok()?,
        topic: field()?,
        text: field()?,
        source: field()?,
        decided_by: match field()? {
            "wire" => RuleEvidence::Wire,
            "trace+fs" => RuleEvidence::Files,
            "env" => RuleEvidence::Environment,
            "ui" => RuleEvidence::Interface,
            _ => return None,
        },
        twins: field()?.split_whitespace().collect(),
        tck: field()?.split_whitespace().collect(),
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
