//! The sessions that are open on one connection.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use acp_protocol::rpc::{CallId, MailboxId};
use acp_protocol::v1::SessionId;

use crate::limits::MAX_UNDO;
use crate::session_state::SessionState;

/// Finds the session a request of the agent is about.
///
/// It does not keep sessions alive: one that nobody holds any more is not open.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<SessionId, Weak<SessionState>>>,
    /// Calls that were given up while they opened a session.
    undo: Mutex<VecDeque<(CallId, SessionId)>>,
}

impl Registry {
    /// Adds a session. False when one of this id is open.
    pub(crate) fn insert(&self, session: &Arc<SessionState>) -> bool {
        let mut sessions = self.lock();
        if sessions
            .get(session.id())
            .is_some_and(|known| known.strong_count() > 0)
        {
            return false;
        }
        sessions.insert(session.id().clone(), Arc::downgrade(session));
        true
    }

    /// Removes this very session, not a later one of the same id.
    pub(crate) fn remove(&self, id: &SessionId, session: *const SessionState) {
        let mut sessions = self.lock();
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
        let mut undo = self.undo.lock().unwrap_or_else(PoisonError::into_inner);
        if undo.len() >= MAX_UNDO {
            undo.pop_front();
        }
        undo.push_back((call, session));
    }

    /// Takes the session that `call` opened and nobody waits for.
    pub(crate) fn take_undo(&self, call: CallId) -> Option<SessionId> {
        let mut undo = self.undo.lock().unwrap_or_else(PoisonError::into_inner);
        let at = undo.iter().position(|(known, _)| *known == call)?;
        undo.remove(at).map(|(_, session)| session)
    }

    pub(crate) fn find(&self, id: &SessionId) -> Option<Arc<SessionState>> {
        self.lock().get(id)?.upgrade()
    }

    /// Finds the session whose updates go into a mailbox.
    pub(crate) fn reading(&self, mailbox: MailboxId) -> Option<Arc<SessionState>> {
        let mut sessions = self.all().into_iter();
        sessions.find(|session| session.mailbox_id() == mailbox)
    }

    pub(crate) fn all(&self) -> Vec<Arc<SessionState>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Weak<SessionState>>> {
        // Each change is one call of the map: a panic elsewhere leaves it whole.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
