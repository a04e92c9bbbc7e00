//! The report for a terminal.

use std::fmt::Write as _;

use acp_text::{shorten_counted, visible};

use super::super::verdict::{Judged, ScenarioFault, ScenarioState};
use super::text::{self, count, seconds};
use super::{Report, ReportLook, RuleState};

/// How many lines of a transcript are shown before one that matters, and after.
const BEFORE: usize = 8;
const AFTER: usize = 3;

/// The longest line that is shown whole.
const WIDTH: usize = 400;

/// How many of the last lines of stderr are shown.
const STDERR_LINES: usize = 10;

/// Reasons are gathered; of many scenarios with the same one, so many are named.
const MOST_NAMED: usize = 4;

pub(super) fn write(report: &Report, look: ReportLook) -> String {
    let mut page = Page {
        text: String::new(),
        colours: look.colours,
    };
    page.head(report);
    let looked_at = |one: &&Judged| one.is_a_problem() && one.state != ScenarioState::NotRun;
    page.scenarios(report, report.judged.iter().filter(looked_at));
    let warned = |one: &&Judged| one.state == ScenarioState::Warned;
    page.scenarios(report, report.judged.iter().filter(warned));
    page.reasons(report, ScenarioState::Skipped);
    page.reasons(report, ScenarioState::NotExercised);
    page.reasons(report, ScenarioState::NotRun);
    page.expected(report);
    page.summary(report);
    page.text
}

/// Writes what is to be said of one scenario.
pub(super) fn one(report: &Report, judged: &Judged, look: ReportLook) -> String {
    let mut page = Page {
        text: String::new(),
        colours: look.colours,
    };
    page.scenario(report, judged);
    page.text.trim_start().to_owned()
}

#[derive(Clone, Copy)]
enum Colour {
    Red,
    Yellow,
    Green,
    Dim,
    Bold,
}

/// Tells whether the same rules were broken in the same way; numbers, such as ids, apart.
fn are_alike(one: &Judged, other: &Judged) -> bool {
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let same = |(one, other): (&ScenarioFault, &ScenarioFault)| {
        !one.rules.is_empty()
            && one.rules == other.rules
            && letters(&one.summary) == letters(&other.summary)
    };
    one.faults.len() == other.faults.len()
        && !one.faults.is_empty()
        && one.faults.iter().zip(&other.faults).all(same)
}

/// Names scenarios, the first few of many.
fn named(names: &[&str]) -> String {
    let mut named = names[..names.len().min(MOST_NAMED)].join(", ");
    if names.len() > MOST_NAMED {
        let _ = write!(named, " and {} more", names.len() - MOST_NAMED);
    }
    visible(&named).into_owned()
}

