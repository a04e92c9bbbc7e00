//! Which rules were broken, from everything that a play has found.

use super::failure::Failure;
use super::outcome::{PlacedFinding, Verdict};
use crate::language::Scenario;
use crate::rules::{Breach, Check, Rule, Rules};
use acp_recording::PeerSide;

/// Puts together what checks found, what rules demanded, and the step that failed.
pub(super) fn all(
    scenario: &Scenario,
    tested: PeerSide,
    verdict: &Verdict,
    findings: &[PlacedFinding],
    demanded: &[Breach],
    failure: Option<&mut Failure>,
) -> Vec<Breach> {
    let mut all: Vec<Breach> = findings.iter().map(of_finding).collect();
    all.extend_from_slice(demanded);
    // Stable: what was found on one line stays in its order.
    all.sort_by_key(|breach| breach.entry.unwrap_or(usize::MAX));
    if let Some(failure) = failure
        && *verdict == Verdict::Failed
    {
        if failure.rules.is_empty() {
            failure.rules = proved_alone(scenario, tested);
        }
        if !all.iter().any(|breach| explains(breach, failure)) {
            let advisory = failure.rules.is_empty() && scenario.header.advisory;
            all.push(Breach {
                advisory,
                ..of_failure(failure, tested)
            });
        }
    }
    all
}

/// Tells which rules a broken check breaks.
pub(super) fn of_finding(found: &PlacedFinding) -> Breach {
    let mut rules: Vec<&'static Rule> = found
        .finding
        .rules
        .iter()
        .filter_map(|id| Rules::get(id))
        .filter(|rule| rule.binds(found.from))
        .collect();
    if rules.is_empty() {
        let unwritten = match found.finding.check {
            Check::Shape => Rules::SCHEMA,
            _ => Rules::ORDER,
        };
        rules.extend(Rules::get(unwritten));
    }
    Breach {
        rules,
        from: found.from,
        line: found.line,
        entry: found.entry,
        text: found.finding.message.to_owned(),
        doubtful: found.finding.doubtful,
        advisory: false,
    }
}

/// The rule that a scenario is about, when it is about one.
fn proved_alone(scenario: &Scenario, tested: PeerSide) -> Vec<&'static Rule> {
    match scenario.header.proves.as_slice() {
        [id] => Rules::get(id)
            .filter(|rule| rule.binds(tested))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Tells whether a step failed because of something that is told already: the
/// same message was wrong, or a wrong one came in the place of what it awaited.
fn explains(breach: &Breach, failure: &Failure) -> bool {
    let same_message = failure.entry.is_some() && breach.entry == failure.entry;
    let in_its_place = failure.because.is_none() && breach.line == Some(failure.line);
    same_message || in_its_place
}

fn of_failure(failure: &Failure, tested: PeerSide) -> Breach {
    let because = failure.because.as_deref();
    let text = match (failure.expected.first(), because) {
        (Some(expected), Some(because)) => format!("expected {expected}; {because}"),
        (Some(expected), None) => format!("expected {expected}; {}", failure.summary),
        (None, _) => failure.summary.clone(),
    };
    Breach {
        rules: failure.rules.clone(),
        from: tested,
        line: Some(failure.line),
        entry: failure.entry,
        text,
        doubtful: false,
        advisory: false,
    }
}
