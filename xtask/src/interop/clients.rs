//! Clients of other hands: they drive the demo agent.

use std::path::PathBuf;

use anyhow::Result;

use super::check::of_clients;
use super::outcome::Outcome;
use super::recipe::Recipe;
use super::stage::{self, Stage};

/// Lets one client hold its conversations with the demo agent.
///
/// # Errors
///
/// Fails when it cannot be run.
pub(super) fn drive(stage: &Stage, recipe: &Recipe, install: PathBuf) -> Result<Vec<Outcome>> {
    let places = stage.settle(recipe, install)?;
    let folder = stage.folder(recipe, "project")?;
    let words = recipe.command(&places);
    let mut command = stage::command(&words[0], recipe, &places, &folder);
    command.args(&words[1..]);
    // One file for every start of the agent, so that sessions can be loaded after a restart.
    command.arg(&stage.acp).args(["demo-agent", "--store"]);
    command.arg(folder.with_extension("sqlite"));
    stage.report(recipe, &of_clients(), command)
}
