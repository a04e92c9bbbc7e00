//! The thread that starts all children.
//!
//! On Linux the parent-death signal is sent when the thread that started the
//! child ends. A worker of a runtime may end at any time; this thread ends
//! with the process.

use std::io;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use parking_lot::Mutex;
use rustix::process::{Pid, getpid};

use super::group_guard::GroupGuard;
use super::guard::Guard;
use super::leader::Leader;
use super::observer::{Means, Observer};
use super::pipes::{TheirEnds, no_half_made_pipe};
use super::pre_exec::PreExec;
use crate::launch::{Launch, OrphanGuard, SpawnError};

/// A child that was just started and belongs to nobody yet.
pub(super) struct Started {
    pub(super) leader: Leader,
    pub(super) guard: Guard,
}

type Job = Box<dyn FnOnce() + Send>;

/// Runs `job` on the spawner thread and waits for it.
pub(super) fn run<T, F>(job: F) -> io::Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    let (answer, answered) = channel();
    jobs()?
        .send(Box::new(move || {
            let _ = answer.send(job());
        }))
        .map_err(|_| io::Error::other("the spawner thread is gone"))?;
    answered
        .recv()
        .map_err(|_| io::Error::other("the spawner thread panicked"))
}

/// Starts a child. Runs on the spawner thread.
pub(super) fn start(
    launch: &Launch,
    pipes: TheirEnds,
    means: Means,
) -> Result<Started, SpawnError> {
    #[cfg(target_os = "linux")]
    if (launch.orphan_guard == OrphanGuard::Descendants || launch.sandbox.is_some())
        && let Some(started) = super::tree_guard::start(launch, &pipes)?
    {
        return Ok(started);
    }
    #[cfg(not(target_os = "linux"))]
    let launch = &confined(launch)?;
    let guard = match launch.orphan_guard {
        OrphanGuard::Group | OrphanGuard::Descendants => {
            Some(GroupGuard::start().map_err(SpawnError::OrphanGuard)?)
        }
        OrphanGuard::None | OrphanGuard::ParentDeathSignal => None,
    };
    match exec(launch, pipes, guard.as_ref()) {
        Ok(leader) => Ok(Started {
            leader: Leader::Child(Observer::new(leader, means)),
            guard: guard.map_or(Guard::None, Guard::Group),
        }),
        Err(source) => {
            if let Some(guard) = guard {
                guard.dismiss().reap_soon();
            }
            Err(explain(launch, source))
        }
    }
}

/// Puts the program that holds another one to a profile before a child with a sandbox.
#[cfg(not(target_os = "linux"))]
fn confined(launch: &Launch) -> Result<Launch, SpawnError> {
    use crate::sandbox::{SANDBOX_EXEC, profile};
    let Some(sandbox) = &launch.sandbox else {
        return Ok(launch.clone());
    };
    crate::platform::check_sandbox()?;
    let scratch = launch.environment.get("TMPDIR").map(Path::new);
    let scratch = scratch.unwrap_or(Path::new("/private/tmp"));
    let scratch = scratch.canonicalize().map_err(|source| {
        SpawnError::Sandbox(crate::sandbox::SandboxError::Missing {
            path: scratch.to_owned(),
            source,
        })
    })?;
    let profile = profile(
        sandbox,
        &launch.program,
        launch.environment.get("PATH"),
        &scratch,
    )?;
    let mut confined = launch.clone().without_args();
    confined.program = SANDBOX_EXEC.into();
    Ok(confined
        .with_args([
            "-p".into(),
            profile.into(),
            launch.program.clone().into_os_string(),
        ])
        .with_args(launch.args.clone()))
}

fn exec(launch: &Launch, pipes: TheirEnds, guard: Option<&GroupGuard>) -> io::Result<Pid> {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .env_clear()
        .envs(launch.environment.iter())
        .stdin(pipes.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::from(pipes.stdout))
        .stderr(Stdio::from(pipes.stderr));
    if let (Some(cwd), None) = (&launch.cwd, &launch.cwd_handle) {
        command.current_dir(cwd);
    }
    let work = PreExec {
        announce_to: guard.map(GroupGuard::line).transpose()?,
        ..pre_exec(launch)
    };
    if !work.new_session {
        command.process_group(0);
    }
    work.install(&mut command);
    fork(&mut command)
}

/// The work that every child of this launch has to do before its program runs.
pub(super) fn pre_exec(launch: &Launch) -> PreExec {
    PreExec {
        new_session: launch.new_session || launch.terminal.is_some(),
        new_group: false,
        terminal: launch.terminal.is_some(),
        cwd: launch.cwd_handle.clone(),
        die_with: (launch.orphan_guard != OrphanGuard::None).then(getpid),
        announce_to: None,
    }
}

/// Starts a process that is ours to reap: the standard library's `Child`
/// neither kills nor reaps when it goes.
pub(super) fn fork(command: &mut Command) -> io::Result<Pid> {
    let child = {
        let _pipes_are_whole = no_half_made_pipe();
        command.spawn()?
    };
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::other("the system gave a process id out of range"))
}

/// Finds out what it was that could not be found: the system tells the same
/// for a missing directory, program or interpreter.
pub(super) fn explain(launch: &Launch, source: io::Error) -> SpawnError {
    if let (Some(cwd), None) = (&launch.cwd, &launch.cwd_handle)
        && let Err(source) = enter(cwd)
    {
        return SpawnError::WorkingDirectory {
            cwd: cwd.clone(),
            source,
        };
    }
    let program = launch.program.clone();
    if source.kind() == io::ErrorKind::NotFound
        && let Some(interpreter) = interpreter(&program)
        && !Path::new(&interpreter).exists()
    {
        return SpawnError::Interpreter {
            program,
            interpreter,
            source,
        };
    }
    SpawnError::Program { program, source }
}

fn enter(cwd: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};
    if std::fs::metadata(cwd)?.is_dir() {
        Ok(access(cwd, Access::EXEC_OK)?)
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}

/// Returns the interpreter that the first line of a script names.
fn interpreter(program: &Path) -> Option<String> {
    use std::io::Read;
    if !std::fs::metadata(program).ok()?.is_file() {
        return None;
    }
    // As much as the kernel looks at.
    let mut start = Vec::new();
    std::fs::File::open(program)
        .ok()?
        .take(256)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().map(str::to_owned)
}

fn jobs() -> io::Result<Sender<Job>> {
    static JOBS: Mutex<Option<Sender<Job>>> = Mutex::new(None);
    let mut jobs = JOBS.lock();
    if let Some(jobs) = &*jobs {
        return Ok(jobs.clone());
    }
    let (sender, receiver) = channel::<Job>();
    thread::Builder::new()
        .name("acp-spawner".to_owned())
        .spawn(move || {
            for job in receiver {
                // This thread must not end while any child lives.
                let _ = catch_unwind(AssertUnwindSafe(job));
            }
        })?;
    *jobs = Some(sender.clone());
    Ok(sender)
}
