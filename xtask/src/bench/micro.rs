//! The small benchmarks: run by criterion, and gathered from what it leaves behind.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use super::{in_bench, write_json};
use crate::steps::Steps;
use crate::workspace::root;

#[derive(Serialize)]
struct Micro {
    name: String,
    nanoseconds: f64,
    bytes: Option<f64>,
}

pub(super) fn run(results: &Path, steps: &mut Steps) -> Result<()> {
    let mut bench = in_bench("bench --locked --package acp-micro");
    steps.run("parts", bench.args(["--bench", "parts"]))?;
    let mut all = Vec::new();
    gather(&root().join("bench/target/criterion"), &mut all)?;
    all.sort_by(|one, other| one.name.cmp(&other.name));
    write_json(&results.join("micro.json"), &all)
}

/// Finds every `new/estimates.json` below a folder.
fn gather(folder: &Path, all: &mut Vec<Micro>) -> Result<()> {
    let new = folder.join("new");
    if new.join("estimates.json").is_file() {
        all.push(one(&new).with_context(|| format!("failed to read {}", new.display()))?);
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            gather(&entry.path(), all)?;
        }
    }
    Ok(())
}

fn one(folder: &Path) -> Result<Micro> {
    let read = |name: &str| -> Result<Value> {
        Ok(serde_json::from_slice(&fs::read(folder.join(name))?)?)
    };
    let (benchmark, estimates) = (read("benchmark.json")?, read("estimates.json")?);
    let name = benchmark["full_id"].as_str().context("no name")?;
    let nanoseconds = &estimates["mean"]["point_estimate"];
    Ok(Micro {
        name: name.replace('/', ", "),
        nanoseconds: nanoseconds.as_f64().context("no mean")?,
        bytes: benchmark["throughput"]["Bytes"].as_f64(),
    })
}
