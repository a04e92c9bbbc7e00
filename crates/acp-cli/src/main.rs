//! The acp program: one command for every agent of the Agent Client Protocol.

mod agent;
mod args;
mod commands;
mod config;
mod exit;
mod outcome;
mod run;
mod sessions;
mod show;
mod table;
mod values;

use std::ffi::OsStr;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::{CommandFactory, Parser};
use tokio::runtime::{Builder, Handle, Runtime};

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match cli.command {
        // It has its own exit codes and, for scripts that are to be timed, its own runtime.
        Command::Mock { command } => acp_mockpeer::cli::run(command),
        Command::Tap(args) => acp_recording::cli::exit_code(acp_recording::tap::run(&args)),
        Command::Replay(args) => {
            acp_mockpeer::cli::run(acp_mockpeer::cli::MockpeerCommand::Replay(args))
        }
        Command::Check(args) => acp_mockpeer::cli::check(&args, &["mock", "agent"].map(OsStr::new)),
        Command::Run(args) => on_runtime(run::run(*args)),
        Command::Agents(args) => on_runtime(commands::agents::run(args)),
        Command::Login(args) => on_runtime(commands::login::log_in(args)),
        Command::Logout(args) => on_runtime(commands::login::log_out(args)),
        Command::Doctor(args) => on_runtime(commands::doctor::run(args)),
        Command::Completions(args) => commands::completions::run(&args, Cli::command()).into(),
        Command::Man(args) => commands::man::run(&args, Cli::command()).into(),
        Command::Config { command } => commands::config::run(&command).into(),
        Command::Schema { name } => commands::schema::print(name).into(),
        Command::Sessions { command } => on_runtime(commands::sessions::sessions(command)),
        Command::Set(args) => on_runtime(commands::sessions::set(args)),
        Command::Cancel(args) => on_runtime(commands::sessions::cancel(args)),
        // On a worker, where its connection is.
        Command::DemoAgent(args) => on_runtime(async {
            let served = tokio::spawn(commands::demo::serve(args)).await;
            served.unwrap_or(Exit::StartFailed)
        }),
    }
}

/// Does what takes connections, on this thread, which none of them depends on: it may be
/// stuck on an output that nobody reads, and a second Ctrl-C must be heard all the same.
fn on_runtime(work: impl Future<Output = Exit>) -> ExitCode {
    let Ok(runtime) = runtime() else {
        return Exit::StartFailed.into();
    };
    keep_time(runtime.handle().clone());
    let exit = runtime.block_on(work);
    // What still blocks a thread is left to the end of the process.
    runtime.shutdown_background();
    exit.into()
}

/// Makes a runtime in which one worker may compute while another one waits.
fn runtime() -> std::io::Result<Runtime> {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(cores.max(2)).enable_all().build()
}

/// How late a time limit or a signal may be noticed while a worker computes.
const BEAT: Duration = Duration::from_millis(100);

/// Keeps time and signals going while a long message is read.
///
/// One worker waits for both. When it finds a message and reads it, no other one waits in
/// its place before there is something to do for it, so this is something to do.
fn keep_time(runtime: Handle) {
    let beat = move || {
        loop {
            thread::sleep(BEAT);
            runtime.spawn(async {});
        }
    };
    // Without a thread for it, time is kept as well as the messages allow.
    let _ = thread::Builder::new()
        .name("acp-clock".to_owned())
        .spawn(beat);
}
