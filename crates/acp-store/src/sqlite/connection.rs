//! A connection to the file, and what is done on it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, ToSql, TransactionBehavior, config::DbConfig};

use super::{
    Durability, StoreError, StoreOptions,
    fault::Fault,
    limits::{LOG_BYTES, SCRUB_WAIT},
    schema,
};

/// How a connection is opened. No file is made, and the path is never taken for
/// an address.
pub(crate) const READ: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
pub(crate) const WRITE: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A connection that belongs to one thread.
#[derive(Debug)]
pub(crate) struct SqliteConnection {
    connection: Connection,
    /// What was read makes no sense: nothing is written any more. Shared by the
    /// connections of a store.
    is_damaged: Arc<AtomicBool>,
    /// Something was deleted, and the log still holds it.
    is_scrub_due: bool,
    /// The thread that has to be done with the file first, so that the last
    /// connection is one that may tidy up.
    before: Option<JoinHandle<()>>,
    busy_timeout: Duration,
}

impl SqliteConnection {
    /// Opens one more connection to the file of this one, which only reads.
    pub(crate) fn reader(&self, path: &Path, options: &StoreOptions) -> Result<Self, Fault> {
        let connection = Connection::open_with_flags(path, READ)?;
        configure(&connection, options)?;
        let mut reader = Self::new(connection, options);
        reader.is_damaged = Arc::clone(&self.is_damaged);
        Ok(reader)
    }

    /// Takes a connection that also writes.
    pub(crate) fn writer(connection: Connection, options: &StoreOptions) -> Result<Self, Fault> {
        configure(&connection, options)?;
        // It was made so; another program may have changed it.
        let mode: String =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            let source = "it cannot be brought into write-ahead mode".into();
            return Err(Fault::Store(StoreError::Failed { source }));
        }
        let pages = options
            .max_file_bytes
            .div_ceil(page_bytes(&connection)?)
            .max(1);
        let pages = i64::try_from(pages).unwrap_or(i64::MAX);
        let _: i64 =
            connection.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0))?;
        set(&connection, "secure_delete", "ON")?;
        set(&connection, "journal_size_limit", LOG_BYTES)?;
        Ok(Self::new(connection, options))
    }

    fn new(connection: Connection, options: &StoreOptions) -> Self {
        Self {
            connection,
            is_damaged: Arc::default(),
            is_scrub_due: false,
            before: None,
            busy_timeout: options.busy_timeout,
        }
    }

    /// Lets another thread be done with the file first.
    pub(crate) fn behind(mut self, other: JoinHandle<()>) -> Self {
        self.before = Some(other);
        self
    }

    /// Reads one state of the file.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.transact(TransactionBehavior::Deferred, work)
    }

    /// Changes the file, all at once or not at all.
    ///
    /// The place among writers is taken first, so nothing that was read can
    /// change before it is written.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.check_whole()?;
        self.transact(TransactionBehavior::Immediate, work)
    }

    /// Refuses to change what is damaged.
    fn check_whole(&self) -> Result<(), Fault> {
        if self.is_damaged.load(Relaxed) {
            return Err(Fault::damaged("something in it was found damaged before"));
        }
        Ok(())
    }

    fn transact<T>(
        &mut self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let done = run(&mut self.connection, behavior, work);
        done.inspect_err(|fault| self.note(fault))
    }

    fn note(&self, fault: &Fault) {
        if fault.is_damage() {
            tracing::error!("the session history is damaged");
            self.is_damaged.store(true, Relaxed);
        }
    }

    /// The log was there before: whoever left it may have been killed between
    /// deleting something and emptying it.
    pub(crate) fn with_scrub_due(mut self, is_due: bool) -> Self {
        self.is_scrub_due = is_due;
        self
    }

    /// Whether the log still holds what was deleted.
    pub(crate) fn is_scrub_due(&self) -> bool {
        self.is_scrub_due
    }

    /// Deletes something, and sees to it that nothing is left of it.
    pub(crate) fn erase<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let done = self.write(work)?;
        self.scrub();
        Ok(done)
    }

    /// Empties the log, so that nothing that was deleted is left in it. If
    /// another process reads an older state just now, it remains due.
    pub(crate) fn scrub(&mut self) {
        if self.is_damaged.load(Relaxed) {
            self.is_scrub_due = false;
            return;
        }
        self.is_scrub_due = !matches!(self.empty_log(), Ok(true));
    }

    /// True if the log is empty then.
    fn empty_log(&self) -> rusqlite::Result<bool> {
        self.connection.busy_timeout(SCRUB_WAIT)?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_blocked = self.connection.query_row(checkpoint, [], |row| row.get(0));
        self.connection.busy_timeout(self.busy_timeout)?;
        is_blocked.map(|is_blocked: i64| is_blocked == 0)
    }

    /// Writes the file anew, without the room that nothing uses.
    pub(crate) fn compact(&mut self) -> Result<(), Fault> {
        self.check_whole()?;
        let done = self.connection.execute_batch("VACUUM").map_err(Fault::from);
        done.inspect_err(|fault| self.note(fault))?;
        self.scrub();
        Ok(())
    }

    /// Closes the connection, behind the other one.
    pub(crate) fn close(mut self) {
        if let Some(before) = self.before.take() {
            // It has no panic to hand on: each of its calls catches its own.
            let _ = before.join();
        }
        if self.is_damaged.load(Relaxed) {
            let _ = self
                .connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
        // It is gone either way; all that was acknowledged is in the file or its log.
        let _ = self.connection.close();
    }
}

