//! Where children are not supported: the same names, nothing behind them.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{
    Ending, Exit, Launch, PlatformUnsupported, Signal, SignalError, SpawnError, StderrActivity,
};

/// Refuses to start anything.
pub(super) fn spawn(_: &Launch) -> Result<Child, SpawnError> {
    Err(PlatformUnsupported::here().into())
}

/// A child that was started, with its pipes.
#[derive(Debug)]
pub struct Child {
    never: Infallible,
}

/// Watches and ends a child; cheap to clone.
#[derive(Clone, Debug)]
pub struct ChildHandle {
    never: Infallible,
}

/// Writes to a child's stdin.
#[derive(Debug)]
pub struct ChildStdin {
    never: Infallible,
}

/// Reads from a child's stdout.
#[derive(Debug)]
pub struct ChildStdout {
    never: Infallible,
}

#[expect(missing_docs, reason = "documented where they do something")]
impl Child {
    #[must_use]
    pub fn pid(&self) -> u32 {
        match self.never {}
    }

    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        match self.never {}
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        match self.never {}
    }

    #[must_use]
    pub fn handle(&self) -> ChildHandle {
        match self.never {}
    }
}

#[expect(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::unused_async,
    reason = "documented where they do something"
)]
impl ChildHandle {
    #[must_use]
    pub fn pid(&self) -> u32 {
        match self.never {}
    }

    pub fn end(&self, _: Ending) {
        match self.never {}
    }

    pub async fn wait(&self) -> Exit {
        match self.never {}
    }

    pub async fn gone(&self) {
        match self.never {}
    }

    pub async fn close_and_wait(&self) -> Exit {
        match self.never {}
    }

    pub async fn kill(&self) -> Exit {
        match self.never {}
    }

    pub async fn kill_now(&self) -> Exit {
        match self.never {}
    }

    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        match self.never {}
    }

    pub fn signal(&self, _: Signal) -> Result<(), SignalError> {
        match self.never {}
    }

    #[must_use]
    pub fn stderr_tail(&self) -> String {
        match self.never {}
    }

    #[must_use]
    pub fn stderr_activity(&self) -> StderrActivity {
        match self.never {}
    }
}

impl AsyncWrite for ChildStdin {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        match self.never {}
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.never {}
    }
}

#[expect(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "documented where they do something"
)]
impl ChildStdout {
    pub fn try_read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.never {}
    }
}

impl AsyncRead for ChildStdout {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.never {}
    }
}
