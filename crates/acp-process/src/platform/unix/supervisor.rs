//! The thread that cares for all children: waits for exits, reads stderr,
//! runs kill ladders, reaps.
//!
//! It needs no runtime, so it works while one is shut down.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::pipes::pipe;
use super::supervised::{LOOK_EVERY, Ready, SupervisedChild};

/// How much of one child's stderr is read before the others have their turn.
const CHUNK: usize = 64 * 1024;

/// What others know of the thread.
pub(super) struct Supervisor {
    adopted: Mutex<Vec<SupervisedChild>>,
    bell: OwnedFd,
}

/// Returns the supervisor of this process; starts it with the first child.
pub(super) fn supervisor() -> io::Result<Arc<Supervisor>> {
    static SUPERVISOR: Mutex<Option<Arc<Supervisor>>> = Mutex::new(None);
    let mut supervisor = SUPERVISOR.lock();
    if let Some(supervisor) = &*supervisor {
        return Ok(Arc::clone(supervisor));
    }
    let (heard, bell) = pipe()?;
    rustix::io::ioctl_fionbio(&heard, true)?;
    rustix::io::ioctl_fionbio(&bell, true)?;
    let new = Arc::new(Supervisor {
        adopted: Mutex::default(),
        bell,
    });
    let on_thread = Arc::clone(&new);
    thread::Builder::new()
        .name("acp-supervisor".to_owned())
        .spawn(move || on_thread.run(&heard))?;
    Ok(Arc::clone(supervisor.insert(new)))
}

impl Supervisor {
    /// Takes a child into care.
    pub(super) fn adopt(&self, child: SupervisedChild) {
        self.adopted.lock().push(child);
        self.wake();
    }

    /// Makes the thread look at all children; never blocks.
    pub(super) fn wake(&self) {
        // A full pipe wakes just as well.
        let _ = rustix::io::retry_on_intr(|| rustix::io::write(&self.bell, &[0]));
    }

    fn run(&self, heard: &OwnedFd) {
        let mut children: Vec<SupervisedChild> = Vec::new();
        let mut buffer = vec![0; CHUNK];
        loop {
            let (rang, ready) = wait(heard, &children);
            if rang {
                while let Ok(1..) = rustix::io::read(heard.as_fd(), &mut buffer[..]) {}
            }
            // After the bell is silent and before the children are asked what they
            // want: what is told from now on rings again.
            children.append(&mut self.adopted.lock());
            let now = Instant::now();
            let mut ready = ready.into_iter();
            children.retain_mut(|child| {
                let ready = ready.next().unwrap_or_default();
                // A waker that panics must not end the care for all children.
                // The child comes to its end all the same, step by step.
                let advance = AssertUnwindSafe(|| child.advance(now, ready, &mut buffer));
                !catch_unwind(advance).is_ok_and(|flow| flow.is_break())
            });
        }
    }
}

/// Waits until something is to be done; returns whether the bell rang and
/// what each child has ready.
fn wait(heard: &OwnedFd, children: &[SupervisedChild]) -> (bool, Vec<Ready>) {
    let mut fds = vec![PollFd::new(heard, PollFlags::IN)];
    let watched: Vec<_> = children.iter().map(SupervisedChild::watched).collect();
    for fd in watched.iter().flatten() {
        fds.extend(fd.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    }
    let now = Instant::now();
    let timeout = children
        .iter()
        .filter_map(|child| child.due(now))
        .min()
        .and_then(|due| Timespec::try_from(due.saturating_duration_since(now)).ok());
    let polled = poll(&mut fds, timeout.as_ref());
    // Without memory for the call we look at everything now and then.
    let blind = !matches!(polled, Ok(_) | Err(Errno::INTR));
    if blind {
        thread::sleep(LOOK_EVERY);
    }

    let mut ready = fds.iter().map(|fd| blind || !fd.revents().is_empty());
    let rang = ready.next().unwrap_or_default();
    let mut of = |fd: &Option<_>| fd.is_some() && ready.next().unwrap_or_default();
    let ready = watched
        .iter()
        .map(|[exit, stderr, guard]| Ready {
            exit: of(exit),
            stderr: of(stderr),
            guard: of(guard),
        })
        .collect();
    (rang, ready)
}
