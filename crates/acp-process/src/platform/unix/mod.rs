//! Children on Linux and macOS: two threads, pipes, process groups.

mod child;
mod descendants;
#[cfg(target_os = "linux")]
mod fork_chain;
mod group_guard;
mod guard;
#[cfg(target_os = "linux")]
mod guarded_leader;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod jail;
mod leader;
mod observer;
mod pipes;
mod pre_exec;
mod proc_stat;
mod spawner;
mod supervised;
mod supervisor;
mod terminal;
#[cfg(target_os = "linux")]
mod tree_guard;

use std::io;
use std::sync::Arc;

use rustix::process::Signal as Number;

pub use child::{Child, ChildHandle};
#[cfg(target_os = "linux")]
pub(crate) use jail::check_sandbox;
pub use pipes::{ChildStdin, ChildStdout};

use crate::child::Signal;
use crate::launch::{Launch, SpawnError};
use crate::stderr::{LineFeed, StderrTail};
use child::Shared;
use pipes::Pipes;
use supervised::SupervisedChild;

/// Starts a validated launch.
pub(crate) fn spawn(launch: &Launch) -> Result<Child, SpawnError> {
    spawn_observed(launch, observer::Means::Best)
}

fn spawn_observed(launch: &Launch, means: observer::Means) -> Result<Child, SpawnError> {
    let resources = |source: io::Error| SpawnError::Resources {
        program: launch.program.clone(),
        source,
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(SpawnError::NoRuntime {
            program: launch.program.clone(),
        });
    }
    // All that can fail or panic comes before anything is started.
    let supervisor = supervisor::supervisor().map_err(resources)?;
    let pipes = Pipes::open(launch).map_err(resources)?;
    let lines = match &launch.stderr_lines {
        Some(callback) => {
            let feed = LineFeed::start(Arc::clone(callback), launch.stderr_redactor.clone());
            Some(feed.map_err(resources)?)
        }
        None => None,
    };
    let tail = StderrTail::new(launch.stderr_capacity, launch.stderr_redactor.clone());

    let (theirs, ours) = (pipes.theirs, pipes.ours);
    let job = {
        let launch = launch.clone();
        move || spawner::start(&launch, theirs, means)
    };
    let started = spawner::run(job).map_err(resources)??;

    let pid = started.leader.pid();
    let shared = Arc::new(Shared::new(pid, &ours, tail));
    let (child, exit) =
        SupervisedChild::new(started, Arc::clone(&shared), ours.supervised, lines, launch);
    supervisor.adopt(child);
    tracing::debug!(process.pid = pid.as_raw_nonzero().get(), process.program = %launch.program.display(), "child started");
    Ok(Child::new(
        shared,
        supervisor,
        exit,
        ours.stdin,
        ours.stdout,
    ))
}

fn number(signal: Signal) -> Number {
    match signal {
        Signal::Hangup => Number::HUP,
        Signal::Interrupt => Number::INT,
        Signal::Quit => Number::QUIT,
        Signal::Kill => Number::KILL,
        Signal::User1 => Number::USR1,
        Signal::User2 => Number::USR2,
        Signal::Terminate => Number::TERM,
        Signal::Continue => Number::CONT,
        Signal::Stop => Number::STOP,
        Signal::WindowChange => Number::WINCH,
    }
}

#[cfg(test)]
mod tests;
