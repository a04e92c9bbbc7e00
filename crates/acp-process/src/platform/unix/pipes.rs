//! The pipes between this process and a child.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use parking_lot::{Mutex, MutexGuard};
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;

use super::terminal;
use crate::launch::{Launch, TerminalSize};

/// Writes to a child's stdin.
///
/// Shutting it down or dropping it closes the pipe, and so does the kill
/// ladder of the child; then a write fails with
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe), as it does when the child has
/// closed its end. (Rust programs ignore `SIGPIPE`. A host that has made it
/// fatal again is killed by a write to a child that is gone.)
#[derive(Debug)]
pub struct ChildStdin {
    end: Arc<StdinEnd>,
}

/// Reads from a child's stdout.
///
/// Ends when the child and all others have closed the pipe, or when the
/// child is gone and what it wrote has been read: a descendant that was let
/// go cannot hold the reader.
#[derive(Debug)]
pub struct ChildStdout {
    receiver: Receiver,
    /// A terminal tells its end as an error.
    is_terminal: bool,
    /// Ends when all that the child could write was written.
    writes: Option<oneshot::Receiver<()>>,
}

/// The write end of stdin, which the kill ladder closes too.
#[derive(Debug)]
pub(super) struct StdinEnd(Mutex<StdinState>);

#[derive(Debug)]
struct StdinState {
    sender: Option<Sender>,
    /// Who waits for room; dropping the sender does not wake it.
    waiting: Option<Waker>,
}

/// All ends of the pipes: three of them, or fewer.
pub(super) struct Pipes {
    pub(super) theirs: TheirEnds,
    pub(super) ours: OurEnds,
}

pub(super) struct TheirEnds {
    /// `None` for nothing to read.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

pub(super) struct OurEnds {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    pub(super) supervised: SupervisedEnds,
}

/// The ends that the supervisor holds.
pub(super) struct SupervisedEnds {
    /// `None` when it goes into stdout.
    pub(super) stderr: Option<OwnedFd>,
    /// Dropped when the child can write no more.
    pub(super) stdout_writes: oneshot::Sender<()>,
}

impl Pipes {
    /// Opens what the launch asks for; needs a tokio runtime with I/O.
    pub(super) fn open(launch: &Launch) -> io::Result<Self> {
        if let Some(size) = launch.terminal {
            return Self::of_terminal(size);
        }
        let (stdout_writes, writes) = oneshot::channel();
        let (their_stdin, our_stdin) = if launch.null_stdin {
            (None, None)
        } else {
            let (theirs, ours) = pipe()?;
            (
                Some(theirs),
                Some(ChildStdin::new(Sender::from_owned_fd(ours)?)),
            )
        };
        let (our_stdout, their_stdout) = pipe()?;
        let (our_stderr, their_stderr) = if let Some(given) = &launch.stderr_handle {
            (None, given.try_clone()?)
        } else if launch.merged_output {
            (None, their_stdout.try_clone()?)
        } else {
            let (ours, theirs) = pipe()?;
            // Each end of a pipe is an open file of its own: the child's ends
            // stay blocking.
            rustix::io::ioctl_fionbio(&ours, true)?;
            (Some(ours), theirs)
        };
        Ok(Self {
            theirs: TheirEnds {
                stdin: their_stdin,
                stdout: their_stdout,
                stderr: their_stderr,
            },
            ours: OurEnds {
                stdin: our_stdin,
                stdout: ChildStdout {
                    receiver: Receiver::from_owned_fd(our_stdout)?,
                    is_terminal: false,
                    writes: Some(writes),
                },
                supervised: SupervisedEnds {
                    stderr: our_stderr,
                    stdout_writes,
                },
            },
        })
    }

