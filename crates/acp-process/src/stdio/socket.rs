//! A socket that was given to us as a standard stream.
//!
//! Node gives its children socket pairs. Their open files are shared with
//! nobody else that cares, but we cannot know that, so the file stays blocking
//! and every call says that it does not want to wait.

use std::io;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};

/// Read at once, and copied to where it is wanted: the copy costs less than
/// the smallest system call.
const CHUNK: usize = 64 * 1024;

/// A write to a closed socket is an error, not the end of the process.
const FLAGS: SendFlags = if cfg!(target_os = "linux") {
    SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL)
} else {
    SendFlags::DONTWAIT
};

pub(super) struct SocketReader {
    socket: AsyncFd<OwnedFd>,
    chunk: Box<[u8]>,
}

pub(super) struct SocketWriter {
    socket: AsyncFd<OwnedFd>,
}

impl SocketReader {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            socket: register(socket, Interest::READABLE)?,
            chunk: vec![0; CHUNK].into_boxed_slice(),
        })
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wanted = buf.remaining().min(self.chunk.len());
        if wanted == 0 {
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut ready = ready!(self.socket.poll_read_ready(cx))?;
            let chunk = &mut self.chunk[..wanted];
            match rustix::net::recv(&self.socket, &mut *chunk, RecvFlags::DONTWAIT) {
                Ok((count, _)) => {
                    if 0 < count && count < wanted {
                        // It is empty now: saves the call that would say so.
                        ready.clear_ready();
                    }
                    buf.put_slice(&chunk[..count]);
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(errno) => return Poll::Ready(Err(errno.into())),
            }
        }
    }
}

impl SocketWriter {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            socket: register(socket, Interest::WRITABLE)?,
        })
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.socket.poll_write_ready(cx))?;
            match rustix::net::send(&self.socket, bytes, FLAGS) {
                Ok(count) => {
                    if count < bytes.len() {
                        ready.clear_ready();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(errno) => return Poll::Ready(Err(errno.into())),
            }
        }
    }

    /// The socket that is written to.
    pub(super) fn socket(&self) -> &OwnedFd {
        self.socket.get_ref()
    }

    /// Tells the peer that no more comes.
    pub(super) fn shutdown(&self) -> io::Result<()> {
        match rustix::net::shutdown(&self.socket, Shutdown::Write) {
            Ok(()) | Err(Errno::NOTCONN) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

#[allow(
    deprecated,
    reason = "deprecated because the descriptor might be closed too early; an `OwnedFd` is not, \
              and this way neither unsafe code nor the newest tokio is needed"
)]
pub(super) fn register(socket: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(socket, interest)
}
