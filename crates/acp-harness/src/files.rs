//! Small files that are ours alone, replaced as a whole.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Files of a folder that are listed.
const MAX_LISTED: usize = 1 << 16;

/// A file or a folder that the system refused.
#[derive(Debug, thiserror::Error)]
#[error("{what} {}", .path.display())]
pub struct FileError {
    what: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl FileError {
    /// Says what was to be done, and with which file or folder.
    pub fn at(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self {
            what,
            path: path.clone(),
            source,
        }
    }
}

/// Reads a file of at most this many bytes; `None` when it is larger, or no plain file.
///
/// # Errors
///
/// What the system says, also when there is none.
pub fn read(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
    if !path.symlink_metadata()?.is_file() {
        return Ok(None);
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut content = Vec::new();
    file.take(max + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= max).then_some(content))
}

/// Replaces a file by way of a new one beside it, which only its owner may read. What is
/// there of the new one was left by who died while writing it, so callers see to it that
/// nobody else writes it meanwhile.
///
/// # Errors
///
/// What the system says; the file is then as it was.
pub fn replace(path: &Path, new: &Path, content: &[u8]) -> io::Result<()> {
    remove(new)?;
    let result = write(new, content).and_then(|()| std::fs::rename(new, path));
    if result.is_err() {
        // What could not be written is of no use to anybody.
        let _ = std::fs::remove_file(new);
    }
    result
}

/// Lists the files of a folder whose names end in `.extension`; a folder that is not there
/// has none.
///
/// # Errors
///
/// What the system says.
pub fn with_extension(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let is_one = |path: &PathBuf| path.extension().is_some_and(|it| it == extension);
    paths
        .filter(|path| path.as_ref().map_or(true, is_one))
        .take(MAX_LISTED)
        .collect()
}

/// Removes a file; one that is not there is removed already.
///
/// # Errors
///
/// What the system says when it is still there.
pub fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Says why others could change a file or a folder; `None` where they cannot.
#[must_use]
pub fn exposure(metadata: &Metadata) -> Option<&'static str> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(metadata) & 0o022 != 0 {
        return Some("other users may write to it (`chmod go-w` ends that)");
    }
    is_foreign(metadata).then_some("it belongs to another user")
}

/// Whether a file or a folder belongs to somebody else than this user and the
/// administrator.
#[cfg(unix)]
#[must_use]
pub fn is_foreign(metadata: &Metadata) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    owner != 0 && owner != rustix::process::geteuid().as_raw()
}

/// Whether a file or a folder belongs to somebody else: the system keeps them apart.
#[cfg(not(unix))]
#[must_use]
pub fn is_foreign(_: &Metadata) -> bool {
    false
}

/// Checks that nobody else can change what is in a folder; one that is not there is fine.
///
/// # Errors
///
/// Who could.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    match folder.metadata() {
        Ok(metadata) => match exposure(&metadata) {
            Some(why) => Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
            None => Ok(()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a folder that only its owner may look into, with those above it that are missing;
/// one that is there stays as it is, and must be one that only this user can change.
///
/// # Errors
///
/// What the system says, or who else could change what is in it.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    check_folder(folder)
}

/// Writes a new file down to the disk.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}
