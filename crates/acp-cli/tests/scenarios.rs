//! The scenarios of `tests/scenarios`, played against this program.
//!
//! Those in `agent/` are played against `acp demo-agent`; those in `client/`
//! against `acp run`, whose agent is this test program itself. Two kinds of
//! comments in them say what `acp` is told, and what comes of it:
//!
//! ```text
//! # $ acp run --allow all "tidy up"
//! # exits with 0 and says "done" and shows "a warning"
//! ```

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use acp_mockpeer::{Play, Scenario, Verdict, cli};
use acp_process::{Environment, Launch};
use clap::Parser;
use libtest_mimic::{Arguments, Failed, Trial};

const ACP: &str = env!("CARGO_BIN_EXE_acp");

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scenarios");

/// The command line with which this program is the mock agent.
#[derive(Parser)]
struct Mock {
    #[command(subcommand)]
    command: cli::MockpeerCommand,
}

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|first| first == "mock") {
        return cli::run(Mock::parse_from(&args[1..]).command);
    }
    let mut trials = Vec::new();
    for path in files("agent") {
        let name = name("agent", &path);
        trials.push(Trial::test(name, move || against_agent(&path)));
    }
    for path in files("client") {
        let name = name("client", &path);
        trials.push(Trial::test(name, move || against_client(&path)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Lists the scenarios of a folder; that none is left out is part of the test.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(FOLDER).join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| {
        panic!("read {}: {error}", folder.display());
    });
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "acpt"));
    files.sort();
    assert!(!files.is_empty(), "{} holds no scenario", folder.display());
    files
}

fn name(side: &str, path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    format!("{side}::{stem}")
}

fn against_agent(path: &Path) -> Result<(), Failed> {
    let scenario = Scenario::load(path)?;
    let launch = Launch::new(ACP)
        .with_args(["demo-agent"])
        .with_environment(Environment::inherited(["PATH"]));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(Play::client(&scenario).against(&launch))?;
    match outcome.verdict {
        Verdict::Passed => Ok(()),
        // What the demo agent is not made for should not stand in this folder.
        _ => Err(outcome.to_string().into()),
    }
}

/// What a scenario says of the run.
struct Told {
    args: Vec<String>,
    code: i32,
    /// On stdout.
    says: Vec<String>,
    /// On stderr.
    shows: Vec<String>,
}

fn against_client(path: &Path) -> Result<(), Failed> {
    let scenario = Scenario::load(path)?;
    let told = told(&scenario.source)?;
    let report = std::env::temp_dir().join(format!(
        "acp-scenario-{}-{}.txt",
        std::process::id(),
        path.file_stem().unwrap_or_default().to_string_lossy(),
    ));
    let mut command = Command::new(ACP);
    command
        .args(&told.args)
        .arg("--")
        .arg(std::env::current_exe()?);
    command.args(["mock", "agent", "--script"]).arg(path);
    command.arg("--report").arg(&report);
    // Whoever runs the tests may have files of their own.
    command.env("XDG_CONFIG_HOME", "/no/such/folder");
    let output = command.stdin(Stdio::null()).output()?;
    let reported = std::fs::read_to_string(&report);
    let _ = std::fs::remove_file(&report);
    let (said, seen) = (text(&output.stdout), text(&output.stderr));
    let mut wrong = Vec::new();
    if output.status.code() != Some(told.code) {
        wrong.push(format!(
            "acp ended with {}, not with {}",
            output.status, told.code
        ));
    }
    for expected in &told.says {
        if !said.contains(expected.as_str()) {
            wrong.push(format!("acp did not say {expected:?}"));
        }
    }
    for expected in &told.shows {
        if !seen.contains(expected.as_str()) {
            wrong.push(format!("acp did not show {expected:?}"));
        }
    }
    match reported {
        Ok(reported) if reported.contains(": passed\n") => {}
        Ok(reported) => wrong.push(reported),
        // An agent that is killed, as some scripts want it, reports nothing.
        Err(_) if scenario.source.contains("<- exit by SIGKILL") => {}
        Err(error) => wrong.push(format!("the mock agent left no report: {error}")),
    }
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.push(format!("stdout:\n{said}\nstderr:\n{seen}"));
    Err(wrong.join("\n").into())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads the comments that say what `acp` is told and what comes of it.
fn told(source: &str) -> Result<Told, Failed> {
    let comment = |begin: &str| source.lines().find_map(|line| line.strip_prefix(begin));
    let line = comment("# $ acp ").ok_or("no comment says `# $ acp run …`")?;
    let end = comment("# exits with ").ok_or("no comment says `# exits with …`")?;
    let (code, rest) = end.split_once(' ').unwrap_or((end, ""));
    let (mut says, mut shows) = (Vec::new(), Vec::new());
    let mut pieces = rest.split('"');
    while let (Some(word), Some(text)) = (pieces.next(), pieces.next()) {
        match word.split_whitespace().last() {
            Some("says") => says.push(text.to_owned()),
            Some("shows") => shows.push(text.to_owned()),
            other => return Err(format!("{other:?} is neither `says` nor `shows`").into()),
        }
    }
    // Words, with quotes around those that hold blanks.
    let mut args = Vec::new();
    for (index, piece) in line.split('"').enumerate() {
        if index % 2 == 1 {
            args.push(piece.to_owned());
        } else {
            args.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    Ok(Told {
        args,
        code: code.parse()?,
        says,
        shows,
    })
}
