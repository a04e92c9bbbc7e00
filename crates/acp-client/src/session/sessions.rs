//! The sessions that are open at one agent.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use acp_connection::{Handler, UpdateHold};
use acp_protocol::method::Request;
use acp_protocol::rpc::{CallFacts, CallId, MailboxId};
use acp_protocol::v1::{CloseSessionRequest, SessionId};
use parking_lot::Mutex;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::counters::CounterBook;
use super::session_setup::OpeningParts;
use super::{SessionCounters, SessionState};
use crate::connection::{Capability, Connection, Pipes};
use crate::elicitation::Links;
use crate::error::ClientError;
use crate::limits::{CLOSE_SESSIONS_TIMEOUT, MAX_ID, MAX_UNDO, NAMING_WAIT};
use crate::options::ClientOptions;

/// The connection to one agent, and the sessions that are open on it.
///
/// It does not keep sessions alive: one that nobody holds any more is not open.
pub(crate) struct Sessions {
    pub(crate) connection: Connection,
    pub(crate) options: Arc<ClientOptions>,
    pub(crate) links: Arc<Links>,
    pub(super) counters: CounterBook,
    open: Mutex<HashMap<SessionId, Weak<SessionState>>>,
    /// How many sessions are opened whose ids we do not know yet. Touched whenever one
    /// is added.
    naming: watch::Sender<usize>,
    /// Calls that were given up while they opened a session.
    undo: Mutex<VecDeque<(CallId, SessionId)>>,
    /// The client is being closed, and its sessions with it.
    closing: AtomicBool,
    closed: OnceCell<()>,
}

impl Sessions {
    /// Connects to an agent whose requests `handler` serves.
    pub(crate) fn start<H: Handler>(
        pipes: Pipes,
        options: Arc<ClientOptions>,
        handler: impl FnOnce(Weak<Self>) -> H,
    ) -> Arc<Self> {
        Arc::new_cyclic(|sessions| {
            let handler = handler(Weak::clone(sessions));
            let guard = EndServices(Weak::clone(sessions));
            Self {
                connection: Connection::start(pipes, options.limits.clone(), handler, guard),
                options,
                links: Arc::default(),
                counters: CounterBook::default(),
                open: Mutex::default(),
                naming: watch::Sender::default(),
                undo: Mutex::default(),
                closing: AtomicBool::new(false),
                closed: OnceCell::new(),
            }
        })
    }

    /// Makes a short request, which may take as long as its caller says, or else as the
    /// options say.
    pub(crate) async fn request<R: Request>(
        &self,
        params: &R,
        limit: Option<Duration>,
    ) -> Result<(CallFacts, R::Response), ClientError> {
        let limit = limit.unwrap_or(self.options.timeouts.request);
        self.connection.call(params, limit).await
    }

    /// Adds a session, which takes the updates that came for it since `hold` began.
    pub(super) fn add(
        self: &Arc<Self>,
        id: &SessionId,
        hold: UpdateHold,
        parts: OpeningParts,
    ) -> Result<Arc<SessionState>, ClientError> {
        check_id(id)?;
        let duplicate = || ClientError::DuplicateSession {
            session: id.clone(),
        };
        let mailbox = hold.open_mailbox(id).map_err(|_| duplicate())?;
        drop(hold);
        mailbox.control().set_flow(parts.flow);
        let session = SessionState::new(id.clone(), Arc::clone(self), mailbox, parts);
        let mut open = self.open.lock();
        if open.get(id).is_some_and(|known| known.strong_count() > 0) {
            drop(open);
            return Err(duplicate());
        }
        open.insert(id.clone(), Arc::downgrade(&session));
        drop(open);
        self.naming.send_modify(|_| {});
        Ok(session)
    }

    /// Removes this very session, not a later one of the same id.
    pub(super) fn remove(&self, session: &SessionState) {
        let mut open = self.open.lock();
        if open
            .get(&session.id)
            .is_some_and(|known| std::ptr::eq(known.as_ptr(), session))
        {
            open.remove(&session.id);
        }
    }

    pub(crate) fn find(&self, id: &SessionId) -> Option<Arc<SessionState>> {
        self.open.lock().get(id)?.upgrade()
    }