    /// Makes a terminal whose ends stand for those of the pipes.
    fn of_terminal(size: TerminalSize) -> io::Result<Self> {
        let (ours, theirs) = terminal::open(size)?;
        // The runtime's pipes read, write and wait; that this is none, they need not know.
        let (stdout_writes, writes) = oneshot::channel();
        let typed = Sender::from_owned_fd_unchecked(ours.try_clone()?)?;
        let shown = Receiver::from_owned_fd_unchecked(ours)?;
        Ok(Self {
            theirs: TheirEnds {
                stdin: Some(theirs.try_clone()?),
                stdout: theirs.try_clone()?,
                stderr: theirs,
            },
            ours: OurEnds {
                stdin: Some(ChildStdin::new(typed)),
                stdout: ChildStdout {
                    receiver: shown,
                    is_terminal: true,
                    writes: Some(writes),
                },
                supervised: SupervisedEnds {
                    stderr: None,
                    stdout_writes,
                },
            },
        })
    }
}

/// Makes a pipe whose ends are closed on exec: read end, write end.
#[cfg(target_os = "linux")]
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let _no_fork = no_half_made_pipe();
    let (read_end, write_end) = rustix::pipe::pipe()?;
    rustix::io::ioctl_fioclex(&read_end)?;
    rustix::io::ioctl_fioclex(&write_end)?;
    Ok((read_end, write_end))
}

/// While this is held, no pipe of ours exists without its close-on-exec flag,
/// so a child that is forked now does not hold another child's stdin open.
/// Linux makes pipes and their flag in one step.
pub(super) fn no_half_made_pipe() -> Option<MutexGuard<'static, ()>> {
    static HALF_MADE: Mutex<()> = Mutex::new(());
    (!cfg!(target_os = "linux")).then(|| HALF_MADE.lock())
}

impl ChildStdin {
    fn new(sender: Sender) -> Self {
        let state = StdinState {
            sender: Some(sender),
            waiting: None,
        };
        Self {
            end: Arc::new(StdinEnd(Mutex::new(state))),
        }
    }

    pub(super) fn end(&self) -> Arc<StdinEnd> {
        Arc::clone(&self.end)
    }
}

impl StdinEnd {
    pub(super) fn close(&self) {
        let (sender, waiting) = {
            let mut state = self.0.lock();
            (state.sender.take(), state.waiting.take())
        };
        drop(sender);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }

    fn poll_with<T>(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Sender>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut state = self.0.lock();
        let Some(sender) = &mut state.sender else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let polled = poll(Pin::new(sender), cx);
        if polled.is_pending() {
            match &mut state.waiting {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
        polled
    }
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.end
            .poll_with(cx, |sender, cx| sender.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.end
            .poll_with(cx, |sender, cx| sender.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for ChildStdin {
    fn drop(&mut self) {
        self.end.close();
    }
}

impl ChildStdout {
    /// Reads what the pipe holds at this moment, and never waits.
    ///
    /// What a child wrote before its exit was told can be read so: waiting for it
    /// could mean to wait for a descendant that holds the pipe open.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) when it holds nothing.
    pub fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Past the readiness that the runtime knows of, which lags behind.
        let read =
            rustix::io::retry_on_intr(|| rustix::io::read(self.receiver.as_fd(), &mut *buffer));
        match read {
            Err(Errno::IO) if self.is_terminal => Ok(0),
            read => Ok(read?),
        }
    }

    /// Reads what is left, past the readiness that the runtime knows of:
    /// nobody is left whose writes would count.
    fn read_rest(&self, buf: &mut ReadBuf<'_>) -> io::Result<()> {
        let read = rustix::io::retry_on_intr(|| {
            rustix::io::read(self.receiver.as_fd(), buf.initialize_unfilled())
        });
        match read {
            Ok(count) => buf.advance(count),
            Err(Errno::AGAIN) => {}
            Err(Errno::IO) if self.is_terminal => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }
}

impl AsyncRead for ChildStdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.receiver).poll_read(cx, buf) {
            // Nobody has the other end of the terminal open any more.
            Poll::Ready(Err(error)) if self.is_terminal && is_end_of_terminal(&error) => {
                return Poll::Ready(Ok(()));
            }
            polled @ Poll::Ready(_) => return polled,
            Poll::Pending => {}
        }
        if let Some(writes) = &mut self.writes {
            // Nothing is sent: it ends when the supervisor lets go of its end.
            let _ = ready!(Pin::new(writes).poll(cx));
            self.writes = None;
        }
        Poll::Ready(self.read_rest(buf))
    }
}

fn is_end_of_terminal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}
