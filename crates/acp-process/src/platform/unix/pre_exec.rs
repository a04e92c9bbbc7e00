//! What a child does between `fork` and `exec`.
//!
//! This, `fork_chain`, `image` and `jail` are the modules with `unsafe` code. It is
//! needed for two reasons:
//!
//! * `CommandExt::pre_exec` is unsafe, because the closure runs in a fork of
//!   a program with threads: another thread may have held any lock at the
//!   moment of the fork, so only async-signal-safe work is allowed. Everything
//!   below is a plain system call on numbers and on memory that was made
//!   before the fork: no allocation, no lock, no formatting, and errors carry
//!   a number only.
//! * Two system calls have no safe wrapper: setting a signal's disposition to
//!   the default, and `close_range`.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use rustix::process::{Pid, getpid, getppid};

/// The work to be done in the child.
pub(super) struct PreExec {
    /// Start a new session.
    pub(super) new_session: bool,
    /// Start a new group; `Command` does that for a child that it starts.
    pub(super) new_group: bool,
    /// Make standard input, a terminal, the one that controls the new session.
    pub(super) terminal: bool,
    /// The directory to start in, instead of one that `Command` enters.
    pub(super) cwd: Option<Arc<OwnedFd>>,
    /// Ask for `SIGKILL` at the death of this parent (Linux).
    pub(super) die_with: Option<Pid>,
    /// Where the watchdog learns whom to watch.
    pub(super) announce_to: Option<OwnedFd>,
}

impl PreExec {
    /// Makes `command` do this work in the child.
    pub(super) fn install(self, command: &mut Command) {
        // SAFETY: `run` and all it calls are async-signal-safe, see above; it
        // touches nothing but its own fields, which were made before the fork.
        unsafe {
            command.pre_exec(move || self.run(self.die_with));
        }
    }

    /// Does the work; `die_with` is the parent at whose death `SIGKILL` is asked for.
    pub(super) fn run(&self, die_with: Option<Pid>) -> io::Result<()> {
        if self.new_session {
            rustix::process::setsid()?;
        } else if self.new_group {
            rustix::process::setpgid(None, None)?;
        }
        if self.terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        if let Some(cwd) = &self.cwd {
            rustix::process::fchdir(cwd)?;
        }
        if let Some(parent) = die_with {
            die_with_parent(parent)?;
        }
        default_disposition(libc::SIGINT)?;
        default_disposition(libc::SIGTERM)?;
        if let Some(watchdog) = &self.announce_to {
            announce(watchdog)?;
        }
        #[cfg(target_os = "linux")]
        close_others_on_exec();
        Ok(())
    }
}

/// Asks for `SIGKILL` at the death of this parent (Linux).
pub(super) fn die_with_parent(parent: Pid) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // The parent may have died before the line above.
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(rustix::io::Errno::SRCH.into())
    }
}

/// Undoes that we may have been started with the signal ignored (in the
/// background of a shell script, under `nohup`): ignored signals stay ignored
/// over `exec`, and these two are steps of the kill ladder.
pub(super) fn default_disposition(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: `signal` is async-signal-safe and SIG_DFL installs no handler.
    match unsafe { libc::signal(signal, libc::SIG_DFL) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Writes our own id and a line end, in one write of less than `PIPE_BUF`.
fn announce(watchdog: &OwnedFd) -> io::Result<()> {
    let mut digits = [b'\n'; 11];
    let mut at = digits.len() - 1;
    let mut left = getpid().as_raw_nonzero().get().unsigned_abs();
    while left > 0 {
        at -= 1;
        // The remainder of a division by ten is a digit.
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let line = &digits[at..];
    if rustix::io::retry_on_intr(|| rustix::io::write(watchdog, line))? == line.len() {
        Ok(())
    } else {
        Err(rustix::io::Errno::IO.into())
    }
}

/// Marks everything but the three standard streams close-on-exec, so that a
/// descriptor which some library left open without the flag does not get into
/// the child. Kernels before 5.11 do not know the call; then what is not
/// marked is inherited, as it is with any other way to start a process.
#[cfg(target_os = "linux")]
pub(super) fn close_others_on_exec() {
    const FROM: libc::c_uint = 3;
    // SAFETY: three integers; the call changes flags of this (forked) process.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FROM,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}
