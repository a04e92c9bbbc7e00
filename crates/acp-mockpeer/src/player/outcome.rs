//! What came of a play.

use std::time::Duration;

use super::failure::Failure;
use super::report;
use super::surroundings::Ended;
use crate::language::{ExitAs, Scenario};
use crate::rules::{Breach, Finding, Rule};
use acp_recording::{PeerSide, Recording};

/// What came of a play; printed, it is a report for people.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlayOutcome {
    /// The scenario.
    pub scenario: Scenario,
    /// The side that was played.
    pub played: PeerSide,
    /// How the play ended.
    pub verdict: Verdict,
    /// The step that failed.
    pub failure: Option<Failure>,
    /// The checks that were broken, at most the first hundred.
    pub findings: Vec<PlacedFinding>,
    /// How many more checks were broken than are kept.
    pub more_findings: u64,
    /// The rules that were broken, each fault once, in the order in which they were seen.  They
    /// come from broken checks, from what rules demand of messages and of the course of the
    /// conversation, and last from the step that failed. A step that failed because of what is
    /// told already is not told again.
    pub breaches: Vec<Breach>,
    /// Those of them that neither a check nor a failed step has found.
    pub(super) demanded: Vec<Breach>,
    /// The rules that steps which were taken are for, in the order of their ids.
    pub exercised: Vec<&'static Rule>,
    /// The lines of the steps whose messages were sent.
    pub(crate) sent: Vec<usize>,
    /// The message of a mutant was sent, and could be changed.
    pub(crate) mutated: bool,
    /// The conversation; of a very long one, the beginning and the end.
    pub transcript: Recording,
    /// How long the play took.
    pub elapsed: Duration,
    /// How the agent under test ended, when it is a process.
    pub ended: Option<Ended>,
    /// How a step of the agent we played said that it exits.
    pub exit_as: Option<ExitAs>,
    /// The end of what the agent under test wrote to stderr.
    pub stderr: String,
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
#[non_exhaustive]
pub struct PlacedFinding {
    /// What is wrong.
    pub finding: Finding,
    /// Who broke the check.
    pub from: PeerSide,
    /// The line of the step that took the message all the same, or else of the one that waited
    /// when it came.
    pub line: Option<usize>,
    /// The place of the line in the transcript, if it was kept.
    pub entry: Option<usize>,
    pub(super) shown: String,
}

impl PlayOutcome {
    /// Tells whether every step was done and nothing broke a check.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.verdict == Verdict::Passed
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

impl std::fmt::Display for PlayOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        report::write(self, f)
    }
}
