//! `cargo xtask ci`: what CI runs.

use anyhow::Result;

use crate::steps::Steps;
use crate::test;
use crate::workspace::cargo;

/// What `cargo xtask ci` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Runs the steps of `cargo xtask ci` and prints how long each took.
///
/// # Errors
///
/// Fails with the first step that does.
pub(crate) fn run(_args: &Args) -> Result<()> {
    let mut steps = Steps::new();
    steps.run("format", &mut cargo(["fmt", "--all", "--check"]))?;
    steps.run(
        "lints",
        &mut cargo([
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    test::test(&mut steps)?;
    steps.finish();
    Ok(())
}
