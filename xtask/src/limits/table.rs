//! The table of limits and their tests.

use anyhow::{Context, Result, bail};

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The limit, with its crate and module.
    pub(super) limit: String,
    /// The crate and the name of its test.
    pub(super) test: (String, String),
}

/// Reads rows of a limit and a test; lines that begin with `#` are for people. The test is
/// one of the same crate, or has the name of another in front of it.
///
/// # Errors
///
/// Fails with the first line that is neither.
pub(super) fn read(text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().enumerate();
    let rows = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    rows.map(|(at, line)| row(line).with_context(|| format!("line {} of the table", at + 1)))
        .collect()
}

fn row(line: &str) -> Result<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [limit, test] = words[..] else {
        bail!("expected a limit and a test: `{line}`");
    };
    let (own, _) = limit.split_once("::").context("the limit has no crate")?;
    let (krate, test) = test.split_once("::").unwrap_or((own, test));
    Ok(Row {
        limit: limit.to_owned(),
        test: (krate.to_owned(), test.to_owned()),
    })
}
