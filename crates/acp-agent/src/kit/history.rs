//! What the kit remembers of its sessions, and where.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use acp_host::{
    Block, BoxFuture, CatalogEntry, CatalogQuery, HostError, HostErrorKind, PlanEntry, SessionId,
    ToolCall, ToolEnd, ToolProgress, TurnId,
};
use serde::{Deserialize, Serialize};

/// Remembers the sessions of a [`Kit`](super::Kit).
///
/// With a history, sessions can be listed, loaded, resumed and deleted.
/// [`MemoryHistory`] keeps it for as long as the program runs.
///
/// Calls for one session come one after the other, except that it may be read
/// and listed meanwhile.
pub trait History: Send + Sync + 'static {
    /// Takes note of a session: a new one, or other facts of a known one.
    ///
    /// # Errors
    ///
    /// [`HostError`] if it cannot be kept; a new session does not begin then.
    fn put(&self, entry: CatalogEntry) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Finds a session.
    ///
    /// # Errors
    ///
    /// [`HostError`] if nothing can be read.
    fn get(
        &self,
        id: &SessionId,
    ) -> impl Future<Output = Result<Option<CatalogEntry>, HostError>> + Send;

    /// Adds to what happened in a session.
    ///
    /// # Errors
    ///
    /// [`HostError`] if it cannot be kept; the turn fails then.
    fn append(
        &self,
        id: &SessionId,
        records: Vec<Record>,
    ) -> impl Future<Output = Result<(), HostError>> + Send;

    /// Reads all that happened in a session, in order.
    ///
    /// # Errors
    ///
    /// [`HostError`] if not all of it can be read.
    fn read(&self, id: &SessionId) -> impl Future<Output = Result<Vec<Record>, HostError>> + Send;

    /// Lists sessions, as a [`SessionCatalog`](acp_host::SessionCatalog) does.
    ///
    /// # Errors
    ///
    /// [`HostError`] if nothing can be read.
    fn list(
        &self,
        query: CatalogQuery,
    ) -> impl Future<Output = Result<Vec<CatalogEntry>, HostError>> + Send;

    /// Forgets a session; one that is not known is forgotten already.
    ///
    /// # Errors
    ///
    /// [`HostError`] if it is still kept.
    fn delete(&self, id: &SessionId) -> impl Future<Output = Result<(), HostError>> + Send;
}

/// One thing that happened in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The turn.
    pub turn: TurnId,
    /// Its place in the turn; later ones have greater numbers.
    pub number: u64,
    /// What happened.
    pub what: What,
}

impl Record {
    /// Takes note of something.
    pub fn new(turn: TurnId, number: u64, what: What) -> Self {
        Self { turn, number, what }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum What {
    /// The user asked this; the turn began.
    Asked(Vec<Block>),
    /// The agent said, thought or declined this.
    Said(Block),
    /// A tool was announced.
    ToolRequested(ToolCall),
    /// A tool began.
    ToolStarted(ToolCall),
    /// A tool got on.
    ToolProgressed(ToolProgress),
    /// A tool ended.
    ToolCompleted(ToolEnd),
    /// The plan became this.
    Planned(Vec<PlanEntry>),
    /// So many of so many tokens were in use.
    Used {
        /// Tokens in use.
        used: u64,
        /// Tokens that fit.
        limit: u64,
    },
    /// The turn ended; `is_done` says whether it came to its own end.
    Ended {
        /// Neither cancelled nor failed.
        is_done: bool,
    },
}

/// [`History`] in a form that can be stored.
pub(super) trait DynHistory: Send + Sync {
    fn put(&self, entry: CatalogEntry) -> BoxFuture<'_, Result<(), HostError>>;
    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<CatalogEntry>, HostError>>;
    fn append<'a>(
        &'a self,
        id: &'a SessionId,
        records: Vec<Record>,
    ) -> BoxFuture<'a, Result<(), HostError>>;
    fn read<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Vec<Record>, HostError>>;
    fn list(&self, query: CatalogQuery) -> BoxFuture<'_, Result<Vec<CatalogEntry>, HostError>>;
    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), HostError>>;
}

