//! `cargo xtask layers`: which crate may use which.
//!
//! The root manifest says it in `[workspace.metadata.layers]` and
//! `[workspace.metadata.pure]`; this compares it with the real graph of
//! `cargo metadata`, so the picture in the documents stays true.

mod check;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};

use crate::workspace;

/// What `cargo xtask layers` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// Compares the tables of the root manifest with the real graph.
///
/// # Errors
///
/// Fails when an edge breaks a rule; the message names each such edge and its rule.
pub(crate) fn run(_args: &Args) -> Result<()> {
    verify()
}

/// Does what [`run`] does, as a step of a longer run.
pub(crate) fn verify() -> Result<()> {
    let metadata = metadata(&workspace::root())?;
    let violations = check::violations(&metadata)?;
    if violations.is_empty() {
        println!(
            "layers: {} crates keep to the table",
            metadata.workspace_members.len()
        );
        return Ok(());
    }
    for violation in &violations {
        eprintln!("layers: {violation}");
    }
    bail!(
        "{} of the dependencies break the rules of the root manifest",
        violations.len()
    );
}

/// Asks cargo for the graph with every feature on and for every platform.
fn metadata(root: &Path) -> Result<Metadata> {
    MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .exec()
        .context("failed to read the graph of the workspace")
}
