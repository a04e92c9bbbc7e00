//! `cargo xtask ci`: what CI runs.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::steps::Steps;
use crate::workspace::{cargo, has_cargo_command, root, target};
use crate::{advisories, bench, test};

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
    steps.run("format", &mut cargo("fmt --all --check"))?;
    for folder in own_workspaces() {
        let mut format = beside(folder, "fmt", "--all --check");
        steps.run(&format!("format {folder}"), &mut format)?;
    }
    // Warnings are errors here, missing documentation among them.
    steps.run(
        "lints",
        &mut cargo("clippy --workspace --all-targets --all-features -- -D warnings"),
    )?;
    for folder in own_workspaces() {
        let mut lints = beside(folder, "clippy", "--locked --all-targets -- -D warnings");
        steps.run(&format!("lints {folder}"), &mut lints)?;
    }
    if !args.without_tests {
        test::test(&mut steps)?;
    }
    let mut attacks = cargo("xtask attack --fast --jobs 4");
    steps.run("attacks, short", &mut attacks)?;
    // A corpus, read and written by the crate that the protocol's authors publish.
    let mut oracle = beside("tests/oracle", "run", "--quiet --locked");
    steps.run("oracle", &mut oracle)?;
    let mut chat_agent = beside(CHAT_AGENT, "test", "--quiet --locked");
    steps.run("tests of chat-agent", &mut chat_agent)?;
    bench::smoke(&mut steps)?;
    steps.run(
        "documentation",
        cargo("doc --workspace --no-deps --all-features").env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    steps.task("tools", "cargo deny --version", || {
        has_cargo_command("deny")
            .then_some(())
            .context("cargo-deny is missing; get it with `cargo install --locked cargo-deny`")
    })?;
    steps.run(
        "licences",
        &mut cargo("deny --workspace check --hide-inclusion-graph bans licenses sources"),
    )?;
    advisories::run(&mut steps)?;
    package(&mut steps)?;
    steps.finish();
    Ok(())
}

/// Builds each crate from its package alone, in the order in which they would be published.
///
/// Cargo takes two packages of one name and version for the same, and keeps what it unpacked
/// and built of the first. A folder that was never there before keeps it from that.
fn package(steps: &mut Steps) -> Result<()> {
    let packages = target().join("packages");
    if packages.exists() {
        fs::remove_dir_all(&packages).context("failed to remove the packages of a former run")?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.context("the clock stands before 1970")?.as_nanos();
    let mut package = cargo(
        "package --workspace --exclude xtask --exclude interop-driver --all-features \
         --allow-dirty --quiet --target-dir",
    );
    package.arg(packages.join(now.to_string()));
    steps.run("packages", &mut package)?;
    fs::remove_dir_all(&packages).context("failed to remove the packages")
}

const CHAT_AGENT: &str = "crates/acp-agent/examples/chat_agent";

/// Starts a cargo command line for a workspace beside ours. It keeps to its own target
/// folder, also where one is set for everything that is built.
fn beside(folder: &str, command: &str, arguments: &str) -> Command {
    let mut command = cargo(&format!(
        "{command} --manifest-path {folder}/Cargo.toml {arguments}"
    ));
    command.env_remove("CARGO_TARGET_DIR");
    command
}

/// Lists the workspaces beside ours: what they need, nobody else builds.
fn own_workspaces() -> impl Iterator<Item = &'static str> {
    [
        "bench",
        CHAT_AGENT,
        "tests/interop/model",
        "tests/interop/rust-sdk",
        "tests/oracle",
        "fuzz",
    ]
    .into_iter()
    .filter(|folder| root().join(folder).join("Cargo.toml").exists())
}
