//! What this program itself writes to its standard streams.
//!
//! All of it goes through here: `std::io::stdout` and its relatives are not allowed
//! elsewhere. Text has to be clean, JSON is escaped, and each of the few other ways says
//! for what it is.
#![expect(
    clippy::disallowed_methods,
    reason = "the one place that has the standard streams"
)]

use std::io::{self, IsTerminal, StdoutLock, Write};

use acp_text::{Cleaner, ScreenWriter};

/// Tells whether standard output is a terminal.
#[must_use]
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Tells whether standard error is a terminal.
#[must_use]
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Returns standard output, for clean text.
#[must_use]
pub fn stdout() -> ScreenWriter<io::Stdout> {
    let out = io::stdout();
    match out.is_terminal() {
        true => ScreenWriter::to_terminal(out),
        false => ScreenWriter::to_file(out),
    }
}

/// Returns standard error, for clean text.
#[must_use]
pub fn stderr() -> ScreenWriter<io::Stderr> {
    let err = io::stderr();
    match err.is_terminal() {
        true => ScreenWriter::to_terminal(err),
        false => ScreenWriter::to_file(err),
    }
}

/// Writes to standard output, for programs that print a text and end.
///
/// A closed pipe is no error: its reader wants no more.
///
/// # Errors
///
/// Any other failure to write or flush, such as a full disk.
pub fn write_stdout(
    write: impl FnOnce(&mut ScreenWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> io::Result<()> {
    let out = io::stdout().lock();
    let mut out = match out.is_terminal() {
        true => ScreenWriter::to_terminal(out),
        false => ScreenWriter::to_file(out),
    };
    unless_closed(write(&mut out).and_then(|()| out.flush()))
}

/// Writes a document to standard output: a report or a recording, whose own writer has made
/// visible what peers sent.
///
/// A closed pipe is no error, as of [`write_stdout`].
///
/// # Errors
///
/// Any other failure to write or flush, such as a full disk.
pub fn write_document(
    write: impl FnOnce(&mut StdoutLock<'static>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    unless_closed(write(&mut out).and_then(|()| out.flush()))
}

/// Writes bytes to standard error, for a program that plays a peer: its standard error is
/// part of the play.
///
/// # Errors
///
/// Standard error fails.
pub fn play_stderr(bytes: &[u8]) -> io::Result<()> {
    io::stderr().write_all(bytes)
}

/// Standard error, for what a child wrote to its own: as it is into a file or a pipe, and
/// cleaned on a terminal.
#[derive(Debug)]
pub struct ChildStderr {
    err: io::Stderr,
    /// Of a terminal.
    cleaner: Option<Cleaner>,
}

impl ChildStderr {
    /// Begins to pass on.
    #[must_use]
    pub fn new() -> Self {
        let err = io::stderr();
        let cleaner = err.is_terminal().then(Cleaner::default);
        Self { err, cleaner }
    }

    /// Passes the next piece on.
    ///
    /// # Errors
    ///
    /// Standard error fails.
    pub fn pass_on(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.cleaner {
            Some(cleaner) => {
                let text = String::from_utf8_lossy(bytes);
                self.err.write_all(cleaner.clean(&text).as_str().as_bytes())
            }
            None => self.err.write_all(bytes),
        }
    }
}

impl Default for ChildStderr {
    fn default() -> Self {
        Self::new()
    }
}

fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
