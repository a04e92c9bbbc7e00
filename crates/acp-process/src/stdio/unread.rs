//! Whether anybody can still read what this process writes.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;

use super::socket::register;

/// Waits until nobody can read from a pipe or socket any more, and says so as an error.
///
/// A registration of its own: the writer's keeps its readiness.
pub(super) async fn unread(stream: OwnedFd) -> io::Error {
    // Errors are always reported, so no event but them comes for a pipe.
    let interest = Interest::READABLE | Interest::ERROR;
    let Ok(stream) = register(stream, Interest::ERROR) else {
        // Without it, writing finds out.
        return std::future::pending().await;
    };
    loop {
        let Ok(mut ready) = stream.ready(interest).await else {
            return std::future::pending().await;
        };
        if reader_is_gone(rustix::fd::AsFd::as_fd(stream.get_ref())) {
            return io::ErrorKind::BrokenPipe.into();
        }
        if ready.ready().is_read_closed() {
            // A socket that only sends nothing more: its end is no longer reported.
            return std::future::pending().await;
        }
        ready.clear_ready();
    }
}

fn reader_is_gone(stream: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(stream, PollFlags::empty())];
    let is_known = poll(&mut fds, Some(&Timespec::default())).is_ok();
    is_known && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
