//! `acp doctor`: whether all is well, and what to do where it is not.

mod agent;
mod machine;
mod report;

use std::path::PathBuf;

use acp_process::stdio::stdout_is_terminal;
use clap::Args;

use crate::agent::inquiry::unless_interrupted;
use crate::config::{self, Configuration, Flags, Origin, Word};
use crate::exit::{self, Exit};
use crate::outcome::Outcome;
use crate::show::{Printed, fail, write};
use crate::table::width;
use report::{Check, Report};

/// What `acp doctor` is told.
#[derive(Debug, Args)]
#[command(after_long_help = HELP.as_str())]
pub(crate) struct DoctorArgs {
    /// Ask this agent [default: the one that is chosen here]
    #[arg(value_name = "AGENT")]
    agent: Option<Word>,

    /// Write one JSON object
    #[arg(long)]
    json: bool,

    /// The folder the agent would work in [default: the current one]
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true
    )]
    cwd: PathBuf,
}

static HELP: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    format!(
        "It looks for programs, reads the configuration, starts the agent, says hello to it and\n\
         opens a session, as a turn begins; it sends no prompt, so it costs nothing. That a\n\
         session opens does not mean that the agent's provider knows you: some agents ask for a\n\
         login only when there is a prompt.\n\n\
         It ends with 0 when all is well, notes or not; else with the code of the first thing\n\
         that is wrong, which is the code that `acp run` would end with.\n\n{}",
        *exit::HELP
    )
});

/// Looks at everything, and tells.
pub(crate) async fn run(args: DoctorArgs) -> Exit {
    let report = match unless_interrupted(examine(&args)).await {
        Ok(report) => report,
        Err(outcome) => return fail(&outcome),
    };
    let printed = match args.json {
        true => Printed::json(report.json()),
        false => report.text(width(stdout_is_terminal())).into(),
    };
    match write(&printed) {
        Ok(()) => report.exit(),
        Err(outcome) => fail(&outcome),
    }
}

async fn examine(args: &DoctorArgs) -> Report {
    let mut report = Report::default();
    let flags = Flags {
        agent: args.agent.clone(),
        ..Flags::default()
    };
    let configuration = match config::load(&args.cwd, flags) {
        Ok(configuration) => {
            report.push(machine::configuration(&configuration));
            configuration
        }
        Err(error) => {
            let outcome = Outcome::from(error);
            report.push(Check::failed("configuration", &outcome));
            // The rest may be worth knowing all the same.
            let mut configuration = Configuration::default();
            let named = args
                .agent
                .as_ref()
                .map(|name| configuration.find(name.as_str()));
            if let Some(Ok(agent)) = named {
                configuration.agent.value = agent;
                configuration.agent.origin = Origin::Flag { name: "agent" };
            }
            configuration
        }
    };
    let denied = configuration.warnings().into_iter();
    report
        .checks
        .extend(denied.map(|warning| Check::note("configuration", warning)));
    if let Err(error) = configuration.mcp_servers() {
        let outcome = Outcome::from(error);
        report.push(Check::failed("mcp", &outcome));
    }
    report.checks.extend(machine::tools().await);
    report.push(machine::agents(&configuration));
    // Where it is not known which agent is meant, none is asked.
    let is_known = args.agent.is_none() || configuration.agent.origin != Origin::Default;
    if is_known {
        agent::ask(&configuration, &args.cwd, &mut report).await;
    }
    report
}
