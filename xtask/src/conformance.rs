//! Writes the tables of `docs/conformance.md`: which scenarios try which rule.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::page::Marks;
use crate::workspace::{cargo, root};

const PAGE: &str = "docs/conformance.md";

const MARKS: Marks = Marks {
    begin: "<!-- begin: cargo xtask conformance -->\n",
    end: "<!-- end: cargo xtask conformance -->\n",
};

/// What `cargo xtask conformance` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing, and fail when the page is not up to date.
    #[arg(long)]
    check: bool,
}

/// Writes or checks the tables.
///
/// # Errors
///
/// Fails when the tables cannot be made, the page has no place for them, or is
/// not up to date and only checked.
pub(crate) fn run(args: &Args) -> Result<()> {
    let path = root().join(PAGE);
    let tables = tables()?;
    if args.check {
        let page = fs::read_to_string(&path).with_context(|| format!("read {PAGE}"))?;
        ensure!(
            MARKS.replace(&page, &tables)? == page,
            "{PAGE} is not up to date: run `cargo xtask conformance`"
        );
    } else if MARKS.write(&path, &tables)? {
        println!("wrote {PAGE}");
    }
    Ok(())
}

/// Asks the program that has the suite in it.
fn tables() -> Result<String> {
    let mut program = cargo("run --quiet --package acp-mockpeer");
    let output = program
        .args(["--", "rules", "--format", "markdown"])
        .output()
        .context("start acp-mockpeer")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "acp-mockpeer rules: {errors}");
    String::from_utf8(output.stdout).context("read the tables")
}
