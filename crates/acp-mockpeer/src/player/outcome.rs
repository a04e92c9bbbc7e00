//! What came of a play.

use std::time::Duration;

use super::compile::Unplayable;
use super::failure::Failure;
use super::report;
use super::surroundings::Ended;
use crate::language::{ExitAs, Scenario};
use crate::rules::Finding;
use crate::rules::{Breach, Rule};
use acp_recording::Recording;
use acp_recording::Side;

/// What came of a play; printed, it is a report for people.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub(super) scenario: Scenario,
    pub(super) us: Side,
    pub(super) verdict: Verdict,
    pub(super) failure: Option<Failure>,
    pub(super) findings: Vec<Found>,
    pub(super) more_findings: u64,
    pub(super) breaches: Vec<Breach>,
    /// Those of them that neither a check nor a failed step has found.
    pub(super) demanded: Vec<Breach>,
    pub(super) exercised: Vec<&'static Rule>,
    /// The lines of the steps whose messages were sent.
    pub(crate) sent: Vec<usize>,
    /// The message of a mutant was sent, and could be changed.
    pub(crate) mutated: bool,
    pub(super) transcript: Recording,
    pub(super) elapsed: Duration,
    pub(super) ended: Option<Ended>,
    pub(super) exit_as: Option<ExitAs>,
    pub(super) stderr: String,
}

/// How a play ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Every step was done, and nothing broke a check.
    Passed,
    /// The other side did not do what was expected, or broke a check.
    Failed,
    /// The other side lacks the capability that is named.
    Skipped(String),
    /// What the scenario is about did not happen, for the reason it gives.
    NotExercised(String),
    /// The scenario cannot be played by this side, or says itself what is wrong.
    Broken(String),
}

/// A broken check, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub(super) finding: Finding,
    pub(super) from: Side,
    /// The step that took the line all the same, or waited for another.
    pub(super) line: Option<usize>,
    /// Where the line stands on the tape, if it was kept.
    pub(super) entry: Option<usize>,
    pub(super) shown: String,
}

impl Outcome {
    pub(super) fn broken(scenario: &Scenario, us: Side, why: &Unplayable) -> Self {
        Self {
            scenario: scenario.clone(),
            us,
            verdict: Verdict::Broken(why.reason.clone()),
            failure: Some(Failure {
                line: why.line,
                summary: why.reason.clone(),
                expected: Vec::new(),
                got: None,
                because: None,
                rules: Vec::new(),
                entry: None,
            }),
            findings: Vec::new(),
            more_findings: 0,
            breaches: Vec::new(),
            demanded: Vec::new(),
            exercised: Vec::new(),
            sent: Vec::new(),
            mutated: false,
            transcript: Recording::default(),
            elapsed: Duration::ZERO,
            ended: None,
            exit_as: None,
            stderr: String::new(),
        }
    }

    /// Returns how the play ended.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Tells whether every step was done and nothing broke a check.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Passed
    }

    /// Returns the step that failed.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns the checks that were broken, at most the first hundred.
    #[must_use]
    pub fn findings(&self) -> &[Found] {
        &self.findings
    }

    /// Returns the rules that were broken, each fault once, in the order in
    /// which they were seen.
    ///
    /// They come from broken checks, from what rules demand of messages and of
    /// the course of the conversation, and last from the step that failed. A
    /// step that failed because of what is told already is not told again.
    #[must_use]
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// Returns the rules that steps which were taken are for, in the order of
    /// their ids.
    #[must_use]
    pub fn exercised(&self) -> &[&'static Rule] {
        &self.exercised
    }

    /// Returns the scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the side that was played.
    #[must_use]
    pub fn played(&self) -> Side {
        self.us
    }

    /// Returns how many more checks were broken than are kept.
    #[must_use]
    pub fn more_findings(&self) -> u64 {
        self.more_findings
    }

    /// Returns the conversation; of a very long one, the beginning and the end.
    #[must_use]
    pub fn transcript(&self) -> &Recording {
        &self.transcript
    }

    /// Returns how long the play took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns how the agent under test ended, when it is a process.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Returns how a step of the agent we played said that it exits.
    #[must_use]
    pub fn exit_as(&self) -> Option<ExitAs> {
        self.exit_as
    }

    /// Returns the end of what the agent under test wrote to stderr.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Passes the outcome on when it passed.
    ///
    /// # Panics
    ///
    /// With the report, when it did not.
    #[track_caller]
    pub fn assert_passed(&self) -> &Self {
        assert!(self.passed(), "{self}");
        self
    }
}

impl Found {
    /// Returns what is wrong.
    #[must_use]
    pub fn finding(&self) -> &Finding {
        &self.finding
    }

    /// Returns who broke the check.
    #[must_use]
    pub fn from(&self) -> Side {
        self.from
    }

    /// Returns the place of the line in the transcript, if it was kept.
    #[must_use]
    pub fn entry(&self) -> Option<usize> {
        self.entry
    }

    /// Returns the line of the step that took the message all the same, or
    /// else of the one that waited when it came.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        report::write(self, f)
    }
}
