//! The files in which sessions are kept.

#[cfg(all(test, unix))]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use acp_harness::files::{self, FileError};
use acp_harness::lock::Lock;
use parking_lot::{Mutex, MutexGuard};

use super::control::overlong_path;
use super::key::{SessionKey, stem_of_folder};
use super::limits::{MAX_ASIDE, MAX_FILE, MAX_SESSIONS};
use super::record::{NoRecord, Record};
use crate::config::Surroundings;
use crate::exit::Exit;
use crate::outcome::Outcome;

/// The sessions of one user, a file each, in a folder that only they may look into.
///
/// A file is replaced as a whole or not at all, by whoever holds the lock beside it.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    folder: PathBuf,
}

/// The right to run a turn of a session and to write its record, until it is dropped. It
/// ends with its process, however that ends.
#[derive(Debug)]
pub(crate) struct Hold {
    _lock: Lock,
    path: PathBuf,
    record: Mutex<Option<Record>>,
    /// Where a damaged record was put.
    aside: Option<PathBuf>,
}

/// All records that could be read, and files that are none.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The last used first.
    pub(crate) records: Vec<Record>,
    pub(crate) unreadable: Vec<PathBuf>,
}

/// Why a session cannot be had or kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("find the folder for sessions: neither XDG_STATE_HOME nor HOME names one")]
    NoHome,
    #[error("read {}: a newer acp wrote it", .path.display())]
    Newer { path: PathBuf },
    #[error("keep one session more: there are {MAX_SESSIONS}")]
    TooMany,
    #[error("set a damaged record aside: there are too many beside {}", .path.display())]
    TooDamaged { path: PathBuf },
    #[error("record the session: its record would have {bytes} bytes, and {MAX_FILE} are read")]
    TooLong { bytes: usize },
    #[error(transparent)]
    File(#[from] FileError),
}

const RECORD: &str = "json";
const LOCK: &str = "lock";

impl Store {
    /// Keeps sessions where programs of this system keep what they remember:
    /// `$XDG_STATE_HOME/acp`, or `~/.local/state/acp`, on macOS too; on Windows
    /// `%LOCALAPPDATA%\acp`.
    pub(crate) fn of_user() -> Result<Self, StoreError> {
        let user = Surroundings::of_process();
        let folder = user.folder("XDG_STATE_HOME", Some("LOCALAPPDATA"), ".local/state");
        let folder = folder.ok_or(StoreError::NoHome)?;
        Ok(Self::in_folder(folder.join("sessions")))
    }

    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Claims a session; `None` while somebody else holds it.
    ///
    /// A record that makes no sense is put aside, and the session begins anew.
    pub(crate) fn try_claim(&self, key: &SessionKey) -> Result<Option<Hold>, StoreError> {
        self.make_folder()?;
        let path = self.path(key, LOCK);
        let lock = Lock::take(&path).map_err(FileError::at("lock", &path))?;
        let Some(lock) = lock else {
            return Ok(None);
        };
        let path = self.path(key, RECORD);
        let mut aside = None;
        let record = match read(&path) {
            Ok(Ok(record)) if record.key() == *key => Some(record),
            Ok(Err(NoRecord::Newer)) => return Err(StoreError::Newer { path }),
            // Another place may have the same hash: too seldom to be told apart.
            Ok(Ok(_) | Err(NoRecord::Damaged)) => {
                aside = Some(set_aside(&path)?);
                None
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(FileError::at("read", &path)(error).into()),
        };
        if record.is_none() && self.files("", RECORD)?.len() >= MAX_SESSIONS {
            return Err(StoreError::TooMany);
        }
        Ok(Some(Hold {
            _lock: lock,
            path,
            record: Mutex::new(record),
            aside,
        }))
    }

    /// Reads all records, or those of one folder; nobody is kept from writing meanwhile.
    pub(crate) fn list(&self, folder: Option<&str>) -> Result<Listing, StoreError> {
        let prefix = folder.map(stem_of_folder).unwrap_or_default();
        let mut listing = Listing::default();
        for path in self.files(&prefix, RECORD)? {
            match read(&path) {
                Ok(Ok(record)) if folder.is_none_or(|folder| record.folder == folder) => {
                    listing.records.push(record);
                }
                Ok(Ok(_)) => {}
                // Deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(Err(_)) | Err(_) => listing.unreadable.push(path),
            }
        }
        let records = &mut listing.records;
        records.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        Ok(listing)
    }

    /// Returns where the process that runs a turn of the session is reached.
    pub(crate) fn socket(&self, key: &SessionKey) -> PathBuf {
        self.socket_named(&key.stem())
    }

    /// Returns where processes may be reached that run turns of a folder's sessions; nobody
    /// may be there any more.
    pub(crate) fn sockets(&self, folder: &str) -> Result<Vec<PathBuf>, StoreError> {
        let locks = self.files(&stem_of_folder(folder), LOCK)?.into_iter();
        let stems = locks.filter_map(|lock| Some(lock.file_stem()?.to_str()?.to_owned()));
        Ok(stems.map(|stem| self.socket_named(&stem)).collect())
    }

    fn socket_named(&self, stem: &str) -> PathBuf {
        let path = self.folder.join(format!("{stem}.sock"));
        let folder = stem_of_folder(&self.folder.to_string_lossy());
        overlong_path(&path, &format!("{folder}-{stem}.sock")).unwrap_or(path)
    }

    fn make_folder(&self) -> Result<(), StoreError> {
        Ok(files::make_folder(&self.folder)
            .map_err(FileError::at("use the folder", &self.folder))
            .and_then(|()| self.check_folders())?)
    }

    /// Checks that nobody else can put records there, or another folder in their place.
    fn check_folders(&self) -> Result<(), FileError> {
        let state = self.folder.parent().into_iter();
        let mut folders = state.chain([&*self.folder]);
        folders.try_for_each(|folder| {
            files::check_folder(folder).map_err(FileError::at("use the folder", folder))
        })
    }

    fn path(&self, key: &SessionKey, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", key.stem()))
    }

    /// The files of a kind whose names begin with this.
    fn files(&self, prefix: &str, kind: &str) -> Result<Vec<PathBuf>, StoreError> {
        self.check_folders()?;
        let failed = FileError::at("read the folder", &self.folder);
        let all = files::with_extension(&self.folder, kind).map_err(failed)?;
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(prefix)
        };
        Ok(all.into_iter().filter(is_one).take(MAX_SESSIONS).collect())
    }
}

