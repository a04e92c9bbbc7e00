//! The standard streams of this process: for its own text, and as asynchronous streams.
//!
//! [`write_stdout`], [`stdout`] and [`stderr`] take clean text and escaped JSON only.
//!
//! [`protocol_stdio`] is for programs that speak a protocol over their stdin
//! and stdout: it takes both streams away from the rest of the program, so
//! that a stray `println!` goes to stderr and cannot corrupt the protocol.
//!
//! What is behind a stream decides how it is served:
//!
//! | stdin or stdout is | served by |
//! |---|---|
//! | a pipe (Linux) | the runtime's readiness, on an open file of our own |
//! | a socket | the runtime's readiness, each call being told not to wait |
//! | anything else | a thread with a bounded hand-over |
//!
//! In all cases the status flags of the files we were started with stay as
//! they are: they are shared with whoever started us, and a terminal or a
//! pipe that suddenly does not block any more breaks *their* program.

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[path = "unix.rs"]
mod platform;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[path = "unsupported.rs"]
mod platform;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod socket;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod threaded;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unread;

mod output;

pub use output::{
    ChildStderr, play_stderr, stderr, stderr_is_terminal, stdout, stdout_is_terminal,
    write_document, write_stdout,
};
pub use platform::{Stdin, Stdout, protocol_stdio};