/// Lets SQLite call nothing and run nothing that a file brings along. It is set before
/// anything of the file is used.
pub(crate) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    // No harm to tables by way of SQL, no functions with effects.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // We have neither.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    Ok(())
}

/// Sets what holds for every connection.
fn configure(connection: &Connection, options: &StoreOptions) -> Result<(), Fault> {
    connection.busy_timeout(options.busy_timeout)?;
    harden(connection)?;
    let is_forced = options.durability == Durability::PowerLoss;
    set(
        connection,
        "synchronous",
        if is_forced { "FULL" } else { "NORMAL" },
    )?;
    // On macOS `fsync` alone leaves it to the disk when to write; elsewhere these do nothing.
    set(connection, "fullfsync", is_forced)?;
    set(connection, "checkpoint_fullfsync", is_forced)?;
    set(connection, "foreign_keys", true)?;
    set(connection, "cell_size_check", true)?;
    Ok(())
}

fn set(connection: &Connection, name: &str, value: impl ToSql) -> rusqlite::Result<()> {
    connection.pragma_update(None, name, value)
}

/// How many bytes a page of the file has.
pub(crate) fn page_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let bytes: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(bytes.max(1).into())
}

/// Runs work in a transaction, unless the file has got another form meanwhile.
fn run<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    work: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = connection.transaction_with_behavior(behavior)?;
    let found = schema::form(&transaction)?;
    if found != schema::NEWEST {
        let known = schema::NEWEST;
        return Err(Fault::Store(StoreError::Newer { found, known }));
    }
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection of each sort, on a file of its own.
    fn desks(options: &StoreOptions) -> (tempfile::TempDir, [SqliteConnection; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let (writer, reader) =
            crate::sqlite::file::open(&folder.path().join("s"), options).unwrap();
        (folder, [writer, reader])
    }

    fn value(desk: &SqliteConnection, pragma: &str) -> i64 {
        let value = desk
            .connection
            .pragma_query_value(None, pragma, |row| row.get(0));
        value.unwrap()
    }

    #[test]
    fn connections_are_set_up_as_promised() {
        for (durability, synchronous) in [(Durability::PowerLoss, 2), (Durability::ProcessEnd, 1)] {
            let options = StoreOptions::new()
                .with_durability(durability)
                .with_max_file_bytes(1_000_000)
                .with_busy_timeout(Duration::MAX);
            let (_folder, desks) = desks(&options);
            for desk in &desks {
                assert_eq!(value(desk, "synchronous"), synchronous);
                assert_eq!(value(desk, "fullfsync"), synchronous - 1);
                assert_eq!(value(desk, "foreign_keys"), 1);
                assert_eq!(value(desk, "trusted_schema"), 0);
                for off in [
                    DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
                    DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
                ] {
                    assert!(!desk.connection.db_config(off).unwrap());
                }
                let defensive = DbConfig::SQLITE_DBCONFIG_DEFENSIVE;
                assert!(desk.connection.db_config(defensive).unwrap());
                assert_eq!(value(desk, "busy_timeout"), 3_600_000);
            }
            let [writer, reader] = &desks;
            assert_eq!(value(writer, "secure_delete"), 1);
            assert_eq!(value(writer, "max_page_count"), 245);
            assert_eq!(value(writer, "journal_size_limit"), LOG_BYTES);
            let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            let mode = writer
                .connection
                .pragma_query_value(None, "journal_mode", mode);
            assert_eq!(mode.unwrap(), "wal");
            let written = reader.connection.execute("DELETE FROM session", []);
            written.unwrap_err();
        }
    }

    #[test]
    fn work_that_fails_or_panics_leaves_nothing() {
        let (_folder, [mut writer, mut reader]) = desks(&StoreOptions::new());
        let insert = "INSERT INTO session (id, directories, options, updated_at)
            VALUES ('s', '', '', 0)";
        let failed = writer.write(|change| {
            change.execute(insert, [])?;
            Err::<(), _>(Fault::Moved)
        });
        assert!(matches!(failed, Err(Fault::Moved)));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            writer.write(|change| -> Result<(), Fault> {
                change.execute(insert, [])?;
                panic!("on purpose");
            })
        }));
        panicked.unwrap_err();
        let count = |state: &Connection| {
            let count = state.query_row("SELECT count(*) FROM session", [], |row| row.get(0));
            Ok::<i64, Fault>(count?)
        };
        assert_eq!(reader.read(count).unwrap(), 0);
        // And the connection is as good as before.
        writer
            .write(|change| Ok(change.execute(insert, [])?))
            .unwrap();
        assert_eq!(reader.read(count).unwrap(), 1);
    }
}
