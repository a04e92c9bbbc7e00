//! Plays scripted agents and clients of the Agent Client Protocol.

use std::process::ExitCode;

use acp_mockpeer::cli::Command;
use clap::Parser;

/// Plays scripted agents and clients of the Agent Client Protocol.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    acp_mockpeer::cli::run(Arguments::parse().command)
}
