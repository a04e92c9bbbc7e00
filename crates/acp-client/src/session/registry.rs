//! The sessions that are open on one connection.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use acp_protocol::rpc::{CallId, MailboxId};
use acp_protocol::v1::SessionId;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::limits::{MAX_UNDO, NAMING_WAIT};
use crate::session::SessionState;

/// Finds the session a request of the agent is about.
///
/// It does not keep sessions alive: one that nobody holds any more is not open.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<SessionId, Weak<SessionState>>>,
    /// How many sessions are opened whose names we do not know yet. Touched whenever
    /// one is added.
    naming: watch::Sender<usize>,
    /// Calls that were given up while they opened a session.
    undo: Mutex<VecDeque<(CallId, SessionId)>>,
}

impl Registry {
    /// Adds a session. False when one of this id is open.
    pub(crate) fn insert(&self, session: &Arc<SessionState>) -> bool {
        let mut sessions = self.sessions.lock();
        if sessions
            .get(session.id())
            .is_some_and(|known| known.strong_count() > 0)
        {
            return false;
        }
        sessions.insert(session.id().clone(), Arc::downgrade(session));
        drop(sessions);
        self.naming.send_modify(|_| {});
        true
    }

    /// Tells that a session is opened whose name comes with the answer.
    pub(crate) fn begin_naming(&self) -> Naming<'_> {
        self.naming.send_modify(|naming| *naming += 1);
        Naming(self)
    }

    /// Tells whether a session may be added in a moment.
    pub(crate) fn is_naming(&self) -> bool {
        *self.naming.borrow() > 0
    }

    /// Waits until there is a session of this name or nobody is left who could add
    /// one, but not for long.
    pub(crate) async fn learn_of(&self, id: &SessionId) {
        let mut naming = self.naming.subscribe();
        let known = naming.wait_for(|naming| *naming == 0 || self.find(id).is_some());
        // When it takes too long, there is no such session.
        let _ = timeout(NAMING_WAIT, known).await;
    }

    /// Removes this very session, not a later one of the same id.
    pub(crate) fn remove(&self, id: &SessionId, session: *const SessionState) {
        let mut sessions = self.sessions.lock();
        if sessions
            .get(id)
            .is_some_and(|known| known.as_ptr() == session)
        {
            sessions.remove(id);
        }
    }

    /// Notes that `session` is to be closed when `call`, which was given up, turns out
    /// to have opened it.
    pub(crate) fn undo_when_answered(&self, call: CallId, session: SessionId) {
        let mut undo = self.undo.lock();
        if undo.len() >= MAX_UNDO {
            undo.pop_front();
        }
        undo.push_back((call, session));
    }

    /// Takes the session that `call` opened and nobody waits for.
    pub(crate) fn take_undo(&self, call: CallId) -> Option<SessionId> {
        let mut undo = self.undo.lock();
        let at = undo.iter().position(|(known, _)| *known == call)?;
        undo.remove(at).map(|(_, session)| session)
    }

    pub(crate) fn find(&self, id: &SessionId) -> Option<Arc<SessionState>> {
        self.sessions.lock().get(id)?.upgrade()
    }

    /// Finds the session whose updates go into a mailbox.
    pub(crate) fn reading(&self, mailbox: MailboxId) -> Option<Arc<SessionState>> {
        let mut sessions = self.all().into_iter();
        sessions.find(|session| session.mailbox_id() == mailbox)
    }

    pub(crate) fn all(&self) -> Vec<Arc<SessionState>> {
        self.sessions
            .lock()
            .values()
            .filter_map(Weak::upgrade)
            .collect()
    }
}

/// A session is being opened whose name is not known yet.
#[derive(Debug)]
pub(crate) struct Naming<'a>(&'a Registry);

impl Drop for Naming<'_> {
    fn drop(&mut self) {
        self.0.naming.send_modify(|naming| *naming -= 1);
    }
}
