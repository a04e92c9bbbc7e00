//! What came of all scenarios, for people and programs.

mod html;
mod human;
mod json;
mod junit;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use strum::{EnumString, IntoStaticStr, VariantArray};

use super::verdict::{Judged, ScenarioState};
use super::{Expected, Judge};
use crate::language::Scenario;
use crate::rules::{Rule, Rules};
use acp_recording::PeerSide;

/// What came of all scenarios.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Which side was under test.
    pub role: PeerSide,
    /// The name of the program's file.
    file: String,
    /// The program as one would type it.
    command: String,
    began: SystemTime,
    elapsed: Duration,
    strict: bool,
    /// What came of each scenario, in the order in which they were given.
    pub judged: Vec<Judged>,
    /// What is wrong with the list of expected failures.
    pub stale: Vec<String>,
    /// Why the program could not be started, if it could not.
    pub unstartable: Option<String>,
    /// Whether it was stopped before the end.
    pub interrupted: bool,
}

/// How a rule was kept, over all scenarios that are about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleReport<'a> {
    /// The rule.
    pub rule: &'static Rule,
    /// How it was kept.
    pub state: RuleState,
    /// The scenarios that are about it.
    pub scenarios: Vec<&'a Judged>,
}

/// How a rule was kept.
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
pub enum RuleState {
    /// It was broken, and must be kept.
    Failed,
    /// It was broken, and should be kept.
    Warned,
    /// It looks broken, and a person has to decide.
    Doubtful,
    /// It was kept in at least one scenario.
    Passed,
    /// Other things failed where it would have shown.
    Undecided,
    /// What it is about did not happen.
    #[strum(serialize = "not exercised")]
    NotExercised,
    /// The program lacks what it is about.
    Skipped,
}

/// A form of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// Text for a terminal.
    Human,
    /// For programs; `docs/check.md` describes it.
    Json,
    /// For systems that run tests.
    Junit,
    /// One page for a browser.
    Html,
}

/// How a report for a terminal looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportLook {
    /// With colours.
    pub colours: bool,
}

impl Report {
    pub(super) fn new(
        judge: &Judge,
        judged: Vec<Judged>,
        began: SystemTime,
        elapsed: Duration,
    ) -> Self {
        let name = judge.launch.program().file_name().unwrap_or_default();
        Self {
            role: judge.role,
            file: name.to_string_lossy().into_owned(),
            command: judge.redactor.redact(&judge.command()),
            began,
            elapsed,
            strict: judge.strict,
            judged,
            stale: Vec::new(),
            unstartable: None,
            interrupted: false,
        }
    }

    /// Compares with the failures that are expected; `all` are the scenarios that
    /// there are, also those that were not played.
    #[must_use]
    pub fn with_expected(mut self, expected: &Expected, all: &[Scenario]) -> Self {
        let names = all.iter().map(|scenario| super::plain_name(&scenario.file));
        self.stale = expected.apply(&mut self.judged, &names.collect());
        self
    }

    /// Writes the report.
    #[must_use]
    pub fn render(&self, format: Format, look: ReportLook) -> String {
        match format {
            Format::Human => human::write(self, look),
            Format::Json => json::write(self),
            Format::Junit => junit::write(self),
            Format::Html => html::write(self),
        }
    }

    /// Counts the scenarios in a state; failures that are expected are not among
    /// the failed.
    #[must_use]
    pub fn count(&self, state: ScenarioState) -> usize {
        let counts = |one: &&Judged| one.state == state && !one.is_expected_failure();
        self.judged.iter().filter(counts).count()
    }

    /// Counts the failures that are expected.
    #[must_use]
    pub fn count_expected(&self) -> usize {
        self.judged
            .iter()
            .filter(|one| one.is_expected_failure())
            .count()
    }

