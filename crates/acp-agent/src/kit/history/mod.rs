//! Where the kit remembers its sessions: what a store has to do.

mod earlier;
mod memory;
pub(in crate::kit) mod record;
pub(in crate::kit) mod recorder;
pub(in crate::kit) mod replay;

pub use earlier::Earlier;
pub use memory::MemoryHistory;
pub use record::{Record, RecordBody, RecordedEnd};

use std::{collections::BTreeMap, sync::Arc};

use acp_host::{
    CatalogEntry, CatalogQuery, ConfigValue, HostError, HostErrorKind, HostFuture, SessionId,
};

/// Remembers the sessions of a [`Kit`](crate::kit::Kit).
///
/// With a history, sessions can be listed, loaded, resumed and deleted.
/// [`MemoryHistory`](crate::kit::MemoryHistory) keeps it for as long as the program
/// runs, the crate `acp-store` in a file.
///
/// # What a store keeps
///
/// For each session its facts ([`StoredSession`]) and a list of records, which
/// only grows at its end. The place of a record in the list is its *position*,
/// counted from 0; in a database, session and position together are the key.
///
/// # Who owns a session
///
/// Nobody, so nothing is left behind by a process that was killed: no lock, no
/// lease. A turn asks for the [length](StoredSession::length) of the list and
/// [appends](History::append) what the user asked at just this position; from
/// then on it names, each time, the position at which it goes on. If another
/// process (or another connection of this one) prompts the same session
/// meanwhile, its records take that position, and the first turn fails with
/// [`HistoryError::Moved`] at its next append. So the latest prompt has the
/// session, two turns never mix, and no record is lost that was acknowledged.
///
/// # What is never lost
///
/// When an append, [`create`](History::create), [`update`](History::update) or
/// [`delete`](History::delete) returns success, it is there after the process
/// was killed, in a store that is durable at all. The kit appends the last
/// records of a turn, and waits for that, before the prompt is answered.
///
/// # How it is called
///
/// From many tasks at once. Work that blocks a thread belongs into
/// `tokio::task::spawn_blocking`. A future may be dropped before it is ready;
/// the change may then be made or not, but never half.
pub trait History: Send + Sync + 'static {
    /// Begins a session: its facts, and no records.
    ///
    /// The store notes the time.
    ///
    /// # Errors
    ///
    /// [`HistoryError`] if it cannot be history, or if there is such a session
    /// already; the session does not begin then.
    fn create(
        &self,
        session: StoredSession,
    ) -> impl Future<Output = Result<(), HistoryError>> + Send;

    /// Finds a session.
    ///
    /// # Errors
    ///
    /// [`HistoryError`] if nothing can be read.
    fn get(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<StoredSession>, HistoryError>> + Send;

    /// Replaces the facts of a session: its folders, title and options. The
    /// last one wins. The time and the length of the session given here do not
    /// count.
    ///
    /// # Errors
    ///
    /// [`HistoryError::NotFound`] if there is no such session (any more): one
    /// that was deleted must not come back. Any other if it cannot be kept.
    fn update(
        &self,
        session: StoredSession,
    ) -> impl Future<Output = Result<(), HistoryError>> + Send;

    /// Adds to what happened in a session: all of the records, or none.
    ///
    /// The store notes the time. One that tries again by itself, because it does
    /// not know what became of the first time, finds the same records (by
    /// [`turn`](Record::turn) and [`number`](Record::number)) at this position:
    /// that is success.
    ///
    /// # Errors
    ///
    /// [`HistoryError::Moved`] if the list does not end at position `at`,
    /// [`HistoryError::NotFound`] if there is no such session (any more), any
    /// other if it cannot be kept. The turn fails then.
    fn append(
        &self,
        id: &SessionId,
        at: u64,
        records: Vec<Record>,
    ) -> impl Future<Output = Result<(), HistoryError>> + Send;

    /// Reads on in a session, from a position: as many records as make a page
    /// that is good to hold in memory, and none only at the end.
    ///
    /// # Errors
    ///
    /// [`HistoryError::NotFound`] if there is no such session (any more), any
    /// other if the page cannot be read; a record is never left out.
    fn read(
        &self,
        id: &SessionId,
        from: u64,
    ) -> impl Future<Output = Result<Page, HistoryError>> + Send;

    /// Lists sessions, as a [`SessionCatalog`](acp_host::SessionCatalog) does.
    ///
    /// # Errors
    ///
    /// [`HistoryError`] if nothing can be read.
    fn list(
        &self,
        query: CatalogQuery,
    ) -> impl Future<Output = Result<Vec<CatalogEntry>, HistoryError>> + Send;

    /// Forgets a session, its records included; one that is not known is
    /// forgotten already.
    ///
    /// # Errors
    ///
    /// [`HistoryError`] if it is still history.
    fn delete(&self, id: &SessionId) -> impl Future<Output = Result<(), HistoryError>> + Send;
}

