//! What came of it: one row a check, one column a peer.

use std::fmt;

use super::check::Check;
use super::outcome::Outcome;

/// The checks of one kind of peer, and how each peer did.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) checks: Vec<Check>,
    pub(super) columns: Vec<Column>,
}

/// How one peer did.
#[derive(Debug)]
pub(super) struct Column {
    /// A word, for narrow places.
    pub(super) name: String,
    /// Its name and version.
    pub(super) title: String,
    /// One for each check, in their order.
    pub(super) outcomes: Vec<Outcome>,
}

/// How many outcomes there are of each sort.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) passed: usize,
    pub(super) differs: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

impl Table {
    /// Makes a table without columns.
    pub(super) fn new(checks: Vec<Check>) -> Self {
        let columns = Vec::new();
        Self { checks, columns }
    }

    /// Goes through the outcomes row by row: the check, and how each peer did.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Check, Vec<&Outcome>)> {
        let row = |number: usize| {
            let cells = self.columns.iter();
            cells.map(move |column| &column.outcomes[number]).collect()
        };
        let checks = self.checks.iter().enumerate();
        checks.map(move |(number, check)| (check, row(number)))
    }
}

impl Sum {
    /// Counts what is in some tables.
    pub(super) fn of(tables: &[Table]) -> Self {
        let mut sum = Self::default();
        let columns = tables.iter().flat_map(|table| &table.columns);
        for outcome in columns.flat_map(|column| &column.outcomes) {
            match outcome {
                Outcome::Passed(_) => sum.passed += 1,
                Outcome::Differs(_) => sum.differs += 1,
                Outcome::Failed(_) => sum.failed += 1,
                Outcome::Skipped => sum.skipped += 1,
                Outcome::Lacks => {}
            }
        }
        sum
    }
}

/// The line that CI reads.
impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, .. } = self;
        write!(f, "interop: {passed} passed, {failed} failed")?;
        if self.differs > 0 {
            write!(f, ", {} differ as known", self.differs)?;
        }
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.checks.iter().map(|check| check.name.len()).max();
        let width = width.unwrap_or(0);
        write!(f, "{:width$}", "")?;
        for column in &self.columns {
            write!(f, "  {:>10}", column.name)?;
        }
        for (check, outcomes) in self.rows() {
            write!(f, "\n{:width$}", check.name)?;
            for outcome in outcomes {
                write!(f, "  {:>10}", outcome.to_string())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(time) => write!(f, "{:.1} s", time.as_secs_f64()),
            Self::Differs(_) => f.write_str("differs"),
            Self::Lacks => f.write_str("-"),
            Self::Failed(_) => f.write_str("FAILED"),
            Self::Skipped => f.write_str("skipped"),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;

    /// Three checks with two peers.
    pub(in super::super) fn example() -> Table {
        let check = |name, shows| Check { name, shows };
        let column = |name: &str, title: &str, outcomes| Column {
            name: name.to_owned(),
            title: title.to_owned(),
            outcomes,
        };
        let mut table = Table::new(vec![
            check("hello", "an answer"),
            check("cancel", "a turn that runs is cancelled"),
            check("list", "a list of sessions"),
        ]);
        let passed = Outcome::Passed(Duration::from_millis(1250));
        let why = "it loses a cancel".to_owned();
        let outcomes = vec![passed, Outcome::Differs(why), Outcome::Lacks];
        table
            .columns
            .push(column("one", "one-agent 1.0.0", outcomes));
        let outcomes = vec![
            Outcome::Skipped,
            Outcome::Failed("no answer".to_owned()),
            Outcome::Failed("no list".to_owned()),
        ];
        table.columns.push(column("other", "other 2.0", outcomes));
        table
    }

    #[test]
    fn a_table_tells_who_did_what() {
        let lines = [
            "               one       other",
            "hello        1.2 s     skipped",
            "cancel     differs      FAILED",
            "list             -      FAILED",
        ];
        assert_eq!(example().to_string(), lines.join("\n"));
    }

    #[test]
    fn the_closing_line_counts() {
        let nothing = Sum::of(&[]);
        assert_eq!(nothing.to_string(), "interop: 0 passed, 0 failed");
        let sum = Sum::of(&[example(), example()]);
        let line = "interop: 2 passed, 4 failed, 2 differ as known, 2 skipped";
        assert_eq!(sum.to_string(), line);
    }
}