/// Where a session is remembered.
#[derive(Clone)]
pub(super) struct Kept(pub(super) Arc<dyn DynHistory>);

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kept")
    }
}

impl<T: History> DynHistory for T {
    fn put(&self, entry: CatalogEntry) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(History::put(self, entry))
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<CatalogEntry>, HostError>> {
        Box::pin(History::get(self, id))
    }

    fn append<'a>(
        &'a self,
        id: &'a SessionId,
        records: Vec<Record>,
    ) -> BoxFuture<'a, Result<(), HostError>> {
        Box::pin(History::append(self, id, records))
    }

    fn read<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Vec<Record>, HostError>> {
        Box::pin(History::read(self, id))
    }

    fn list(&self, query: CatalogQuery) -> BoxFuture<'_, Result<Vec<CatalogEntry>, HostError>> {
        Box::pin(History::list(self, query))
    }

    fn delete<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<(), HostError>> {
        Box::pin(History::delete(self, id))
    }
}

/// A history that is kept for as long as the program runs.
///
/// Cheap to clone; clones share what they remember. It forgets the session that
/// rested longest when there are too many.
#[derive(Clone, Debug)]
pub struct MemoryHistory {
    known: Arc<Mutex<BTreeMap<SessionId, Known>>>,
    max: usize,
}

#[derive(Clone, Debug)]
struct Known {
    entry: CatalogEntry,
    records: Vec<Record>,
}

impl Default for MemoryHistory {
    /// Remembers 1,024 sessions.
    fn default() -> Self {
        Self::new(1024)
    }
}

impl MemoryHistory {
    /// Remembers at most so many sessions, and at least one.
    pub fn new(max: usize) -> Self {
        Self {
            known: Arc::default(),
            max: max.max(1),
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<SessionId, Known>> {
        // Nothing that can panic runs under it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl History for MemoryHistory {
    async fn put(&self, entry: CatalogEntry) -> Result<(), HostError> {
        let mut known = self.known();
        if let Some(known) = known.get_mut(&entry.id) {
            known.entry = entry;
            return Ok(());
        }
        if known.len() >= self.max {
            let oldest = known
                .values()
                .min_by_key(|known| known.entry.updated_at)
                .map(|known| known.entry.id.clone());
            oldest.and_then(|id| known.remove(&id));
        }
        let records = Vec::new();
        known.insert(entry.id.clone(), Known { entry, records });
        Ok(())
    }

    async fn get(&self, id: &SessionId) -> Result<Option<CatalogEntry>, HostError> {
        Ok(self.known().get(id).map(|known| known.entry.clone()))
    }

    async fn append(&self, id: &SessionId, records: Vec<Record>) -> Result<(), HostError> {
        if let Some(known) = self.known().get_mut(id) {
            known.records.extend(records);
        }
        Ok(())
    }

    async fn read(&self, id: &SessionId) -> Result<Vec<Record>, HostError> {
        let known = self.known();
        Ok(known
            .get(id)
            .map(|known| known.records.clone())
            .unwrap_or_default())
    }

    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError> {
        let known = self.known();
        let entries = known.values().map(|known| &known.entry);
        let wanted = entries.filter(|entry| {
            query.after.as_ref().is_none_or(|after| entry.id > *after)
                && (query.cwd.is_none() || entry.cwd == query.cwd)
        });
        Ok(wanted.take(query.limit).cloned().collect())
    }

    async fn delete(&self, id: &SessionId) -> Result<(), HostError> {
        self.known().remove(id);
        Ok(())
    }
}

/// A session that nobody knows.
pub(super) fn unknown() -> HostError {
    HostError::public("there is no such session").with_kind(HostErrorKind::NotFound)
}

/// The facts of a session, as of now.
pub(super) fn entry(id: &SessionId, setup: &acp_host::Setup) -> CatalogEntry {
    CatalogEntry::new(id.clone())
        .with_cwd(setup.cwd.clone())
        .with_additional_directories(setup.additional_directories.clone())
        .with_updated_at(SystemTime::now())
}
