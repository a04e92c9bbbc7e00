//! Reads a file of a session. Blocks.

use std::io;
use std::path::Path;

use cap_std::fs::{File, OpenOptions};

use super::lines::{LineRange, ReadLimits};
use crate::error::ServeError;
use crate::folders::{FolderPath, Roots, explain, may_be_misspelled};

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// Reads lines of a text file.
pub(super) fn read(
    roots: &Roots,
    path: &Path,
    lines: LineRange,
    limits: ReadLimits,
    stopped: impl Fn() -> bool,
) -> Result<String, ServeError> {
    let named = || path.to_path_buf();
    let file = open(roots, path)?;
    if lines.is_all() && file.metadata()?.len() > limits.taken {
        let (path, limit) = (named(), limits.taken);
        return Err(ServeError::TooLarge { path, limit });
    }
    let bytes = lines.cut(file, path, PIECE, limits, stopped)?;
    String::from_utf8(bytes).map_err(|_| ServeError::NotText { path: named() })
}

/// Opens a regular file.
fn open(roots: &Roots, path: &Path) -> Result<File, ServeError> {
    let opened = match open_regular(&roots.place(path)?) {
        // Links may lead from root to root, which only a closer look tells; and it
        // tells a link to nowhere from nothing.
        Err(error) if may_be_misspelled(&error) => {
            let resolved = roots.resolve(path)?;
            if !resolved.exists {
                return Err(ServeError::NotFound {
                    path: path.to_path_buf(),
                });
            }
            open_regular(&resolved.place)
        }
        opened => opened,
    };
    match opened {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(ServeError::NotAFile {
            path: path.to_path_buf(),
        }),
        Err(error) => Err(explain(path, error)),
    }
}

/// Opens a place if a regular file is there.
///
/// It looks before it opens, because opening a pipe or a device can do something;
/// and afterwards, because that could have come in between.
fn open_regular(place: &FolderPath<'_>) -> io::Result<Option<File>> {
    if place.below.as_os_str().is_empty() || !place.dir.metadata(&place.below)?.is_file() {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options);
    let file = place.dir.open_with(&place.below, &options)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Opening a pipe would wait for somebody to write into it.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt as _;
    use rustix::fs::OFlags;

    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    options.custom_flags(flags.cast_signed());
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions) {}
