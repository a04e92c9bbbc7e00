//! `cargo xtask limits`: each limit in bytes has a test that sends more.
//!
//! The crates say their limits in files called `limits.rs`; one is in bytes where the first
//! sentence of its documentation says so. `.ci/limits` names a test for each. A limit without
//! a row, a row without a limit, and a row whose test is not there are errors.

mod declared;
mod table;
#[cfg(test)]
mod tests;
mod tests_of;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::workspace;
use declared::Declared;
use table::Row;

/// The table, from the root of the workspace.
const TABLE: &str = ".ci/limits";

/// What `cargo xtask limits` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Compares the table with the limits and the tests that there are.
///
/// # Errors
///
/// Fails when they differ; each difference is printed.
pub(crate) fn run(_args: &Args) -> Result<()> {
    verify()
}

/// Does what [`run`] does, as a step of a longer run.
pub(crate) fn verify() -> Result<()> {
    let root = workspace::root();
    let declared = declared::of_workspace(&root)?;
    let rows =
        fs::read_to_string(root.join(TABLE)).context("failed to read the table of limits")?;
    let rows = table::read(&rows)?;
    let crates: BTreeSet<&str> = rows.iter().map(|row| row.test.0.as_str()).collect();
    let mut known = BTreeMap::new();
    for name in crates {
        known.insert(name.to_owned(), tests_of::of_crate(&root, name)?);
    }
    let faults = compare(&declared, &rows, &known);
    for fault in &faults {
        eprintln!("limits: {fault}");
    }
    ensure!(
        faults.is_empty(),
        "{} limits in bytes and rows of {TABLE} do not fit",
        faults.len()
    );
    println!("{} limits in bytes, each with a test", declared.len());
    Ok(())
}

/// Tells where the table and the workspace differ.
fn compare(
    declared: &[Declared],
    rows: &[Row],
    tests: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    for limit in declared {
        if !rows.iter().any(|row| row.limit == limit.key()) {
            let place = limit.file.display();
            faults.push(format!(
                "{} has no test: send more than it and add a row to {TABLE} ({place})",
                limit.key()
            ));
        }
    }
    let mut seen = BTreeSet::new();
    for row in rows {
        if !declared.iter().any(|limit| limit.key() == row.limit) {
            faults.push(format!(
                "{TABLE} names {}, and there is no such limit in bytes",
                row.limit
            ));
        }
        if !seen.insert(&row.limit) {
            faults.push(format!("{TABLE} names {} twice", row.limit));
        }
        let (name, test) = &row.test;
        if !tests.get(name).is_some_and(|tests| tests.contains(test)) {
            faults.push(format!("{}: {name} has no test `{test}`", row.limit));
        }
    }
    faults
}

/// Lists the Rust files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<std::path::PathBuf>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

/// Reads a file as Rust.
fn parse(path: &Path) -> Result<syn::File> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("failed to read {}", path.display()))?;
    syn::parse_file(&text).with_context(|| format!("failed to parse {}", path.display()))
}
