//! Writes the tables of `docs/conformance.md`: which scenarios try which rule.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::{cargo, root};

const PAGE: &str = "docs/conformance.md";

/// Between these lines stands what is written here; the rest is left.
const BEGIN: &str = "<!-- begin: cargo xtask conformance -->\n";
const END: &str = "<!-- end: cargo xtask conformance -->\n";

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
    let old = fs::read_to_string(&path).with_context(|| format!("read {PAGE}"))?;
    let new = with_tables(&old, &tables()?)?;
    if old == new {
        return Ok(());
    }
    if args.check {
        bail!("{PAGE} is not up to date: run `cargo xtask conformance`");
    }
    fs::write(&path, new).with_context(|| format!("write {PAGE}"))?;
    println!("wrote {PAGE}");
    Ok(())
}

/// Asks the program that has the suite in it.
fn tables() -> Result<String> {
    let mut program = cargo(["run", "--quiet", "--package", "acp-mockpeer"]);
    let output = program
        .args(["--", "rules", "--format", "markdown"])
        .output()
        .context("start acp-mockpeer")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "acp-mockpeer rules: {errors}");
    String::from_utf8(output.stdout).context("read the tables")
}

fn with_tables(page: &str, tables: &str) -> Result<String> {
    let parts = page
        .split_once(BEGIN)
        .and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        bail!("{PAGE} has no place for the tables: {BEGIN}{END}");
    };
    Ok(format!("{before}{BEGIN}{tables}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_tables() {
        let page = format!("# Title\n\n{BEGIN}old\n{END}\nThe rest.\n");
        let new = with_tables(&page, "new\n").unwrap();
        assert_eq!(new, format!("# Title\n\n{BEGIN}new\n{END}\nThe rest.\n"));
        assert_eq!(with_tables(&new, "new\n").unwrap(), new);
        assert!(with_tables("# Title\n", "new\n").is_err());
    }
}
