//! A helper above a child, which is given the child's orphans and ends them all.
//!
//! ```text
//! this process ── guard (subreaper) ── holder ── the child ── …
//!                        └── its reader      orphans ⤴ become children of the guard
//! ```
//!
//! The guard is the nearest ancestor with `PR_SET_CHILD_SUBREAPER`: a descendant of
//! the child whose parent ends becomes a child of the guard, whatever its group and
//! session. The guard waits for a subshell that reads from a pipe of ours, and by
//! that reaps the orphans that end meanwhile. The end of the pipe is its dismissal
//! or the end of this process; either way it kills its children until none is left.
//!
//! The child is not the guard's own child but that of the holder, a program (`cat`) that
//! never waits for one, so the child stays a zombie until its status was read. Nothing here
//! depends on a shell's idea of statuses, signals or environments: child, holder
//! and guard are forked by [`ForkChain`], before any shell runs.
//!
//! For a sandbox the guard has another guard below it, the first process of a process
//! namespace; `ForkChain` and `Jail` say how. The end of that one is the end of all in it.
//!
//! Why shells and no fork of ourselves: see `group_guard`. Why not this process as
//! the subreaper: it belongs to whoever uses this library, and so do its children.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Pid;

use super::fork_chain::{ForkChain, Report};
use super::guard::Guard;
use super::guarded_leader::GuardedLeader;
use super::jail::{Failed, Jail, check_sandbox};
use super::leader::Leader;
use super::observer::{Means, Observer};
use super::pipes::{TheirEnds, pipe};
use super::proc_stat::{children, namespace_ids};
use super::spawner::{Started, explain, fork};
use crate::launch::{Launch, SpawnError};
use crate::sandbox::{Plan, SandboxError};

/// Kills in quick passes, so that a chain of forks does not run away from it; a pass
/// that finds the same as the one before waits for a subshell, by which the dead are
/// reaped. `command eval` survives that no process can be made any more. Those that
/// a thousand such passes do not end have their signal and can do nothing any more.
pub(super) const SCRIPT: &str = "trap '' HUP INT QUIT TERM\n\
    (read -r end)\n\
    last= passes=0\n\
    while :; do\n\
      all=\n\
      read -r all </proc/$$/task/$$/children\n\
      case $all in\n\
        '') exit 0 ;;\n\
        \"$last\")\n\
          passes=$((passes + 1))\n\
          case $passes in 1000) exit 1 ;; esac\n\
          command eval '(:)' ;;\n\
        *) passes=0 ;;\n\
      esac\n\
      kill -s KILL $all\n\
      last=$all\n\
    done\n";

/// A running helper.
pub(super) struct TreeGuard {
    observer: Observer,
    /// Its end is the guard's signal.
    line: OwnedFd,
}

impl TreeGuard {
    pub(super) fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Makes the helper end all that is left, and then itself; returns what is to be
    /// reaped.
    pub(super) fn dismiss(self) -> Observer {
        drop(self.line);
        self.observer
    }
}

/// Starts a child under a guard; `None` where this system has no such guard.
pub(super) fn start(launch: &Launch, pipes: &TheirEnds) -> Result<Option<Started>, SpawnError> {
    /// Found out with the first child: the system does not change.
    static UNSUPPORTED: AtomicBool = AtomicBool::new(false);
    let started = if !UNSUPPORTED.load(Ordering::Relaxed)
        && Path::new("/proc/thread-self/children").exists()
    {
        start_chain(launch, pipes)?
    } else {
        None
    };
    if started.is_none() && launch.sandbox.is_some() {
        return Err(SandboxError::Unsupported {
            missing: "this system does not show the state of processes (/proc, pidfd)".to_owned(),
        }
        .into());
    }
    if started.is_none() && !UNSUPPORTED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            "this system does not show the state of processes (/proc, pidfd): a descendant that \
             leaves its process group outlives the child"
        );
    }
    Ok(started)
}

