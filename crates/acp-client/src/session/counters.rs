//! Counts what became of the updates of sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use acp_protocol::rpc::{MailboxCounts, Stats};
use parking_lot::Mutex;

/// What became of the updates of a session, or of all sessions of a client.
///
/// At any moment
/// `received = delivered + deduped + dropped + unknown + waiting`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCounters {
    /// Updates that arrived.
    pub received: u64,
    /// Those that were read, also the ones that made no sense.
    pub delivered: u64,
    /// Those that tell of an event that was told of before.
    pub deduped: u64,
    /// Those that nobody will read: too many, or their reader left.
    pub dropped: u64,
    /// Those of sessions nobody knew; counted for a client alone.
    pub unknown: u64,
    /// Those that wait to be read.
    pub waiting: u64,
}

impl SessionCounters {
    fn new(received: u64, dropped: u64, unknown: u64, read: ReadTotals) -> Self {
        let gone = read.delivered + read.deduped + dropped + unknown;
        Self {
            received,
            delivered: read.delivered,
            deduped: read.deduped,
            dropped,
            unknown,
            waiting: received.saturating_sub(gone),
        }
    }
}

/// What the reader of one session counts. It has one writer at a time.
#[derive(Debug, Default)]
pub(super) struct ReadCounts {
    delivered: AtomicU64,
    deduped: AtomicU64,
}

#[derive(Debug, Clone, Copy, Default)]
struct ReadTotals {
    delivered: u64,
    deduped: u64,
}

impl ReadCounts {
    pub(super) fn deliver(&self) {
        add(&self.delivered);
    }

    pub(super) fn dedupe(&self) {
        add(&self.deduped);
    }

    /// The counters of the session. `arrived` looks at its mailbox.
    pub(super) fn of_session(&self, arrived: impl FnOnce() -> MailboxCounts) -> SessionCounters {
        // Before the mailbox is looked at: what is read cannot be more than what came.
        let read = self.totals();
        let arrived = arrived();
        SessionCounters::new(arrived.received, arrived.dropped, 0, read)
    }

    fn totals(&self) -> ReadTotals {
        ReadTotals {
            delivered: self.delivered.load(Ordering::Relaxed),
            deduped: self.deduped.load(Ordering::Relaxed),
        }
    }
}

/// One writer at a time: a plain store is enough, and cheaper than an atomic add.
fn add(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The counts of all sessions of a connection, those that are gone included.
#[derive(Debug, Default)]
pub(super) struct CounterBook {
    inner: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    open: Vec<Arc<ReadCounts>>,
    gone: ReadTotals,
}

impl CounterBook {
    /// Opens the counts of a session.
    pub(super) fn open(&self) -> Arc<ReadCounts> {
        let counts = Arc::<ReadCounts>::default();
        let mut book = self.inner.lock();
        book.totals();
        book.open.push(Arc::clone(&counts));
        counts
    }

    /// The counters of the client. `arrived` looks at the connection.
    pub(super) fn of_client(&self, arrived: impl FnOnce() -> Stats) -> SessionCounters {
        let read = self.inner.lock().totals();
        let arrived = arrived();
        SessionCounters::new(
            arrived.updates_received,
            arrived.updates_dropped,
            arrived.updates_unknown_session,
            read,
        )
    }
}

impl Book {
    /// Adds up all counts, and keeps those of sessions that are gone as a sum alone.
    fn totals(&mut self) -> ReadTotals {
        let Self { open, gone } = self;
        open.retain_mut(|counts| match Arc::get_mut(counts) {
            Some(last) => {
                gone.add(last.totals());
                false
            }
            None => true,
        });
        let mut totals = *gone;
        open.iter().for_each(|counts| totals.add(counts.totals()));
        totals
    }
}

impl ReadTotals {
    fn add(&mut self, more: Self) {
        self.delivered += more.delivered;
        self.deduped += more.deduped;
    }
}
