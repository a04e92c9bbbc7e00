//! The report for programs.

use acp_text::escape_json;
use serde_json::{Value, json};

use super::super::verdict::{Judged, ScenarioFault, ScenarioState};
use super::{Report, RuleReport, RuleState, text};

/// The version of the format; it grows when something is taken away or means
/// something else, not when something is added.
pub(super) const VERSION: u32 = 1;

pub(super) fn write(report: &Report) -> String {
    let states = ScenarioState::ALL.iter();
    let states = tally(states.map(|state| (state.name(), report.count(*state))));
    let rules = report.rules();
    let rule_states = tally(RuleState::ALL.iter().map(|state| {
        let these = rules.iter().filter(|one| one.state == *state);
        (state.name(), these.count())
    }));
    let told = report.told();
    let value = json!({
        "format": "acp-check",
        "version": VERSION,
        "judge": {"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")},
        "program": {
            "command": report.command,
            "role": report.role.name(),
            "name": told.map(|(name, _)| name),
            "version": told.and_then(|(_, version)| version.as_ref()),
        },
        "began": text::utc(report.began),
        "seconds": report.elapsed.as_secs_f64(),
        "strict": report.strict,
        "passed": report.passed(),
        "interrupted": report.interrupted,
        "unstartable": report.unstartable,
        "stale": report.stale,
        "counts": {
            "scenarios": states,
            "expected_failures": report.count_expected(),
            "rules": rule_states,
        },
        "scenarios": report.judged.iter().map(scenario).collect::<Vec<_>>(),
        "rules": rules.iter().map(rule).collect::<Vec<_>>(),
    });
    // A value of ours has only keys that are strings.
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    // It may be read on a terminal, and holds what a program said of itself.
    escape_json(&text).into_owned()
}

fn tally<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> serde_json::Map<String, Value> {
    let counts = counts.map(|(name, count)| (name.replace(' ', "_"), count.into()));
    counts.collect()
}

fn scenario(judged: &Judged) -> Value {
    let header = &judged.scenario.header;
    let entries = judged.transcript.entries().iter();
    // As they stand in a recording; each is JSON, written by ourselves.
    let entries = entries.filter_map(|entry| serde_json::from_str(&entry.to_json()).ok());
    json!({
        "name": judged.name,
        "title": header.title,
        "proves": header.proves,
        "tck": header.tck,
        "state": judged.state.name(),
        "expected": judged.is_expected_failure(),
        "why": judged.why,
        "seconds": judged.elapsed.as_secs_f64(),
        "faults": judged.faults.iter().map(|one| fault(judged, one)).collect::<Vec<_>>(),
        "more_faults": judged.more_faults,
        "transcript": entries.collect::<Vec<Value>>(),
        "ended": judged.ended,
        "stderr": judged.stderr,
        "notes": judged.notes,
    })
}

fn fault(judged: &Judged, fault: &ScenarioFault) -> Value {
    let step = fault
        .line
        .map(|line| judged.scenario.source_line(line).trim());
    json!({
        "rules": fault.rules.iter().map(|rule| rule.id).collect::<Vec<_>>(),
        "fails": fault.fails,
        "doubtful": fault.doubtful,
        "summary": fault.summary,
        "expected": fault.expected,
        "got": fault.got,
        "because": fault.because,
        "line": fault.line,
        "step": step,
        "entry": fault.entry,
        "expected_because": fault.expected_because,
    })
}

fn rule(report: &RuleReport<'_>) -> Value {
    let rule = report.rule;
    let scenarios = report.scenarios.iter().map(|judged| &judged.name);
    json!({
        "id": rule.id,
        "level": rule.level.name(),
        "topic": rule.topic,
        "text": rule.text,
        "source": rule.source,
        "state": report.state.name(),
        "scenarios": scenarios.collect::<Vec<_>>(),
    })
}
