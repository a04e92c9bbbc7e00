//! Plays scripted agents and clients of the Agent Client Protocol.

use std::process::ExitCode;

use acp_mockpeer::cli::MockpeerCommand;
use clap::Parser;

/// Plays scripted agents and clients of the Agent Client Protocol.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: MockpeerCommand,
}

fn main() -> ExitCode {
    acp_mockpeer::cli::run(Arguments::parse().command)
}
