//! `cargo xtask ci`: what CI runs.

use anyhow::{Context, Result};

use crate::steps::Steps;
use crate::test;
use crate::workspace::{cargo, has_cargo_command, root};

/// What `cargo xtask ci` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Leave out what `cargo xtask test` runs, when that ran just before.
    #[arg(long)]
    without_tests: bool,
}

/// Runs the steps of `cargo xtask ci` and prints how long each took.
///
/// # Errors
///
/// Fails with the first step that does.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut steps = Steps::new();
    steps.run("format", &mut cargo(["fmt", "--all", "--check"]))?;
    for manifest in own_workspaces() {
        let mut format = cargo(["fmt", "--check", "--manifest-path"]);
        steps.run("format", format.arg(manifest))?;
    }
    // Warnings are errors here, missing documentation among them.
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
    for manifest in own_workspaces() {
        let mut lints = cargo(["clippy", "--locked", "--all-targets", "--manifest-path"]);
        lints.arg(manifest).args(["--", "-D", "warnings"]);
        // Set for the whole run by some; these keep to folders of their own.
        lints.env_remove("CARGO_TARGET_DIR");
        steps.run("lints", &mut lints)?;
    }
    if !args.without_tests {
        test::test(&mut steps)?;
    }
    steps.run(
        "documentation",
        cargo(["doc", "--workspace", "--no-deps", "--all-features"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    steps.task("tools", "cargo deny --version", || {
        has_cargo_command("deny")
            .then_some(())
            .context("cargo-deny is missing; get it with `cargo install --locked cargo-deny`")
    })?;
    steps.run(
        "licences",
        &mut cargo([
            "deny",
            "--workspace",
            "check",
            "--hide-inclusion-graph",
            "bans",
            "licenses",
            "sources",
        ]),
    )?;
    // Builds each crate from its package alone, in the order in which they would be published.
    steps.run(
        "packages",
        &mut cargo([
            "package",
            "--workspace",
            "--exclude",
            "xtask",
            "--all-features",
            "--allow-dirty",
            "--quiet",
        ]),
    )?;
    steps.finish();
    Ok(())
}

/// Lists the manifests of workspaces beside ours: what they need, nobody else builds.
fn own_workspaces() -> impl Iterator<Item = &'static str> {
    ["tests/interop/Cargo.toml", "fuzz/Cargo.toml"]
        .into_iter()
        .filter(|manifest| root().join(manifest).exists())
}
