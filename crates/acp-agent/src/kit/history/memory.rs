//! A history in memory, with bounds.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::SystemTime,
};

use acp_host::{CatalogEntry, CatalogQuery, HostError, SessionId, TurnId};
use acp_protocol::json_length;
use parking_lot::{Mutex, MutexGuard};

use crate::kit::{History, HistoryError, Page, Record, RecordBody, StoredSession};

/// How many bytes of records one page holds at most (one record in any case).
const PAGE_BYTES: usize = 1 << 20;

/// A history that is kept for as long as the program runs.
///
/// Cheap to clone; clones share what they remember.
///
/// # Bounds
///
/// | bound | default | why | beyond it |
/// |---|---|---|---|
/// | sessions | 4,096 | four times what one connection may hold live | the session that rested longest is forgotten |
/// | bytes of one session | 16 MiB | four times what the largest models read at once: a million tokens, about 4 MiB of text | its oldest turns are forgotten, each as a whole; a reader finds [`RecordBody::Forgotten`] in their place. A turn that is larger by itself fails |
/// | bytes of all sessions | 64 MiB | memory that any program on a desk can spare | the session that rested longest is forgotten |
///
/// Bytes are those of the records written as JSON, and of the folders and the title of
/// the session. A session that was forgotten
/// is one that nobody knows: its next turn fails.
#[derive(Clone, Debug)]
pub struct MemoryHistory {
    store: Arc<Mutex<Store>>,
    max_sessions: usize,
    max_session_bytes: usize,
    max_bytes: usize,
}

impl Default for MemoryHistory {
    fn default() -> Self {
        Self {
            store: Arc::default(),
            max_sessions: 4096,
            max_session_bytes: 16 << 20,
            max_bytes: 64 << 20,
        }
    }
}

impl MemoryHistory {
    /// A history with the bounds that are named above.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many sessions it remembers, at least one.
    #[must_use]
    pub fn with_max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions.max(1);
        self
    }

    /// Sets how many bytes it remembers of one session.
    #[must_use]
    pub fn with_max_session_bytes(mut self, bytes: usize) -> Self {
        self.max_session_bytes = bytes;
        self
    }

    /// Sets how many bytes it remembers of all sessions together.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // Nothing that can panic runs under it.
        self.store.lock()
    }
}

impl History for MemoryHistory {
    async fn create(&self, session: StoredSession) -> Result<(), HistoryError> {
        let mut store = self.store();
        if store.known.contains_key(&session.entry.id) {
            return Err(HistoryError::Exists);
        }
        while store.known.len() >= self.max_sessions && store.forget_oldest(None) {}
        let rested = store.now();
        let id = session.entry.id.clone();
        store.known.insert(id.clone(), Known::new(session, rested));
        while store.bytes() > self.max_bytes && store.forget_oldest(Some(&id)) {}
        Ok(())
    }

    async fn get(&self, id: &SessionId) -> Result<Option<StoredSession>, HistoryError> {
        let store = self.store();
        Ok(store.known.get(id).map(|known| known.facts.clone()))
    }

    async fn update(&self, session: StoredSession) -> Result<(), HistoryError> {
        let mut store = self.store();
        store.find(&session.entry.id)?.replace(session);
        Ok(())
    }

    async fn append(
        &self,
        id: &SessionId,
        at: u64,
        records: Vec<Record>,
    ) -> Result<(), HistoryError> {
        let sized = records.into_iter().map(SizedRecord::new);
        let sized = sized.collect::<Result<Vec<_>, _>>()?;
        let mut store = self.store();
        let rested = store.now();
        let known = store.find(id)?;
        if known.facts.length != at {
            return Err(HistoryError::Moved);
        }
        known.append(sized, self.max_session_bytes)?;
        known.rested = rested;
        while store.bytes() > self.max_bytes && store.forget_oldest(Some(id)) {}
        Ok(())
    }

    async fn read(&self, id: &SessionId, from: u64) -> Result<Page, HistoryError> {
        Ok(self.store().find(id)?.page(from))
    }

    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HistoryError> {
        let store = self.store();
        let entries = store.known.values().map(|known| &known.facts.entry);
        let wanted = entries.filter(|entry| {
            query.is_behind(entry) && (query.cwd.is_none() || entry.cwd == query.cwd)
        });
        let mut wanted: Vec<_> = wanted.collect();
        wanted.sort_by(|a, b| query.order.compare(&a.position(), &b.position()));
        Ok(wanted.into_iter().take(query.limit).cloned().collect())
    }

