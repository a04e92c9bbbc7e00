//! Everything the workspace automates: `cargo xtask COMMAND`.
//!
//! One module a command; what several of them need is in `workspace` and `steps`.
//! No crate of the workspace is used here, so generated files can always be rebuilt.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people: it prints what it does"
)]

mod advisories;
#[cfg(unix)]
mod attack;
mod bench;
mod ci;
mod codegen;
mod conformance;
#[cfg(unix)]
mod interop;
mod layers;
mod limits;
mod page;
mod pictures;
mod schema;
mod source;
mod steps;
mod test;
#[cfg(unix)]
mod tree;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Everything the workspace automates.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the protocol types and the method table from the pinned schema.
    Codegen(codegen::Args),
    /// Write the tables of what the suite tries into docs/conformance.md.
    Conformance(conformance::Args),
    /// Bring the pinned schema again.
    Schema(schema::Args),
    /// Compare the dependency table of the root manifest with the real graph.
    Layers(layers::Args),
    /// Compare the limits in bytes with the tests that send more.
    Limits(limits::Args),
    /// Run every check and test that needs nothing but Rust.
    Test(test::Args),
    /// Run what CI runs: `test`, and format, lints, documentation, licences, packages.
    Ci(ci::Args),
    /// Measure how fast the crates are, beside floors and the official SDK.
    Bench(bench::Args),
    /// Draw the pictures of the documentation anew, of real runs.
    Pictures,
    /// Let hostile agents, clients and files attack the built programs.
    #[cfg(unix)]
    Attack(attack::Args),
    /// Drive real agents with the acp program, and print what worked.
    #[cfg(unix)]
    Interop(interop::Args),
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The chain of causes, and no backtrace of ours: it says nothing to the reader.
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Codegen(args) => codegen::run(&args),
        Command::Conformance(args) => conformance::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Layers(args) => layers::run(&args),
        Command::Limits(args) => limits::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Ci(args) => ci::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Pictures => pictures::run(),
        #[cfg(unix)]
        Command::Attack(args) => attack::run(&args),
        #[cfg(unix)]
        Command::Interop(args) => interop::run(&args),
    }
}
