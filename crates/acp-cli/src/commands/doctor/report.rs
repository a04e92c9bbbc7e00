//! What was found, one line each.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::shown;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) checks: Vec<Check>,
    /// What the agent said of itself, for programs.
    pub(super) agent: Value,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    name: &'static str,
    state: State,
    said: String,
    /// What to do next.
    next: Option<String>,
}

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Well,
    /// Worth knowing, and nothing is wrong.
    Note,
    /// Wrong, and what a run would end with.
    Ill(Exit),
}

impl Check {
    /// All is well.
    pub(super) fn well(name: &'static str, said: impl Into<String>) -> Self {
        Self::new(name, State::Well, said.into(), None)
    }

    /// Something is worth knowing.
    pub(super) fn note(name: &'static str, said: impl Into<String>) -> Self {
        Self::new(name, State::Note, said.into(), None)
    }

    /// Something is wrong.
    pub(super) fn failed(name: &'static str, outcome: &Outcome) -> Self {
        let failure = outcome.failure.as_ref();
        let mut said = failure.map_or_else(String::new, |failure| failure.message.clone());
        // Its last line says most often why.
        let words = failure.and_then(|failure| failure.last_words.as_deref());
        let last = words.and_then(|words| words.lines().rfind(|line| !line.trim().is_empty()));
        if let Some(last) = last {
            let _ = write!(said, "; it wrote last: {}", shown(last));
        }
        if let Some(noise) = failure.and_then(|failure| failure.noise.as_deref()) {
            let _ = write!(
                said,
                "; its output has a line that is no message: {}",
                shown(noise)
            );
        }
        let next = failure.and_then(|failure| failure.hint.clone());
        Self::new(name, State::Ill(outcome.exit), said, next)
    }

    /// Something is wrong that stops a run from starting.
    pub(super) fn missing(
        name: &'static str,
        said: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        let state = State::Ill(Exit::StartFailed);
        Self::new(name, state, said.into(), Some(next.into()))
    }

    /// Says what to do next.
    pub(super) fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    fn new(name: &'static str, state: State, said: String, next: Option<String>) -> Self {
        Self {
            name,
            state,
            said,
            next,
        }
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::Well => "ok",
            State::Note => "note",
            State::Ill(_) => "problem",
        }
    }
}

impl Report {
    pub(super) fn push(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Tells whether something is wrong.
    pub(super) fn is_ill(&self) -> bool {
        self.exit() != Exit::EndOfTurn
    }

    /// Returns what the first thing is worth that is wrong.
    pub(super) fn exit(&self) -> Exit {
        let mut checks = self.checks.iter();
        checks
            .find_map(|check| match check.state {
                State::Ill(exit) => Some(exit),
                _ => None,
            })
            .unwrap_or(Exit::EndOfTurn)
    }

    /// Shows it to a person whose terminal is so wide.
    pub(super) fn text(&self, width: Option<usize>) -> String {
        let mut text = String::new();
        for check in &self.checks {
            let head = format!("{:8}{:14} ", check.state(), check.name);
            put(&mut text, &head, &check.said, width);
            if let Some(next) = &check.next {
                put(&mut text, &format!("{:8}{:>14} ", "", "->"), next, width);
            }
        }
        let ill = self
            .checks
            .iter()
            .filter(|check| check.state() == "problem");
        text.push('\n');
        text.push_str(match ill.count() {
            0 => "All is well.\n",
            1 => "One thing is wrong.\n",
            _ => "Some things are wrong.\n",
        });
        text
    }

    /// Shows it to a program.
    pub(super) fn json(&self) -> Value {
        let checks = self.checks.iter().map(|check| {
            json!({
                "check": check.name,
                "state": check.state(),
                "message": check.said,
                "next": check.next,
            })
        });
        json!({
            "ok": !self.is_ill(),
            "exitCode": self.exit().code(),
            "version": env!("CARGO_PKG_VERSION"),
            "checks": checks.collect::<Vec<_>>(),
            "agent": self.agent,
        })
    }
}

/// Writes a line, and goes on below its beginning where it does not fit.
fn put(text: &mut String, head: &str, said: &str, width: Option<usize>) {
    let indent = head.len();
    let room = width.map(|width| width.saturating_sub(indent).max(20));
    for (at, line) in crate::table::wrap(said, room).iter().enumerate() {
        match at {
            0 => text.push_str(head),
            _ => text.push_str(&" ".repeat(indent)),
        }
        text.push_str(line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn report() -> Report {
        let outcome = Outcome::usage("failed to see".to_owned(), "open your eyes");
        Report {
            checks: vec![
                Check::well("git", "/usr/bin/git, git version 2.50.0"),
                Check::note("agent", "none is chosen, so the demo agent is asked").next("choose"),
                Check::failed("configuration", &outcome),
                Check::missing(
                    "agent",
                    "codex is not there",
                    "npm install -g @openai/codex",
                ),
            ],
            agent: Value::Null,
        }
    }

    #[test]
    fn the_first_problem_says_the_exit_code() {
        assert_eq!(report().exit(), Exit::Usage);
        let mut report = report();
        report.checks.remove(2);
        assert_eq!(report.exit(), Exit::StartFailed);
        report.checks.pop();
        assert!(!report.is_ill());
    }

    #[test]
    fn people_see_what_to_do_next() {
        expect![[r#"
            ok      git            /usr/bin/git, git version 2.50.0
            note    agent          none is chosen, so the demo agent is asked
                                -> choose
            problem configuration  failed to see
                                -> open your eyes
            problem agent          codex is not there
                                -> npm install -g @openai/codex

            Some things are wrong.
        "#]]
        .assert_eq(&report().text(None));
        expect![[r#"
            ok      git            /usr/bin/git, git version
                                   2.50.0
            note    agent          none is chosen, so the demo
                                   agent is asked
                                -> choose
            problem configuration  failed to see
                                -> open your eyes
            problem agent          codex is not there
                                -> npm install -g @openai/
                                   codex

            Some things are wrong.
        "#]]
        .assert_eq(&report().text(Some(50)));
    }

    #[test]
    fn programs_see_the_same() {
        expect![[r#"
            {
              "check": "configuration",
              "message": "failed to see",
              "next": "open your eyes",
              "state": "problem"
            }"#]]
        .assert_eq(&format!("{:#}", report().json()["checks"][2]));
        assert_eq!(report().json()["exitCode"], 2);
        assert_eq!(report().json()["ok"], false);
    }
}
