//! The scenarios of `tests/scenarios/everything`, played against the example
//! with everything, in memory and under a clock that stands still until
//! everybody waits.
//!
//! A comment of each says which agent it is, and what will go wrong with it:
//!
//! ```text
//! # $ everything lenient limit=2 list=fails list=waits
//! # $ bare
//! ```
//!
//! `bare` has registered nothing; `strict` is strict about logins; `limit` is
//! how many sessions may be live; and each `CALL=TROUBLE` is for one call of the
//! host ([`troubled`]), in this order, after which all is well.

#[path = "../../examples/everything/desk.rs"]
mod desk;
#[path = "../../examples/everything/errands.rs"]
mod errands;
#[path = "../../examples/everything/library.rs"]
#[expect(dead_code, reason = "the example makes its agent without troubles")]
mod library;
mod seen;
mod troubled;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use acp_agent::{Agent, AgentBuilder, AgentLimits};
use acp_mockpeer::{Play, PlayOutcome, Scenario, Verdict};
use libtest_mimic::{Arguments, Failed, Trial};

use seen::Seen;
use troubled::{Troubled, Troubles};

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/scenarios/everything"
);

fn main() -> ExitCode {
    // A host that panics because it should is not worth a word.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.to_string().contains(troubled::SECRET) {
            report(panic);
        }
    }));
    let files = files();
    let mut trials: Vec<_> = files
        .iter()
        .map(|path| {
            let path = path.clone();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            Trial::test(format!("everything::{stem}"), move || {
                check(&play(&path)?).map_err(Failed::from)
            })
        })
        .collect();
    trials.push(Trial::test("all_that_can_be_said_is_said", move || {
        all_is_said(&files)
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Lists the scenarios; that none is left out is part of the test.
fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FOLDER).unwrap_or_else(|error| {
        panic!("read {FOLDER}: {error}");
    });
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "acpt"));
    files.sort();
    assert!(!files.is_empty(), "{FOLDER} holds no scenario");
    files
}

fn play(path: &Path) -> Result<PlayOutcome, Failed> {
    let scenario = Scenario::load(path)?;
    let (agent, troubles) = agent(&scenario.source)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    let outcome = runtime.block_on(async {
        let (input, agent_input) = tokio::io::duplex(64 << 10);
        let (output, agent_output) = tokio::io::duplex(64 << 10);
        tokio::spawn(async move { agent.serve(agent_input, agent_output).await });
        Play::client(&scenario).over(output, input).await
    });
    match troubles.left() {
        Some(left) if outcome.passed() => Err(format!("{left} never came about").into()),
        _ => Ok(outcome),
    }
}

/// Whether a play passed, and nothing that is private was said.
fn check(outcome: &PlayOutcome) -> Result<(), String> {
    let lines = outcome.transcript.entries().iter();
    let said: String = lines.map(acp_mockpeer::RecordingEntry::to_json).collect();
    match outcome.verdict {
        Verdict::Passed if said.contains(troubled::SECRET) => {
            Err(format!("a secret was told\n{outcome}"))
        }
        Verdict::Passed => Ok(()),
        // What this agent is not made for should not stand in this folder.
        _ => Err(outcome.to_string()),
    }
}

/// Makes the agent that a comment asks for, with its troubles.
fn agent(source: &str) -> Result<(Agent, Troubles), Failed> {
    let line = source.lines().find_map(|line| line.strip_prefix("# $ "));
    let mut words = line.ok_or("no comment says `# $ AGENT …`")?.split(' ');
    let library = Troubled::default();
    let mut builder = match words.next() {
        Some("everything") => library::builder(&library),
        Some("bare") => AgentBuilder::new(library.clone()),
        agent => return Err(format!("no agent is called {agent:?}").into()),
    };
    for word in words {
        match word.split_once('=') {
            None if word == "lenient" => builder = builder.lenient_login(),
            Some(("limit", number)) => {
                let mut limits = AgentLimits::default();
                limits.live_sessions = number.parse()?;
                builder = builder.limits(limits);
            }
            Some((call, trouble)) => library.troubles.expect(call, trouble)?,
            None => return Err(format!("nobody understands {word:?}").into()),
        }
    }
    Ok((builder.build()?, library.troubles))
}

/// Each method has been answered well and badly, by each error that it has, and
/// by no other; and everything was told that can be told.
fn all_is_said(files: &[PathBuf]) -> Result<(), Failed> {
    let mut seen = Seen::default();
    for path in files {
        seen.watch(&play(path)?.transcript);
    }
    let wrong = seen.compare();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}
