//! What came of one scenario.

use std::fmt;
use std::time::Duration;

use crate::language::Scenario;
use crate::rules::Rule;
use acp_recording::Recording;

/// How a scenario went for the program under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum State {
    /// Everything was as it has to be.
    Passed,
    /// Only what should be otherwise was.
    Warned,
    /// A rule was broken that must be kept, or a step did not come.
    Failed,
    /// The program lacks the capability, or cannot do the task.
    Skipped,
    /// What the scenario is about did not happen.
    NotExercised,
    /// The scenario itself is wrong.
    Broken,
    /// It was not played: the program did not start, or the time was over.
    NotRun,
}

impl State {
    /// Every state, the best first.
    pub const ALL: [Self; 7] = [
        Self::Passed,
        Self::Warned,
        Self::Failed,
        Self::Skipped,
        Self::NotExercised,
        Self::Broken,
        Self::NotRun,
    ];

    /// Returns the state in words: `not exercised`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warned => "warned",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::NotExercised => "not exercised",
            Self::Broken => "broken",
            Self::NotRun => "not run",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What came of one scenario.
#[derive(Clone, Debug)]
pub struct Judged {
    pub(super) scenario: Scenario,
    pub(super) name: String,
    pub(super) state: State,
    /// Why it was skipped, not exercised, broken or not run.
    pub(super) why: Option<String>,
    pub(super) faults: Vec<Fault>,
    /// Every step was done, whatever was wrong besides.
    pub(super) complete: bool,
    /// How many more there were than are kept.
    pub(super) more_faults: u64,
    pub(super) elapsed: Duration,
    /// Without secrets.
    pub(super) transcript: Recording,
    pub(super) ended: Option<String>,
    pub(super) stderr: String,
    pub(super) notes: Vec<String>,
    /// Name and version, as the program told them.
    pub(super) told: Option<(String, Option<String>)>,
}

/// Something that was not as it has to be.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The rules it breaks; none where only the scenario says it.
    pub(super) rules: Vec<&'static Rule>,
    /// It makes the scenario fail; otherwise it is a warning.
    pub(super) fails: bool,
    /// It only looks so: a person has to decide.
    pub(super) doubtful: bool,
    /// The step in the scenario.
    pub(super) line: Option<usize>,
    pub(super) summary: String,
    pub(super) expected: Vec<String>,
    pub(super) got: Option<String>,
    pub(super) because: Option<String>,
    /// Where it is in the transcript.
    pub(super) entry: Option<usize>,
    /// It is known, for this reason.
    pub(super) expected_because: Option<String>,
}

impl Judged {
    pub(super) fn new(scenario: &Scenario, state: State) -> Self {
        Self {
            name: super::plain_name(scenario.file()).to_owned(),
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

    pub(super) fn because(scenario: &Scenario, state: State, why: impl Into<String>) -> Self {
        Self {
            why: Some(why.into()),
            ..Self::new(scenario, state)
        }
    }

    /// Returns the name of the scenario, without the ending of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns how it went.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns why it was skipped, not exercised, broken or not run.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Returns what was not as it has to be; of very much, the first hundred.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Returns the conversation, without secrets.
    #[must_use]
    pub fn transcript(&self) -> &Recording {
        &self.transcript
    }

    /// Returns the end of what the program wrote to stderr, without control characters.
    #[must_use]
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Returns how long it took.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Tells whether somebody has to look at it: it failed where that was not
    /// expected, or could not be judged.
    #[must_use]
    pub fn is_a_problem(&self) -> bool {
        match self.state {
            State::Failed => {
                let mut failing = self.faults.iter().filter(|fault| fault.fails);
                self.more_faults > 0 || failing.any(|fault| fault.expected_because.is_none())
            }
            State::Broken | State::NotRun => true,
            State::Passed | State::Warned | State::Skipped | State::NotExercised => false,
        }
    }

    /// Tells whether it failed, and just so was expected.
    #[must_use]
    pub fn is_expected_failure(&self) -> bool {
        self.state == State::Failed && !self.is_a_problem()
    }

    /// Tells whether the scenario proves a rule or found it broken.
    pub(super) fn is_about(&self, rule: &str) -> bool {
        let proves = self.scenario.header().proves();
        proves.iter().any(|proved| proved == rule) || self.breaks(rule)
    }

    /// Tells whether a rule was found broken.
    pub(super) fn breaks(&self, rule: &str) -> bool {
        self.faults_of(rule).next().is_some()
    }

    /// Returns what breaks a rule.
    pub(super) fn faults_of(&self, rule: &str) -> impl Iterator<Item = &Fault> {
        let of = move |fault: &&Fault| fault.rules.iter().any(|broken| broken.id() == rule);
        self.faults.iter().filter(of)
    }
}

impl Fault {
    /// Returns the rules it breaks; none where only the scenario says so.
    #[must_use]
    pub fn rules(&self) -> &[&'static Rule] {
        &self.rules
    }

    /// Tells whether it makes the scenario fail; otherwise it is a warning.
    #[must_use]
    pub fn fails(&self) -> bool {
        self.fails
    }

    /// Tells whether it only looks so, and a person has to decide.
    #[must_use]
    pub fn doubtful(&self) -> bool {
        self.doubtful
    }

    /// Returns what happened, in one sentence.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the line of the step in the scenario.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}
