//! `cargo xtask interop`: the `acp` program drives real agents, as its users do.
//!
//! The agents are installed with pinned versions into a cache folder and talk to the
//! scripted model of `tests/interop` on loopback; no login, no network but the package
//! registries. What an agent needs stands in `tests/interop/agents/NAME/`.

mod conversation;
mod install;
mod model;
mod program;
mod recipe;
mod table;
mod tree;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::steps::Steps;
use crate::workspace::{cargo, root, target};
use conversation::{Conversation, LIMIT, Seen};
use install::Installed;
use model::Model;
use recipe::{Places, Recipe};
use table::{Outcome, Table};
use tree::Tree;

/// What `cargo xtask interop` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Drive this agent alone; may be repeated.
    #[arg(long = "agent", value_name = "NAME")]
    agents: Vec<String>,
    /// Hold this conversation alone; may be repeated.
    #[arg(long = "conversation", value_name = "NAME")]
    conversations: Vec<String>,
    /// Where agents are installed once for every run [default: target/interop].
    #[arg(long, value_name = "DIR", env = "ACP_INTEROP_CACHE")]
    cache: Option<PathBuf>,
    /// The acp program to use instead of building one.
    #[arg(long, value_name = "PROGRAM")]
    acp: Option<PathBuf>,
}

/// Everything that the conversations share.
struct Stage {
    acp: PathBuf,
    model: Model,
    tree: Tree,
    /// Homes and the folders where turns run.
    scratch: PathBuf,
    conversations: Vec<Conversation>,
}

