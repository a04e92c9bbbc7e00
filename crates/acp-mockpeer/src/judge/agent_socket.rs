//! How a client that starts its agent itself reaches the agent we play.
//!
//! The command it is given is a small program of ours that joins its stdin and
//! stdout with a socket in the workspace. From the client to us go the bytes as they
//! are; to the client go frames, because closing stdout and exiting are two things:
//!
//! ```text
//! LENGTH (4 bytes, big endian, at most MOST)  so many bytes for stdout
//! 0                                           stdout is closed
//! 0xffff_00CC                                 exits with code CC
//! 0xffff_01SS                                 ends by signal SS
//! ```

use std::io;

use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;

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

/// Writes frames, in the background.
pub(super) struct Frames<W> {
    writing: JoinHandle<io::Result<W>>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Frames<W> {
    /// Frames what is written to the pipe that it returns, until that is closed.
    pub(super) fn new(inner: W) -> (DuplexStream, Self) {
        let (ours, theirs) = tokio::io::duplex(BUFFER);
        let writing = tokio::spawn(frame(theirs, inner));
        (ours, Self { writing })
    }

    /// Ends the program at the other end as a step says, behind all that was written.
    pub(super) async fn exit(self, how: Option<ExitAs>) -> io::Result<()> {
        let head = match how {
            Some(ExitAs::Code(code)) => Head::Exit(code),
            Some(ExitAs::By(signal)) => Head::Signal(u8::try_from(signal.number()).unwrap_or(9)),
            Some(ExitAs::Any) | None => Head::Exit(0),
        };
        let mut inner = self.writing.await.map_err(io::Error::other)??;
        inner.write_all(&head.to_bytes()).await
    }
}

/// As much as one frame holds.
const BUFFER: usize = 64 << 10;

async fn frame<W: AsyncWrite + Unpin>(mut from: DuplexStream, mut to: W) -> io::Result<W> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = from.read(&mut buffer).await?;
        let head = match u32::try_from(length).unwrap_or(MOST) {
            0 => Head::Close,
            length => Head::Bytes(length),
        };
        to.write_all(&head.to_bytes()).await?;
        to.write_all(&buffer[..length]).await?;
        to.flush().await?;
        if length == 0 {
            return Ok(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (mut pipe, frames) = Frames::new(ours);
            pipe.write_all(b"hello").await.unwrap();
            pipe.shutdown().await.unwrap();
            frames.exit(Some(ExitAs::Code(3))).await.unwrap();
        };
        let mut read = Vec::new();
        let (_, done) = tokio::join!(writing, theirs.read_to_end(&mut read));
        done.unwrap();
        assert_eq!(read, b"\0\0\0\x05hello\0\0\0\0\xff\xff\0\x03");
    }
}
