//! Files, terminals and whatever else has no readiness: a thread waits for
//! them.
//!
//! The hand-over holds one chunk in each direction. A thread that hangs in a
//! read when its reader is dropped stays until the read returns or the
//! process ends: there is no portable way to call it back.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::io::ReadBuf;

/// How much is on its way between thread and task.
const CHUNK: usize = 64 * 1024;

/// The task's end of a reading thread.
pub(super) struct ThreadedReader {
    shared: Arc<Shared>,
}

/// The task's end of a writing thread.
pub(super) struct ThreadedWriter {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// On the way.
    bytes: Vec<u8>,
    /// How much of `bytes` was taken already.
    taken: usize,
    /// The thread is writing what it took.
    busy: bool,
    /// The thread has ended: with an error, or at the end of the file.
    ended: Option<Result<(), Errno>>,
    /// The task's end is gone.
    dropped: bool,
    waiting: Option<Waker>,
}

impl ThreadedReader {
    pub(super) fn start(file: OwnedFd) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let on_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("acp-stdin".to_owned())
            .spawn(move || on_thread.read_all(&file))?;
        Ok(Self { shared })
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.shared.state.lock();
        let ready = &state.bytes[state.taken..];
        if !ready.is_empty() {
            let count = ready.len().min(buf.remaining());
            buf.put_slice(&ready[..count]);
            state.taken += count;
            if state.taken == state.bytes.len() {
                self.shared.changed.notify_one();
            }
            return Poll::Ready(Ok(()));
        }
        match state.ended {
            Some(Ok(())) => Poll::Ready(Ok(())),
            Some(Err(errno)) => Poll::Ready(Err(errno.into())),
            None => {
                state.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
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

impl State {
    fn write_error(&self) -> Option<io::Error> {
        match self.ended {
            Some(Err(errno)) => Some(errno.into()),
            _ => None,
        }
    }
}

impl Drop for ThreadedReader {
    fn drop(&mut self) {
        self.shared.drop_task_end();
    }
}

impl Drop for ThreadedWriter {
    fn drop(&mut self) {
        self.shared.drop_task_end();
    }
}

impl Shared {
    fn wait(&self, state: &mut MutexGuard<'_, State>) {
        self.changed.wait(state);
    }

    fn drop_task_end(&self) {
        self.state.lock().dropped = true;
        self.changed.notify_one();
    }

    fn read_all(&self, file: &OwnedFd) {
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = blocking(file, PollFlags::IN, || {
                rustix::io::read(file, &mut chunk[..])
            });
            let mut state = self.state.lock();
            while state.taken < state.bytes.len() && !state.dropped {
                self.wait(&mut state);
            }
            if state.dropped {
                return;
            }
            state.bytes.clear();
            state.taken = 0;
            match read {
                Ok(0) => state.ended = Some(Ok(())),
                Ok(count) => state.bytes.extend_from_slice(&chunk[..count]),
                Err(errno) => state.ended = Some(Err(errno)),
            }
            let ended = state.ended.is_some();
            let waiting = state.waiting.take();
            drop(state);
            if let Some(waiting) = waiting {
                waiting.wake();
            }
            if ended {
                return;
            }
        }
    }

    fn write_all(&self, file: &OwnedFd) {
        let mut chunk = Vec::with_capacity(CHUNK);
        loop {
            {
                let mut state = self.state.lock();
                while state.bytes.is_empty() && !state.dropped {
                    self.wait(&mut state);
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
            let mut rest = chunk.as_slice();
            let mut failure = None;
            while !rest.is_empty() && failure.is_none() {
                match blocking(file, PollFlags::OUT, || rustix::io::write(file, rest)) {
                    Ok(count) => rest = &rest[count..],
                    Err(errno) => failure = Some(errno),
                }
            }
            chunk.clear();
            let mut state = self.state.lock();
            state.busy = false;
            if let Some(errno) = failure {
                state.ended = Some(Err(errno));
            }
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
