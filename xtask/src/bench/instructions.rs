//! Instructions of the hot paths, counted by callgrind: a guard that does not move with
//! what else the machine does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::{Programs, write_json};
use crate::steps::Steps;
use crate::workspace::root;

#[derive(Serialize, Deserialize)]
struct Counted {
    what: String,
    instructions: f64,
}

/// A role, a workload, and what is counted.
const COUNTED: [(&str, &str, &str); 9] = [
    ("agent", "stream", "an update of 40 bytes, sent"),
    ("agent", "big", "an update of 1 MiB, sent"),
    ("agent", "ping", "a turn of one update, agent"),
    ("agent", "sessions", "a session and its turn, agent"),
    ("agent", "callback", "a question to the client, agent"),
    ("client", "stream", "an update of 40 bytes, received"),
    ("client", "big", "an update of 1 MiB, received"),
    ("client", "ping", "a turn of one update, client"),
    ("client", "callback", "a question to the client, client"),
];

/// Two amounts of a workload: their difference has no start in it.
fn amounts(workload: &str) -> [usize; 2] {
    match workload {
        "stream" => [2000, 12_000],
        "big" => [2, 12],
        "sessions" => [100, 900],
        _ => [200, 1200],
    }
}

/// More than this times what is recorded is a regression. Threads that wait for each other
/// and another compiler move the counts by some hundredths.
const MARGIN: f64 = 1.25;

pub(super) fn run(
    programs: &Programs,
    results: &Path,
    write: bool,
    steps: &mut Steps,
) -> Result<()> {
    let there = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    ensure!(
        there.is_ok_and(|status| status.success()),
        "valgrind is missing: it counts the instructions"
    );
    let mut all = Vec::new();
    for (role, workload, what) in COUNTED {
        let amounts = amounts(workload);
        let program = match role {
            "agent" => programs.agent(),
            _ => programs.client(),
        };
        let [few, many] = amounts.map(|amount| count(programs, role, workload, amount, &program));
        let each = (many? - few?) / (amounts[1] - amounts[0]) as f64;
        eprintln!("{what}: {each:.0} instructions");
        all.push(Counted {
            what: what.to_owned(),
            instructions: each.round(),
        });
    }
    if !write {
        let recorded = root().join("bench/results/instructions.json");
        steps.task("guard", "cargo xtask bench instructions", || {
            compare(&all, &recorded)
        })?;
    }
    write_json(&results.join("instructions.json"), &all)
}

/// Counts the instructions of a whole run.
fn count(
    programs: &Programs,
    role: &str,
    workload: &str,
    amount: usize,
    program: &Path,
) -> Result<f64> {
    let folder = tempfile::tempdir().context("failed to make a folder")?;
    let out = folder.path().join("callgrind.out");
    let length = if workload == "big" { 1 << 20 } else { 40 };
    let mut drive = programs.load();
    drive
        .args(["drive", role, workload, "--cold"])
        .args(["--number", &amount.to_string()])
        .args(["--length", &length.to_string()])
        .args(["--", "valgrind", "--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program);
    let output = drive
        .output()
        .context("failed to start the load generator")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{role} {workload}: {told}");
    let text = fs::read_to_string(&out).context("failed to read what was counted")?;
    let totals = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let totals = totals.context("nothing was counted")?;
    totals.trim().parse().context("failed to read the count")
}

fn compare(all: &[Counted], recorded: &Path) -> Result<()> {
    let text = fs::read(recorded).context("nothing is recorded yet; --write does")?;
    let recorded: Vec<Counted> = serde_json::from_slice(&text)?;
    let mut worse = Vec::new();
    for counted in all {
        let before = recorded.iter().find(|before| before.what == counted.what);
        let Some(before) = before else { continue };
        let ratio = counted.instructions / before.instructions;
        if ratio > MARGIN {
            worse.push(format!("{}: {ratio:.2} times as many", counted.what));
        }
    }
    ensure!(
        worse.is_empty(),
        "more instructions than are recorded:\n{}",
        worse.join("\n")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(instructions: f64) -> Vec<Counted> {
        vec![Counted {
            what: "an update".to_owned(),
            instructions,
        }]
    }

    #[test]
    fn a_quarter_more_is_too_much() {
        let folder = tempfile::tempdir().expect("make a folder");
        let recorded = folder.path().join("instructions.json");
        write_json(&recorded, &counted(1000.0)).expect("write it");
        compare(&counted(1240.0), &recorded).expect("this is little more");
        let error = compare(&counted(1260.0), &recorded).expect_err("this is much");
        assert!(
            error.to_string().contains("an update: 1.26 times"),
            "{error}"
        );
    }
}
