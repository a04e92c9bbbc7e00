//! Counts what became of the updates of sessions.

use std::collections::HashMap;
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
    fn new(arrived: Arrived, read: Totals) -> Self {
        let dropped = arrived.dropped + read.left;
        let gone = read.delivered + read.deduped + dropped + arrived.unknown;
        Self {
            received: arrived.received,
            delivered: read.delivered,
            deduped: read.deduped,
            dropped,
            unknown: arrived.unknown,
            waiting: arrived.received.saturating_sub(gone),
        }
    }
}

/// What the connection counts.
struct Arrived {
    received: u64,
    dropped: u64,
    unknown: u64,
}

/// What the reader of one session counts. It has one writer at a time.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    delivered: AtomicU64,
    deduped: AtomicU64,
    left: AtomicU64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    delivered: u64,
    deduped: u64,
    left: u64,
}

impl Counts {
    pub(crate) fn deliver(&self) {
        add(&self.delivered);
    }

    pub(crate) fn dedupe(&self) {
        add(&self.deduped);
    }

    /// Counts an update that was taken from the mailbox and thrown away.
    pub(crate) fn leave(&self) {
        add(&self.left);
    }

    /// The counters of the session. `arrived` looks at its mailbox.
    pub(crate) fn of_session(&self, arrived: impl FnOnce() -> MailboxCounts) -> SessionCounters {
        // Before the mailbox is looked at: what is read cannot be more than what came.
        let read = self.totals();
        let arrived = arrived();
        let arrived = Arrived {
            received: arrived.received,
            dropped: arrived.dropped,
            unknown: 0,
        };
        SessionCounters::new(arrived, read)
    }

    fn totals(&self) -> Totals {
        Totals {
            delivered: self.delivered.load(Ordering::Relaxed),
            deduped: self.deduped.load(Ordering::Relaxed),
            left: self.left.load(Ordering::Relaxed),
        }
    }
}

/// One writer at a time: a plain store is enough, and cheaper than an atomic add.
fn add(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// The counts of all sessions of a connection, those that are gone included.
#[derive(Debug, Default)]
pub(crate) struct CounterBook {
    inner: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    next: u64,
    open: HashMap<u64, Arc<Counts>>,
    gone: Totals,
}

/// The place of a session in the book.
#[derive(Debug)]
pub(crate) struct Page(u64);

impl CounterBook {
    /// Opens the counts of a session.
    pub(crate) fn open(&self) -> (Page, Arc<Counts>) {
        let mut book = self.inner.lock();
        let page = book.next;
        book.next += 1;
        let counts = Arc::<Counts>::default();
        book.open.insert(page, Arc::clone(&counts));
        (Page(page), counts)
    }

    /// Keeps the counts of a session that is gone.
    pub(crate) fn close(&self, page: &Page) {
        let mut book = self.inner.lock();
        if let Some(counts) = book.open.remove(&page.0) {
            book.gone.add(counts.totals());
        }
    }

    /// The counters of the client. `arrived` looks at the connection.
    pub(crate) fn of_client(&self, arrived: impl FnOnce() -> Stats) -> SessionCounters {
        let mut read = Totals::default();
        {
            let book = self.inner.lock();
            read.add(book.gone);
            for counts in book.open.values() {
                read.add(counts.totals());
            }
        }
        let arrived = arrived();
        let arrived = Arrived {
            received: arrived.updates_received,
            dropped: arrived.updates_dropped,
            unknown: arrived.updates_unknown_session,
        };
        SessionCounters::new(arrived, read)
    }
}

impl Totals {
    fn add(&mut self, more: Self) {
        self.delivered += more.delivered;
        self.deduped += more.deduped;
        self.left += more.left;
    }
}
