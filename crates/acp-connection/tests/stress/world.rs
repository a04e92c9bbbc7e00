//! What really happened, told past the connection: the truth that consumers
//! compare with what they got.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use acp_connection::MailboxControl;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot, watch};

/// A request for permission on its way to the consumer of its session.
pub(crate) type Ask = oneshot::Sender<()>;

/// All sessions of a run.
#[derive(Debug, Default)]
pub(crate) struct World(Mutex<HashMap<Arc<str>, Arc<Truth>>>);

/// The truth about one session.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// Updates that the agent has sent.
    sent: AtomicU64,
    /// The agent has read the cancel.
    pub(crate) cancelled: watch::Sender<bool>,
    /// The agent has ended the turn.
    pub(crate) ended: watch::Sender<bool>,
    /// The client has read a request for permission.
    pub(crate) asked: Notify,
    /// Where its consumer takes requests for permission, if it does.
    pub(crate) asks: Mutex<Option<mpsc::UnboundedSender<Ask>>>,
    /// Permission is given once all updates before it were consumed.
    pub(crate) barrier: Mutex<Option<MailboxControl>>,
}

impl World {
    pub(crate) fn truth(&self, session: &Arc<str>) -> Arc<Truth> {
        let mut sessions = self.0.lock();
        Arc::clone(sessions.entry(Arc::clone(session)).or_default())
    }

    pub(crate) fn sessions(&self) -> Vec<Arc<Truth>> {
        let sessions = self.0.lock();
        sessions.values().cloned().collect()
    }
}

impl Truth {
    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }

    pub(crate) fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    pub(crate) fn consumer(&self) -> Option<mpsc::UnboundedSender<Ask>> {
        let asks = self.asks.lock();
        asks.clone()
    }

    pub(crate) fn control(&self) -> Option<MailboxControl> {
        let barrier = self.barrier.lock();
        barrier.clone()
    }
}
