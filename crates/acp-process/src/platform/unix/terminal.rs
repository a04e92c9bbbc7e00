//! Terminals that are made for a child.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::launch::TerminalSize;

/// Makes a terminal: our end, and the child's.
pub(super) fn open(size: TerminalSize) -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = controller()?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = peer(&ours)?;
    let size = Winsize {
        ws_row: size.rows,
        ws_col: size.columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size)?;
    // The two ends are open files of their own: the child's stays blocking.
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, theirs))
}

/// None of them becomes the controlling terminal of this process.
const FLAGS: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY);

#[cfg(target_os = "linux")]
fn controller() -> io::Result<OwnedFd> {
    Ok(openpt(FLAGS | OpenptFlags::CLOEXEC)?)
}

/// Opens the other end by the terminal itself, whatever is mounted where its name leads.
#[cfg(target_os = "linux")]
fn peer(ours: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = FLAGS | OpenptFlags::CLOEXEC;
    Ok(rustix::pty::ioctl_tiocgptpeer(ours, flags)?)
}

#[cfg(not(target_os = "linux"))]
fn controller() -> io::Result<OwnedFd> {
    let _no_fork = super::pipes::no_half_made_pipe();
    let ours = openpt(FLAGS)?;
    rustix::io::ioctl_fioclex(&ours)?;
    Ok(ours)
}

#[cfg(not(target_os = "linux"))]
fn peer(ours: &OwnedFd) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags, open};
    let name = rustix::pty::ptsname(ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(name.as_c_str(), flags, Mode::empty())?)
}
