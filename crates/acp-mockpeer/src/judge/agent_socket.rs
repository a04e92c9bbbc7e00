//! How a client that starts its agent itself reaches the agent we play.
//!
//! The command it is given is a small program of ours that joins its stdin and
//! stdout with a socket in the room. From the client to us go the bytes as they
//! are; to the client go frames, because closing stdout and exiting are two things:
//!
//! ```text
//! LENGTH (4 bytes, big endian, at most MOST)  so many bytes for stdout
//! 0                                           stdout is closed
//! 0xffff_00CC                                 exits with code CC
//! 0xffff_01SS                                 ends by signal SS
//! ```

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use crate::language::ExitAs;

/// The most bytes in one frame.
pub(crate) const MOST: u32 = 64 << 10;

/// What a frame's head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// So many bytes for stdout follow.
    Bytes(u32),
    /// Stdout is closed.
    Close,
    /// The program exits with this code.
    Exit(u8),
    /// This signal ends it.
    Signal(u8),
}

impl Head {
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        match self {
            Self::Bytes(length) => length.to_be_bytes(),
            Self::Close => [0; 4],
            Self::Exit(code) => [0xff, 0xff, 0, code],
            Self::Signal(signal) => [0xff, 0xff, 1, signal],
        }
    }

    pub(crate) fn from_bytes(bytes: [u8; 4]) -> Option<Self> {
        match (bytes, u32::from_be_bytes(bytes)) {
            (_, 0) => Some(Self::Close),
            (_, length @ 1..=MOST) => Some(Self::Bytes(length)),
            ([0xff, 0xff, 0, code], _) => Some(Self::Exit(code)),
            ([0xff, 0xff, 1, signal], _) => Some(Self::Signal(signal)),
            _ => None,
        }
    }
}

/// Writes frames.
pub(super) struct Frames<W> {
    inner: W,
    /// What is not written yet: at most one frame.
    waiting: Vec<u8>,
    written: usize,
    closed: bool,
}

impl<W: AsyncWrite + Unpin> Frames<W> {
    pub(super) fn new(inner: W) -> Self {
        Self {
            inner,
            waiting: Vec::new(),
            written: 0,
            closed: false,
        }
    }

    /// Ends the program at the other end as a step says.
    pub(super) async fn exit(mut self, how: Option<ExitAs>) -> io::Result<()> {
        let head = match how {
            Some(ExitAs::Code(code)) => Head::Exit(code),
            Some(ExitAs::By(signal)) => Head::Signal(u8::try_from(signal.number()).unwrap_or(9)),
            Some(ExitAs::Any) | None => Head::Exit(0),
        };
        std::future::poll_fn(|cx| self.poll_drain(cx)).await?;
        self.enter(head, &[]);
        std::future::poll_fn(|cx| self.poll_drain(cx)).await
    }

    fn enter(&mut self, head: Head, bytes: &[u8]) {
        self.waiting.clear();
        self.written = 0;
        self.waiting.extend_from_slice(&head.to_bytes());
        self.waiting.extend_from_slice(bytes);
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.waiting.len() {
            let rest = &self.waiting[self.written..];
            match ready!(Pin::new(&mut self.inner).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.written += written,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Frames<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_drain(cx))?;
        let most = usize::try_from(MOST).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(most)];
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let length = u32::try_from(bytes.len()).unwrap_or(MOST);
        self.enter(Head::Bytes(length), bytes);
        // What does not go out now goes out with what comes next.
        match self.poll_drain(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(bytes.len())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        if !std::mem::replace(&mut self.closed, true) {
            self.enter(Head::Close, &[]);
        }
        self.poll_drain(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn heads_are_read_as_they_are_written() {
        for head in [
            Head::Bytes(1),
            Head::Bytes(MOST),
            Head::Close,
            Head::Exit(0),
            Head::Exit(255),
            Head::Signal(9),
        ] {
            assert_eq!(Head::from_bytes(head.to_bytes()), Some(head));
        }
        for odd in [[0, 1, 0, 1], [0xff; 4], [0xff, 0xfe, 0, 0]] {
            assert_eq!(Head::from_bytes(odd), None);
        }
    }

    #[tokio::test]
    async fn what_is_written_comes_in_frames() {
        // A pipe that takes three bytes at a time.
        let (ours, mut theirs) = tokio::io::duplex(3);
        let writing = async {
            let mut frames = Frames::new(ours);
            frames.write_all(b"hello").await.unwrap();
            frames.flush().await.unwrap();
            frames.write_all(b"").await.unwrap();
            frames.shutdown().await.unwrap();
            frames.exit(Some(ExitAs::Code(3))).await.unwrap();
        };
        let mut read = Vec::new();
        let (_, done) = tokio::join!(writing, theirs.read_to_end(&mut read));
        done.unwrap();
        assert_eq!(read, b"\0\0\0\x05hello\0\0\0\0\xff\xff\0\x03");
    }
}
