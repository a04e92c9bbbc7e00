//! What a guard does between `fork` and `exec`: it forks the holder, which forks
//! the leader of the child's group.
//!
//! See `pre_exec` for what may be done here, and why this is `unsafe`. It is one
//! thread with one copy of everything, and it makes plain system calls only:
//! all memory it uses was made before the first fork.
#![allow(unsafe_code)]

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, getpid};

use super::image::{Image, c_string};
use super::jail::{Failed, Jail};
use super::pipes::TheirEnds;
use super::pre_exec::{PreExec, close_others_on_exec, default_disposition, die_with_parent};
use super::spawner::pre_exec;
use crate::launch::Launch;

/// The holder: a program that reads to the same end as the guard, and never asks for
/// its children. (A shell does, whenever it hears of one, and takes the status away.)
const HOLDER: &str = "cat";

/// The work of a guard, a holder and a leader before they execute their programs.
pub(super) struct ForkChain {
    report: OwnedFd,
    go: OwnedFd,
    /// A guard below a sandbox's own outer one.
    jail: Option<Jail>,
    guard: Image,
    holder: Image,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    cwd: Option<CString>,
    /// Device and number of the directory that `cwd` has to be.
    cwd_is: Option<(u64, u64)>,
    work: PreExec,
    leader: Image,
    /// For a file without a first line that names an interpreter.
    leader_as_script: Image,
}

/// What a process of the chain says on the report pipe, which ends when all of them
/// execute their programs.
pub(super) enum Report {
    /// The leader's id.
    Forked(i32),
    /// The leader could not execute its program.
    LeaderFailed(io::Error),
    /// The holder could not.
    HelperFailed(io::Error),
    /// The sandbox could not be made.
    JailFailed(Failed),
}

impl Report {
    /// Reads the next; `None` at the end.
    pub(super) fn read(from: &OwnedFd) -> io::Result<Option<Self>> {
        let mut record = [0; RECORD];
        // A record is written at once and smaller than what a pipe keeps whole.
        match rustix::io::retry_on_intr(|| rustix::io::read(from, &mut record[..]))? {
            0 => return Ok(None),
            RECORD => {}
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        let [kind, first, second, value @ ..] = record;
        let value = i32::from_ne_bytes(value);
        Ok(Some(match kind {
            FORKED => Self::Forked(value),
            LEADER_FAILED => Self::LeaderFailed(io::Error::from_raw_os_error(value)),
            JAIL_FAILED => Self::JailFailed(Failed {
                step: u16::from_ne_bytes([first, second]),
                errno: value,
            }),
            _ => Self::HelperFailed(io::Error::from_raw_os_error(value)),
        }))
    }
}

/// A kind, the number of a step, a process id or error number.
const RECORD: usize = 7;
const FORKED: u8 = 1;
const LEADER_FAILED: u8 = 2;
const HELPER_FAILED: u8 = 3;
const JAIL_FAILED: u8 = 4;

impl ForkChain {
    pub(super) fn new(
        launch: &Launch,
        pipes: &TheirEnds,
        report: OwnedFd,
        go: OwnedFd,
        jail: Option<Jail>,
        cwd: Option<&Path>,
    ) -> io::Result<Self> {
        let stdin = match &pipes.stdin {
            Some(stdin) => above_standard(stdin)?,
            None => above_standard(std::fs::File::open("/dev/null")?)?,
        };
        let mut work = PreExec {
            new_group: true,
            ..pre_exec(launch)
        };
        let mut cwd_is = None;
        if jail.is_some() {
            // Without a terminal of ours, and without a way out by a folder that is open.
            work.new_session = true;
            if let Some(folder) = work.cwd.take() {
                let found = rustix::fs::fstat(&folder)?;
                cwd_is = Some((found.st_dev, found.st_ino));
            }
        }
        let cwd = cwd.map(|cwd| c_string(cwd.as_os_str())).transpose()?;
        let program = c_string(launch.program.as_os_str())?;
        let args = launch.args.iter().map(|arg| c_string(arg));
        let args = args.collect::<io::Result<Vec<_>>>()?;
        let variables = launch.environment.iter().map(|(name, value)| {
            let mut variable = name.to_owned();
            variable.push("=");
            variable.push(value);
            c_string(&variable)
        });
        let variables = variables.collect::<io::Result<Vec<_>>>()?;
        let with_program = |mut start: Vec<CString>| {
            start.push(program.clone());
            start.extend(args.iter().cloned());
            start
        };
        Ok(Self {
            report: above_standard(report)?,
            go: above_standard(go)?,
            jail,
            guard: Image::shell(super::tree_guard::SCRIPT)?,
            holder: holder()?,
            stdin,
            stdout: above_standard(&pipes.stdout)?,
            stderr: above_standard(&pipes.stderr)?,
            cwd,
            cwd_is,
            work,
            leader_as_script: Image::new(
                c"/bin/sh".to_owned(),
                with_program(vec![c"/bin/sh".to_owned()]),
                variables.clone(),
            ),
            leader: Image::new(program.clone(), with_program(Vec::new()), variables),
        })
    }

