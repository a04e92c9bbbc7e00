//! The sessions that are open on one connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use acp_protocol::v1::SessionId;

use crate::session_state::SessionState;

/// Finds the session a request of the agent is about.
///
/// It does not keep sessions alive: one that nobody holds any more is not open.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    sessions: Mutex<HashMap<SessionId, Weak<SessionState>>>,
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

    pub(crate) fn find(&self, id: &SessionId) -> Option<Arc<SessionState>> {
        self.lock().get(id)?.upgrade()
    }

    pub(crate) fn all(&self) -> Vec<Arc<SessionState>> {
        self.lock().values().filter_map(Weak::upgrade).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Weak<SessionState>>> {
        // Each change is one call of the map: a panic elsewhere leaves it whole.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
