//! The file: made if it is not there, looked at before it is used.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, config::DbConfig};
use uuid::Uuid;

use super::{
    OpenError, StoreError, StoreOptions,
    connection::{READ, SqliteConnection, WRITE, harden, page_bytes},
    error::Cause,
    fault::{Fault, SqliteErrorKind},
    schema,
};

/// Opens a file, and makes it if it is not there: a connection to write, and one
/// to read.
///
/// # Errors
///
/// [`OpenError`]; the file has not been changed then.
pub(crate) fn open(
    path: &Path,
    options: &StoreOptions,
) -> Result<(SqliteConnection, SqliteConnection), OpenError> {
    let path = locate(path)?;
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Err(source) = create(&path)
                // Somebody else has made it meanwhile.
                && !path.exists()
            {
                return Err(OpenError::Create { path, source });
            }
        }
        Err(error) => {
            let source = error.into();
            return Err(OpenError::Open { path, source });
        }
        Ok(file) if !file.is_file() => return Err(OpenError::NotAFile { path }),
        // SQLite would take it for a new file, and throw away a log beside it.
        Ok(file) if file.len() == 0 => return Err(OpenError::Empty { path }),
        Ok(_) => {}
    }
    connect(&path, options).map_err(|fault| refused(fault, path))
}

fn connect(
    path: &Path,
    options: &StoreOptions,
) -> Result<(SqliteConnection, SqliteConnection), Fault> {
    // The log of a link stands beside the file that it leads to.
    let path = &fs::canonicalize(path).map_err(|error| StoreError::Failed {
        source: error.into(),
    })?;
    // With a connection that cannot change it, whatever it turns out to be.
    look(Connection::open_with_flags(path, READ)?, path, options)?;
    let is_scrub_due = !log_is_empty(path);
    let mut connection = Connection::open_with_flags(path, WRITE)?;
    harden(&connection)?;
    connection.busy_timeout(options.busy_timeout)?;
    schema::upgrade(&mut connection, schema::STEPS)?;
    let writer = SqliteConnection::writer(connection, options)?.with_scrub_due(is_scrub_due);
    let reader = writer.reader(path, options)?;
    Ok((writer, reader))
}

/// Spells the path in full, so that SQLite sees nothing special in it.
fn locate(path: &Path) -> Result<PathBuf, OpenError> {
    let no_folder = || OpenError::NoFolder { path: path.into() };
    let full = std::path::absolute(path).map_err(|_| no_folder())?;
    match full.parent() {
        Some(folder) if full.file_name().is_some() && folder.is_dir() => Ok(full),
        _ => Err(no_folder()),
    }
}

/// Looks whether it is a history, and whole as far as can be told at once.
fn look(probe: Connection, path: &Path, options: &StoreOptions) -> Result<(), Fault> {
    harden(&probe)?;
    probe.busy_timeout(options.busy_timeout)?;
    // Nothing of the log is moved into the file when it is closed.
    probe.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // One state for all that follows.
    let state = probe.unchecked_transaction()?;
    if schema::application_id(&state)? != schema::APPLICATION_ID {
        return Err(foreign());
    }
    let (found, known) = (schema::form(&state)?, schema::NEWEST);
    if found > known {
        return Err(Fault::Store(StoreError::Newer { found, known }));
    }
    if found < 1 {
        return Err(Fault::damaged("it has no form"));
    }
    schema::check(&state, found)?;
    // What the log does not hold has to be in the file.
    let pages: u32 = state.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if log_is_empty(path) && length(path) < u64::from(pages) * page_bytes(&state)? {
        return Err(Fault::damaged("its end is missing"));
    }
    Ok(())
}

fn log_is_empty(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    length(Path::new(&log)) == 0
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

/// Another program's database, as SQLite says of a file that is none at all.
fn foreign() -> Fault {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
    rusqlite::Error::SqliteFailure(code, None).into()
}

/// Says in the words of the user what was found.
fn refused(fault: Fault, path: PathBuf) -> OpenError {
    match fault.into_store() {
        StoreError::Newer { found, known } => OpenError::Newer { path, found, known },
        StoreError::Damaged { source } => match source.downcast_ref() {
            Some(error) if SqliteErrorKind::of(error) == SqliteErrorKind::NoDatabase => {
                OpenError::NotAHistory { path }
            }
            _ => OpenError::Damaged { path, source },
        },
        StoreError::Failed { source } => OpenError::Open { path, source },
        other => OpenError::Open {
            path,
            source: other.into(),
        },
    }
}

/// Makes a file with no sessions. It is whole before it gets its name, so what
/// has the name is a history, whenever this is interrupted.
fn create(path: &Path) -> Result<(), Cause> {
    let draft = Draft::beside(path)?;
    let mut connection = Connection::open_with_flags(&draft.0, WRITE)?;
    // Nobody needs the draft if this is interrupted, so nothing is to be undone.
    let _: String =
        connection.pragma_update_and_check(None, "journal_mode", "OFF", |row| row.get(0))?;
    connection.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    schema::upgrade(&mut connection, schema::STEPS).map_err(Fault::into_store)?;
    let _: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    File::open(&draft.0)?.sync_all()?;
    publish(&draft.0, path)?;
    sweep(path);
    Ok(())
}

/// Removes what others left who were killed while they made this file. Whoever is
/// about to make it comes too late anyway.
fn sweep(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let name = name.as_encoded_bytes();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let rest = found.as_encoded_bytes().strip_prefix(name);
        let middle = rest.and_then(|rest| rest.strip_suffix(DRAFT.as_bytes()));
        if let Some([b'.', id @ ..]) = middle
            && id.len() == 32
            && id.iter().all(u8::is_ascii_hexdigit)
        {
            drop(Draft(entry.path()));
        }
    }
}

/// The end of the name of a [`Draft`].
const DRAFT: &str = ".new";

/// A file without its final name. It is removed unless it got one.
struct Draft(PathBuf);

impl Draft {
    /// Begins an empty file that only the user may read. The log gets the rights
    /// of the file from SQLite.
    fn beside(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}{DRAFT}", Uuid::now_v7().simple()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&name)?;
        Ok(Self(name.into()))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let mut name = self.0.as_os_str().to_owned();
            name.push(end);
            // Most often there is none.
            let _ = fs::remove_file(name);
        }
    }
}

/// Gives a file its name, unless something has it.
fn publish(draft: &Path, path: &Path) -> io::Result<()> {
    if !rename_new(draft, path)? {
        fs::hard_link(draft, path)?;
    }
    // The name is on the disk, too.
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// False if the file system knows no such renaming.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_new(draft: &Path, path: &Path) -> io::Result<bool> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };
    match renameat_with(CWD, draft, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_new(_draft: &Path, _path: &Path) -> io::Result<bool> {
    Ok(false)
}
