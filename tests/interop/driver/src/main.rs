//! Drives one agent with `acp-client` through everything that a client can do.
//!
//! It works in its current folder and tells how each check went, one JSON object a line
//! ([`report`]). What goes wrong is an outcome, not an error: who started it knows what to
//! expect of the agent.

mod checks;
mod peer;
mod report;
mod turn;
mod watched;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use peer::Plan;

/// Drive one agent through everything that a client can do, and report.
#[derive(Debug, Parser)]
struct Args {
    /// The session mode in which the agent asks before it acts.
    #[arg(long, value_name = "ID")]
    asking_mode: Option<String>,
    /// What the agent answers to a prompt without a word that it knows.
    #[arg(long, value_name = "TEXT", default_value = "Hello from mock.")]
    hello: String,
    /// The option that makes the agent ask questions.
    #[arg(long, value_name = "ID=VALUE")]
    question_option: Option<String>,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let option = args.question_option.as_deref();
    let option = option.and_then(|option| option.split_once('='));
    let plan = match Plan::new(&args.command) {
        Ok(plan) => Plan {
            asking_mode: args.asking_mode,
            question_option: option.map(|(id, value)| (id.to_owned(), value.to_owned())),
            hello: args.hello,
            ..plan
        },
        Err(error) => {
            report::complain(&format!("failed to find the agent: {error}"));
            return ExitCode::FAILURE;
        }
    };
    // On a worker, where connections are at home.
    match tokio::spawn(checks::all(plan)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::complain(&format!("failed to come to the end: {error}"));
            ExitCode::FAILURE
        }
    }
}
