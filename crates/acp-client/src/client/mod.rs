//! The client: an agent to start, and the connection to it.

mod activity;
mod requests;
mod session_list;

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};

use acp_process::{Exit, Launch};
use acp_protocol::v1::{InitializeResponse, SessionId};
use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::connection::dial;
use crate::connection::{Connection, Lease};
use crate::elicitation::LinkStats;
use crate::error::{AgentDeath, ClientError};
use crate::options::ClientOptions;
use crate::permission::DecisionLog;
use crate::session;
use crate::session::{Loading, SetModelProof};
use crate::{Session, SessionCounters, SessionSetup};

pub use activity::Activity;
pub use session_list::{SessionList, SessionPage};

/// An agent to talk to.
///
/// Making one does nothing; [`dial`](Self::dial) starts the agent and introduces the
/// client. Cheap to clone: clones share the connection.
///
/// The agent runs as long as the client, or a session or turn of it, is held. When
/// the last of them is dropped it is ended in the background; [`close`](Self::close)
/// does it in order and waits.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    target: Target,
    options: Arc<ClientOptions>,
    state: watch::Sender<State>,
    /// The newest connection, also while it is being made: what is to be ended.
    current: Mutex<Option<Arc<Connection>>>,
}

/// Where a connection comes from.
pub(crate) enum Target {
    /// A program, started for each attempt.
    Launch(Box<Launch>),
    /// A pair of streams, good for one attempt.
    Streams(Mutex<Option<Streams>>),
}

pub(crate) type Reader = Pin<Box<dyn AsyncRead + Send>>;
pub(crate) type Writer = Pin<Box<dyn AsyncWrite + Send>>;
type Streams = (Reader, Writer);

#[derive(Clone)]
enum State {
    Idle,
    Dialing,
    Ready(Arc<Lease>),
    Closed(ClientEnd),
}

/// How a client came to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ClientEnd {
    /// It was closed on this side.
    Closed,
    /// The agent went away.
    Died(Arc<AgentDeath>),
}

impl From<ClientEnd> for ClientError {
    fn from(end: ClientEnd) -> Self {
        match end {
            ClientEnd::Closed => Self::Closed,
            ClientEnd::Died(death) => Self::Died(death),
        }
    }
}

impl Client {
    /// Creates a client for an agent that is to be started.
    #[must_use]
    pub fn new(launch: Launch, options: ClientOptions) -> Self {
        Self::to(Target::Launch(Box::new(launch)), options)
    }

