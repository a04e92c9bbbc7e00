//! The load generator: plays the other side of each workload, checks every count, and
//! writes what came of it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program for people that computes statistics"
)]

mod agent;
mod client;
mod floor;
mod growth;
mod lines;
mod machine;
mod message;
mod process;
mod report;
mod sample;
mod suite;
mod workload;

use anyhow::Result;
use clap::{Parser, Subcommand};

use floor::Floor;
use workload::{Amount, Workload};

#[derive(Parser)]
#[command(disable_help_subcommand = true, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Drive an agent or a client through one workload, and print its numbers
    Drive {
        role: Role,
        workload: Workload,
        #[command(flatten)]
        amount: Amount,
        /// Keep both sides on one processor
        #[arg(long)]
        pinned: bool,
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Run every workload with every peer in turn, and keep the medians
    Run(suite::Args),
    /// Measure how costs grow with updates, sessions, bytes and time
    Growth(growth::Args),
    /// Write the page about performance from what was measured
    Report(report::Args),
    /// Be the least an agent or a client can be
    Floor { role: Role, floor: Floor },
}

/// Which side is under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    Agent,
    Client,
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Drive {
            role,
            workload,
            amount,
            pinned,
            command,
        } => {
            let sample = match role {
                Role::Agent => agent::drive(workload, amount, &command, pinned)?,
                Role::Client => client::drive(workload, amount, &command, pinned)?,
            };
            println!("{}", serde_json::to_string(&sample)?);
            Ok(())
        }
        Command::Run(args) => suite::run(&args),
        Command::Growth(args) => growth::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Floor { role, floor } => match role {
            Role::Agent => floor::agent(floor),
            Role::Client => floor::client(floor),
        },
    }
}
