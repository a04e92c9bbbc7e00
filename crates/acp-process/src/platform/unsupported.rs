//! Where children are not supported: the same names, nothing behind them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::child::{Ending, Exit, Signal, SignalError};
use crate::launch::{Launch, PlatformUnsupported, SpawnError};
use crate::stderr::StderrActivity;

/// Refuses to start anything.
pub(crate) fn spawn(_: &Launch) -> Result<Child, SpawnError> {
    Err(PlatformUnsupported::here().into())
}

/// Stands for every part of a child and for both standard streams; there is no value of it.
#[derive(Clone, Debug)]
pub enum Never {}

/// A child that was started, with its pipes.
pub type Child = Never;
/// Watches and ends a child; cheap to clone.
pub type ChildHandle = Never;
/// Writes to a child's stdin.
pub type ChildStdin = Never;
/// Reads from a child's stdout.
pub type ChildStdout = Never;

#[expect(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::unused_async,
    reason = "documented where they do something"
)]
impl Never {
    #[must_use]
    pub fn pid(&self) -> u32 {
        match *self {}
    }

    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        match *self {}
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        match *self {}
    }

    #[must_use]
    pub fn handle(&self) -> ChildHandle {
        match *self {}
    }

    pub fn end(&self, _: Ending) {
        match *self {}
    }

    pub async fn wait(&self) -> Exit {
        match *self {}
    }

    pub fn exited(&self) -> std::future::Ready<()> {
        match *self {}
    }

    pub async fn gone(&self) {
        match *self {}
    }

    #[must_use]
    pub fn unread(&self) -> std::future::Pending<std::io::Error> {
        match *self {}
    }

    pub async fn close_and_wait(&self) -> Exit {
        match *self {}
    }

    pub async fn kill(&self) -> Exit {
        match *self {}
    }

    pub async fn kill_now(&self) -> Exit {
        match *self {}
    }

    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        match *self {}
    }

    pub fn signal(&self, _: Signal) -> Result<(), SignalError> {
        match *self {}
    }

    #[must_use]
    pub fn stderr_tail(&self) -> String {
        match *self {}
    }

    #[must_use]
    pub fn stderr_activity(&self) -> StderrActivity {
        match *self {}
    }

    pub fn try_read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl AsyncRead for Never {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match *self {}
    }
}

impl AsyncWrite for Never {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        match *self {}
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match *self {}
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match *self {}
    }
}