    /// Creates a client over streams that lead to an agent already, for one
    /// connection.
    #[must_use]
    pub fn over<R, W>(reader: R, writer: W, options: ClientOptions) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let streams: Streams = (Box::pin(reader), Box::pin(writer));
        Self::to(Target::Streams(Mutex::new(Some(streams))), options)
    }

    fn to(target: Target, options: ClientOptions) -> Self {
        Self {
            inner: Arc::new(Inner {
                target,
                options: Arc::new(options),
                state: watch::Sender::new(State::Idle),
                current: Mutex::new(None),
            }),
        }
    }

    /// Connects to the agent, and returns what it says of itself.
    ///
    /// Does nothing when it is connected. Callers at the same time share one attempt;
    /// when it fails, those who waited try for themselves, one after the other.
    ///
    /// # Errors
    ///
    /// [`ClientError::Spawn`] when the agent cannot be started, [`ClientError::Died`]
    /// when it ends instead of answering, [`ClientError::TimedOut`] when it does not
    /// answer, [`ClientError::VersionMismatch`] when it speaks another version than 1
    /// (R034), [`ClientError::Closed`] after [`close`](Self::close).
    ///
    /// # Cancel safety
    ///
    /// A caller that gives up while others wait leaves the attempt to the next of
    /// them, which starts anew.
    pub async fn dial(&self) -> Result<Arc<InitializeResponse>, ClientError> {
        let mut state = self.inner.state.subscribe();
        loop {
            let now = state.borrow_and_update().clone();
            match now {
                State::Ready(lease) => return agent_of(&lease),
                State::Closed(end) => return Err(end.into()),
                State::Dialing => {
                    // An error means that the sender, which we hold, is gone.
                    let _ = state.changed().await;
                }
                State::Idle => {
                    if let Some(attempt) = Attempt::claim(&self.inner) {
                        let lease = attempt.run().await?;
                        return agent_of(&lease);
                    }
                }
            }
        }
    }

    /// Returns what the agent said of itself.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotDialed`] before it did, [`ClientError::Closed`] afterwards.
    pub fn agent(&self) -> Result<Arc<InitializeResponse>, ClientError> {
        let lease = self.lease()?;
        agent_of(&lease)
    }

    /// Finds the proof that the agent knows `session/set_model`: `key` stands in the
    /// `_meta` of its answer to `initialize`, and not with null.
    ///
    /// # Errors
    ///
    /// [`ClientError::SetModelUnsupported`] when it does not; else as
    /// [`agent`](Self::agent).
    pub fn set_model_proof(&self, key: &str) -> Result<SetModelProof, ClientError> {
        SetModelProof::find(self.lease()?.connection(), key)
    }

    /// Returns the newest decisions about permissions, of all sessions.
    #[must_use]
    pub fn decisions(&self) -> DecisionLog {
        self.inner.options.decisions.clone()
    }

    /// Returns what became of the links the agent asked about, while it is connected.
    ///
    /// # Errors
    ///
    /// As [`agent`](Self::agent).
    pub fn link_stats(&self) -> Result<LinkStats, ClientError> {
        let lease = self.lease()?;
        Ok(lease.connection().elicitations().link_stats())
    }

    /// Returns what became of the updates of all sessions so far; nothing before the
    /// client is connected.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        let connection = self.inner.current().clone();
        connection.map_or_else(SessionCounters::default, |connection| {
            connection
                .counters()
                .of_client(|| connection.peer().stats())
        })
    }

    /// Opens a session; a path is enough to describe what it works with.
    ///
    /// Updates that come before the agent's answer are kept for the session.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotDialed`], [`ClientError::UnusablePath`],
    /// [`ClientError::Unsupported`], [`ClientError::AuthRequired`],
    /// [`ClientError::DuplicateSession`] when the agent names one that is open, and as
    /// any request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, a session that the agent opens after all is closed
    /// again where the agent knows how to.
    pub async fn new_session(
        &self,
        setup: impl Into<SessionSetup>,
    ) -> Result<Session, ClientError> {
        session::open(self.lease()?, setup.into()).await
    }

    /// Loads a session that the agent remembers, with its history: read it from
    /// what this gives, or take the session alone.
    ///
    /// Resolves as soon as the request is on its way.
    ///
    /// # Errors
    ///
    /// Before anything is sent: [`ClientError::Unsupported`],
    /// [`ClientError::EmptySessionId`], [`ClientError::UnusablePath`],
    /// [`ClientError::DuplicateSession`] when it is open here. Whether it was loaded
    /// is told by [`Loading::end`].
    ///
    /// # Cancel safety
    ///
    /// Dropped before it resolves, nothing is loaded.
    pub async fn load_session(
        &self,
        session: impl Into<SessionId>,
        setup: impl Into<SessionSetup>,
    ) -> Result<Loading, ClientError> {
        Loading::start(self.lease()?, session.into(), setup.into()).await
    }

    /// Goes on with a session that the agent remembers, without its history.
    ///
    /// What the agent says of it before it answers is kept for its reader.
    ///
    /// # Errors
    ///
    /// As [`load_session`](Self::load_session), and as any request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the session is forgotten here; one that the agent
    /// resumes after all is closed again where the agent knows how to.
    pub async fn resume_session(
        &self,
        session: impl Into<SessionId>,
        setup: impl Into<SessionSetup>,
    ) -> Result<Session, ClientError> {
        session::resume(self.lease()?, session.into(), setup.into()).await
    }

    /// Closes the sessions, where the agent knows how to, and then the agent: it gets
    /// the end of its input, time to put things in order, and is killed with
    /// everything it started if it does not take it.
    ///
    /// Returns how its process ended; `None` for a client over streams, or one that
    /// was never connected. Calling it again waits for the same end.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent is ended in the background.
    pub async fn close(&self) -> Option<Exit> {
        let (connection, _lease) = self.inner.retire()?;
        connection.close_sessions().await;
        connection.hang_up();
        match connection.child() {
            Some(child) => Some(child.close_and_wait().await),
            None => None,
        }
    }

    /// Kills the agent and everything it started, and waits until they are gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, they are killed all the same.
    pub async fn kill(&self) -> Option<Exit> {
        // The lease keeps the connection up: an agent that saw the end of its input would
        // take it as a hint to do something.
        let (connection, _lease) = self.inner.retire()?;
        let exit = match connection.child() {
            Some(child) => Some(child.kill_now().await),
            None => None,
        };
        connection.hang_up();
        exit
    }

    /// Returns how the newest line began that the agent wrote to standard output and
    /// that is no message at all: a banner, a log, a message behind something else.
    ///
    /// What a person needs to see when an agent does not answer; like the end of
    /// standard error, it may hold secrets.
    #[must_use]
    pub fn noise(&self) -> Option<Arc<str>> {
        self.inner.current().as_ref()?.peer().noise()
    }

    /// Waits for the end of the client: it was closed, or the agent went away.
    ///
    /// A failed [`dial`](Self::dial) is not the end.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn done(&self) -> ClientEnd {
        let mut state = self.inner.state.subscribe();
        loop {
            if let State::Closed(end) = &*state.borrow_and_update() {
                return end.clone();
            }
            // An error means that the sender, which we hold, is gone.
            let _ = state.changed().await;
        }
    }

    pub(crate) fn lease(&self) -> Result<Arc<Lease>, ClientError> {
        match &*self.inner.state.borrow() {
            State::Ready(lease) => Ok(Arc::clone(lease)),
            State::Closed(end) => Err(end.clone().into()),
            State::Idle | State::Dialing => Err(ClientError::NotDialed),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &*self.inner.state.borrow() {
            State::Idle => "idle",
            State::Dialing => "dialing",
            State::Ready(_) => "ready",
            State::Closed(_) => "closed",
        };
        f.debug_struct("Client")
            .field("state", &state)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// Closes the client for everybody, and returns what is to be ended, still up.
    fn retire(&self) -> Option<(Arc<Connection>, Option<Arc<Lease>>)> {
        let mut lease = None;
        self.state.send_if_modified(|state| {
            if let State::Closed(_) = state {
                return false;
            }
            if let State::Ready(ready) = std::mem::replace(state, State::Closed(ClientEnd::Closed))
            {
                lease = Some(ready);
            }
            true
        });
        let connection = self.current().clone()?;
        Some((connection, lease))
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<Connection>>> {
        self.current.lock()
    }
}

/// The right to dial. Given back on drop, so that the next caller can.
struct Attempt<'a> {
    inner: &'a Arc<Inner>,
}

impl<'a> Attempt<'a> {
    fn claim(inner: &'a Arc<Inner>) -> Option<Self> {
        let claimed = inner.state.send_if_modified(|state| {
            let idle = matches!(state, State::Idle);
            if idle {
                *state = State::Dialing;
            }
            idle
        });
        claimed.then_some(Self { inner })
    }

    async fn run(self) -> Result<Arc<Lease>, ClientError> {
        let inner = self.inner;
        let mut state = inner.state.subscribe();
        let dialed = dial::attempt(&inner.target, &inner.options, |connection| {
            *inner.current() = Some(Arc::clone(connection));
        });
        let lease = tokio::select! {
            biased;
            _ = state.wait_for(|state| matches!(state, State::Closed(_))) => return Err(ClientError::Closed),
            lease = dialed => lease?,
        };
        let in_time = inner.state.send_if_modified(|state| {
            let dialing = matches!(state, State::Dialing);
            if dialing {
                *state = State::Ready(Arc::clone(&lease));
            }
            dialing
        });
        if !in_time {
            return Err(ClientError::Closed);
        }
        tokio::spawn(note_death(
            Arc::downgrade(inner),
            Arc::clone(lease.connection()),
        ));
        Ok(lease)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.inner.state.send_if_modified(|state| {
            let unfinished = matches!(state, State::Dialing);
            if unfinished {
                *state = State::Idle;
            }
            unfinished
        });
    }
}

/// Closes the client when its agent goes away.
async fn note_death(inner: Weak<Inner>, connection: Arc<Connection>) {
    let death = connection.ended().await;
    if let Some(inner) = inner.upgrade() {
        inner.state.send_if_modified(|state| match state {
            State::Closed(_) => false,
            _ => {
                *state = State::Closed(ClientEnd::Died(death));
                true
            }
        });
    }
}

fn agent_of(lease: &Lease) -> Result<Arc<InitializeResponse>, ClientError> {
    lease
        .connection()
        .agent()
        .cloned()
        .ok_or(ClientError::NotDialed)
}