    async fn delete(&self, id: &SessionId) -> Result<(), HistoryError> {
        self.store().known.remove(id);
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Store {
    known: BTreeMap<SessionId, Known>,
    /// Counts what is done, to know which session rested longest.
    clock: u64,
}

impl Store {
    fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn find(&mut self, id: &SessionId) -> Result<&mut Known, HistoryError> {
        self.known.get_mut(id).ok_or(HistoryError::NotFound)
    }

    fn bytes(&self) -> usize {
        self.known.values().map(Known::all_bytes).sum()
    }

    /// Forgets the session that rested longest. False if there is none besides
    /// the one to spare.
    fn forget_oldest(&mut self, spared: Option<&SessionId>) -> bool {
        let others = self.known.iter().filter(|(id, _)| spared != Some(*id));
        let oldest = others.min_by_key(|(_, known)| known.rested);
        let Some(id) = oldest.map(|(id, _)| id.clone()) else {
            return false;
        };
        self.known.remove(&id);
        true
    }
}

/// A session.
#[derive(Debug)]
struct Known {
    facts: StoredSession,
    /// Its last records.
    records: VecDeque<SizedRecord>,
    /// What its records weigh.
    bytes: usize,
    /// When it was last used.
    rested: u64,
}

#[derive(Debug)]
struct SizedRecord {
    record: Record,
    bytes: usize,
}

impl SizedRecord {
    fn new(record: Record) -> Result<Self, HistoryError> {
        match json_length(&record) {
            usize::MAX => Err(HistoryError::Failed(HostError::public(
                "the turn cannot be remembered: it cannot be written as JSON",
            ))),
            bytes => Ok(Self { record, bytes }),
        }
    }
}

impl Known {
    fn new(mut facts: StoredSession, rested: u64) -> Self {
        facts.length = 0;
        facts.entry.updated_at = Some(SystemTime::now());
        Self {
            facts,
            records: VecDeque::new(),
            bytes: 0,
            rested,
        }
    }

    /// The bytes of all records.
    fn all_bytes(&self) -> usize {
        let entry = &self.facts.entry;
        let folders = entry.cwd.iter().chain(&entry.additional_directories);
        let folders = folders.map(|path| path.as_os_str().len()).sum::<usize>();
        size_of::<Self>() + folders + entry.title.as_ref().map_or(0, String::len) + self.bytes
    }

    fn replace(&mut self, facts: StoredSession) {
        let (length, time) = (self.facts.length, self.facts.entry.updated_at);
        self.facts = facts;
        (self.facts.length, self.facts.entry.updated_at) = (length, time);
    }

    /// How many records were forgotten.
    fn forgotten(&self) -> u64 {
        self.facts.length - self.records.len() as u64
    }

    fn append(&mut self, records: Vec<SizedRecord>, max: usize) -> Result<(), HistoryError> {
        let Some(last) = records.last().map(|last| last.record.turn.clone()) else {
            return Ok(());
        };
        let new: usize = records.iter().map(|record| record.bytes).sum();
        let of_turn = self.records.iter().rev();
        let of_turn = of_turn.take_while(|record| record.record.turn == last);
        let before: usize = of_turn.map(|record| record.bytes).sum();
        if before + new > max {
            let text = "the turn is too long to be remembered";
            return Err(HistoryError::Failed(HostError::public(text)));
        }
        while self.bytes + new > max && self.forget_turn(&last) {}
        self.bytes += new;
        self.facts.length += records.len() as u64;
        self.records.extend(records);
        self.facts.entry.updated_at = Some(SystemTime::now());
        Ok(())
    }

    /// Forgets the oldest turn. False if it is the one to spare.
    fn forget_turn(&mut self, spared: &TurnId) -> bool {
        let oldest = self.records.front().map(|first| first.record.turn.clone());
        let Some(oldest) = oldest.filter(|oldest| oldest != spared) else {
            return false;
        };
        let gone = self.records.iter();
        let gone = gone.take_while(|record| record.record.turn == oldest);
        let gone = gone.count();
        let bytes: usize = self.records.drain(..gone).map(|record| record.bytes).sum();
        self.bytes -= bytes;
        true
    }

    fn page(&self, from: u64) -> Page {
        let forgotten = self.forgotten();
        let start = from.max(forgotten);
        let mut page = Page::new(Vec::new(), start);
        let skipped = usize::try_from(start - forgotten).unwrap_or(usize::MAX);
        let mut bytes = 0;
        for SizedRecord { record, bytes: own } in self.records.iter().skip(skipped) {
            bytes += own;
            if bytes > PAGE_BYTES && !page.records.is_empty() {
                break;
            }
            page.records.push(record.clone());
            page.next += 1;
        }
        if from < forgotten {
            let turn = self.records.front().map(|first| first.record.turn.clone());
            let turn = turn.unwrap_or_else(|| "forgotten".into());
            let gap = RecordBody::Forgotten { records: forgotten };
            page.records.insert(0, Record::new(turn, 0, gap));
        }
        page
    }
}
