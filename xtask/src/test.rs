//! `cargo xtask test`: every check and test that needs nothing but Rust.

use anyhow::Result;

use crate::layers;
use crate::limits;
use crate::steps::Steps;
use crate::workspace::{cargo, has_cargo_command};

/// What `cargo xtask test` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Runs the steps of `cargo xtask test` and prints how long each took.
///
/// # Errors
///
/// Fails with the first step that does.
pub(crate) fn run(_args: &Args) -> Result<()> {
    let mut steps = Steps::new();
    test(&mut steps)?;
    steps.finish();
    Ok(())
}

/// Runs the tests as steps of a longer run.
pub(crate) fn test(steps: &mut Steps) -> Result<()> {
    steps.run("generated", &mut cargo("xtask codegen --check"))?;
    steps.task("layers", "cargo xtask layers", layers::verify)?;
    steps.task("limits", "cargo xtask limits", limits::verify)?;
    if has_cargo_command("nextest") {
        steps.run(
            "tests",
            &mut cargo("nextest run --workspace --all-features"),
        )?;
    } else {
        steps.run(
            "tests",
            &mut cargo("test --workspace --all-features --lib --bins --tests --examples"),
        )?;
    }
    steps.run(
        "doc tests",
        &mut cargo("test --workspace --all-features --doc"),
    )
}
