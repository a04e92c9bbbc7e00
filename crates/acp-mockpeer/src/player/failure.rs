//! Where and why a play failed.

use std::time::Duration;

use super::compare::Miss;
use super::compile::within;
use super::describe;
use super::engine::Stop;
use super::flow::Hope;
use crate::language::step::{Act, AnswerBody, Message, Step, What};
use crate::rules::Rule;

/// The step at which a play failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(super) line: usize,
    pub(super) summary: String,
    pub(super) expected: Vec<String>,
    pub(super) got: Option<String>,
    pub(super) because: Option<String>,
    /// The rules that the step is for.
    pub(super) rules: Vec<&'static Rule>,
    /// Where in the transcript.
    pub(super) entry: Option<usize>,
}

impl Failure {
    /// Returns the line of the step in the scenario.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the rules that the step, or else the scenario, is for.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Returns what happened, in one sentence.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns what was waited for, each way that was open.
    #[must_use]
    pub fn expected(&self) -> &[String] {
        &self.expected
    }

    /// Returns what came instead, if something came.
    #[must_use]
    pub fn got(&self) -> Option<&str> {
        self.got.as_deref()
    }

    /// Returns the place in the transcript of what came instead.
    #[must_use]
    pub fn entry(&self) -> Option<usize> {
        self.entry
    }

    /// Returns why what came was not what was expected, if something came.
    #[must_use]
    pub fn because(&self) -> Option<&str> {
        self.because.as_deref()
    }
}

pub(super) fn waited(hopes: &[Hope], patience: Duration) -> String {
    let time = hopes
        .iter()
        .find_map(|hope| within(&hope.step))
        .unwrap_or(patience);
    format!("it did not come within {time:?}")
}

pub(super) fn broken(line: usize, why: &str) -> Stop {
    Stop::Broken(Box::new(Failure {
        line,
        summary: why.to_owned(),
        expected: Vec::new(),
        got: None,
        because: None,
        rules: Vec::new(),
        entry: None,
    }))
}

pub(super) fn failed(step: &Step, why: String) -> Stop {
    Stop::Failed(Box::new(Failure {
        line: step.line,
        summary: why,
        expected: Vec::new(),
        got: None,
        because: None,
        rules: Vec::new(),
        entry: None,
    }))
}

/// Says what was waited for, what came, and why it was not it.
pub(super) fn failure(why: &str, hopes: &[Hope], line: Option<(&[u8], usize)>) -> Stop {
    let because = hopes.iter().find_map(|hope| match &hope.miss {
        Some(Miss::Content(mismatch)) => Some(mismatch.to_string()),
        _ => None,
    });
    let expected = hopes
        .iter()
        .map(|hope| {
            let pattern = match &hope.step.act {
                Act::Message(message) => pattern(message),
                _ => None,
            };
            let what = describe::step(&hope.step);
            match pattern {
                Some(pattern) => format!("{what} {pattern} (line {})", hope.step.line),
                None => format!("{what} (line {})", hope.step.line),
            }
        })
        .collect();
    Stop::Failed(Box::new(Failure {
        line: hopes.first().map_or(1, |hope| hope.step.line),
        summary: why.to_owned(),
        expected,
        got: line.map(|(bytes, _)| describe::line(bytes)),
        because,
        rules: hopes
            .first()
            .map(|hope| hope.step.rules.clone())
            .unwrap_or_default(),
        entry: line.map(|(_, entry)| entry),
    }))
}

/// What has to be in a message.
fn pattern(message: &Message) -> Option<String> {
    let pattern = match &message.what {
        What::Request { params, .. } | What::Notification { params, .. } => params.as_ref(),
        What::Answer { body, .. } => match body {
            AnswerBody::Result(pattern) | AnswerBody::Error(pattern) => pattern.as_ref(),
            AnswerBody::Either => None,
        },
        What::Any { .. } | What::Whole(_) => None,
    };
    pattern.map(ToString::to_string)
}
