//! The page about performance, written from what was measured.

mod growth;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::growth::Growth;
use crate::suite::Results;

/// What `report` is told.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of the results
    #[arg(long, value_name = "DIR")]
    results: PathBuf,
    /// The page; its pictures go into a folder beside it [default: the tables of the
    /// workloads alone, on stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// How many instructions something takes.
#[derive(Deserialize)]
pub(crate) struct Instructions {
    what: String,
    instructions: f64,
}

/// How long a build takes.
#[derive(Deserialize)]
pub(crate) struct Build {
    what: String,
    seconds: f64,
    /// Packages beneath the crate.
    packages: Option<usize>,
}

/// One line of the statistics of the small benchmarks.
#[derive(Deserialize)]
pub(crate) struct Micro {
    name: String,
    nanoseconds: f64,
    bytes: Option<f64>,
}

/// Writes the page.
pub(crate) fn run(args: &Args) -> Result<()> {
    let results: Results = read(&args.results, "workloads.json")?.context("no workloads.json")?;
    let Some(out) = &args.out else {
        println!("{}", tables::workloads(&results));
        return Ok(());
    };
    let mut page = String::from(INTRODUCTION);
    page.push_str(&tables::machine(&results));
    page.push_str(&tables::targets(&results));
    page.push_str(&tables::workloads(&results));
    if let Some(growth) = read::<Growth>(&args.results, "growth.json")? {
        let folder = out.with_extension("");
        fs::create_dir_all(&folder)?;
        page.push_str(&growth::section(&growth, &folder)?);
    }
    if let Some(instructions) = read::<Vec<Instructions>>(&args.results, "instructions.json")? {
        page.push_str(&tables::instructions(&instructions));
    }
    if let Some(micro) = read::<Vec<Micro>>(&args.results, "micro.json")? {
        page.push_str(&tables::micro(&micro));
    }
    if let Some(builds) = read::<Vec<Build>>(&args.results, "builds.json")? {
        page.push_str(&tables::builds(&builds));
    }
    if let Ok(notes) = fs::read_to_string(args.results.join("notes.md")) {
        page.push_str("\n## What is not reached, and why\n\n");
        page.push_str(&notes);
    }
    fs::write(out, page).with_context(|| format!("failed to write {}", out.display()))
}

const INTRODUCTION: &str = "\
# Performance

This page is written by `cargo xtask bench --write` from what was measured; the results are in `bench/results`.

A load generator that shares no code with the crates plays the other side, and checks every id, count and sample of
text: a peer that is wrong fails, however quick. The agent under load is `crates/acp-agent/examples/bench_agent.rs`, made with
`kit`; the client is `crates/acp-client/examples/bench_client.rs`. Both use the public interface and tokio's default
runtime, and are built as a user would build them: with the dependencies they need, whole-program optimisation
and no symbols. Beside them run two floors, programs of a hundred lines without a library (`raw` writes ready-made bytes or
counts lines, `serde` reads and writes every message with typed values), and the official Rust SDK, as its
own examples use it (`official`) and as fast as it can be made to go (`official-tuned`: one thread, non-blocking pipes).
The peers take turns within each workload, and medians are kept. Wall-clock times move with what else the machine does;
processor time, the median of the latency, and the runs in which both sides share one processor (`ping1`,
`callback1`) are to be trusted, as ratios to a floor of the same run.
";

/// Reads a file of results, if it is there.
fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path)?;
    let read = serde_json::from_str(&text);
    read.map(Some)
        .with_context(|| format!("failed to read {}", path.display()))
}
