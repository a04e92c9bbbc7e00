//! Real agents: the `acp` program drives them, as its users do, then our client, then the
//! harness.

use std::path::PathBuf;

use anyhow::Result;

use super::check::{self, Check};
use super::conversation::{self, Conversation, LIMIT};
use super::outcome::Outcome;
use super::recipe::{Places, Recipe};
use super::stage::{self, Stage};
use super::{program, turns};

/// Returns everything that is tried with an agent: what `acp run` does, then the driver, then
/// the harness.
pub(super) fn of_agents() -> Vec<Check> {
    let runs = conversation::ALL
        .iter()
        .map(|conversation| conversation.check);
    runs.chain(check::of_agents())
        .chain(turns::checks())
        .collect()
}

/// Holds every conversation with one agent.
///
/// # Errors
///
/// Fails when a program of ours cannot be run.
pub(super) fn drive(stage: &Stage, recipe: &Recipe, install: PathBuf) -> Result<Vec<Outcome>> {
    let places = stage.settle(recipe, install)?;
    let mut outcomes = Vec::new();
    for conversation in &conversation::ALL {
        outcomes.push(match recipe.without_model {
            true => Outcome::Lacks,
            false => hold(stage, recipe, &places, conversation)?,
        });
    }
    outcomes.extend(converse(stage, recipe, &places)?);
    outcomes.extend(turns::run(stage, recipe, &places)?);
    Ok(outcomes)
}

/// Lets the driver of our client do everything else.
fn converse(stage: &Stage, recipe: &Recipe, places: &Places) -> Result<Vec<Outcome>> {
    let folder = stage.folder(recipe, "project")?;
    let mut command = stage::command(&stage.driver, recipe, places, &folder);
    for (name, value) in [
        ("--asking-mode", &recipe.asking_mode),
        ("--hello", &recipe.hello),
        ("--question-option", &recipe.question_option),
    ] {
        command.args(value.iter().flat_map(|value| [name, value]));
    }
    command.arg("--").args(recipe.command(places));
    let outcomes = stage.report(recipe, &check::of_agents(), command);
    // Nobody looks at what was asked: the driver sees what became of it.
    stage.model.take_asked();
    outcomes
}

/// Lets `acp run` do one turn.
fn hold(
    stage: &Stage,
    recipe: &Recipe,
    places: &Places,
    conversation: &Conversation,
) -> Result<Outcome> {
    let folder = stage.folder(recipe, conversation.check.name)?;
    let mut command = stage::command(&stage.acp, recipe, places, &folder);
    command.args(["run", "--allow", conversation.allow]);
    if let Some(mode) = &recipe.asking_mode {
        command.args(["--mode", mode]);
    }
    command
        .arg(conversation.prompt(&folder))
        .arg("--")
        .args(recipe.command(places));

    let ended = program::run(command, LIMIT, conversation.interrupt_at)?;
    let seen = stage.seen(ended, folder);
    let told = conversation.judge(&seen);
    Ok(stage::conclude(recipe, &conversation.check, told, &[seen]))
}
