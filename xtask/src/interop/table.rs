//! What is printed at the end.

use std::fmt;
use std::time::Duration;

/// How one conversation with one agent went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed(Duration),
    Failed,
    Skipped,
}

/// One row an agent, one column a conversation.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<&'static str>,
    rows: Vec<(String, Vec<Outcome>)>,
}

impl Table {
    /// Makes an empty table.
    pub(super) fn new(columns: Vec<&'static str>) -> Self {
        let rows = Vec::new();
        Self { columns, rows }
    }

    /// Adds the row of an agent.
    pub(super) fn add(&mut self, title: &str, outcomes: Vec<Outcome>) {
        self.rows.push((title.to_owned(), outcomes));
    }

    /// Counts the conversations that went wrong.
    pub(super) fn failed(&self) -> usize {
        self.count(|outcome| outcome == Outcome::Failed)
    }

    /// Says it in the line that CI reads.
    pub(super) fn closing_line(&self) -> String {
        let passed = self.count(|outcome| matches!(outcome, Outcome::Passed(_)));
        let skipped = self.count(|outcome| outcome == Outcome::Skipped);
        let failed = self.failed();
        let mut line = format!("interop: {passed} passed, {failed} failed");
        if skipped > 0 {
            line.push_str(&format!(", {skipped} skipped"));
        }
        line
    }

    fn count(&self, what: impl Fn(Outcome) -> bool) -> usize {
        let outcomes = self.rows.iter().flat_map(|(_, outcomes)| outcomes);
        outcomes.filter(|outcome| what(**outcome)).count()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self
            .rows
            .iter()
            .map(|(title, _)| title.len())
            .max()
            .unwrap_or(0);
        write!(f, "{:width$}", "")?;
        for column in &self.columns {
            write!(f, "  {column:>9}")?;
        }
        for (title, outcomes) in &self.rows {
            write!(f, "\n{title:width$}")?;
            for outcome in outcomes {
                write!(f, "  {:>9}", outcome.to_string())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(time) => write!(f, "{:.1} s", time.as_secs_f64()),
            Self::Failed => f.write_str("FAILED"),
            Self::Skipped => f.write_str("skipped"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_who_did_what() {
        let mut table = Table::new(vec!["hello", "cancelled"]);
        assert_eq!(table.closing_line(), "interop: 0 passed, 0 failed");
        let passed = Outcome::Passed(Duration::from_millis(1250));
        table.add("an-agent 1.0.0", vec![passed, Outcome::Failed]);
        table.add("other 2.0", vec![Outcome::Skipped; 2]);
        let lines = [
            "                    hello  cancelled",
            "an-agent 1.0.0      1.2 s     FAILED",
            "other 2.0         skipped    skipped",
        ];
        assert_eq!(table.to_string(), lines.join("\n"));
        assert_eq!(table.failed(), 1);
        assert_eq!(
            table.closing_line(),
            "interop: 1 passed, 1 failed, 2 skipped"
        );
    }
}
