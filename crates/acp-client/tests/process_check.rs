//! This client, judged by the suite: it keeps every rule of clients that a scenario
//! can find broken, on its own stdio and when it starts its agent itself, and it
//! survives chaos.
//!
//! The client is this test program itself, by the adapter in `examples/`; so is the
//! agent that the client starts.

use std::ffi::OsString;
use std::process::ExitCode;

use acp_client::Launch;
use acp_mockpeer::judge::{Format, Judge, Judged, Profile, ReportLook, ScenarioState};
use acp_mockpeer::{PeerSide, cli, suite};
use clap::Parser as _;
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "../examples/check_adapter.rs"]
#[expect(dead_code, reason = "as an example it has a `main` of its own")]
mod check_adapter;

/// The word by which this program is the mock agent.
const AGENT: &str = "agent";

/// The command line of the mock agent.
#[derive(clap::Parser)]
struct Mock {
    #[command(subcommand)]
    command: cli::MockpeerCommand,
}

fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == AGENT)
    {
        return cli::run(Mock::parse().command);
    }
    let runtime = tokio::runtime::Runtime::new().expect("there is a runtime");
    if std::env::var_os("ACP_CHECK_TASK").is_some() {
        return runtime.block_on(check_adapter::run());
    }
    let trials = vec![
        Trial::test("it_keeps_every_rule", || keeps_every_rule(false)),
        Trial::test("it_keeps_every_rule_with_its_own_agent", || {
            keeps_every_rule(true)
        }),
        Trial::test("it_survives_chaos", || survives_chaos(false)),
        Trial::test("it_survives_chaos_with_its_own_agent", || {
            survives_chaos(true)
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn judge(spawns: bool) -> Result<Judge, Failed> {
    let own = std::env::current_exe()?;
    let launch = Launch::new(&own);
    let mut judge = Judge::new(PeerSide::Client, launch, Profile::default())?;
    judge.jobs = 4;
    if spawns {
        judge.agent = Some(vec![own.into(), AGENT.into(), OsString::from("--join")]);
    }
    Ok(judge)
}

fn keeps_every_rule(spawns: bool) -> Result<(), Failed> {
    let runtime = tokio::runtime::Runtime::new()?;
    let scenarios = suite::client().to_vec();
    let work = judge(spawns)?.run(scenarios, std::future::pending(), |_: &Judged| {});
    let report = runtime.block_on(work);
    let text = report.render(Format::Human, ReportLook::default());
    if !report.passed() || report.count(ScenarioState::Passed) == 0 {
        return Err(text.into());
    }
    // A suite that is skipped proves nothing.
    let silent = report.count(ScenarioState::Skipped) + report.count(ScenarioState::NotExercised);
    if silent > report.count(ScenarioState::Passed) / 4 {
        return Err(text.into());
    }
    Ok(())
}

fn survives_chaos(spawns: bool) -> Result<(), Failed> {
    let runtime = tokio::runtime::Runtime::new()?;
    let work = judge(spawns)?.run_chaos(20_261_130, 1..=25, std::future::pending(), |_| {});
    let report = runtime.block_on(work);
    match report.passed() {
        true => Ok(()),
        false => Err(report.render(Format::Human, ReportLook::default()).into()),
    }
}
