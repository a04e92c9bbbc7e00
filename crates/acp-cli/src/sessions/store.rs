//! The files in which sessions are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use acp_harness::files;
use acp_harness::lock::Lock;

use super::control::overlong_path;
use super::limits::{MAX_ASIDE, MAX_FILE, MAX_SESSIONS};
use super::place::{Place, stem_of_folder};
use super::record::{NoRecord, Record};

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
    #[error("{what} {}", .path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

fn failed<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> StoreError + 'a {
    move |source| StoreError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}

const RECORD: &str = "json";
const LOCK: &str = "lock";

impl Store {
    /// Keeps sessions where programs of this system keep what they remember.
    pub(crate) fn of_user() -> Result<Self, StoreError> {
        let folder = state_folder().ok_or(StoreError::NoHome)?;
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
    pub(crate) fn try_claim(&self, place: &Place) -> Result<Option<Hold>, StoreError> {
        self.make_folder()?;
        let path = self.path(place, LOCK);
        let lock = Lock::take(&path).map_err(failed("lock", &path))?;
        let Some(lock) = lock else {
            return Ok(None);
        };
        let path = self.path(place, RECORD);
        let mut aside = None;
        let record = match read(&path) {
            Ok(Ok(record)) if record.place() == *place => Some(record),
            Ok(Err(NoRecord::Newer)) => return Err(StoreError::Newer { path }),
            // Another place may have the same hash: too seldom to be told apart.
            Ok(Ok(_) | Err(NoRecord::Damaged)) => {
                aside = Some(set_aside(&path)?);
                None
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed("read", &path)(error)),
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
    pub(crate) fn socket(&self, place: &Place) -> PathBuf {
        self.socket_named(&place.stem())
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
        files::make_folder(&self.folder).map_err(failed("make the folder", &self.folder))
    }

    fn path(&self, place: &Place, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", place.stem()))
    }

    /// The files of a kind whose names begin with this.
    fn files(&self, prefix: &str, kind: &str) -> Result<Vec<PathBuf>, StoreError> {
        let failed = failed("read the folder", &self.folder);
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(&failed)?;
            let path = entry.path();
            let is_one = path.extension().is_some_and(|it| it == kind);
            if is_one && entry.file_name().to_string_lossy().starts_with(prefix) {
                files.push(path);
            }
            if files.len() == MAX_SESSIONS {
                break;
            }
        }
        Ok(files)
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
        files::remove(&self.path).map_err(failed("delete", &self.path))?;
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
        files::remove(&lock).map_err(failed("delete", &lock))
    }

    fn write(&self, record: &Record) -> Result<(), StoreError> {
        let failed = failed("write", &self.path);
        let written = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        // The lock is ours, so nobody else has a file of this name in hand.
        files::replace(&self.path, &self.path.with_extension("new"), &written).map_err(&failed)
    }

    fn lock_record(&self) -> MutexGuard<'_, Option<Record>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
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
                fs::rename(path, &aside).map_err(failed("set aside", path))?;
                return Ok(aside);
            }
            _ => {}
        }
    }
    let path = path.to_owned();
    Err(StoreError::TooDamaged { path })
}