/// Installs the agents, holds every conversation with each, and prints a table.
///
/// # Errors
///
/// Fails when a conversation goes wrong. An agent that cannot be installed is skipped,
/// loudly.
pub(crate) fn run(args: &Args) -> Result<()> {
    let kit = root().join("tests/interop");
    let mut recipes = recipe::load_all(&kit.join("agents"))?;
    let known: Vec<String> = recipes.iter().map(|recipe| recipe.name.clone()).collect();
    for name in &args.agents {
        ensure!(
            known.contains(name),
            "no agent is called {name}, only {}",
            known.join(", ")
        );
    }
    recipes.retain(|recipe| args.agents.is_empty() || args.agents.contains(&recipe.name));
    let cache = args
        .cache
        .clone()
        .unwrap_or_else(|| target().join("interop"));
    let cache = std::path::absolute(cache).context("failed to find the cache folder")?;
    fs::create_dir_all(&cache).context("failed to make the cache folder")?;

    let stage = Stage {
        conversations: chosen(&args.conversations)?,
        model: build_model(&kit)?,
        acp: find_acp(args)?,
        tree: Tree::watch()?,
        scratch: target().join("interop-run"),
    };
    let names = stage
        .conversations
        .iter()
        .map(|conversation| conversation.name);
    let mut table = Table::new(names.collect());
    for recipe in &recipes {
        let outcomes = match install::install(recipe, &cache)? {
            Installed::Ready(install) => stage.drive(recipe, install)?,
            Installed::Refused(reason) => {
                eprintln!(
                    "\n!!! {} is SKIPPED, since it cannot be installed:",
                    recipe.title
                );
                eprintln!("!!! {}\n", reason.replace('\n', "\n!!! "));
                vec![Outcome::Skipped; stage.conversations.len()]
            }
        };
        table.add(&recipe.title, outcomes);
    }
    println!("\n{table}\n\n{}", table.closing_line());
    ensure!(
        table.failed() == 0,
        "{} conversations went wrong",
        table.failed()
    );
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<Conversation>> {
    let all = || conversation::ALL.into_iter();
    let known: Vec<&str> = all().map(|conversation| conversation.name).collect();
    for name in names {
        ensure!(
            known.contains(&name.as_str()),
            "no conversation is called {name}, only {}",
            known.join(", ")
        );
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    Ok(all()
        .filter(|conversation| wanted(conversation.name))
        .collect())
}

/// Tests, builds and starts the scripted model.
fn build_model(kit: &Path) -> Result<Model> {
    let mut steps = Steps::new();
    let manifest = kit.join("Cargo.toml");
    let built = kit.join("target");
    for (title, verb) in [("tests of the model", "test"), ("model", "build")] {
        let mut command = cargo([verb, "--quiet", "--locked"]);
        command
            .arg("--manifest-path")
            .arg(&manifest)
            .arg("--target-dir")
            .arg(&built);
        steps.run(title, &mut command)?;
    }
    Model::start(&built.join("debug/interop-model"))
}

fn find_acp(args: &Args) -> Result<PathBuf> {
    if let Some(acp) = &args.acp {
        return std::path::absolute(acp).context("failed to find the acp program");
    }
    Steps::new().run(
        "acp",
        &mut cargo(["build", "--quiet", "--package", "acp-cli"]),
    )?;
    Ok(target().join("debug/acp"))
}

impl Stage {
    /// Holds every conversation with one agent.
    fn drive(&self, recipe: &Recipe, install: PathBuf) -> Result<Vec<Outcome>> {
        let places = Places {
            install,
            home: self.scratch.join(&recipe.name).join("home"),
            model: self.model.url().to_owned(),
        };
        recipe.make_home(&places)?;
        let hold = |conversation| self.hold(recipe, &places, conversation);
        self.conversations.iter().map(hold).collect()
    }

    fn hold(
        &self,
        recipe: &Recipe,
        places: &Places,
        conversation: &Conversation,
    ) -> Result<Outcome> {
        let folder = self.scratch.join(&recipe.name).join(conversation.name);
        if folder.exists() {
            fs::remove_dir_all(&folder).context("failed to remove the folder of a former turn")?;
        }
        fs::create_dir_all(&folder).context("failed to make the folder of a turn")?;
        let mut command = Command::new(&self.acp);
        set_environment(&mut command, recipe, places);
        command
            .current_dir(&folder)
            .args(["run", "--allow", conversation.allow]);
        if let Some(mode) = &recipe.asking_mode {
            command.args(["--mode", mode]);
        }
        command
            .arg(conversation.prompt(&folder))
            .arg("--")
            .args(recipe.command(places));

        let ended = program::run(command, LIMIT, conversation.interrupt_at)?;
        let left = self.tree.clear(&[self.model.pid()]);
        let asked = self.model.take_asked();
        let seen = Seen {
            ended,
            folder,
            asked,
            left,
        };
        let time = seen.ended.time;
        match conversation.judge(&seen) {
            Ok(()) => {
                let name = conversation.name;
                eprintln!(
                    "ok      {} {name} ({:.1} s)",
                    recipe.title,
                    time.as_secs_f64()
                );
                Ok(Outcome::Passed(time))
            }
            Err(error) => {
                eprintln!("FAILED  {} {}: {error:#}", recipe.title, conversation.name);
                print_tail("stdout", &seen.ended.stdout);
                print_tail("stderr", &seen.ended.stderr);
                Ok(Outcome::Failed)
            }
        }
    }
}

/// Gives a program what a fresh login would, and nothing of ours: no key, no proxy.
fn set_environment(command: &mut Command, recipe: &Recipe, places: &Places) {
    let home = &places.home;
    command
        .env_clear()
        .envs(env::var_os("PATH").map(|path| ("PATH", path)))
        .env("LANG", "C.UTF-8")
        .env("NO_COLOR", "1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join(".cache"))
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("XDG_DATA_HOME", home.join(".local/share"))
        .env("XDG_STATE_HOME", home.join(".local/state"))
        .envs(recipe.env(places));
}

fn print_tail(name: &str, text: &str) {
    const LINES: usize = 30;
    let count = text.lines().count();
    for line in text.lines().skip(count.saturating_sub(LINES)) {
        let shown: String = line.chars().take(400).collect();
        eprintln!("        {name}: {shown}");
    }
}
