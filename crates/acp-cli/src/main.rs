//! The acp program: one command for every agent of the Agent Client Protocol.

mod args;
mod exit;
mod human;
mod interrupts;
mod json;
mod launch;
mod line;
mod outcome;
mod output;
mod run;
mod tool_lines;

use std::process::ExitCode;

use acp_agent::demo::DemoAgent;
use clap::Parser;

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(_) => return Exit::StartFailed.into(),
    };
    let exit = match cli.command {
        // On this thread, which no connection depends on: it may be stuck on an output
        // that nobody reads, and a second Ctrl-C must be heard all the same.
        Command::Run(args) => runtime.block_on(run::run(args)),
        // On a worker, where its connection is.
        Command::DemoAgent => runtime
            .block_on(async { tokio::spawn(serve_demo()).await })
            .unwrap_or(Exit::StartFailed),
    };
    // What still blocks a thread is left to the end of the process.
    runtime.shutdown_background();
    exit.into()
}

/// Serves the demo agent until its client hangs up.
async fn serve_demo() -> Exit {
    let Ok(agent) = DemoAgent::default().into_agent() else {
        return Exit::StartFailed;
    };
    match agent.serve_stdio().await {
        Ok(_) => Exit::EndOfTurn,
        Err(_) => Exit::StartFailed,
    }
}
