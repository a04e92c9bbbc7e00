//! A lock that two processes cannot have at once, and that dies with its owner.
//!
//! It is one of the system on a file, so a process that is killed leaves the file and no
//! lock.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Holds a lock, as long as it lives.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of this file, which is made if it is missing; `None` when somebody
    /// else has it.
    ///
    /// # Errors
    ///
    /// What the system says when the file cannot be made, opened or locked; a link is not
    /// followed.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        // Whoever removes a file of a lock holds it. So the file that was opened may be
        // gone, and another have come in its place, by the time it is locked.
        for _ in 0..TRIES {
            let Some(file) = open_locked(path)? else {
                return Ok(None);
            };
            if is_still_there(&file, path)? {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    _file: file,
                }));
            }
        }
        // Somebody makes and removes it without an end.
        Ok(None)
    }

    /// Removes the file, and gives up the lock.
    ///
    /// # Errors
    ///
    /// What the system says when the file is still there; the lock is given up all the
    /// same.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// How often a file that went away is opened anew.
const TRIES: usize = 16;

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    options
}

#[cfg(unix)]
fn open_locked(path: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::{FlockOperation, OFlags, flock};
    use rustix::io::Errno;

    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let mut options = options();
    let file = options.mode(0o600).custom_flags(no_link).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(unix)]
fn is_still_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let ours = file.metadata()?;
    match path.symlink_metadata() {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(windows)]
fn open_locked(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;

    // Nobody else may open what is not shared.
    const SHARING_VIOLATION: i32 = 32;
    match options().share_mode(0).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(windows)]
fn is_still_there(_: &File, _: &Path) -> io::Result<bool> {
    // What is open and not shared cannot be removed.
    Ok(true)
}

#[cfg(not(any(unix, windows)))]
fn open_locked(_: &Path) -> io::Result<Option<File>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(unix, windows)))]
fn is_still_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
