//! The store as the kit sees it.

use std::{fmt, path::Path, time::SystemTime};

use acp_agent::{
    host::{CatalogEntry, CatalogQuery, SessionId},
    kit::{History, HistoryError, Page, Record, StoredSession},
};

use super::{
    OpenError, StoreOptions, connection::SqliteConnection, file, limits::PRUNED_AT_ONCE, record,
    session, session::SessionRow, worker::Worker,
};

/// Session history in one file.
///
/// Cheap to clone; clones share the file. It is closed when the last clone is
/// dropped; see [`close`](Self::close) for waiting until it is.
///
/// It works for any number of tasks. Changes are made one after the other, and
/// reading does not wait for them.
#[derive(Clone)]
pub struct SqliteHistory {
    reader: Worker,
    writer: Worker,
    max_record_bytes: usize,
}

impl SqliteHistory {
    /// Opens the store in a file with the default [options](StoreOptions). It is
    /// made if it is not there, readable for the user alone; its folder is not.
    ///
    /// This blocks for some milliseconds, longer if another process is about to
    /// change the form of the file.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; a file that was there has not been changed then.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::start(path.as_ref(), &StoreOptions::default())
    }

    pub(crate) fn start(path: &Path, options: &StoreOptions) -> Result<Self, OpenError> {
        let (writer, reader) = file::open(path, options)?;
        let thread = |source| OpenError::Thread { source };
        let (reader, reading) = Worker::start("history-reader", reader).map_err(thread)?;
        let writer = writer.behind(reading);
        let (writer, _) = Worker::start("history-writer", writer).map_err(thread)?;
        Ok(Self {
            reader,
            writer,
            max_record_bytes: options.max_record_bytes,
        })
    }

    /// Forgets the sessions in which nothing happened since then, and says how
    /// many that were.
    ///
    /// Also those that are live somewhere: their next turn fails.
    ///
    /// # Errors
    ///
    /// [`HistoryError`]; some may be forgotten already then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, some are forgotten. Each is, or is not, as a whole.
    pub async fn prune(&self, since: SystemTime) -> Result<u64, HistoryError> {
        let since = session::micros(since);
        let mut pruned = 0;
        loop {
            let forget = move |change: &_| session::prune(change, since, PRUNED_AT_ONCE);
            let some = self.writer.run(move |desk| desk.erase(forget)).await?;
            pruned += some as u64;
            if some < PRUNED_AT_ONCE {
                return Ok(pruned);
            }
        }
    }

    /// Gives back the room that deleted sessions took. It writes the whole file
    /// anew, which takes as much room again; changes wait meanwhile, those of
    /// other processes, too.
    ///
    /// # Errors
    ///
    /// [`HistoryError`]; nothing has changed then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it goes on, or does not begin.
    pub async fn compact(&self) -> Result<(), HistoryError> {
        Ok(self.writer.run(|desk| desk.compact()).await?)
    }

    /// Reads the whole file and looks whether it is whole. That takes its time,
    /// and whoever reads a session waits meanwhile.
    ///
    /// # Errors
    ///
    /// [`HistoryError`] if it is damaged, or cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn check(&self) -> Result<(), HistoryError> {
        Ok(self.reader.run(|desk| desk.read(record::check)).await?)
    }

    /// Closes the file when what was asked before is done. Whatever is asked
    /// later fails, also of clones. What was acknowledged needs no closing; this
    /// leaves one tidy file.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it may be closed or not.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

impl fmt::Debug for SqliteHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteHistory").finish_non_exhaustive()
    }
}

impl History for SqliteHistory {
    async fn create(&self, session: StoredSession) -> Result<(), HistoryError> {
        let facts = SessionRow::of(&session)?;
        let create = move |change: &_| session::create(change, &facts);
        Ok(self.writer.run(|desk| desk.write(create)).await?)
    }

    async fn get(&self, id: &SessionId) -> Result<Option<StoredSession>, HistoryError> {
        let id = id.clone();
        let get = move |state: &_| session::get(state, &id);
        Ok(self.reader.run(|desk| desk.read(get)).await?)
    }

    async fn update(&self, session: StoredSession) -> Result<(), HistoryError> {
        let facts = SessionRow::of(&session)?;
        let update = move |change: &_| session::update(change, &facts);
        Ok(self.writer.run(|desk| desk.write(update)).await?)
    }

    async fn append(
        &self,
        id: &SessionId,
        at: u64,
        records: Vec<Record>,
    ) -> Result<(), HistoryError> {
        let (id, max) = (id.clone(), self.max_record_bytes);
        let work = move |desk: &mut SqliteConnection| {
            let rows = record::rows(&records, max)?;
            desk.write(|change| record::append(change, &id, at, &rows))
        };
        Ok(self.writer.run(work).await?)
    }

    async fn read(&self, id: &SessionId, from: u64) -> Result<Page, HistoryError> {
        let id = id.clone();
        let read = move |state: &_| record::read(state, &id, from);
        Ok(self.reader.run(|desk| desk.read(read)).await?)
    }

    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HistoryError> {
        let list = move |state: &_| session::list(state, &query);
        Ok(self.reader.run(|desk| desk.read(list)).await?)
    }

    async fn delete(&self, id: &SessionId) -> Result<(), HistoryError> {
        let id = id.clone();
        let delete = move |change: &_| session::delete(change, &id);
        Ok(self.writer.run(|desk| desk.erase(delete)).await?)
    }
}
