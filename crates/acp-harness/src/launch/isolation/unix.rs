//! Folders that are ours alone, where files have owners and modes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fchmod, fstat, mkdirat, open, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{IsolationError, inner};

/// Makes what is missing. Every step is taken from the folder that was opened before
/// it, and none follows a link, so what was looked at is what is used.
pub(super) fn make(root: &Path, user: &str, agent: &str) -> Result<(), IsolationError> {
    let failed = |source| IsolationError::Io {
        path: root.to_owned(),
        source,
    };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(root)
        .or_else(|error| match root.symlink_metadata() {
            // What it is comes out below.
            Ok(_) => Ok(()),
            Err(_) => Err(error),
        })
        .map_err(failed)?;
    let opened = open(root, FOLDER, Mode::empty()).map_err(|errno| told(root, errno))?;
    ours(opened.as_fd(), root, Mode::WGRP | Mode::WOTH)?;
    let (user_fd, path) = step(opened.as_fd(), root, user)?;
    keep_to_us(user_fd.as_fd(), &path)?;
    let (home, path) = step(user_fd.as_fd(), &path, agent)?;
    keep_to_us(home.as_fd(), &path)?;
    for steps in inner() {
        let mut path = path.clone();
        let mut at: Option<OwnedFd> = None;
        for name in steps {
            let from = at.as_ref().map_or(home.as_fd(), AsFd::as_fd);
            let (next, next_path) = step(from, &path, name)?;
            ours(next.as_fd(), &next_path, Mode::empty())?;
            at = Some(next);
            path = next_path;
        }
    }
    Ok(())
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Makes a folder in another if it is missing, and opens it.
fn step(
    from: BorrowedFd<'_>,
    path: &Path,
    name: &str,
) -> Result<(OwnedFd, PathBuf), IsolationError> {
    let path = path.join(name);
    match mkdirat(from, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(told(&path, errno)),
    }
    let opened = openat(from, name, FOLDER, Mode::empty());
    let opened = opened.map_err(|errno| told(&path, errno))?;
    Ok((opened, path))
}

/// Refuses a folder of others, and one for which they have any of these permissions.
fn ours(folder: BorrowedFd<'_>, path: &Path, others: Mode) -> Result<(), IsolationError> {
    let facts = fstat(folder).map_err(|errno| told(path, errno))?;
    let shared = Mode::from_raw_mode(facts.st_mode).intersects(others);
    if facts.st_uid != geteuid().as_raw() || shared {
        let path = path.to_owned();
        return Err(IsolationError::NotOurs { path });
    }
    Ok(())
}

/// Takes from others what permissions they have for a folder of ours.
fn keep_to_us(folder: BorrowedFd<'_>, path: &Path) -> Result<(), IsolationError> {
    ours(folder, path, Mode::empty())?;
    fchmod(folder, Mode::RWXU).map_err(|errno| told(path, errno))
}

fn told(path: &Path, errno: Errno) -> IsolationError {
    let path = path.to_owned();
    match errno {
        Errno::LOOP | Errno::NOTDIR | Errno::MLINK => IsolationError::NotAFolder { path },
        _ => IsolationError::Io {
            path,
            source: errno.into(),
        },
    }
}
