//! A conversation that is claimed, and its record.

use std::io;
use std::path::{Path, PathBuf};

use super::{FORMAT, RecordError, SessionRecord, Written};
use crate::files::{self, FileError};
use crate::limits::MAX_RECORD;
use crate::lock::Lock;

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
    /// [`RecordError::File`] when there is one that cannot be read or forgotten.
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
            Err(error) => Err(FileError::at("read the record", &self.path)(error).into()),
        }
    }

    /// Records the conversation's session, in place of what was recorded.
    ///
    /// # Errors
    ///
    /// [`RecordError`]; what was recorded before is still there then.
    pub fn save(&self, record: &SessionRecord) -> Result<(), RecordError> {
        let failed = FileError::at("write the record", &self.path);
        let version = FORMAT;
        let written = serde_json::to_vec(&Written { version, record });
        let written = written.map_err(|error| failed(error.into()))?;
        if written.len() as u64 > MAX_RECORD {
            let bytes = written.len();
            return Err(RecordError::TooLong { bytes });
        }
        // The claim is ours, so nobody else has a file of this name in hand.
        let new = self.path.with_extension("new");
        Ok(files::replace(&self.path, &new, &written).map_err(failed)?)
    }

    /// Forgets the conversation's session; one that is not recorded is forgotten already.
    ///
    /// # Errors
    ///
    /// [`RecordError::File`] when the record is still there.
    pub fn forget(&self) -> Result<(), RecordError> {
        Ok(files::remove(&self.path).map_err(FileError::at("forget the record", &self.path))?)
    }

    /// Forgets the session, and leaves nothing of the conversation behind.
    ///
    /// # Errors
    ///
    /// [`RecordError::File`] when something is still there.
    pub fn abandon(self) -> Result<(), RecordError> {
        self.forget()?;
        let failed = FileError::at("forget the record", &self.path);
        Ok(self.lock.remove().map_err(failed)?)
    }
}

/// Reads a record; `None` when what is there makes no sense.
pub(super) fn read(path: &Path) -> io::Result<Option<SessionRecord>> {
    let content = files::read(path, MAX_RECORD)?;
    let written: Option<Written<SessionRecord>> =
        content.and_then(|content| serde_json::from_slice(&content).ok());
    let known = written.filter(|it| it.version == FORMAT);
    let record = known.map(|it| it.record);
    Ok(record.filter(|record| !record.session_id.as_str().is_empty()))
}