    /// Tells whether all was as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        let whole = self.unstartable.is_none() && !self.interrupted;
        whole && self.stale.is_empty() && !self.judged.iter().any(Judged::is_a_problem)
    }

    /// Returns how each rule was kept that some scenario is about, in the order of
    /// the ids.
    #[must_use]
    pub fn rules(&self) -> Vec<RuleReport<'_>> {
        let mut all = BTreeMap::<&str, (&'static Rule, Vec<&Judged>)>::new();
        for judged in &self.judged {
            let proved = judged.scenario.header.proves.iter();
            let proved = proved.filter_map(|id| Rules::get(id));
            let broken = judged
                .faults
                .iter()
                .flat_map(|fault| fault.rules.iter().copied());
            let about = proved.chain(broken).filter(|rule| rule.binds(self.role));
            let about: BTreeMap<&str, &'static Rule> = about.map(|rule| (rule.id, rule)).collect();
            for (id, rule) in about {
                all.entry(id).or_insert((rule, Vec::new())).1.push(judged);
            }
        }
        let report = |(_, (rule, scenarios)): (_, (&'static Rule, Vec<_>))| RuleReport {
            rule,
            state: worst(rule, &scenarios),
            scenarios,
        };
        all.into_iter().map(report).collect()
    }

    /// Returns the name by which people know the program.
    fn name(&self) -> String {
        match self.told() {
            Some((name, Some(version))) => format!("{name} {version}"),
            Some((name, None)) => name.clone(),
            None => self.file.clone(),
        }
    }

    /// Returns name and version as the program told them.
    fn told(&self) -> Option<&(String, Option<String>)> {
        self.judged.iter().find_map(|one| one.told.as_ref())
    }

    /// Counts the scenarios that were skipped for want of a login.
    fn count_locked(&self) -> usize {
        let locked = |one: &&Judged| {
            let why = one
                .why
                .as_deref()
                .filter(|_| one.state == ScenarioState::Skipped);
            why.is_some_and(|why| why.starts_with(crate::player::WANTS_A_LOGIN))
        };
        self.judged.iter().filter(locked).count()
    }

    /// Says in a line what came of it all.
    fn verdict(&self) -> String {
        if let Some(why) = &self.unstartable {
            return format!(
                "The program could not be started: {}",
                acp_text::visible(why)
            );
        }
        if self.interrupted {
            return "Stopped before the end.".to_owned();
        }
        let problems = self.judged.iter().filter(|one| one.is_a_problem()).count();
        match (problems, self.stale.len()) {
            (0, 0) if self.count_expected() > 0 => "As expected.".to_owned(),
            (0, 0) => match self.count_locked() {
                0 => "Everything asked of it was as it has to be.".to_owned(),
                locked => format!(
                    "Everything asked of it was as it has to be, but {} could not be asked: the \
                     agent wants a login first, and a profile may say which.",
                    text::count(locked, "scenario")
                ),
            },
            (0, _) => "The list of expected failures is not up to date.".to_owned(),
            (1, _) => "One scenario needs a look.".to_owned(),
            (problems, _) => format!("{problems} scenarios need a look."),
        }
    }
}

/// Writes words as one would type them.
pub(super) fn command(words: impl Iterator<Item = impl AsRef<str>>) -> String {
    let words: Vec<String> = words.map(|word| text::word(word.as_ref())).collect();
    words.join(" ")
}

/// What decides: one breach anywhere, or else that it was kept somewhere.
fn worst(rule: &Rule, scenarios: &[&Judged]) -> RuleState {
    let states = scenarios.iter().map(|judged| {
        if judged.breaks(rule.id) {
            let doubtful = judged.faults_of(rule.id).all(|fault| fault.doubtful);
            return match (doubtful, rule.level.is_must()) {
                (true, _) => RuleState::Doubtful,
                (false, true) => RuleState::Failed,
                (false, false) => RuleState::Warned,
            };
        }
        match judged.state {
            ScenarioState::Passed | ScenarioState::Warned => RuleState::Passed,
            // Another rule was broken on the way, and this one was seen to be kept.
            ScenarioState::Failed if judged.complete => RuleState::Passed,
            ScenarioState::Failed | ScenarioState::Broken | ScenarioState::NotRun => {
                RuleState::Undecided
            }
            ScenarioState::NotExercised => RuleState::NotExercised,
            ScenarioState::Skipped => RuleState::Skipped,
        }
    });
    states.min().unwrap_or(RuleState::Skipped)
}

impl RuleState {
    /// Every state, the worst first.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the state in words: `not exercised`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Format {
    /// Finds a format by the ending of a file: `.html`, `.json`, `.xml`.
    #[must_use]
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "txt" => Some(Self::Human),
            "json" => Some(Self::Json),
            "xml" => Some(Self::Junit),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}
