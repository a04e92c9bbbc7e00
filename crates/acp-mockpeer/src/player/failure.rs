//! Where and why a play failed.

use std::time::Duration;

use super::compare::Miss;
use super::compile::within;
use super::describe;
use super::engine::Stop;
use super::flow::Hope;
use crate::language::step::{Act, Step};
use crate::rules::Rule;

/// The step at which a play failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The line of the step in the scenario.
    pub line: usize,
    /// What happened, in one sentence.
    pub summary: String,
    /// What was waited for, each way that was open.
    pub expected: Vec<String>,
    /// What came instead, if something came.
    pub got: Option<String>,
    /// Why what came was not what was expected, if something came.
    pub because: Option<String>,
    /// The rules that the step, or else the scenario, is for.
    pub rules: Vec<&'static Rule>,
    /// The place in the transcript of what came instead.
    pub entry: Option<usize>,
}

pub(super) fn waited(hopes: &[Hope], patience: Duration) -> String {
    let time = hopes
        .iter()
        .find_map(|hope| within(&hope.step))
        .unwrap_or(patience);
    format!("it did not come within {time:?}")
}

impl Failure {
    pub(super) fn at(line: usize, summary: impl Into<String>) -> Self {
        Self {
            line,
            summary: summary.into(),
            ..Self::default()
        }
    }
}

/// Returns what stands below a summary, each with its word.
pub(crate) fn rows<'a>(
    expected: &'a [String],
    got: &'a Option<String>,
    because: &'a Option<String>,
) -> Vec<(&'static str, &'a str)> {
    let words = ["expected"].into_iter().chain(std::iter::repeat("or"));
    let expected = words.zip(expected);
    let got = got.iter().map(|got| ("got", got));
    let because = because.iter().map(|because| ("because", because));
    let rows = expected.chain(got).chain(because);
    rows.map(|(word, what)| (word, what.as_str())).collect()
}

pub(super) fn broken(line: usize, why: &str) -> Stop {
    Stop::Broken(Box::new(Failure::at(line, why)))
}

pub(super) fn failed(step: &Step, why: String) -> Stop {
    Stop::Failed(Box::new(Failure::at(step.line, why)))
}

/// Says what was waited for, what came, and why it was not it.
pub(super) fn failure(why: &str, hopes: &[Hope], line: Option<(&[u8], usize)>) -> Stop {
    let because = hopes.iter().find_map(|hope| match &hope.miss {
        Some(Miss::Content(mismatch)) => Some(mismatch.to_string()),
        _ => None,
    });
    let expected = hopes.iter().map(|hope| {
        let pattern = match &hope.step.act {
            Act::Message(message) => message.body(),
            _ => None,
        };
        let pattern = pattern.map_or_else(String::new, |pattern| format!(" {pattern}"));
        format!(
            "{}{pattern} (line {})",
            describe::step(&hope.step),
            hope.step.line
        )
    });
    let first = hopes.first().map(|hope| &hope.step);
    Stop::Failed(Box::new(Failure {
        expected: expected.collect(),
        got: line.map(|(bytes, _)| describe::line(bytes)),
        because,
        rules: first.map(|step| step.rules.clone()).unwrap_or_default(),
        entry: line.map(|(_, entry)| entry),
        ..Failure::at(first.map_or(1, |step| step.line), why)
    }))
}
