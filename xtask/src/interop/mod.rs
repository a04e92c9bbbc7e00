//! `cargo xtask interop`: we drive real agents, and real clients drive us.
//!
//! The peers are installed with pinned versions into a cache folder. Agents talk to the
//! scripted model of `tests/interop/model` on loopback; no login, no network but the package
//! registries. What a peer needs stands in `tests/interop/{agents,clients}/NAME/`, and how
//! it differs from what it should do.

mod agents;
mod check;
mod clients;
mod conversation;
mod install;
mod judge;
mod model;
mod outcome;
mod page;
mod program;
mod recipe;
mod report;
mod stage;
mod table;
mod turns;
mod verdicts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::Steps;
use crate::tree::Tree;
use crate::workspace::{cargo, root, target};
use install::Installed;
use judge::{Judged, Results, Suspect};
use model::Model;
use outcome::Outcome;
use recipe::{Judging, Recipe};
use stage::{Stage, column};
use table::{Sum, Table};

/// What was found of the programs that are judged.
const RESULTS: &str = "tests/interop/results/conformance.json";

/// What `cargo xtask interop` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Take in the peers that are too large, too slow or not free enough for every run.
    #[arg(long)]
    all: bool,
    /// Try this peer alone; may be repeated. With `--judge`, `ours` is our own agent and client.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only judge the peers by `acp check`, and hold no other conversation.
    #[arg(long)]
    judge: bool,
    /// With `--judge`, play only scenarios with this text in their name or title, or for
    /// this rule; may be repeated. The reports in target/interop-run tell more.
    #[arg(
        long,
        value_name = "TEXT|RULE",
        requires = "judge",
        conflicts_with = "write"
    )]
    filter: Vec<String>,
    /// Write the tables into docs/interop.md, and what was judged into docs/conformance.md.
    #[arg(long)]
    write: bool,
    /// Where peers are installed once for every run [default: target/interop].
    #[arg(long, value_name = "DIR", env = "ACP_INTEROP_CACHE")]
    cache: Option<PathBuf>,
}

/// What our own agent and client are called together.
const OURS: &str = "ours";

impl Args {
    fn names_ours(&self) -> bool {
        self.only.iter().any(|name| name == OURS)
    }
}

/// One sort of peers.
struct Kind {
    heading: &'static str,
    role: &'static str,
    recipes: Vec<Recipe>,
    table: Table,
    drive: fn(&Stage, &Recipe, PathBuf) -> Result<Vec<Outcome>>,
}

/// Installs the peers, holds every conversation with each, and prints the tables.
///
/// # Errors
///
/// Fails when a conversation goes otherwise than is known. A peer that cannot be installed
/// is skipped, loudly.
pub(crate) fn run(args: &Args) -> Result<()> {
    let kit = root().join("tests/interop");
    let mut kinds = kinds(&kit)?;
    choose(args, &mut kinds)?;
    let cache = args
        .cache
        .clone()
        .unwrap_or_else(|| target().join("interop"));
    let cache = std::path::absolute(cache).context("failed to find the cache folder")?;
    fs::create_dir_all(&cache).context("failed to make the cache folder")?;

    ensure!(
        !args.write || args.judge || args.only.is_empty(),
        "the tables of docs/interop.md are written for all peers"
    );
    build_programs(args)?;
    let stage = Stage {
        model: build_model(&kit)?,
        acp: target().join("debug/acp"),
        mockpeer: target().join("debug/acp-mockpeer"),
        driver: target().join("debug/interop-driver"),
        turn: target().join("debug/interop-turn"),
        tree: Tree::watch()?,
        scratch: target().join("interop-run"),
    };
    let recipes: Vec<_> = kinds.iter().flat_map(|kind| &kind.recipes).collect();
    let mut judged = Vec::new();
    let mut installed = install::install_all(&recipes, &cache)?.into_iter();
    for kind in &mut kinds {
        for recipe in &kind.recipes {
            let outcomes = match installed.next() {
                Some(Installed::Ready(install)) => {
                    if args.all || args.judge || recipe.judge.always {
                        judged.extend(judge_peer(args, &stage, kind.role, recipe, &install)?);
                    }
                    match args.judge {
                        true => continue,
                        false => (kind.drive)(&stage, recipe, install)?,
                    }
                }
                Some(Installed::Refused(reason)) => skip(recipe, &reason, &kind.table),
                None => Vec::new(),
            };
            kind.table.columns.push(column(recipe, outcomes));
        }
    }
    if args.all || args.judge {
        judged.extend(judge_ours(args, &stage)?);
    }
    verdict(args, judged)?;
    finish(args, kinds)
}

/// Judges a peer, if there is a way to.
fn judge_peer(
    args: &Args,
    stage: &Stage,
    role: &'static str,
    recipe: &Recipe,
    install: &Path,
) -> Result<Option<Judged>> {
    let places = stage.settle(recipe, install.to_path_buf())?;
    let command = match role {
        "client" => recipe.adapter(&places),
        _ => Some(recipe.command(&places)),
    };
    let Some(command) = command else {
        return Ok(None);
    };
    let folder = stage.folder(recipe, "judged")?;
    let check = stage::command(&stage.mockpeer, recipe, &places, &folder);
    let suspect = Suspect {
        title: &recipe.title,
        role,
        command,
        judging: &recipe.judge,
        profile: root().join("tests/interop/judge.toml"),
        report: folder.with_extension("json"),
    };
    let judged = judge::judge(&suspect, check, &args.filter);
    // What it left, and what it asked the model, is for others to look at.
    stage.left();
    stage.model.take_asked();
    judged.map(Some)
}

