//! `cargo xtask layers`: which crate may use which, and the rooms inside of each.
//!
//! The root manifest says who may use whom in `[workspace.metadata.layers]` and
//! `[workspace.metadata.pure]`; this compares it with the real graph of `cargo metadata`, so
//! the picture in the documents stays true. A room is a top-level module of a crate, and no
//! ring of modules may cross rooms.

mod check;
mod names;
mod rooms;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};

use crate::source::SourceTree;
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
    let (report, faults) = check_all(&workspace::root())?;
    println!("{report}");
    for fault in &faults {
        eprintln!("layers: {fault}");
    }
    ensure!(
        faults.is_empty(),
        "{} breaches of the rules of the root manifest",
        faults.len()
    );
    Ok(())
}

/// Returns the rooms of all crates, and every breach of a rule.
fn check_all(root: &Path) -> Result<(String, Vec<String>)> {
    let metadata = metadata(root)?;
    let tables = table::Tables::from_metadata(&metadata.workspace_metadata)?;
    let mut trees = Vec::new();
    for package in metadata.workspace_packages() {
        trees.extend(SourceTree::of_package(package)?);
    }
    let (report, mut faults) = rooms::check(&trees, root);
    let violations = check::violations(&metadata)?;
    faults.extend(violations.iter().map(ToString::to_string));
    faults.extend(names::check(&trees, &tables.names, root));
    Ok((report, faults))
}

/// Asks cargo for the graph with every feature on and for every platform.
fn metadata(root: &Path) -> Result<Metadata> {
    MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .features(CargoOpt::AllFeatures)
        .exec()
        .context("failed to read the graph of the workspace")
}
