//! A conversation that is claimed, and its record.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::{RecordError, SessionRecord, Written};
use crate::limits::MAX_RECORD;

/// The right to run a turn of a conversation, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    lock: Lock,
    path: PathBuf,
}

impl Claim {
    pub(super) fn new(lock: Lock, path: PathBuf) -> Self {
        Self { lock, path }
    }

    /// Reads what is recorded of the conversation, if anything is.
    ///
    /// A record that makes no sense is forgotten, with a warning.
    ///
    /// # Errors
    ///
    /// [`RecordError::Io`] when there is one that cannot be read or forgotten.
    pub fn load(&self) -> Result<Option<SessionRecord>, RecordError> {
        match read(&self.path) {
            Ok(Some(record)) => Ok(Some(record)),
            Ok(None) => {
                tracing::warn!(
                    path = %self.path.display(),
                    "the record of a session makes no sense and is forgotten"
                );
                self.forget()?;
                Ok(None)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(RecordError::io("read the record", &self.path, error)),
        }
    }

    /// Records the conversation's session, in place of what was recorded.
    ///
    /// # Errors
    ///
    /// [`RecordError`]; what was recorded before is still there then.
    pub fn save(&self, record: &SessionRecord) -> Result<(), RecordError> {
        let failed = |error| RecordError::io("write the record", &self.path, error);
        let written = serde_json::to_vec(&Written::of(record));
        let written = written.map_err(|error| failed(error.into()))?;
        if written.len() as u64 > MAX_RECORD {
            let bytes = written.len();
            return Err(RecordError::TooLong { bytes });
        }
        // The claim is ours, so nobody else has a file of this name in hand; what is there
        // was left by who died while writing it.
        let new = self.path.with_extension("new");
        remove(&new).map_err(failed)?;
        let result = write(&new, &written).and_then(|()| std::fs::rename(&new, &self.path));
        result.map_err(|error| {
            // What could not be written is of no use to anybody.
            let _ = std::fs::remove_file(&new);
            failed(error)
        })
    }

    /// Forgets the conversation's session; one that is not recorded is forgotten already.
    ///
    /// # Errors
    ///
    /// [`RecordError::Io`] when the record is still there.
    pub fn forget(&self) -> Result<(), RecordError> {
        remove(&self.path).map_err(|error| RecordError::io("forget the record", &self.path, error))
    }

    /// Forgets the session, and leaves nothing of the conversation behind.
    ///
    /// # Errors
    ///
    /// [`RecordError::Io`] when something is still there.
    pub fn abandon(self) -> Result<(), RecordError> {
        self.forget()?;
        let failed = |error| RecordError::io("forget the record", &self.path, error);
        self.lock.remove().map_err(failed)
    }
}

/// Reads a record; `None` when what is there makes no sense.
pub(super) fn read(path: &Path) -> io::Result<Option<SessionRecord>> {
    if path.symlink_metadata()?.is_symlink() {
        return Ok(None);
    }
    let mut written = Vec::new();
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    file.take(MAX_RECORD + 1).read_to_end(&mut written)?;
    if written.len() as u64 > MAX_RECORD {
        return Ok(None);
    }
    let written: Option<Written> = serde_json::from_slice(&written).ok();
    Ok(written.and_then(Written::read))
}

/// Writes a new file that only its owner may read, down to the disk.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
