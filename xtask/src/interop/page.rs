//! The tables in `docs/interop.md`, between two marks.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::outcome::Outcome;
use super::table::Table;
use crate::page::Marks;

const MARKS: Marks = Marks {
    begin: "<!-- cargo xtask interop --all --write: begin -->\n",
    end: "<!-- end -->\n",
};

/// A table with its heading.
pub(super) type Part<'a> = (&'a str, &'a Table);

/// Writes the tables into the page, in place of those that are there.
///
/// # Errors
///
/// Fails when the page cannot be read or written, or has no marks.
pub(super) fn write(page: &Path, parts: &[Part<'_>]) -> Result<()> {
    let tables = generated(&today()?, &version()?, parts);
    MARKS.write(page, &format!("\n{tables}\n")).map(|_| ())
}

/// Returns the day, as UTC has it.
pub(super) fn today() -> Result<String> {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    let output = output.context("failed to ask for the day")?;
    let day = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    ensure!(day.len() == 10, "{day:?} is no day");
    Ok(day)
}

/// Returns the version that the crates share; this program has none.
pub(super) fn version() -> Result<String> {
    let manifest = fs::read_to_string(crate::workspace::root().join("Cargo.toml"));
    let manifest: toml::Table = manifest.context("failed to read the manifest")?.parse()?;
    let package = manifest
        .get("workspace")
        .and_then(|table| table.get("package"));
    let version = package.and_then(|table| table.get("version")?.as_str());
    Ok(version.context("the workspace has no version")?.to_owned())
}

fn generated(day: &str, version: &str, parts: &[Part<'_>]) -> String {
    let mut text = format!("Run on {day} with acp {version}.\n");
    for (heading, table) in parts {
        text.push_str(&format!("\n## {heading}\n\n"));
        write_table(&mut text, table);
    }
    text
}

fn write_table(text: &mut String, table: &Table) {
    let mut notes = Vec::new();
    // Writing into a string cannot fail.
    let _ = write!(text, "| check | shows |");
    for column in &table.columns {
        let _ = write!(text, " {} |", column.title);
    }
    let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(table.columns.len()));
    for (check, outcomes) in table.rows() {
        let _ = write!(text, "| `{}` | {} |", check.name, check.shows);
        for (column, outcome) in table.columns.iter().zip(outcomes) {
            let cell = match outcome {
                Outcome::Passed(_) => "✓".to_owned(),
                Outcome::Lacks => "–".to_owned(),
                Outcome::Skipped => "not run".to_owned(),
                Outcome::Failed(_) => "✗".to_owned(),
                Outcome::Differs(why) => {
                    notes.push(format!("{}, `{}`: {why}", column.title, check.name));
                    format!("({})", notes.len())
                }
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    for (number, note) in notes.iter().enumerate() {
        let _ = writeln!(text, "{}. {note}", number + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::example;
    use super::*;

    #[test]
    fn a_page_tells_who_did_what_and_why() {
        let text = generated("2026-11-30", "1.2.3", &[("Agents", &example())]);
        let expected = "Run on 2026-11-30 with acp 1.2.3.

## Agents

| check | shows | one-agent 1.0.0 | other 2.0 |
|---|---|---|---|
| `hello` | an answer | ✓ | not run |
| `cancel` | a turn that runs is cancelled | (1) | ✗ |
| `list` | a list of sessions | – | ✗ |

1. one-agent 1.0.0, `cancel`: it loses a cancel
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_version_is_that_of_the_crates() {
        let version = version().expect("the workspace has a version");
        assert_ne!(version, env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn the_page_has_its_marks() {
        let page = crate::workspace::root().join("docs/interop.md");
        let text = fs::read_to_string(page).expect("the page can be read");
        assert!(MARKS.replace(&text, "").is_ok());
    }
}