/// The facts of a session that is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSession {
    /// What a list says of it. The [time](CatalogEntry::updated_at) is when it
    /// was created or last appended to, as the store noted.
    pub entry: CatalogEntry,
    /// What its options are set to, by their ids.
    pub options: BTreeMap<String, ConfigValue>,
    /// How many records it has: the position of the next one.
    pub length: u64,
}

impl StoredSession {
    /// A session with no options and no records.
    pub fn new(entry: CatalogEntry) -> Self {
        Self {
            entry,
            options: BTreeMap::new(),
            length: 0,
        }
    }

    /// Sets its options.
    #[must_use]
    pub fn with_options(mut self, options: BTreeMap<String, ConfigValue>) -> Self {
        self.options = options;
        self
    }

    /// Says how many records it has.
    #[must_use]
    pub fn with_length(mut self, length: u64) -> Self {
        self.length = length;
        self
    }
}

/// Some of the records of a session, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The records; none behind the last one.
    pub records: Vec<Record>,
    /// The position from which to read on.
    pub next: u64,
}

impl Page {
    /// Some records, and the position behind the last one.
    pub fn new(records: Vec<Record>, next: u64) -> Self {
        Self { records, next }
    }
}

/// Why a history could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// There is no such session, or there is none any more.
    #[error("find the session")]
    NotFound,
    /// The session has gone on elsewhere: there are records that this one does
    /// not know.
    #[error("go on with the session, which has gone on elsewhere")]
    Moved,
    /// There is such a session already.
    #[error("begin a session that there is already")]
    Exists,
    /// The store failed. What its [public
    /// text](acp_host::HostError::public_text) says reaches the client.
    #[error("use the history")]
    Failed(#[source] HostError),
}

impl HistoryError {
    /// Wraps a cause of which the client learns nothing.
    pub fn failed(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(HostError::internal(cause))
    }
}

impl From<HistoryError> for HostError {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::NotFound => unknown(),
            HistoryError::Moved => {
                HostError::public("the session has gone on elsewhere; load it again")
            }
            HistoryError::Failed(error) => error,
            HistoryError::Exists => HostError::internal(error),
        }
    }
}

/// A session that nobody knows.
pub(in crate::kit) fn unknown() -> HostError {
    HostError::public("there is no such session").with_kind(HostErrorKind::NotFound)
}

type HistoryFuture<'a, T> = HostFuture<'a, Result<T, HistoryError>>;

/// [`History`] in a form that can be stored.
pub(in crate::kit) trait DynHistory: Send + Sync {
    fn create(&self, session: StoredSession) -> HistoryFuture<'_, ()>;
    fn get<'a>(&'a self, id: &'a SessionId) -> HistoryFuture<'a, Option<StoredSession>>;
    fn update(&self, session: StoredSession) -> HistoryFuture<'_, ()>;
    fn append<'a>(
        &'a self,
        id: &'a SessionId,
        at: u64,
        records: Vec<Record>,
    ) -> HistoryFuture<'a, ()>;
    fn read<'a>(&'a self, id: &'a SessionId, from: u64) -> HistoryFuture<'a, Page>;
    fn list(&self, query: CatalogQuery) -> HistoryFuture<'_, Vec<CatalogEntry>>;
    fn delete<'a>(&'a self, id: &'a SessionId) -> HistoryFuture<'a, ()>;
}

/// Where a session is remembered.
#[derive(Clone)]
pub(in crate::kit) struct SharedHistory(pub(in crate::kit) Arc<dyn DynHistory>);

impl std::fmt::Debug for SharedHistory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedHistory")
    }
}

impl<T: History> DynHistory for T {
    fn create(&self, session: StoredSession) -> HistoryFuture<'_, ()> {
        Box::pin(History::create(self, session))
    }

    fn get<'a>(&'a self, id: &'a SessionId) -> HistoryFuture<'a, Option<StoredSession>> {
        Box::pin(History::get(self, id))
    }

    fn update(&self, session: StoredSession) -> HistoryFuture<'_, ()> {
        Box::pin(History::update(self, session))
    }

    fn append<'a>(
        &'a self,
        id: &'a SessionId,
        at: u64,
        records: Vec<Record>,
    ) -> HistoryFuture<'a, ()> {
        Box::pin(History::append(self, id, at, records))
    }

    fn read<'a>(&'a self, id: &'a SessionId, from: u64) -> HistoryFuture<'a, Page> {
        Box::pin(History::read(self, id, from))
    }

    fn list(&self, query: CatalogQuery) -> HistoryFuture<'_, Vec<CatalogEntry>> {
        Box::pin(History::list(self, query))
    }

    fn delete<'a>(&'a self, id: &'a SessionId) -> HistoryFuture<'a, ()> {
        Box::pin(History::delete(self, id))
    }
}
