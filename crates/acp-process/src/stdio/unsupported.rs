//! Where the standard streams are not supported: the same names.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Reads this process's stdin.
#[derive(Debug)]
pub struct Stdin {
    never: Infallible,
}

/// Writes to this process's stdout.
#[derive(Debug)]
pub struct Stdout {
    never: Infallible,
}

/// Refuses.
///
/// # Errors
///
/// Always [`Unsupported`](io::ErrorKind::Unsupported).
pub fn stdin() -> io::Result<Stdin> {
    Err(unsupported())
}

/// Refuses.
///
/// # Errors
///
/// Always [`Unsupported`](io::ErrorKind::Unsupported).
pub fn stdout() -> io::Result<Stdout> {
    Err(unsupported())
}

/// Refuses.
///
/// # Errors
///
/// Always [`Unsupported`](io::ErrorKind::Unsupported).
pub fn protocol_stdio() -> io::Result<(Stdin, Stdout)> {
    Err(unsupported())
}

fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!(
            "stdin and stdout are not supported on {}, only on Linux and macOS",
            std::env::consts::OS
        ),
    )
}

impl AsyncRead for Stdin {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.never {}
    }
}

impl AsyncWrite for Stdout {
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