fn start_chain(launch: &Launch, pipes: &TheirEnds) -> Result<Option<Started>, SpawnError> {
    let failed = SpawnError::OrphanGuard;
    let resources = |source| SpawnError::Resources {
        program: launch.program.clone(),
        source,
    };
    let (reads_line, line) = pipe().map_err(failed)?;
    let (reports, report) = pipe().map_err(failed)?;
    let (waits, go) = pipe().map_err(failed)?;
    let cwd = working_directory(launch).map_err(resources)?;
    let plan = plan(launch, cwd.as_deref())?;
    let jail = plan.clone().map(Jail::new);
    let chain =
        ForkChain::new(launch, pipes, report, waits, jail, cwd.as_deref()).map_err(resources)?;
    let guard = {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "acp-orphan-guard"])
            .env_clear()
            // Out of reach of what our terminal sends to our group.
            .process_group(0)
            .stdin(Stdio::from(reads_line))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        chain.install(&mut command);
        // The command holds the chain's ends of the pipes; they go with it.
        fork(&mut command).map_err(failed)?
    };
    let guard = TreeGuard {
        observer: Observer::new(guard, Means::Best),
        line,
    };
    match run(&reports, go, guard.observer.pid(), plan.is_some()) {
        Ok(Outcome::Runs(leader)) => Ok(Some(Started {
            leader: Leader::Guarded(leader),
            guard: Guard::Tree(guard),
        })),
        other => {
            guard.dismiss().reap_soon();
            match (other, &plan) {
                (Ok(Outcome::Unjailed(step)), Some(plan)) => Err(Jail::explain(plan, &step).into()),
                (Ok(Outcome::Failed(source)), Some(_)) if is_hidden(launch, &source) => {
                    Err(SandboxError::Program {
                        program: launch.program.clone(),
                    }
                    .into())
                }
                (Ok(Outcome::Failed(source)), _) => Err(explain(launch, source)),
                (Ok(_), _) => Ok(None),
                (Err(error), _) => Err(failed(error)),
            }
        }
    }
}

/// Returns the directory to enter by its path; `None` where that is done by a descriptor,
/// or not at all.
fn working_directory(launch: &Launch) -> io::Result<Option<PathBuf>> {
    match (&launch.cwd, &launch.cwd_handle) {
        (Some(cwd), None) => Ok(Some(cwd.clone())),
        (_, Some(_)) if launch.sandbox.is_none() => Ok(None),
        // A descriptor would lead out of the sandbox, so it is entered by its name there,
        // and compared.
        (_, Some(folder)) => {
            let link = format!("/proc/self/fd/{}", folder.as_raw_fd());
            std::fs::read_link(link).map(Some)
        }
        (None, None) if launch.sandbox.is_none() => Ok(None),
        (None, None) => std::env::current_dir().map(Some),
    }
}

fn plan(launch: &Launch, cwd: Option<&Path>) -> Result<Option<Plan>, SpawnError> {
    let (Some(sandbox), Some(cwd)) = (&launch.sandbox, cwd) else {
        return Ok(None);
    };
    check_sandbox()?;
    let plan = Plan::new(
        sandbox,
        &launch.program,
        launch.environment.get("PATH"),
        cwd,
    )?;
    Ok(Some(plan))
}

/// Tells whether a program that was not found is there outside of its sandbox.
fn is_hidden(launch: &Launch, source: &io::Error) -> bool {
    source.kind() == io::ErrorKind::NotFound && launch.program.exists()
}

/// What became of a leader that was forked.
enum Outcome {
    Runs(GuardedLeader),
    /// It could not execute its program.
    Failed(io::Error),
    /// Its sandbox could not be made.
    Unjailed(Failed),
    /// We cannot see it.
    Hidden,
}

/// Waits for the leader's id, lets it go on, and waits until its program runs.
fn run(reports: &OwnedFd, go: OwnedFd, guard: Pid, jailed: bool) -> io::Result<Outcome> {
    let told = match Report::read(reports)? {
        Some(Report::Forked(pid)) => pid,
        Some(Report::HelperFailed(error)) => return Err(error),
        Some(Report::LeaderFailed(error)) => return Ok(Outcome::Failed(error)),
        Some(Report::JailFailed(step)) => return Ok(Outcome::Unjailed(step)),
        None => return Err(io::ErrorKind::UnexpectedEof.into()),
    };
    // It waits, and nobody reaps it: the id is its own.
    let pid = if jailed {
        id_outside(guard, told)
    } else {
        Some(told)
    };
    let Some(pid) = pid.and_then(Pid::from_raw) else {
        return Ok(Outcome::Hidden);
    };
    let Some(leader) = GuardedLeader::new(pid)? else {
        return Ok(Outcome::Hidden);
    };
    rustix::io::retry_on_intr(|| rustix::io::write(&go, &[0]))?;
    drop(go);
    match Report::read(reports)? {
        None => Ok(Outcome::Runs(leader)),
        Some(Report::LeaderFailed(error)) => Ok(Outcome::Failed(error)),
        Some(Report::HelperFailed(error)) => Err(error),
        Some(Report::Forked(_) | Report::JailFailed(_)) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Finds the process below the guard that has this id in a namespace of its own.
fn id_outside(guard: Pid, inside: i32) -> Option<i32> {
    /// The chain has four processes, and the guard's reader is one more.
    const MAX_WALKED: usize = 16;
    let mut waiting = vec![guard.as_raw_nonzero().get()];
    for _ in 0..MAX_WALKED {
        let parent = waiting.pop()?;
        for child in children(parent) {
            let ids = namespace_ids(child);
            if ids.len() > 1 && ids.last() == Some(&inside) {
                return Some(child);
            }
            waiting.push(child);
        }
    }
    None
}
