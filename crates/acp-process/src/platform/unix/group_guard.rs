//! A helper that kills a child's group when this process is gone.
//!
//! It is a `/bin/sh` that reads from a pipe whose write end only we hold. The
//! child writes its own id into it before it executes its program, so there is
//! no moment at which it runs unwatched; the end of the pipe is the end of
//! this process.
//!
//! Why a shell and not a fork of ourselves: a fork of a program with threads
//! may do next to nothing safely, would keep every page of our memory that we
//! change afterwards a second time for as long as the child lives, and every
//! file we had open. The shell is a few hundred KiB, needs built-ins only, and
//! its start (`posix_spawn`) does not copy our page tables.
//!
//! Why it cannot hit a stranger: while we live, it only waits, and it is ended
//! before the leader is reaped, hence before the group's id can be free.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::observer::{Means, Observer};
use super::pipes::pipe;
use super::spawner::fork;

/// The first line is the group; there is no second one, only the end.
const SCRIPT: &str = "trap '' HUP INT QUIT TERM\n\
    read -r group || exit 0\n\
    read -r end\n\
    kill -s KILL -- \"-$group\"\n";

/// A running helper.
pub(super) struct GroupGuard {
    observer: Observer,
    line: OwnedFd,
}

impl GroupGuard {
    /// Starts a helper that waits to be told whom to watch.
    pub(super) fn start() -> io::Result<Self> {
        let (read_end, line) = pipe()?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT, "acp-orphan-guard"])
            .env_clear()
            .current_dir("/")
            // Out of reach of what our terminal sends to our group.
            .process_group(0)
            .stdin(Stdio::from(read_end))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let observer = Observer::new(fork(&mut command)?, Means::Best);
        Ok(Self { observer, line })
    }

    /// Returns another descriptor of the pipe's write end.
    pub(super) fn line(&self) -> io::Result<OwnedFd> {
        self.line.try_clone()
    }

    /// Ends the helper; must come before the leader is reaped.
    ///
    /// The pipe is closed after the signal was sent, so the helper cannot take
    /// this for our death. Returns what is to be reaped.
    pub(super) fn dismiss(self) -> Observer {
        self.observer.kill();
        self.observer
    }
}