    /// Makes `command`, the guard, do this work.
    pub(super) fn install(self, command: &mut Command) {
        // SAFETY: `guard` and all it calls are async-signal-safe, see above; it
        // touches nothing but its own fields, which were made before the fork.
        unsafe {
            command.pre_exec(move || self.guard());
        }
    }

    fn guard(&self) -> io::Result<()> {
        // It may be ignored around us, and then nobody could be waited for.
        default_disposition(libc::SIGCHLD)?;
        match &self.jail {
            None => self.stand_guard()?,
            Some(jail) => self.stand_outside(jail)?,
        }
        rustix::process::chdir(c"/")?;
        close_others_on_exec();
        Ok(())
    }

    /// Starts the holder, below this process.
    fn stand_guard(&self) -> io::Result<()> {
        rustix::process::set_child_subreaper(Some(getpid()))?;
        let guard = getpid();
        if fork()?.is_none() {
            let error = self.hold(guard).err();
            self.fail(HELPER_FAILED, error);
        }
        Ok(())
    }

    /// Starts what leads to a sandbox, below this process.
    fn stand_outside(&self, jail: &Jail) -> io::Result<()> {
        rustix::process::set_child_subreaper(Some(getpid()))?;
        let guard = getpid();
        if fork()?.is_none() {
            let error = self.lead_inside(guard, jail).err();
            self.fail(HELPER_FAILED, error);
        }
        Ok(())
    }

    /// Goes on as the parent of the first process of a sandbox. All it forks belongs
    /// there, which a guard's reader must not; so it is a process of its own.
    fn lead_inside(&self, guard: Pid, jail: &Jail) -> io::Result<()> {
        die_with_parent(guard)?;
        self.close_all_others();
        jail.leave().map_err(|failed| self.jail_failed(&failed))?;
        if fork()?.is_none() {
            let error = self.stand_inside(jail).err();
            self.fail(HELPER_FAILED, error);
        }
        self.go_on_as_holder()
    }

    fn stand_inside(&self, jail: &Jail) -> io::Result<()> {
        // The parent is not to be seen from here, so it is not asked whether it lives:
        // this process reads the end of the program by itself.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        jail.enter().map_err(|failed| self.jail_failed(&failed))?;
        self.stand_guard()?;
        close_others_on_exec();
        Err(self.guard.execute())
    }

    fn jail_failed(&self, failed: &Failed) -> io::Error {
        self.tell(JAIL_FAILED, failed.step, failed.errno);
        io::Error::from_raw_os_error(failed.errno)
    }

    /// Goes on as the holder.
    fn hold(&self, guard: Pid) -> io::Result<()> {
        die_with_parent(guard)?;
        self.close_all_others();
        let holder = getpid();
        let Some(leader) = fork()? else {
            let error = self.lead(holder).err();
            self.fail(LEADER_FAILED, error);
        };
        self.tell(FORKED, 0, leader.as_raw_nonzero().get());
        self.go_on_as_holder()
    }

    fn go_on_as_holder(&self) -> io::Result<()> {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            ignore(signal)?;
        }
        rustix::process::chdir(c"/")?;
        close_others_on_exec();
        Err(self.holder.execute())
    }

