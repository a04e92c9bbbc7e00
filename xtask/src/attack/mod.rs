//! `cargo xtask attack`: hostile agents, clients and files against the built programs.
//!
//! Each attack is a data file of `tests/attacks`; docs/attacks.md says how they are written. An
//! attack holds when the victim ended in time and within its memory, said nothing that it must
//! not, changed no file that it must not, and left no process.

mod crew;
mod definition;
mod ear;
mod forbidden;
mod judge;
mod play;
mod script;
mod stage;
mod table;
mod text;
mod units;
mod victim;

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::page::Marks;
use crate::steps::Steps;
use crate::tree::Tree;
use crate::workspace::{cargo, root, target};
use definition::Attack;
use judge::Before;
use play::PlayArgs;
use stage::Stage;
use table::{Row, Table, Verdict};
use victim::{Ended, Manner};

/// What `cargo xtask attack` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Try only attacks with this text in their name; may be repeated.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Try only the short ones, as CI does.
    #[arg(long)]
    fast: bool,
    /// Attack this program in place of the one that is built [default: target/debug/acp].
    #[arg(long, value_name = "FILE")]
    acp: Option<PathBuf>,
    /// Try so many at a time. Attacks that wait for a limit share a machine well; those that
    /// compute until one take longer.
    #[arg(long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// List the attacks and try none.
    #[arg(long)]
    list: bool,
    /// Write the rows into the table of docs/attacks.md; rows of attacks that are not tried stay.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    play: PlayArgs,
    /// Try the attack of this name alone, and write its row as JSON for the one who wants several
    /// at a time.
    #[arg(long, hide = true, value_name = "NAME", requires = "acp")]
    row_of: Option<String>,
}

/// Where docs/attacks.md holds the table.
const MARKS: Marks = Marks {
    begin: "<!-- table: written by `cargo xtask attack --write` -->\n",
    end: "<!-- end of the table -->\n",
};

/// Tries the attacks, and prints how each ended.
///
/// # Errors
///
/// Fails when one breaks through, or cannot be tried.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.play.is_wanted() {
        // The exit code of a hostile peer is part of its script. `exit` runs no destructors,
        // and there is nothing left to close.
        let code = play::play(&args.play)?;
        std::process::exit(i32::from(code));
    }
    let mut attacks = definition::load_all(&root().join("tests/attacks"))?;
    let names: Vec<_> = attacks.iter().map(|attack| attack.name.clone()).collect();
    attacks.retain(|attack| {
        let named = args
            .only
            .iter()
            .any(|text| attack.name.contains(text.as_str()));
        let is_meant = args.row_of.as_ref().is_none_or(|name| *name == attack.name);
        (named || args.only.is_empty()) && (attack.fast || !args.fast) && is_meant
    });
    ensure!(!attacks.is_empty(), "no attack has such a name");
    if args.list {
        for attack in &attacks {
            println!("{:36}  {}", attack.name, attack.title);
        }
        return Ok(());
    }
    let acp = match &args.acp {
        Some(acp) => std::path::absolute(acp).context("failed to find the program")?,
        None => build()?,
    };
    let jobs = args.jobs.get().min(attacks.len());
    let table = match (&args.row_of, jobs) {
        (None, 2..) => crew::attempt_all(&attacks, &acp, jobs)?,
        _ => attempt_all(&attacks, &acp)?,
    };
    if args.row_of.is_some() {
        println!("{}", serde_json::to_string(&table)?);
        return Ok(());
    }
    if args.write {
        let page = root().join("docs/attacks.md");
        let former = fs::read_to_string(&page).context("failed to read the former table")?;
        MARKS.write(&page, &table.with_former(&former, &names))?;
    }
    let (all, broken) = (table.0.len(), table.broken());
    println!("\n{table}");
    println!(
        "{all} attacks, {broken} broke through; the most memory of a tree was {} MiB",
        table.memory() >> 20
    );
    ensure!(broken == 0, "{broken} of {all} attacks broke through");
    Ok(())
}

/// Tries attacks one after the other.
fn attempt_all(attacks: &[Attack], acp: &Path) -> Result<Table> {
    let tree = Tree::watch()?;
    let scratch = target().join("attack-run");
    let mut table = Table::default();
    for attack in attacks {
        let row = attempt(attack, acp, &scratch, &tree);
        let row = row.with_context(|| format!("attack {} cannot be tried", attack.name))?;
        eprintln!("{row}");
        table.0.push(row);
    }
    Ok(table)
}

/// Builds the program that is attacked, with the features with which the tests build it.
fn build() -> Result<PathBuf> {
    let mut build = cargo("build --quiet --workspace --all-features");
    Steps::new().run("programs", build.args(["--bin", "acp"]))?;
    Ok(target().join("debug/acp"))
}

/// Tries one attack.
fn attempt(attack: &Attack, acp: &Path, scratch: &Path, tree: &Tree) -> Result<Row> {
    let row = |verdict, ended: &Ended| Row {
        name: attack.name.clone(),
        verdict,
        memory: ended.memory,
        time: ended.time,
        code: ended.code,
    };
    if let Some(program) = attack.needs.iter().find(|program| !is_there(program)) {
        let why = format!("{program} is not installed");
        eprintln!("\n!!! {} is SKIPPED: {why}\n", attack.name);
        return Ok(row(Verdict::Skipped(why), &Ended::default()));
    }
    let folder = scratch.join(attack.name.replace('/', "-"));
    let stage = Stage::set(attack, acp, &folder)?;
    let before = Before::look(attack, &stage)?;
    let manner = Manner {
        keys: attack.keys.as_deref(),
        stop: attack.stop.as_ref(),
        marks: &stage.folders.marks,
        within: attack.expect.within,
    };
    let mut ended = victim::run(stage.command(&attack.command)?, &manner, tree)?;
    let mut left = tree.clear(&[]);
    for words in &attack.then {
        let manner = Manner {
            keys: None,
            stop: None,
            ..manner
        };
        let next = victim::run(stage.command(words)?, &manner, tree)?;
        left.extend(tree.clear(&[]));
        ended.add(next);
    }
    let faults = judge::faults(attack, &stage, &before, &ended, &left)?;
    let verdict = match faults.is_empty() {
        true => {
            // The folders of an attack that held tell nothing.
            fs::remove_dir_all(&folder).context("failed to remove the folders of an attack")?;
            Verdict::Held
        }
        false => {
            fs::write(folder.join("stdout"), &ended.stdout).context("failed to keep output")?;
            fs::write(folder.join("stderr"), &ended.stderr).context("failed to keep output")?;
            Verdict::BrokeThrough(faults)
        }
    };
    Ok(row(verdict, &ended))
}

fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