/// Judges our demo agent and our client, as anybody would.
fn judge_ours(args: &Args, stage: &Stage) -> Result<Vec<Judged>> {
    if !args.only.is_empty() && !args.names_ours() {
        return Ok(Vec::new());
    }
    let client = target().join("debug/examples/check_adapter");
    let mut build = cargo("build --quiet --package acp-client");
    Steps::new().run("adapter", build.args(["--example", "check_adapter"]))?;
    let version = page::version()?;
    fs::create_dir_all(&stage.scratch).context("failed to make a folder")?;
    let profile = stage.scratch.join("ours.toml");
    fs::write(&profile, "patience = \"30s\"\n").context("failed to write a profile")?;
    let ours = [
        ("acp demo-agent", "agent", &stage.acp, Some("demo-agent")),
        ("acp-client", "client", &client, None),
    ];
    let judged = ours.map(|(name, role, program, argument)| {
        let program = [program.to_string_lossy().into_owned()].into_iter();
        let suspect = Suspect {
            title: &format!("{name} {version}"),
            role,
            command: program.chain(argument.map(str::to_owned)).collect(),
            judging: &Judging::default(),
            profile: profile.clone(),
            report: stage.scratch.join(format!("{role}.json")),
        };
        judge::judge(&suspect, Command::new(&stage.mockpeer), &args.filter)
    });
    judged.into_iter().collect()
}

/// Keeps what was judged, or compares it with what is known.
fn verdict(args: &Args, judged: Vec<Judged>) -> Result<()> {
    let path = root().join(RESULTS);
    let mut known = Results::load(&path)?;
    if args.write {
        known.acp = page::version()?;
        known.put(judged);
        known.save(&path)?;
        return verdicts::write(&root().join("docs/conformance.md"), &known);
    }
    let news = known.news(&judged);
    ensure!(
        news.is_empty(),
        "otherwise than docs/conformance.md says: {}",
        news.join(", ")
    );
    Ok(())
}

fn kinds(kit: &Path) -> Result<[Kind; 2]> {
    Ok([
        Kind {
            heading: "Our client and agents of other hands",
            role: "agent",
            recipes: recipe::load_all(&kit.join("agents"))?,
            table: Table::new(agents::of_agents()),
            drive: agents::drive,
        },
        Kind {
            heading: "Our demo agent and clients of other hands",
            role: "client",
            recipes: recipe::load_all(&kit.join("clients"))?,
            table: Table::new(check::of_clients()),
            drive: clients::drive,
        },
    ])
}

/// Leaves the recipes that are wanted.
fn choose(args: &Args, kinds: &mut [Kind]) -> Result<()> {
    let all = kinds.iter().flat_map(|kind| &kind.recipes);
    let known: Vec<String> = all.map(|recipe| recipe.name.clone()).collect();
    for (number, name) in known.iter().enumerate() {
        let before = &known[..number];
        ensure!(!before.contains(name), "two peers are called {name}");
    }
    for name in &args.only {
        ensure!(
            known.contains(name) || (args.judge && name == OURS),
            "no peer is called {name}, only {}",
            known.join(", ")
        );
    }
    for kind in kinds {
        kind.recipes.retain(|recipe| match args.only.as_slice() {
            [] => args.all || !recipe.only_with_all,
            only => only.contains(&recipe.name),
        });
    }
    Ok(())
}

fn skip(recipe: &Recipe, reason: &str, table: &Table) -> Vec<Outcome> {
    eprintln!(
        "\n!!! {} is SKIPPED, since it cannot be installed:",
        recipe.title
    );
    eprintln!("!!! {}\n", reason.replace('\n', "\n!!! "));
    vec![Outcome::Skipped; table.checks.len()]
}

fn finish(args: &Args, kinds: [Kind; 2]) -> Result<()> {
    let parts = kinds.map(|kind| (kind.heading, kind.table));
    for (heading, table) in parts.iter().filter(|(_, table)| !table.columns.is_empty()) {
        println!("\n{heading}:\n\n{table}");
    }
    if args.write && !args.judge {
        let parts: Vec<_> = parts
            .iter()
            .map(|(heading, table)| (*heading, table))
            .collect();
        page::write(&root().join("docs/interop.md"), &parts)?;
    }
    let sum = Sum::of(&parts.map(|(_, table)| table));
    println!("\n{sum}");
    ensure!(sum.failed == 0, "{} checks went wrong", sum.failed);
    Ok(())
}

/// Tests, builds and starts the scripted model.
fn build_model(kit: &Path) -> Result<Model> {
    let mut steps = Steps::new();
    let manifest = kit.join("model/Cargo.toml");
    let built = kit.join("model/target");
    for (title, verb) in [("tests of the model", "test"), ("model", "build")] {
        let mut command = cargo(&format!("{verb} --quiet --locked --manifest-path"));
        command.arg(&manifest).arg("--target-dir").arg(&built);
        steps.run(title, &mut command)?;
    }
    Model::start(&built.join("debug/interop-model"))
}

/// Builds the `acp` program, the judge, and the programs that drive an agent.
fn build_programs(args: &Args) -> Result<()> {
    let mut build = cargo("build --quiet --package acp-mockpeer");
    if args.judge && !args.only.is_empty() && !args.names_ours() {
        return Steps::new().run("judge", &mut build);
    }
    build.args(["--package", "acp-cli"]);
    Steps::new().run("programs", build.args(["--package", "interop-driver"]))
}
