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
    // On this thread, which no connection depends on: it may be stuck on an output that
    // nobody reads, and a second Ctrl-C must be heard all the same.
    let Command::Run(args) = cli.command;
    let exit = runtime.block_on(run::run(args));
    // What still blocks a thread is left to the end of the process.
    runtime.shutdown_background();
    exit.into()
}
