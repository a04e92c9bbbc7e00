//! What a program that holds conversations tells: one JSON object a line.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

/// What a program told of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    Passed(Duration),
    /// It went wrong, for this reason.
    Failed(String),
    /// The peer does not offer what is needed, in these words.
    Absent(String),
}

/// Everything that a program told.
#[derive(Debug, Default)]
pub(super) struct Report {
    told: Vec<(String, Told)>,
    /// It came to its end.
    pub(super) complete: bool,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Passed { check: String, ms: u64 },
    Failed { check: String, failed: String },
    Absent { check: String, absent: String },
    End { end: bool },
}

impl Report {
    /// Reads what a program wrote to standard output.
    ///
    /// # Errors
    ///
    /// Fails at the first line that is no report.
    pub(super) fn read(stdout: &str) -> Result<Self> {
        let mut report = Self::default();
        for line in stdout.lines() {
            let read = serde_json::from_str(line);
            let (check, told) = match read.with_context(|| format!("failed to read {line:?}"))? {
                Line::Passed { check, ms } => (check, Told::Passed(Duration::from_millis(ms))),
                Line::Failed { check, failed } => (check, Told::Failed(failed)),
                Line::Absent { check, absent } => (check, Told::Absent(absent)),
                Line::End { end } => {
                    report.complete = end;
                    continue;
                }
            };
            report.told.push((check, told));
        }
        Ok(report)
    }

    /// Returns what was told of a check; the worst, if it was told of twice.
    pub(super) fn of(&self, check: &str) -> Option<&Told> {
        let mut all = self.told.iter().filter(|(name, _)| name == check);
        let first = all.next().map(|(_, told)| told);
        let failed = |told: &&Told| matches!(told, Told::Failed(_));
        all.map(|(_, told)| told).find(failed).or(first)
    }

    /// Returns the names of the checks that were told of.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.told.iter().map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_line_by_line() {
        let lines = [
            r#"{"check":"new","ms":12}"#,
            r#"{"check":"list","absent":"session/list is not advertised"}"#,
            r#"{"check":"cancel","failed":"stop reason end_turn"}"#,
            r#"{"end":true}"#,
        ];
        let report = Report::read(&lines.join("\n")).expect("every line is a report");
        assert!(report.complete);
        let passed = Told::Passed(Duration::from_millis(12));
        assert_eq!(report.of("new"), Some(&passed));
        let absent = Told::Absent("session/list is not advertised".to_owned());
        assert_eq!(report.of("list"), Some(&absent));
        let failed = Told::Failed("stop reason end_turn".to_owned());
        assert_eq!(report.of("cancel"), Some(&failed));
        assert_eq!(report.of("load"), None);
        assert_eq!(
            report.names().collect::<Vec<_>>(),
            ["new", "list", "cancel"]
        );
    }

    #[test]
    fn a_failure_told_once_counts() {
        let lines = "{\"check\":\"a\",\"ms\":1}\n{\"check\":\"a\",\"failed\":\"no\"}";
        let report = Report::read(lines).expect("every line is a report");
        assert_eq!(report.of("a"), Some(&Told::Failed("no".to_owned())));
        assert!(!report.complete);
    }

    #[test]
    fn a_line_of_something_else_is_an_error() {
        for line in [
            "ready",
            "{}",
            r#"{"check":"a"}"#,
            r#"{"check":"a","ms":1,"x":2}"#,
        ] {
            assert!(Report::read(line).is_err(), "{line}");
        }
    }
}
