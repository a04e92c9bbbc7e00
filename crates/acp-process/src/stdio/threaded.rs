//! Files, terminals and whatever else has no readiness: a thread waits for
//! them.
//!
//! The hand-over holds one chunk in each direction, and a thread one more. A thread that hangs in a
//! read when its reader is dropped stays until the read returns or the
//! process ends: there is no portable way to call it back.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::thread;

use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::io::ReadBuf;
use tokio::sync::mpsc::{Receiver, channel};

/// How much is on its way between thread and task.
const CHUNK: usize = 64 * 1024;

/// The task's end of a reading thread.
pub(super) struct ThreadedReader {
    chunks: Receiver<io::Result<Bytes>>,
    /// The rest of the chunk that came last.
    chunk: Bytes,
}

/// The task's end of a writing thread.
pub(super) struct ThreadedWriter {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<WriteState>,
    changed: Condvar,
}

#[derive(Default)]
struct WriteState {
    /// On the way.
    bytes: Vec<u8>,
    /// The thread is writing what it took.
    busy: bool,
    /// Why the thread has ended.
    failure: Option<Errno>,
    /// The task's end is gone.
    dropped: bool,
    waiting: Option<Waker>,
}

impl ThreadedReader {
    pub(super) fn start(file: OwnedFd) -> io::Result<Self> {
        let (sender, chunks) = channel(1);
        let read_all = move || {
            let mut chunk = vec![0; CHUNK];
            loop {
                let read = blocking(&file, PollFlags::IN, || {
                    rustix::io::read(&file, &mut chunk[..])
                });
                let read = match read {
                    Ok(0) => return,
                    Ok(count) => Ok(Bytes::copy_from_slice(&chunk[..count])),
                    Err(errno) => Err(errno.into()),
                };
                let failed = read.is_err();
                // An error means that the task's end is gone.
                if sender.blocking_send(read).is_err() || failed {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("acp-stdin".to_owned())
            .spawn(read_all)?;
        Ok(Self {
            chunks,
            chunk: Bytes::new(),
        })
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.chunk.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.chunk = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = self.chunk.len().min(buf.remaining());
        buf.put_slice(&self.chunk.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl ThreadedWriter {
    pub(super) fn start(file: OwnedFd) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let on_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("acp-stdout".to_owned())
            .spawn(move || on_thread.write_all(&file))?;
        Ok(Self { shared })
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.shared.state.lock();
        if let Some(error) = state.write_error() {
            return Poll::Ready(Err(error));
        }
        let count = bytes.len().min(CHUNK - state.bytes.len());
        if count == 0 && !bytes.is_empty() {
            state.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.bytes.extend_from_slice(&bytes[..count]);
        self.shared.changed.notify_one();
        Poll::Ready(Ok(count))
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.state.lock();
        if let Some(error) = state.write_error() {
            return Poll::Ready(Err(error));
        }
        if state.bytes.is_empty() && !state.busy {
            return Poll::Ready(Ok(()));
        }
        state.waiting = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl WriteState {
    fn write_error(&self) -> Option<io::Error> {
        self.failure.map(io::Error::from)
    }
}

impl Drop for ThreadedWriter {
    fn drop(&mut self) {
        self.shared.state.lock().dropped = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn write_all(&self, file: &OwnedFd) {
        let mut chunk = Vec::with_capacity(CHUNK);
        loop {
            {
                let mut state = self.state.lock();
                while state.bytes.is_empty() && !state.dropped {
                    self.changed.wait(&mut state);
                }
                if state.bytes.is_empty() {
                    return;
                }
                std::mem::swap(&mut state.bytes, &mut chunk);
                state.busy = true;
                // There is room again.
                if let Some(waiting) = state.waiting.take() {
                    drop(state);
                    waiting.wake();
                }
            }
            let failure = write_whole(file, &chunk).err();
            chunk.clear();
            let mut state = self.state.lock();
            state.busy = false;
            state.failure = failure;
            let waiting = state.waiting.take();
            drop(state);
            if let Some(waiting) = waiting {
                waiting.wake();
            }
            if failure.is_some() {
                return;
            }
        }
    }
}

fn write_whole(file: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let count = blocking(file, PollFlags::OUT, || rustix::io::write(file, bytes))?;
        bytes = &bytes[count..];
    }
    Ok(())
}

/// Repeats a call until it did something, also where somebody else made the
/// file nonblocking.
fn blocking(
    file: &OwnedFd,
    readiness: PollFlags,
    mut call: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(file, readiness)], None);
            }
            done => return done,
        }
    }
}
