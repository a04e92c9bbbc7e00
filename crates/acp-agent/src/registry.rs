//! The sessions that are live on a connection.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use acp_protocol::{rpc::Fault, v1::SessionId};

use crate::{
    fault::{self, Reason},
    session::Session,
};

/// Session ids and what they stand for. A request finds its session here or
/// nowhere.
#[derive(Default)]
pub(crate) struct Registry(Mutex<Live>);

#[derive(Default)]
struct Live {
    sessions: HashMap<SessionId, Arc<Session>>,
    /// The connection has ended: nothing is registered any more.
    is_closed: bool,
}

/// Why a session was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// So many are live already.
    TooMany { max: usize },
    /// One with this id is live; it is left alone (G-4).
    AlreadyLive,
    /// The connection has ended.
    Closed,
}

impl Registry {
    /// Registers a session, unless there are `max`, or one has its id.
    pub(crate) fn insert(&self, session: &Arc<Session>, max: usize) -> Result<(), Refused> {
        let mut live = self.lock();
        if live.is_closed {
            return Err(Refused::Closed);
        }
        if live.sessions.contains_key(session.core.id.as_str()) {
            return Err(Refused::AlreadyLive);
        }
        if live.sessions.len() >= max {
            return Err(Refused::TooMany { max });
        }
        live.sessions
            .insert(session.core.id.clone(), Arc::clone(session));
        Ok(())
    }

    /// Whether one more would be refused. Only a hint: inserting decides.
    pub(crate) fn check_room(&self, max: usize) -> Result<(), Refused> {
        if self.lock().sessions.len() >= max {
            Err(Refused::TooMany { max })
        } else {
            Ok(())
        }
    }

    /// Finds a session.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.lock().sessions.get(id).cloned()
    }

    /// Forgets a session. False when it was forgotten before.
    pub(crate) fn remove(&self, id: &SessionId) -> bool {
        self.lock().sessions.remove(id.as_str()).is_some()
    }

    /// Forgets all sessions for good, and gives them.
    pub(crate) fn close(&self) -> Vec<Arc<Session>> {
        let mut live = self.lock();
        live.is_closed = true;
        live.sessions.drain().map(|(_, session)| session).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Live> {
        // Nothing that can panic runs under it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refused {
    pub(crate) fn into_fault(self, method: &str) -> Fault {
        match self {
            Self::TooMany { max } => fault::internal(method, "too many sessions are live")
                .with_data(&Reason::new("too_many_live_sessions").max(max)),
            Self::AlreadyLive => fault::invalid_request(method, "the session is live already")
                .with_data(&Reason::new("already_live")),
            Self::Closed => fault::internal(method, "the connection has ended"),
        }
    }
}