    /// Goes on as the leader.
    fn lead(&self, holder: Pid) -> io::Result<()> {
        die_with_parent(holder)?;
        // Whoever lets it go on watches it by then; the end is the end of this program.
        let mut word = [0];
        if rustix::io::retry_on_intr(|| rustix::io::read(&self.go, &mut word[..]))? == 0 {
            return Err(rustix::io::Errno::SRCH.into());
        }
        rustix::stdio::dup2_stdin(&self.stdin)?;
        rustix::stdio::dup2_stdout(&self.stdout)?;
        rustix::stdio::dup2_stderr(&self.stderr)?;
        if let Some(cwd) = &self.cwd {
            rustix::process::chdir(cwd.as_c_str())?;
        }
        if let Some(expected) = self.cwd_is {
            let found = rustix::fs::stat(c".")?;
            if (found.st_dev, found.st_ino) != expected {
                return Err(rustix::io::Errno::STALE.into());
            }
        }
        self.work.run(Some(holder))?;
        let error = self.leader.execute();
        if error.raw_os_error() == Some(libc::ENOEXEC) {
            return Err(self.leader_as_script.execute());
        }
        Err(error)
    }

    /// Closes what nobody below uses. The leader waits before it executes its program,
    /// and others wait meanwhile for the end of what was open around the first fork:
    /// `Command` for that of its own pipe, the guard for that of the write end of its line.
    fn close_all_others(&self) {
        let mut used = [
            &self.report,
            &self.go,
            &self.stdin,
            &self.stdout,
            &self.stderr,
            self.work.cwd.as_deref().unwrap_or(&self.go),
        ]
        .map(|fd| fd.as_raw_fd().cast_unsigned());
        used.sort_unstable();
        let mut from = 3;
        for used in used {
            close_range(from, used.saturating_sub(1));
            from = from.max(used + 1);
        }
        close_range(from, u32::MAX);
    }

    fn fail(&self, kind: u8, error: Option<io::Error>) -> ! {
        let errno = error.and_then(|error| error.raw_os_error());
        self.tell(kind, 0, errno.unwrap_or(libc::EIO));
        // SAFETY: ends this process and runs nothing of the program it was forked from.
        unsafe { libc::_exit(127) }
    }

    fn tell(&self, kind: u8, step: u16, value: i32) {
        let ([first, second], [a, b, c, d]) = (step.to_ne_bytes(), value.to_ne_bytes());
        let record = [kind, first, second, a, b, c, d];
        // Without a reader there is nobody to do better for.
        let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.report, &record));
    }
}

/// Closes all descriptors of a range, if it is one.
fn close_range(first: u32, last: u32) {
    /// More than a process has unless it was told so.
    const MOST: u32 = 65_536;
    if first > last {
        return;
    }
    // SAFETY: integers; what is closed is this fork's copy.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) } == -1 {
        // A kernel before 5.9.
        for fd in first..=last.min(MOST) {
            // SAFETY: as above.
            unsafe { libc::close(fd.cast_signed()) };
        }
    }
}

/// Ignores a signal, in the program that is executed next too.
fn ignore(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: `signal` is async-signal-safe and SIG_IGN installs no handler.
    match unsafe { libc::signal(signal, libc::SIG_IGN) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Finds the holder's program, where it always is or in the search path.
fn holder() -> io::Result<Image> {
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let folders = ["/bin", "/usr/bin"].map(PathBuf::from).into_iter();
    let found = folders
        .chain(std::env::split_paths(&searched))
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(HOLDER))
        .find(|program| program.is_file())
        .ok_or(io::ErrorKind::NotFound)?;
    let program = c_string(found.as_os_str())?;
    Ok(Image::new(
        program,
        vec![c_string(OsStr::new(HOLDER))?],
        Vec::new(),
    ))
}

/// Forks; `None` is the new process.
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: this process was forked itself and has one thread, which goes on in
    // both with system calls only.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Returns another descriptor that is none of the three standard ones, which are
/// about to be replaced.
fn above_standard(fd: impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?)
}