    /// Finds the session whose updates go into a mailbox.
    pub(crate) fn reading(&self, mailbox: MailboxId) -> Option<Arc<SessionState>> {
        let mut sessions = self.all().into_iter();
        sessions.find(|session| session.mailbox_id() == mailbox)
    }

    fn all(&self) -> Vec<Arc<SessionState>> {
        self.open
            .lock()
            .values()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// Says that a session is opened whose id comes with the answer.
    pub(super) fn begin_naming(&self) -> Naming<'_> {
        self.naming.send_modify(|naming| *naming += 1);
        Naming(self)
    }

    /// Tells whether a session may be added in a moment.
    pub(crate) fn is_naming(&self) -> bool {
        *self.naming.borrow() > 0
    }

    /// Waits until there is a session of this id or nobody is left who could add one,
    /// but not for long.
    pub(crate) async fn wait_for(&self, id: &SessionId) {
        let mut naming = self.naming.subscribe();
        let known = naming.wait_for(|naming| *naming == 0 || self.find(id).is_some());
        // When it takes too long, there is no such session.
        let _ = timeout(NAMING_WAIT, known).await;
    }

    /// Notes that `session` is to be closed when `call`, which was given up, turns out
    /// to have opened it.
    pub(super) fn undo_when_answered(&self, call: CallId, session: SessionId) {
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

    /// Closes a session that is open at the agent and that nobody wants, where the agent
    /// knows how to; unless somebody has opened it anew.
    pub(crate) fn close_unwanted(&self, session: SessionId) {
        if self.connection.require(Capability::Close).is_ok()
            && self.find(&session).is_none()
            // Whether it is closed or not, nobody waits for the answer.
            && let Ok(call) = self.connection.peer.start_call(&CloseSessionRequest::new(session))
        {
            call.detach();
        }
    }

    /// Closes every session at the agent, where it knows how to, but does not wait for
    /// long. Done once; callers at the same time wait for it together.
    pub(crate) async fn close_all(&self) {
        self.closing.store(true, Ordering::Relaxed);
        let closing = async {
            let mut closing = JoinSet::new();
            for session in self.all() {
                // Whatever the answer, the agent is ended next.
                closing.spawn(async move { session.close(None).await });
            }
            while closing.join_next().await.is_some() {}
        };
        let closed = self.closed.get_or_init(|| async {
            let _ = timeout(CLOSE_SESSIONS_TIMEOUT, closing).await;
        });
        closed.await;
    }

    /// Tells whether the client is being closed on this side.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Returns what became of the updates of all sessions.
    pub(crate) fn counters(&self) -> SessionCounters {
        self.counters.of_client(|| self.connection.peer.stats())
    }
}

/// Checks that a session can have this id.
///
/// # Errors
///
/// [`ClientError::EmptySessionId`] and [`ClientError::SessionIdTooLong`].
pub(crate) fn check_id(id: &SessionId) -> Result<(), ClientError> {
    match id.as_str().len() {
        0 => Err(ClientError::EmptySessionId),
        bytes if bytes > MAX_ID => Err(ClientError::SessionIdTooLong { bytes }),
        _ => Ok(()),
    }
}

/// A session is being opened whose id is not known yet.
pub(super) struct Naming<'a>(&'a Sessions);

impl Drop for Naming<'_> {
    fn drop(&mut self) {
        self.0.naming.send_modify(|naming| *naming -= 1);
    }
}

/// Ends what the open sessions are served when the connection ends.
struct EndServices(Weak<Sessions>);

impl Drop for EndServices {
    fn drop(&mut self) {
        if let Some(sessions) = self.0.upgrade() {
            for session in sessions.all() {
                session.end_services();
            }
        }
    }
}

/// Keeps the connection to an agent: it is closed when the last of these is dropped.
pub(crate) struct Lease(Arc<Sessions>);

impl Lease {
    pub(crate) fn new(sessions: &Arc<Sessions>) -> Arc<Self> {
        Arc::new(Self(Arc::clone(sessions)))
    }
}

impl Deref for Lease {
    type Target = Arc<Sessions>;

    fn deref(&self) -> &Arc<Sessions> {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.connection.peer.close();
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").finish_non_exhaustive()
    }
}
