//! `cargo xtask layers`: which crate may use which, and the rooms inside of each.
//!
//! The root manifest says who may use whom in `[workspace.metadata.layers]` and
//! `[workspace.metadata.pure]`; this compares it with the real graph of `cargo metadata`, so
//! the picture in the documents stays true. A room is a top-level module of a crate, and no
//! ring of modules may cross rooms.

mod check;
mod rooms;
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

/// Compares the tables of the root manifest with the real graph, and prints the rooms.
///
/// # Errors
///
/// Fails when an edge breaks a rule, or a ring of modules crosses rooms; the message names
/// each and its rule.
pub(crate) fn run(_args: &Args) -> Result<()> {
    verify()
}

/// Does what [`run`] does, as a step of a longer run.
pub(crate) fn verify() -> Result<()> {
    let root = workspace::root();
    let metadata = metadata(&root)?;
    let mut faults: Vec<String> = check::violations(&metadata)?
        .iter()
        .map(ToString::to_string)
        .collect();
    let (report, rings) = rooms::check(&metadata, &root)?;
    println!("{report}");
    faults.extend(rings);
    if faults.is_empty() {
        println!(
            "layers: {} crates keep to the table",
            metadata.workspace_members.len()
        );
        return Ok(());
    }
    for fault in &faults {
        eprintln!("layers: {fault}");
    }
    bail!(
        "{} breaches of the rules of the root manifest",
        faults.len()
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
