//! The sessions that are live on a connection.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::PathBuf,
    sync::Arc,
};

use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{NewSessionRequest, SessionId},
};
use foldhash::fast::RandomState;
use parking_lot::Mutex;

use crate::{
    fault::{self, ErrorData},
    limits::MAX_LIVE_SETUPS,
    session::Session,
};

/// Session ids and what they stand for. A request finds its session here or
/// nowhere.
#[derive(Default)]
pub(super) struct LiveSessions(Mutex<Live>);

#[derive(Default)]
struct Live {
    sessions: HashMap<SessionId, RegistryEntry, RandomState>,
    /// Bytes of the set-ups of those that are live.
    setup_bytes: usize,
    /// The connection has ended: nothing is registered any more.
    is_closed: bool,
}

/// A session that is live under an id, or about to be.
enum RegistryEntry {
    Live(Arc<Session>),
    /// It is being taken up or deleted: nobody else may do so meanwhile.
    Reserved,
}

/// An id that nobody else may take up or delete, until this is dropped.
pub(super) struct Reservation<'a> {
    sessions: &'a LiveSessions,
    id: SessionId,
    is_filled: bool,
}

/// Why a session was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterError {
    /// The limit of live sessions is reached; holds that limit.
    TooMany { max: usize },
    /// The set-ups of the live sessions leave no room for another of this size.
    TooLarge,
    /// One with this id is live; it is left alone (G-4).
    AlreadyLive,
    /// One with this id is being taken up or deleted.
    InUse,
    /// The connection has ended.
    Closed,
}

impl LiveSessions {
    /// Reserves an id for a request that opens or deletes its session.
    pub(super) fn reserve(
        &self,
        id: &SessionId,
        max: usize,
    ) -> Result<Reservation<'_>, RegisterError> {
        self.0.lock().reserve(id, max)?;
        Ok(Reservation {
            sessions: self,
            id: id.clone(),
            is_filled: false,
        })
    }

    /// Whether one more would be refused. Only a hint: inserting decides.
    pub(super) fn check_room(&self, max: usize) -> Result<(), RegisterError> {
        if self.0.lock().sessions.len() >= max {
            Err(RegisterError::TooMany { max })
        } else {
            Ok(())
        }
    }

    /// Whether one more with a set-up of this length would be refused. Only a hint:
    /// inserting decides.
    pub(super) fn check_bytes(&self, setup_bytes: usize) -> Result<(), RegisterError> {
        self.0.lock().check_bytes(setup_bytes)
    }

    /// Finds a session.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Session>> {
        match self.0.lock().sessions.get(id)? {
            RegistryEntry::Live(session) => Some(Arc::clone(session)),
            RegistryEntry::Reserved => None,
        }
    }

    /// The folders of the live sessions.
    pub(super) fn folders(&self) -> HashMap<SessionId, PathBuf> {
        let live = self.0.lock();
        let sessions = live.live();
        sessions
            .map(|session| (session.core.id.clone(), session.core.cwd.clone()))
            .collect()
    }

    /// Forgets a session. False when it was forgotten before.
    pub(super) fn remove(&self, session: &Arc<Session>) -> bool {
        let mut live = self.0.lock();
        let place = live.sessions.get(session.core.id.as_str());
        let is_there =
            matches!(place, Some(RegistryEntry::Live(known)) if Arc::ptr_eq(known, session));
        if is_there {
            live.sessions.remove(session.core.id.as_str());
            live.setup_bytes -= session.setup_bytes;
        }
        is_there
    }

    /// Lets nothing in any more, and gives what is live.
    pub(super) fn close(&self) -> Vec<Arc<Session>> {
        let mut live = self.0.lock();
        live.is_closed = true;
        live.live().cloned().collect()
    }
}

impl Live {
    fn live(&self) -> impl Iterator<Item = &Arc<Session>> {
        self.sessions.values().filter_map(|entry| match entry {
            RegistryEntry::Live(session) => Some(session),
            RegistryEntry::Reserved => None,
        })
    }

    fn check_bytes(&self, setup_bytes: usize) -> Result<(), RegisterError> {
        match self.setup_bytes + setup_bytes <= MAX_LIVE_SETUPS {
            true => Ok(()),
            false => Err(RegisterError::TooLarge),
        }
    }

    fn reserve(&mut self, id: &SessionId, max: usize) -> Result<(), RegisterError> {
        if self.is_closed {
            return Err(RegisterError::Closed);
        }
        let is_full = self.sessions.len() >= max;
        match self.sessions.entry(id.clone()) {
            Entry::Occupied(known) => Err(match known.get() {
                RegistryEntry::Live(_) => RegisterError::AlreadyLive,
                RegistryEntry::Reserved => RegisterError::InUse,
            }),
            Entry::Vacant(_) if is_full => Err(RegisterError::TooMany { max }),
            Entry::Vacant(vacant) => {
                vacant.insert(RegistryEntry::Reserved);
                Ok(())
            }
        }
    }
}

impl Reservation<'_> {
    /// Registers a session under the id that was kept for it.
    pub(super) fn fill(mut self, session: &Arc<Session>) -> Result<(), RegisterError> {
        let mut live = self.sessions.0.lock();
        if live.is_closed {
            drop(live);
            return Err(RegisterError::Closed);
        }
        if let Err(error) = live.check_bytes(session.setup_bytes) {
            drop(live);
            return Err(error);
        }
        live.setup_bytes += session.setup_bytes;
        let session = RegistryEntry::Live(Arc::clone(session));
        live.sessions.insert(self.id.clone(), session);
        self.is_filled = true;
        Ok(())
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.is_filled {
            return;
        }
        let mut live = self.sessions.0.lock();
        if let Some(RegistryEntry::Reserved) = live.sessions.get(self.id.as_str()) {
            live.sessions.remove(self.id.as_str());
        }
    }
}

impl RegisterError {
    pub(super) fn into_fault(self, method: &str) -> Fault {
        match self {
            Self::TooMany { max } => fault::internal(method, "too many sessions are live")
                .with_data(&ErrorData::new("too_many_live_sessions").max(max)),
            Self::TooLarge => {
                let text = "the set-ups of the live sessions leave no room for this one";
                fault::internal(method, text)
                    .with_data(&ErrorData::new("too_large_live_sessions").max(MAX_LIVE_SETUPS))
            }
            Self::AlreadyLive => {
                let text = match method {
                    NewSessionRequest::METHOD => "the agent made a session that is live already",
                    _ => "the session is live on this connection; close it first (session/close)",
                };
                fault::invalid_request(method, text).with_data(&ErrorData::new("already_live"))
            }
            Self::InUse => {
                fault::invalid_request(method, "another request takes up or deletes the session")
                    .with_data(&ErrorData::new("in_use").retryable(None))
            }
            Self::Closed => fault::internal(method, "the connection has ended"),
        }
    }
}