struct Page {
    text: String,
    colours: bool,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn paint(&self, colour: Colour, text: &str) -> String {
        if !self.colours {
            return text.to_owned();
        }
        let code = match colour {
            Colour::Red => "1;31",
            Colour::Yellow => "33",
            Colour::Green => "32",
            Colour::Dim => "2",
            Colour::Bold => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn head(&mut self, report: &Report) {
        let mut line = format!("{} as {}", visible(&report.command), report.role);
        if let Some((name, version)) = report.told() {
            let _ = write!(line, ", which says it is {}", visible(name));
            if let Some(version) = version {
                let _ = write!(line, " {}", visible(version));
            }
        }
        let line = self.paint(Colour::Bold, &line);
        self.line(&line);
    }

    /// Tells of scenarios; of those in which the same was wrong, the first.
    fn scenarios<'a>(&mut self, report: &Report, all: impl Iterator<Item = &'a Judged>) {
        let mut told: Vec<(&Judged, Vec<&str>)> = Vec::new();
        for judged in all {
            match told.iter_mut().find(|(first, _)| are_alike(first, judged)) {
                Some((_, others)) => others.push(&judged.name),
                None => told.push((judged, Vec::new())),
            }
        }
        for (judged, others) in told {
            self.scenario(report, judged);
            if !others.is_empty() {
                let line = format!("the same in {} more: {}", others.len(), named(&others));
                let line = self.paint(Colour::Bold, &line);
                self.line(&format!("\n  {line}"));
            }
        }
    }

    fn scenario(&mut self, report: &Report, judged: &Judged) {
        let (word, colour) = match judged.state {
            ScenarioState::Warned => ("WARNED", Colour::Yellow),
            ScenarioState::Broken => ("BROKEN", Colour::Red),
            ScenarioState::NotRun => ("NOT RUN", Colour::Red),
            _ => ("FAILED", Colour::Red),
        };
        self.line("");
        let head = format!(
            "{}  {}  {}",
            self.paint(colour, word),
            self.paint(Colour::Bold, &visible(&judged.name)),
            self.paint(Colour::Dim, &seconds(judged.elapsed)),
        );
        self.line(&head);
        let title = &judged.scenario.header.title;
        if !title.is_empty() {
            self.line(&format!("  {}", visible(title)));
        }
        if let Some(why) = &judged.why {
            self.line("");
            for line in why.lines() {
                self.line(&format!("  {}", visible(line)));
            }
        }
        for fault in &judged.faults {
            self.fault(judged, fault);
        }
        if judged.more_faults > 0 {
            self.line(&format!("\n  and {} more", judged.more_faults));
        }
        self.transcript(report, judged);
        self.stderr(judged);
        for note in &judged.notes {
            self.line("");
            for line in note.lines() {
                self.line(&format!("  {}", visible(line)));
            }
        }
    }

    fn fault(&mut self, judged: &Judged, fault: &ScenarioFault) {
        self.line("");
        for rule in &fault.rules {
            let colour = match fault.fails {
                true => Colour::Red,
                false => Colour::Yellow,
            };
            let id = self.paint(colour, &format!("{} {}", rule.id, rule.level));
            let doubtful = if fault.doubtful { " (doubtful)" } else { "" };
            self.line(&format!("  {id}  {}{doubtful}", rule.text));
        }
        self.line(&format!(
            "  {}",
            shorten_counted(&visible(&fault.summary), WIDTH)
        ));
        for (word, what) in fault.rows(&judged.scenario) {
            let what = shorten_counted(&visible(what), WIDTH);
            self.line(&format!("  {word:>10}  {what}"));
        }
    }

    fn transcript(&mut self, report: &Report, judged: &Judged) {
        let entries = judged.transcript.entries();
        if entries.is_empty() {
            return;
        }
        let mut points: Vec<usize> = judged.faults.iter().filter_map(|one| one.entry).collect();
        if points.is_empty() {
            points.push(entries.len() - 1);
        }
        let near = |index: usize| {
            let mut points = points.iter();
            points.any(|point| index + BEFORE >= *point && index <= point + AFTER)
        };
        let who = report.role.other();
        self.line(&format!("\n  the conversation, as our {who} saw it"));
        let mut left = 0;
        for (index, entry) in entries.iter().enumerate() {
            if !near(index) || text::is_gap(entry) {
                left += 1;
                continue;
            }
            self.left(&mut left);
            let marked = judged.faults.iter().any(|fault| fault.entry == Some(index));
            let line = format!(
                "{:>8.3} {} {}",
                entry.at.as_secs_f64(),
                entry.from.arrow(),
                shorten_counted(&text::entry(entry), WIDTH)
            );
            let line = match marked {
                true => format!("  {} {}", self.paint(Colour::Red, ">"), line),
                false => self.paint(Colour::Dim, &format!("    {line}")),
            };
            self.line(&line);
        }
        self.left(&mut left);
    }

    fn left(&mut self, left: &mut usize) {
        if *left > 0 {
            let line = format!("             … {} left out", count(*left, "line"));
            let line = self.paint(Colour::Dim, &line);
            self.line(&line);
            *left = 0;
        }
    }

    fn stderr(&mut self, judged: &Judged) {
        let lines: Vec<&str> = judged.stderr.lines().collect();
        if lines.iter().any(|line| !line.trim().is_empty()) {
            self.line("\n  the end of its stderr");
            for line in &lines[lines.len().saturating_sub(STDERR_LINES)..] {
                self.line(&format!("    {}", shorten_counted(&visible(line), WIDTH)));
            }
        }
        if let Some(ended) = &judged.ended {
            self.line(&format!("\n  how it ended: {}", visible(ended)));
        }
    }

    /// Gathers the scenarios of a state by their reasons.
    fn reasons(&mut self, report: &Report, state: ScenarioState) {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for judged in report.judged.iter().filter(|one| one.state == state) {
            let why = judged.why.as_deref().unwrap_or_default();
            match reasons.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, names)) => names.push(&judged.name),
                None => reasons.push((why, vec![&judged.name])),
            }
        }
        if reasons.is_empty() {
            return;
        }
        self.line(&format!("\n{state}"));
        for (why, names) in reasons {
            self.line(&format!(
                "  {}: {}",
                shorten_counted(&visible(why), WIDTH),
                named(&names)
            ));
        }
    }

    fn expected(&mut self, report: &Report) {
        let mut known = report.judged.iter().filter(|one| one.is_expected_failure());
        if let Some(first) = known.next() {
            self.line("\nfailed as expected");
            for judged in std::iter::once(first).chain(known) {
                let mut faults = judged.faults.iter();
                let reason = faults.find_map(|fault| fault.expected_because.as_deref());
                let reason = visible(reason.unwrap_or_default());
                self.line(&format!("  {}: {reason}", visible(&judged.name)));
            }
        }
        if !report.stale.is_empty() {
            let head = self.paint(Colour::Red, "the list of expected failures");
            self.line(&format!("\n{head}"));
            for stale in &report.stale {
                self.line(&format!("  {}", visible(stale)));
            }
        }
    }

    fn summary(&mut self, report: &Report) {
        self.line("");
        let mut parts = Vec::new();
        for &state in ScenarioState::ALL {
            let number = report.count(state);
            if number > 0 {
                parts.push(format!("{number} {state}"));
            }
        }
        if report.count_expected() > 0 {
            parts.push(format!("{} failed as expected", report.count_expected()));
        }
        self.line(&format!(
            "{} in {}: {}",
            count(report.judged.len(), "scenario"),
            seconds(report.elapsed),
            parts.join(", ")
        ));
        let rules = report.rules();
        let mut parts = Vec::new();
        for &state in RuleState::ALL {
            let these: Vec<&str> = rules
                .iter()
                .filter(|one| one.state == state)
                .map(|one| one.rule.id)
                .collect();
            let named = matches!(
                state,
                RuleState::Failed | RuleState::Warned | RuleState::Doubtful
            );
            match (these.len(), named) {
                (0, _) => {}
                (number, true) => parts.push(format!("{number} {state} ({})", these.join(" "))),
                (number, false) => parts.push(format!("{number} {state}")),
            }
        }
        if !rules.is_empty() {
            self.line(&format!(
                "{}: {}",
                count(rules.len(), "rule"),
                parts.join(", ")
            ));
        }
        let colour = if report.passed() {
            Colour::Green
        } else {
            Colour::Red
        };
        let verdict = self.paint(colour, &report.verdict());
        self.line(&verdict);
    }
}
