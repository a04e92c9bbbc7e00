//! Every scenario of the suite passes between both of its sides, and finds
//! each of its mutants.
//!
//! `mutant_R019/agent/ids.acpt:12` is the mutant in line 12 of that scenario,
//! `agent/ids.acpt` the scenario itself. The files are read from the folder, so
//! a new one is tried as soon as it is there. A test that fails shows the
//! conversation; with `ACP_SUITE_SHOW=1` one that passes shows it too.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs, io};

use acp_mockpeer::suite::{self, Coverage};
use acp_mockpeer::{Mutant, PeerSide, Rehearsal, Scenario, rehearse};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> io::Result<()> {
    let mut trials = Vec::new();
    let mut scenarios = Vec::new();
    for side in [PeerSide::Agent, PeerSide::Client] {
        for name in names(side)? {
            match read(&name) {
                Ok(scenario) => scenarios.push((side, Arc::new(scenario))),
                Err(error) => trials.push(Trial::test(name, move || Err(error.into()))),
            }
        }
    }
    for (side, scenario) in &scenarios {
        trials.push(trial(*side, scenario, None));
        let mutants = scenario.mutants();
        trials.extend(
            mutants
                .iter()
                .map(|mutant| trial(*side, scenario, Some(mutant))),
        );
    }
    trials.push(Trial::test("coverage", coverage));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/suite");

fn names(side: PeerSide) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join(side.name()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".acpt") {
            names.push(format!("{side}/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

fn read(name: &str) -> Result<Scenario, String> {
    let text = fs::read_to_string(Path::new(ROOT).join(name)).map_err(|error| error.to_string())?;
    Scenario::parse(name, &text).map_err(|error| error.to_string())
}

fn trial(side: PeerSide, scenario: &Arc<Scenario>, mutant: Option<&Mutant>) -> Trial {
    let file = &scenario.file;
    let name = match mutant {
        None => file.to_string(),
        Some(mutant) => format!("mutant_{}/{file}:{}", mutant.breaks(), mutant.line),
    };
    let (scenario, mutant) = (scenario.clone(), mutant.cloned());
    Trial::test(name, move || run(side, &scenario, mutant.as_ref()))
}

fn run(side: PeerSide, scenario: &Scenario, mutant: Option<&Mutant>) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()?;
    let rehearsal = runtime.block_on(rehearse(scenario, side, mutant));
    if env::var_os("ACP_SUITE_SHOW").is_some() {
        #[expect(
            clippy::disallowed_methods,
            reason = "who wants it shown reads it there"
        )]
        let mut stderr = io::stderr().lock();
        writeln!(stderr, "{}", conversation(&rehearsal))?;
    }
    let complaint = rehearsal.check();
    complaint.map_err(|complaint| format!("{complaint}\n{}", conversation(&rehearsal)).into())
}

/// All of it, as the side that judges saw it.
fn conversation(rehearsal: &Rehearsal) -> String {
    let entries = rehearsal.judge().transcript.entries();
    let lines = entries.iter().map(|entry| entry.to_json() + "\n");
    format!("{}\n{}", rehearsal.judge(), lines.collect::<String>())
}

/// Every rule that can be decided has, for each side that it binds, a scenario
/// that proves it and a mutant that breaks it; or stands in the list of those
/// that have none, with the reason.
fn coverage() -> Result<(), Failed> {
    let decidable = |all: &&Coverage| all.rule.decided_by.is_decidable();
    let missing: Vec<String> = suite::coverage()
        .iter()
        .filter(decidable)
        .filter(|all| !all.is_complete() && all.reason().is_none())
        .map(|all| {
            format!(
                "{} {} has {} scenarios and {} mutants: {}",
                all.rule,
                all.side,
                all.scenarios.len(),
                all.mutants.len(),
                all.rule.text
            )
        })
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        all => Err(format!("{} are missing\n{}", all.len(), all.join("\n")).into()),
    }
}