impl Hold {
    /// Returns what is recorded.
    pub(crate) fn record(&self) -> Option<Record> {
        self.lock_record().clone()
    }

    /// Returns where a damaged record was put when the session was claimed.
    pub(crate) fn aside(&self) -> Option<&Path> {
        self.aside.as_deref()
    }

    /// Records this in place of what was recorded.
    pub(crate) fn save(&self, record: Record) -> Result<(), StoreError> {
        let mut kept = self.lock_record();
        self.write(&record)?;
        *kept = Some(record);
        Ok(())
    }

    /// Changes what is recorded; does nothing where nothing is.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Record)) -> Result<(), StoreError> {
        let mut kept = self.lock_record();
        let Some(mut record) = kept.clone() else {
            return Ok(());
        };
        change(&mut record);
        self.write(&record)?;
        *kept = Some(record);
        Ok(())
    }

    /// Forgets the session, and leaves nothing of it behind. It is still held.
    pub(crate) fn delete(&self) -> Result<(), StoreError> {
        let mut kept = self.lock_record();
        files::remove(&self.path).map_err(FileError::at("delete", &self.path))?;
        *kept = None;
        drop(kept);
        self.leave_nothing()
    }

    /// Leaves nothing behind of a session that has no record.
    pub(crate) fn leave_nothing(&self) -> Result<(), StoreError> {
        if self.lock_record().is_some() {
            return Ok(());
        }
        // Whoever opened the file before it was removed notices.
        let lock = self.path.with_extension(LOCK);
        Ok(files::remove(&lock).map_err(FileError::at("delete", &lock))?)
    }

    fn write(&self, record: &Record) -> Result<(), StoreError> {
        let failed = FileError::at("write", &self.path);
        let written = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        // A longer one would count as damaged in the next run.
        if written.len() as u64 > MAX_FILE {
            let bytes = written.len();
            return Err(StoreError::TooLong { bytes });
        }
        // The lock is ours, so nobody else has a file of this name in hand.
        Ok(
            files::replace(&self.path, &self.path.with_extension("new"), &written)
                .map_err(&failed)?,
        )
    }

    fn lock_record(&self) -> MutexGuard<'_, Option<Record>> {
        self.record.lock()
    }
}

fn read(path: &Path) -> io::Result<Result<Record, NoRecord>> {
    let content = files::read(path, MAX_FILE)?;
    Ok(match content {
        Some(content) => Record::read(&content),
        None => Err(NoRecord::Damaged),
    })
}

/// Moves a file out of the way, over no other one.
fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    for n in 1..=MAX_ASIDE {
        let aside = path.with_extension(format!("damaged-{n}"));
        // The lock is ours, so nobody else makes one of this name.
        match aside.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::rename(path, &aside).map_err(FileError::at("set aside", path))?;
                return Ok(aside);
            }
            _ => {}
        }
    }
    let path = path.to_owned();
    Err(StoreError::TooDamaged { path })
}

impl From<StoreError> for Outcome {
    fn from(error: StoreError) -> Self {
        Self::failed(Exit::StartFailed, &error)
    }
}
