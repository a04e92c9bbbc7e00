//! Failures that are known, in a file that is exact in both directions.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::verdict::{Judged, ScenarioFault, ScenarioState};
use crate::rules::Rules;

/// The failures that are expected, each with its reason.
///
/// ```toml
/// [[expected]]
/// scenario = "agent/cancel_while_it_runs"
/// rule = "R120"
/// reason = "answers with an error; reported upstream"
/// ```
///
/// An entry with a scenario and no rule expects everything that fails there;
/// one with a rule and no scenario expects it wherever it is broken. A failure
/// that no entry expects is an error, and so is an entry whose failure did not
/// come though its scenario was played to the end.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    file: String,
    /// Each with its line.
    entries: Vec<(usize, Entry)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    expected: Vec<Spanned<Entry>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    scenario: Option<String>,
    rule: Option<String>,
    reason: String,
}

/// A file of expected failures could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ExpectedError(String);

impl Expected {
    /// Reads the expected failures from a file.
    ///
    /// # Errors
    ///
    /// [`ExpectedError`] says what cannot be read or understood.
    pub fn load(path: &Path) -> Result<Self, ExpectedError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ExpectedError(format!("read {}: {error}", path.display())))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the expected failures from text; `file` is the name that messages show.
    ///
    /// # Errors
    ///
    /// [`ExpectedError`] says what cannot be understood.
    pub fn parse(file: &str, text: &str) -> Result<Self, ExpectedError> {
        let written: Written = toml::from_str(text)
            .map_err(|error| ExpectedError(format!("{file}: {}", error.to_string().trim_end())))?;
        let mut entries = Vec::new();
        let mut seen = BTreeSet::new();
        for spanned in written.expected {
            let line = text[..spanned.span().start].matches('\n').count() + 1;
            let wrong = |what: &str| ExpectedError(format!("{file}:{line}: {what}"));
            let mut entry = spanned.into_inner();
            if entry.scenario.is_none() && entry.rule.is_none() {
                return Err(wrong("an entry names a scenario, a rule, or both"));
            }
            if entry.reason.trim().is_empty() {
                return Err(wrong("an entry says its reason"));
            }
            entry.scenario = entry
                .scenario
                .map(|name| super::plain_name(&name).to_owned());
            if !seen.insert((entry.scenario.clone(), entry.rule.clone())) {
                return Err(wrong("this was said before"));
            }
            entries.push((line, entry));
        }
        Ok(Self {
            file: file.to_owned(),
            entries,
        })
    }

    /// Marks what is expected, and says what is wrong with the entries themselves.
    ///
    /// `scenarios` are the names that entries may have.
    pub(super) fn apply(&self, judged: &mut [Judged], scenarios: &BTreeSet<&str>) -> Vec<String> {
        for one in judged.iter_mut() {
            for fault in &mut one.faults {
                let mut entries = self.entries.iter().map(|(_, entry)| entry);
                let entry = entries.find(|entry| entry.covers(&one.name, fault));
                fault.expected_because = entry.map(|entry| entry.reason.clone());
            }
        }
        let mut problems = Vec::new();
        for (line, entry) in &self.entries {
            if let Some(what) = entry.stale(judged, scenarios) {
                problems.push(format!("{}:{line}: {what}", self.file));
            }
        }
        problems
    }
}

/// Tells whether a name is that of a scenario; folders before it may be left out.
fn is(name: &str, scenario: &str) -> bool {
    let before = scenario.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

impl Entry {
    fn is_about(&self, judged: &Judged) -> bool {
        match &self.scenario {
            Some(name) => is(name, &judged.name),
            None => self.rule.as_ref().is_some_and(|rule| judged.is_about(rule)),
        }
    }

    /// Tells whether a fault of a scenario is expected: a broken rule or, where the entry
    /// names none, any.
    fn covers(&self, scenario: &str, fault: &ScenarioFault) -> bool {
        let (name, rule) = (self.scenario.as_ref(), self.rule.as_ref());
        name.is_none_or(|name| is(name, scenario))
            && rule.is_none_or(|rule| fault.rules.iter().any(|broken| broken.id == rule))
    }

    /// Says why the entry has to go, if it has to.
    fn stale(&self, judged: &[Judged], scenarios: &BTreeSet<&str>) -> Option<String> {
        if let Some(name) = &self.scenario
            && !scenarios.iter().any(|known| is(name, known))
        {
            return Some(format!("there is no scenario `{name}`"));
        }
        if let Some(rule) = &self.rule
            && Rules::get(rule).is_none()
        {
            return Some(format!("there is no rule `{rule}`"));
        }
        let covers = |one: &Judged| {
            let mut faults = one.faults.iter();
            faults.any(|fault| self.covers(&one.name, fault))
        };
        if judged.iter().any(covers) {
            return None;
        }
        // What was not played to the end says nothing.
        let played = |one: &&Judged| {
            self.is_about(one)
                && matches!(
                    one.state,
                    ScenarioState::Passed | ScenarioState::Warned | ScenarioState::Failed
                )
        };
        judged.iter().find(played)?;
        Some(format!("{} passes now; remove this entry", self.subject()))
    }

    fn subject(&self) -> String {
        match (&self.scenario, &self.rule) {
            (Some(scenario), Some(rule)) => format!("{rule} in {scenario}"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => "nothing".to_owned(),
        }
    }
}
