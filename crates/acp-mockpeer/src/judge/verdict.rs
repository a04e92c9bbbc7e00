//! What came of one scenario.

use std::time::Duration;

use crate::language::Scenario;
use crate::player::failure_rows;
use crate::rules::Rule;
use acp_recording::Recording;
use strum::{IntoStaticStr, VariantArray};

/// How a scenario went for the program under test.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::Display,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum ScenarioState {
    /// Everything was as it has to be.
    Passed,
    /// Only what should be otherwise was.
    Warned,
    /// A rule was broken that must be kept, or a step did not come.
    Failed,
    /// The program lacks the capability, or cannot do the task.
    Skipped,
    /// What the scenario is about did not happen.
    #[strum(serialize = "not exercised")]
    NotExercised,
    /// The scenario itself is wrong.
    Broken,
    /// It was not played: the program did not start, or the time was over.
    #[strum(serialize = "not run")]
    NotRun,
}

impl ScenarioState {
    /// Every state, the best first.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the state in words: `not exercised`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What came of one scenario.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judged {
    /// The scenario.
    pub scenario: Scenario,
    /// The name of the scenario, without the ending of its file.
    pub name: String,
    /// How it went.
    pub state: ScenarioState,
    /// Why it was skipped, not exercised, broken or not run.
    pub why: Option<String>,
    /// What was not as it has to be; of very much, the first hundred.
    pub faults: Vec<ScenarioFault>,
    /// Every step was done, whatever was wrong besides.
    pub(super) complete: bool,
    /// How many more there were than are kept.
    pub(super) more_faults: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The conversation, without secrets.
    pub transcript: Recording,
    pub(super) ended: Option<String>,
    /// The end of what the program wrote to stderr, without control characters.
    pub stderr: String,
    pub(super) notes: Vec<String>,
    /// Name and version, as the program told them.
    pub(super) told: Option<(String, Option<String>)>,
}

/// Something that was not as it has to be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ScenarioFault {
    /// The rules it breaks; none where only the scenario says so.
    pub rules: Vec<&'static Rule>,
    /// Whether it makes the scenario fail; otherwise it is a warning.
    pub fails: bool,
    /// Whether it only looks so, and a person has to decide.
    pub doubtful: bool,
    /// The line of the step in the scenario.
    pub line: Option<usize>,
    /// What happened, in one sentence.
    pub summary: String,
    pub(super) expected: Vec<String>,
    pub(super) got: Option<String>,
    pub(super) because: Option<String>,
    /// Where it is in the transcript.
    pub(super) entry: Option<usize>,
    /// It is known, for this reason.
    pub(super) expected_because: Option<String>,
}

impl ScenarioFault {
    /// Returns what is told of it below its summary, each with its word.
    pub(super) fn rows<'a>(&'a self, scenario: &'a Scenario) -> Vec<(String, &'a str)> {
        let rows = failure_rows(&self.expected, &self.got, &self.because).into_iter();
        let mut rows: Vec<_> = rows.map(|(word, what)| (word.to_owned(), what)).collect();
        if let Some(line) = self.line {
            rows.push((format!("line {line}"), scenario.source_line(line).trim()));
        }
        if let Some(reason) = &self.expected_because {
            rows.push(("known".to_owned(), reason.as_str()));
        }
        rows
    }
}

impl Judged {
    pub(super) fn new(scenario: &Scenario, state: ScenarioState) -> Self {
        Self {
            name: super::plain_name(&scenario.file).to_owned(),
            scenario: scenario.clone(),
            state,
            why: None,
            faults: Vec::new(),
            complete: false,
            more_faults: 0,
            elapsed: Duration::ZERO,
            transcript: Recording::default(),
            ended: None,
            stderr: String::new(),
            notes: Vec::new(),
            told: None,
        }
    }

    pub(super) fn because(
        scenario: &Scenario,
        state: ScenarioState,
        why: impl Into<String>,
    ) -> Self {
        Self {
            why: Some(why.into()),
            ..Self::new(scenario, state)
        }
    }

    /// Tells whether somebody has to look at it: it failed where that was not
    /// expected, or could not be judged.
    #[must_use]
    pub fn is_a_problem(&self) -> bool {
        match self.state {
            ScenarioState::Failed => {
                let mut failing = self.faults.iter().filter(|fault| fault.fails);
                self.more_faults > 0 || failing.any(|fault| fault.expected_because.is_none())
            }
            ScenarioState::Broken | ScenarioState::NotRun => true,
            ScenarioState::Passed
            | ScenarioState::Warned
            | ScenarioState::Skipped
            | ScenarioState::NotExercised => false,
        }
    }

    /// Tells whether it failed, and just so was expected.
    #[must_use]
    pub fn is_expected_failure(&self) -> bool {
        self.state == ScenarioState::Failed && !self.is_a_problem()
    }

    /// Tells whether the scenario proves a rule or found it broken.
    pub(super) fn is_about(&self, rule: &str) -> bool {
        let proves = &self.scenario.header.proves;
        proves.iter().any(|proved| proved == rule) || self.breaks(rule)
    }

    /// Tells whether a rule was found broken.
    pub(super) fn breaks(&self, rule: &str) -> bool {
        self.faults_of(rule).next().is_some()
    }

    /// Returns what breaks a rule.
    pub(super) fn faults_of(&self, rule: &str) -> impl Iterator<Item = &ScenarioFault> {
        let of = move |fault: &&ScenarioFault| fault.rules.iter().any(|broken| broken.id == rule);
        self.faults.iter().filter(of)
    }
}
