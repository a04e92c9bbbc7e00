//! Standard streams on Linux and macOS.

use std::fmt;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::socket::{SocketReader, SocketWriter};
use super::threaded::{ThreadedReader, ThreadedWriter};
use super::unread::unread;

/// Reads this process's stdin.
pub struct Stdin {
    input: Input,
}

/// Writes to this process's stdout.
///
/// What was written has left this process once a flush is done.
pub struct Stdout {
    output: Output,
}

enum Input {
    Pipe(Receiver),
    Socket(SocketReader),
    Threaded(ThreadedReader),
}

enum Output {
    Pipe(Sender),
    Socket(SocketWriter),
    Threaded(ThreadedWriter),
}

/// Takes stdin and stdout for a protocol.
///
/// From then on descriptor 1 is a second stderr, so what anything in this
/// process or its children prints cannot get between the frames; and
/// descriptor 0 is `/dev/null`, so no child can eat them. The streams
/// themselves are private and not inherited by children.
///
/// # Errors
///
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists) the second time; else when
/// one of them is closed or cannot be registered with the runtime. Then both
/// stay as they were.
///
/// # Panics
///
/// Panics outside of a tokio runtime that has I/O enabled.
pub fn protocol_stdio() -> io::Result<(Stdin, Stdout)> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if TAKEN.swap(true, Ordering::AcqRel) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "stdin and stdout were taken for a protocol before",
        ));
    }
    let taken = take();
    if taken.is_err() {
        TAKEN.store(false, Ordering::Release);
    }
    taken
}

#[expect(
    clippy::disallowed_methods,
    reason = "takes both streams away from all that writes text"
)]
fn take() -> io::Result<(Stdin, Stdout)> {
    let streams = (
        Stdin {
            input: Input::open(rustix::stdio::stdin())?,
        },
        Stdout {
            output: Output::open(rustix::stdio::stdout())?,
        },
    );
    let nowhere = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    // A process may be started without a stderr.
    if rustix::stdio::dup2_stdout(rustix::stdio::stderr()).is_err() {
        rustix::stdio::dup2_stdout(&nowhere)?;
    }
    rustix::stdio::dup2_stdin(&nowhere)?;
    // What was printed before and is still in the buffer is no frame either.
    let _ = io::stdout().flush();
    Ok(streams)
}

impl Input {
    fn open(stream: BorrowedFd<'_>) -> io::Result<Self> {
        match file_type(stream)? {
            FileType::Fifo => {
                if let Some(pipe) = reopen(stream, OFlags::RDONLY)
                    && !writers_gone(stream)
                {
                    return Ok(Self::Pipe(Receiver::from_owned_fd(pipe)?));
                }
            }
            FileType::Socket => return Ok(Self::Socket(SocketReader::new(private(stream)?)?)),
            _ => {}
        }
        Ok(Self::Threaded(ThreadedReader::start(private(stream)?)?))
    }
}

impl Output {
    fn open(stream: BorrowedFd<'_>) -> io::Result<Self> {
        match file_type(stream)? {
            FileType::Fifo => {
                if let Some(pipe) = reopen(stream, OFlags::WRONLY) {
                    #[cfg(target_os = "linux")]
                    widen(&pipe);
                    return Ok(Self::Pipe(Sender::from_owned_fd(pipe)?));
                }
            }
            FileType::Socket => return Ok(Self::Socket(SocketWriter::new(private(stream)?)?)),
            _ => {}
        }
        Ok(Self::Threaded(ThreadedWriter::start(private(stream)?)?))
    }
}

impl Stdout {
    /// Waits until nobody can read from stdout any more; the error is the one that a
    /// write would have.
    ///
    /// Never ready where the system does not report that: for a file, a terminal, or a
    /// pipe that could not be opened anew.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub fn unread(&self) -> impl Future<Output = io::Error> + Send + use<> {
        let stream = match &self.output {
            Output::Pipe(pipe) => private(pipe.as_fd()).ok(),
            Output::Socket(socket) => private(socket.socket().as_fd()).ok(),
            Output::Threaded(_) => None,
        };
        async move {
            match stream {
                Some(stream) => unread(stream).await,
                None => std::future::pending().await,
            }
        }
    }
}

fn file_type(stream: BorrowedFd<'_>) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(stream)?.st_mode))
}

/// Returns a descriptor of our own of the same open file.
fn private(stream: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // Not in the place of a standard stream that happens to be closed.
    Ok(rustix::io::fcntl_dupfd_cloexec(stream, 3)?)
}

/// Opens a pipe once more, as a file with flags of its own.
///
/// `None` where that is not possible: there is no `/proc`, the pipe belongs
/// to another user (after `su`), or a named pipe has no reader.
fn reopen(pipe: BorrowedFd<'_>, access: OFlags) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    open(
        path,
        access | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .ok()
}

/// What a pipe that we write to holds: four times what it does by itself.
///
/// A reader that is busy for a moment then stops us less often, and one write takes
/// more along: a stream of updates costs a fifth less. The system allows a user a
/// few hundred such pipes, and refuses more.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 256 << 10;

/// Lets a pipe hold more, unless somebody has done so already.
#[cfg(target_os = "linux")]
fn widen(pipe: &OwnedFd) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < PIPE_SIZE) {
        // Without it everything works as well, only slower.
        let _ = fcntl_setpipe_size(pipe, PIPE_SIZE);
    }
}

/// Tells whether a pipe has no writer any more.
///
/// A named pipe that is opened again after its last writer went never becomes
/// ready to tell its end, so it must not be waited for. The file we were given
/// knows.
fn writers_gone(pipe: BorrowedFd<'_>) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::from_borrowed_fd(pipe, PollFlags::IN)];
    let at_once = Timespec::default();
    match poll(&mut fds, Some(&at_once)) {
        Ok(_) => fds[0].revents().contains(PollFlags::HUP),
        Err(_) => true,
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.input {
            Input::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Input::Socket(socket) => socket.poll_read(cx, buf),
            Input::Threaded(thread) => thread.poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.output {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Output::Socket(socket) => socket.poll_write(cx, bytes),
            Output::Threaded(thread) => thread.poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Output::Pipe(pipe) = &mut self.output {
            return Pin::new(pipe).poll_write_vectored(cx, slices);
        }
        let first = slices.iter().find(|slice| !slice.is_empty());
        self.poll_write(cx, first.map_or(&[], |slice| slice))
    }

    fn is_write_vectored(&self) -> bool {
        matches!(self.output, Output::Pipe(_))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.output {
            Output::Pipe(_) | Output::Socket(_) => Poll::Ready(Ok(())),
            Output::Threaded(thread) => thread.poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.output {
            // Closed when dropped: there is no other way to end a pipe.
            Output::Pipe(_) => Poll::Ready(Ok(())),
            Output::Socket(socket) => Poll::Ready(socket.shutdown()),
            Output::Threaded(thread) => thread.poll_flush(cx),
        }
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.input {
            Input::Pipe(_) => "pipe",
            Input::Socket(_) => "socket",
            Input::Threaded(_) => "thread",
        };
        f.debug_tuple("Stdin").field(&kind).finish()
    }
}

impl fmt::Debug for Stdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.output {
            Output::Pipe(_) => "pipe",
            Output::Socket(_) => "socket",
            Output::Threaded(_) => "thread",
        };
        f.debug_tuple("Stdout").field(&kind).finish()
    }
}
