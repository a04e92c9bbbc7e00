//! The table of a run.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What became of one attack.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) memory: u64,
    pub(super) time: Duration,
    pub(super) code: Option<i32>,
}

/// Whether an attack held.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Verdict {
    Held,
    /// Everything by which it broke through.
    BrokeThrough(Vec<String>),
    /// It cannot be tried here.
    Skipped(String),
}

/// All rows, as a table of Markdown that can be read on a terminal too.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Table(pub(super) Vec<Row>);

impl Table {
    /// Counts the attacks that broke through.
    pub(super) fn broken(&self) -> usize {
        let broken = |row: &&Row| matches!(row.verdict, Verdict::BrokeThrough(_));
        self.0.iter().filter(broken).count()
    }

    /// Returns the largest peak.
    pub(super) fn memory(&self) -> u64 {
        self.0
            .iter()
            .map(|row| row.memory)
            .max()
            .unwrap_or_default()
    }
}

impl Table {
    /// Returns the table of these attacks in their order: rows of its own, and the rows of a former
    /// table for those that were not tried.
    pub(super) fn with_former(&self, former: &str, attacks: &[String]) -> String {
        let row_of = |name: &String| {
            let own = self.0.iter().find(|row| row.name == *name);
            let head = format!("| {name} |");
            let mut former = former.lines().filter(|line| line.starts_with(&head));
            own.map(ToString::to_string)
                .or_else(|| former.next().map(str::to_owned))
        };
        let rows = attacks.iter().filter_map(row_of);
        rows.fold(HEAD.to_owned(), |table, row| table + &row + "\n")
    }
}

const HEAD: &str = "| attack | held | MiB | seconds | exit |\n|---|---|---:|---:|---:|\n";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, verdict, .. } = self;
        let verdict = match verdict {
            Verdict::Held => "held".to_owned(),
            Verdict::BrokeThrough(faults) => format!("**broke through**: {}", faults.join("; ")),
            Verdict::Skipped(why) => format!("skipped: {why}"),
        };
        // A bar ends a cell.
        let verdict = verdict.replace('|', "\\|");
        let code = self.code.map_or("-".to_owned(), |code| code.to_string());
        write!(
            f,
            "| {name} | {verdict} | {} | {:.1} | {code} |",
            self.memory >> 20,
            self.time.as_secs_f64()
        )
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        self.0.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_by_what_it_broke_through() {
        let row = |verdict| Row {
            name: "kind/osc".to_owned(),
            verdict,
            memory: 20 << 20,
            time: Duration::from_millis(340),
            code: Some(0),
        };
        let faults = vec!["stdout holds a | b".to_owned(), "it panicked".to_owned()];
        let table = Table(vec![row(Verdict::Held), row(Verdict::BrokeThrough(faults))]);
        assert_eq!(
            table.to_string(),
            "| attack | held | MiB | seconds | exit |\n|---|---|---:|---:|---:|\n\
             | kind/osc | held | 20 | 0.3 | 0 |\n\
             | kind/osc | **broke through**: stdout holds a \\| b; it panicked | 20 | 0.3 | 0 |\n"
        );
        assert_eq!((table.broken(), table.memory()), (1, 20 << 20));
    }

    #[test]
    fn rows_that_were_not_tried_again_stay() {
        let row = Row {
            name: "kind/osc".to_owned(),
            verdict: Verdict::Held,
            memory: 0,
            time: Duration::from_secs(1),
            code: Some(0),
        };
        let former = "| attack |\n| gone/x | held |\n| kind/csi | held | 1 |\n| kind/osc | old |\n";
        let names = ["kind/csi", "kind/dcs", "kind/osc"].map(str::to_owned);
        let table = Table(vec![row]).with_former(former, &names);
        assert_eq!(
            table,
            format!("{HEAD}| kind/csi | held | 1 |\n| kind/osc | held | 0 | 1.0 | 0 |\n")
        );
    }
}
