//! Child processes that never outlive their owner, and this process's own stdio.
//!
//! A [`Launch`] spells out everything a child gets; the [`Child`] is watched and
//! ended so that nothing is left. [`stdio`] takes this process's own stdin and
//! stdout for a protocol. Nothing here knows which protocol that is.
//!
//! # What is promised
//!
//! * Nothing is started that does not [`validate`](Launch::validate), and
//!   nothing reaches the child that the [`Launch`] does not name: no ambient
//!   environment, no open file besides the three pipes, or the
//!   [terminal](Launch::with_terminal) that stands for them.
//! * A child leads its own process group. When it ends, whatever the reason,
//!   what is left of its group is killed (at once, or, where the launch
//!   [keeps the group](Launch::with_kept_group), when it is told to end); only
//!   then is it reaped, so the group's id cannot belong to somebody else yet.
//! * It is reaped once, and everybody who asks gets the same [`Exit`].
//! * [`ChildHandle::kill`] and [`ChildHandle::close_and_wait`] end when the
//!   child is gone, however stubborn it is. Many callers share one run.
//! * Dropping the last [`ChildHandle`] never blocks and ends the child in the
//!   background, with or without a running tokio runtime.
//! * stderr is always read, into a tail of bounded size; a child can neither
//!   block on it nor fill the memory with it.
//! * When this process is killed, its children are too, with their descendants;
//!   on Linux also with those that left their group ([`OrphanGuard`]).
//! * A [`OsSandbox`] holds a child to what it grants, or the child is not started.
//!
//! # How
//!
//! Two threads that live as long as the process, made with the first child:
//! one starts children (on Linux the parent-death signal is sent when the
//! *thread* that started a child ends, so it must not be one of a runtime's),
//! the other waits for their exits, reads their stderr, and runs their kill
//! ladders. Neither ever runs user code.
//!
//! # Leaving a program
//!
//! A program that returns from `main` while a ladder runs ends the ladder's
//! thread too; the orphan guard then kills the child without further grace.
//! Await [`ChildHandle::close_and_wait`] to give it time.

// Where no child can be started, much of this has no user.
#![cfg_attr(not(any(target_os = "linux", target_os = "macos")), allow(dead_code))]

mod child;
mod launch;
mod platform;
mod sandbox;
mod spawn;
mod stderr;
pub mod stdio;

pub use child::{Ending, Exit, ExitError, ExitStatus, KillLadder, Rung, Signal, SignalError};
pub use launch::{
    Environment, EnvironmentError, Launch, OrphanGuard, PlatformUnsupported, SpawnError,
    SpawnSpecError, TerminalSize,
};
pub use platform::{Child, ChildHandle, ChildStdin, ChildStdout};
pub use sandbox::{OsSandbox, SandboxError};
pub use stderr::StderrActivity;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