/// Finds the folder in which this program keeps what it remembers: `$XDG_STATE_HOME/acp`,
/// or `~/.local/state/acp`, on macOS too; on Windows `%LOCALAPPDATA%\acp`.
fn state_folder() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let variable = |name| absolute(std::env::var_os(name)?.into());
    let folder = variable("XDG_STATE_HOME").or_else(|| match cfg!(windows) {
        true => variable("LOCALAPPDATA"),
        false => Some(absolute(std::env::home_dir()?)?.join(".local/state")),
    });
    Some(folder?.join("acp"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_folder(dir.path().join("acp/sessions"));
        (dir, store)
    }

    fn claimed(store: &Store, name: &str) -> Hold {
        store.try_claim(&Place::of_demo(name)).unwrap().unwrap()
    }

    fn saved(store: &Store, name: &str, session: &str) -> Record {
        let hold = claimed(store, name);
        let mut record = Record::new(&Place::of_demo(name), "/");
        record.go_on_in(session.into());
        hold.save(record.clone()).unwrap();
        record
    }

    #[test]
    fn what_is_saved_is_there_for_the_next() {
        let (_dir, store) = store();
        let record = saved(&store, "one", "s-1");
        let hold = claimed(&store, "one");
        assert_eq!(hold.record(), Some(record));
        assert_eq!(claimed(&store, "two").record(), None);
        hold.update(|record| record.set_title("Title")).unwrap();
        drop(hold);
        let kept = claimed(&store, "one").record().unwrap();
        assert_eq!(kept.title.as_deref(), Some("Title"));
    }

    #[test]
    fn nobody_else_may_look() {
        let (_dir, store) = store();
        saved(&store, "one", "s-1");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&store.folder), 0o700);
        for entry in fs::read_dir(&store.folder).unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
    }

    #[test]
    fn one_holds_it_at_a_time() {
        let (_dir, store) = store();
        let hold = claimed(&store, "one");
        assert!(store.try_claim(&Place::of_demo("one")).unwrap().is_none());
        let _other = claimed(&store, "two");
        drop(hold);
        claimed(&store, "one");
    }

    #[test]
    fn who_dies_while_writing_leaves_what_was_there() {
        let (_dir, store) = store();
        let record = saved(&store, "one", "s-1");
        let path = store.path(&Place::of_demo("one"), RECORD);
        fs::write(path.with_extension("new"), "{\"version\":1,\"na").unwrap();
        let hold = claimed(&store, "one");
        assert_eq!((hold.record(), hold.aside()), (Some(record), None));
        hold.update(|record| record.set_title("Title")).unwrap();
        assert!(!path.with_extension("new").exists());
        assert_eq!(store.list(None).unwrap().records.len(), 1);
    }

    #[test]
    fn what_is_damaged_is_put_aside_and_nothing_else() {
        let (_dir, store) = store();
        saved(&store, "one", "s-1");
        saved(&store, "two", "s-2");
        let path = store.path(&Place::of_demo("one"), RECORD);
        for n in 1..=2 {
            fs::write(&path, format!("damage {n}")).unwrap();
            let listing = store.list(None).unwrap();
            assert_eq!(listing.unreadable, [path.as_path()]);
            assert_eq!(listing.records.len(), 1);
            let hold = claimed(&store, "one");
            assert_eq!(hold.record(), None);
            let aside = hold.aside().unwrap();
            assert_eq!(fs::read_to_string(aside).unwrap(), format!("damage {n}"));
            hold.save(Record::new(&Place::of_demo("one"), "/")).unwrap();
        }
        assert_eq!(
            claimed(&store, "two").record().unwrap().name.as_str(),
            "two"
        );
    }

    #[test]
    fn what_is_newer_is_left_alone() {
        let (_dir, store) = store();
        saved(&store, "one", "s-1");
        let path = store.path(&Place::of_demo("one"), RECORD);
        let newer = r#"{"version":2,"is":"from the future"}"#;
        fs::write(&path, newer).unwrap();
        let refused = store.try_claim(&Place::of_demo("one")).unwrap_err();
        assert!(matches!(refused, StoreError::Newer { .. }), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    }

    #[test]
    fn deleted_leaves_nothing() {
        let (_dir, store) = store();
        saved(&store, "one", "s-1");
        claimed(&store, "one").delete().unwrap();
        // Neither does one that never came to a record.
        claimed(&store, "two").leave_nothing().unwrap();
        assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 0);
        assert!(store.list(None).unwrap().records.is_empty());
    }

    #[test]
    fn sessions_are_listed_by_folder_the_last_used_first() {
        let (_dir, store) = store();
        for (name, used) in [("a", 10), ("b", 30), ("c", 20)] {
            saved(&store, name, "s");
            let hold = claimed(&store, name);
            hold.update(|record| record.used = used).unwrap();
        }
        let elsewhere = Place {
            folder: "/home/ada/other".to_owned(),
            ..Place::of_demo("a")
        };
        let hold = store.try_claim(&elsewhere).unwrap().unwrap();
        hold.save(Record::new(&elsewhere, "/")).unwrap();
        let names = |folder| -> Vec<String> {
            let records = store.list(folder).unwrap().records;
            records.iter().map(|it| it.name.to_string()).collect()
        };
        assert_eq!(names(Some("/home/ada/project")), ["b", "c", "a"]);
        assert_eq!(names(Some("/home/ada/other")), ["a"]);
        assert_eq!(names(None).len(), 4);
    }

    #[test]
    fn sockets_have_paths_that_the_system_takes() {
        let (dir, store) = store();
        let socket = store.socket(&Place::of_demo("one"));
        assert_eq!(socket.parent(), Some(store.folder.as_path()));
        let deep = Store::in_folder(dir.path().join("x".repeat(200)));
        let socket = deep.socket(&Place::of_demo("one"));
        assert!(socket.as_os_str().len() <= 103, "{}", socket.display());
        let other = Store::in_folder(dir.path().join("y".repeat(200)));
        assert_ne!(other.socket(&Place::of_demo("one")), socket);
        claimed(&deep, "one");
        assert_eq!(deep.sockets("/home/ada/project").unwrap(), [socket]);
    }
}
