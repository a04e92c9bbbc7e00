//! `cargo xtask bench`: how fast the crates are, beside floors and the official SDK.
//!
//! What measures is a workspace of its own, `bench/`, so that nobody else builds it.

mod builds;
mod instructions;
mod micro;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::steps::Steps;
use crate::workspace::{cargo, root, target};

/// What `cargo xtask bench` can be told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to measure [default: the workloads].
    #[command(subcommand)]
    part: Option<Part>,
    /// How often each workload runs with each peer; medians are kept.
    #[arg(long, default_value_t = 5, value_name = "N", global = true)]
    reps: u32,
    /// Only these workloads, such as `agent.stream,client.ping1`.
    #[arg(long, value_name = "LIST")]
    workloads: Option<String>,
    /// Little of everything, unoptimised and without the other SDK: proves that it works,
    /// and judges no time.
    #[arg(long)]
    short: bool,
    /// Keep the results in `bench/results`, and write `docs/performance.md` from them.
    #[arg(long, global = true)]
    write: bool,
}

/// What else can be measured.
#[derive(Clone, Copy, clap::Subcommand)]
enum Part {
    /// The parts of the hot paths, each alone, by criterion.
    Micro,
    /// How costs grow with updates, sessions, bytes and time; takes a quarter of an hour.
    Growth,
    /// How many instructions the hot paths take, compared with what is recorded (valgrind).
    Instructions,
    /// How long builds take, from clean and after a changed line.
    Builds,
    /// Nothing: write the page from the results that are there.
    Report,
}

/// Measures.
///
/// # Errors
///
/// Fails when a build or a run does, or a peer is wrong.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut steps = Steps::new();
    if args.short {
        return smoke(&mut steps);
    }
    let results = match args.write {
        true => root().join("bench/results"),
        false => target().join("bench-results"),
    };
    fs::create_dir_all(&results).context("failed to make the folder of the results")?;
    let load = |steps: &mut Steps| build(steps, "release");
    match args.part {
        None => workloads(args, &load(&mut steps)?, &results, &mut steps)?,
        Some(Part::Growth) => growth(args.reps, &load(&mut steps)?, &results, &mut steps)?,
        Some(Part::Micro) => micro::run(&results, &mut steps)?,
        Some(Part::Instructions) => {
            instructions::run(&load(&mut steps)?, &results, args.write, &mut steps)?;
        }
        Some(Part::Builds) => builds::run(&results)?,
        Some(Part::Report) => {}
    }
    if args.write {
        let report = load(&mut steps)?.report(&root().join("bench/results"));
        steps.run("page", &mut { report })?;
    }
    steps.finish();
    Ok(())
}

/// The programs that were built, all of them in `bench/`.
struct Programs(PathBuf);

impl Programs {
    fn load(&self) -> Command {
        Command::new(self.0.join("acp-load"))
    }

    fn agent(&self) -> PathBuf {
        self.0.join("bench_agent")
    }

    fn client(&self) -> PathBuf {
        self.0.join("bench_client")
    }

    fn growth(&self, results: &Path) -> Command {
        let mut growth = self.load();
        growth.arg("growth").arg("--agent").arg(self.agent());
        growth.arg("--client").arg(self.client());
        growth.arg("--out").arg(results.join("growth.json"));
        growth
    }

    /// Prints the tables of the workloads.
    fn tables(&self, results: &Path) -> Command {
        let mut tables = self.load();
        tables.arg("report").arg("--results").arg(results);
        tables
    }

    /// Writes the page.
    fn report(&self, results: &Path) -> Command {
        let mut report = self.tables(results);
        report.arg("--out").arg(root().join("docs/performance.md"));
        report
    }
}

/// Builds the examples, and what loads and measures them.
fn build(steps: &mut Steps, profile: &str) -> Result<Programs> {
    // Each of ours alone: what is built together gets what any of it asks of a
    // dependency, and nobody shall pay for another.
    let load: &[_] = match profile {
        "dev" => &["acp-load", "acp-micro"],
        _ => &["acp-load", "acp-micro", "official"],
    };
    let parts: [(_, &[_]); 3] = [
        ("our agent", &["ours-agent"]),
        ("our client", &["ours-client"]),
        ("load generator", load),
    ];
    for (name, packages) in parts {
        let mut build = in_bench(&format!("build --locked --profile {profile}"));
        for package in packages {
            build.args(["--package", package]);
        }
        steps.run(name, &mut build)?;
    }
    let folder = if profile == "dev" { "debug" } else { profile };
    Ok(Programs(root().join("bench/target").join(folder)))
}

/// A `cargo` command line in the workspace of the benchmarks.
fn in_bench(line: &str) -> Command {
    let mut command = cargo(line);
    // Where one folder is set for everything that is built, this keeps to its own.
    command
        .current_dir(root().join("bench"))
        .env_remove("CARGO_TARGET_DIR");
    command
}

/// Runs the workloads with everybody.
fn workloads(args: &Args, programs: &Programs, results: &Path, steps: &mut Steps) -> Result<()> {
    let mut run = programs.load();
    run.arg("run").args(["--reps", &args.reps.to_string()]);
    for role in ["agent", "client"] {
        let official = programs.0.join(format!("official-{role}"));
        let ours = programs.0.join(format!("bench_{role}"));
        run.arg(format!("--{role}")).arg(peer("ours", &ours, ""));
        run.arg(format!("--{role}"))
            .arg(peer("official", &official, ""));
        run.arg(format!("--{role}"))
            .arg(peer("official-tuned", &official, " tuned"));
    }
    if let Some(workloads) = &args.workloads {
        run.args(["--workloads", workloads]);
    }
    let out = results.join("workloads.json");
    steps.run("workloads", run.arg("--out").arg(out))?;
    steps.run("tables", &mut programs.tables(results))
}

fn peer(name: &str, program: &Path, arguments: &str) -> OsString {
    let mut peer = OsString::from(format!("{name}="));
    peer.push(program);
    peer.push(arguments);
    peer
}

/// Measures how costs grow.
fn growth(reps: u32, programs: &Programs, results: &Path, steps: &mut Steps) -> Result<()> {
    let mut growth = programs.growth(results);
    growth.args(["--reps", &reps.to_string()]);
    growth.arg("--codec").arg(programs.0.join("acp-micro"));
    steps.run("growth", &mut growth)
}

/// Proves that everything that measures works.
pub(crate) fn smoke(steps: &mut Steps) -> Result<()> {
    let programs = build(steps, "dev")?;
    let folder = tempfile::tempdir().context("failed to make a folder")?;
    let mut run = programs.load();
    run.args(["run", "--short", "--reps", "1"]);
    run.arg("--agent").arg(peer("ours", &programs.agent(), ""));
    run.arg("--client")
        .arg(peer("ours", &programs.client(), ""));
    run.arg("--out").arg(folder.path().join("workloads.json"));
    steps.run("workloads, short", &mut run)?;
    let mut growth = programs.growth(folder.path());
    growth.args(["--short", "--reps", "1", "--soak", "1"]);
    steps.run("growth, short", &mut growth)?;
    steps.run("tables", &mut programs.tables(folder.path()))?;
    let mut report = programs.tables(folder.path());
    report.arg("--out").arg(folder.path().join("page.md"));
    steps.run("page", &mut report)?;
    let mut micro = in_bench("test --locked --quiet --package acp-micro");
    steps.run("parts, once each", micro.arg("--benches"))
}

/// Writes results as JSON that people can compare.
fn write_json(path: &Path, what: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(what)?;
    fs::write(path, text + "\n").with_context(|| format!("failed to write {}", path.display()))
}
