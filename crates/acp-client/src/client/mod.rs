//! The client: an agent to start, the connection to it, and what is asked of it besides
//! work in a session.

mod activity;
mod listing;
mod requests;
mod session_list;

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use acp_process::{Ending, Exit, Launch};
use acp_protocol::v1::{InitializeResponse, SessionId};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OnceCell, oneshot, watch};
use tokio::time::timeout;

use crate::connection::{Origin, Pipes};
use crate::elicitation::LinkStats;
use crate::error::{AgentDeath, ClientError};
use crate::limits::START_GRACE;
use crate::options::ClientOptions;
use crate::permission::DecisionLog;
use crate::serve::AgentRequests;
use crate::session::{
    self, Lease, Loading, Session, SessionCounters, SessionSetup, Sessions, SetModelProof,
};

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
    /// How long its calls may take, where that was said.
    limit: Option<Duration>,
}

struct Inner {
    origin: Origin,
    options: Arc<ClientOptions>,
    /// What keeps the connection up, once it is made.
    dialed: OnceCell<Arc<Lease>>,
    end: watch::Sender<Option<ClientEnd>>,
    /// The newest connection, also while it is being made: what is to be ended.
    current: Mutex<Option<Arc<Sessions>>>,
    /// Held while a process is being started, and until it is gone if nobody wants it any more.
    starting: Arc<tokio::sync::Mutex<()>>,
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
        Self::to(Origin::Launch(Box::new(launch)), options)
    }

    /// Creates a client over streams that lead to an agent already, for one
    /// connection.
    #[must_use]
    pub fn over<R, W>(reader: R, writer: W, options: ClientOptions) -> Self
    where
        R: AsyncRead + Send + 'static,
        W: AsyncWrite + Send + 'static,
    {
        let pipes = Pipes {
            reader: Box::pin(reader),
            writer: Box::pin(writer),
            child: None,
        };
        Self::to(Origin::Streams(Mutex::new(Some(pipes))), options)
    }

    fn to(origin: Origin, options: ClientOptions) -> Self {
        Self {
            inner: Arc::new(Inner {
                origin,
                options: Arc::new(options),
                dialed: OnceCell::new(),
                end: watch::Sender::new(None),
                current: Mutex::new(None),
                starting: Arc::default(),
            }),
            limit: None,
        }
    }

    /// Bounds how long each call of this handle may take, in place of
    /// [`ClientTimeouts`](crate::ClientTimeouts): opening, loading, resuming, listing, closing
    /// and deleting sessions, logging in and out. Clones from before stay as they are, and so
    /// does [`dial`](Self::dial), which all of them share.
    ///
    /// ```no_run
    /// # async fn list(client: acp_client::Client) -> Result<(), acp_client::ClientError> {
    /// use std::time::Duration;
    ///
    /// let hasty = client.clone().with_timeout(Duration::from_secs(3));
    /// println!("{} sessions", hasty.list_sessions().all().await?.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
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
        let dialing = self.inner.dialed.get_or_try_init(|| self.inner.dial());
        let lease = tokio::select! {
            biased;
            end = self.done() => return Err(end.into()),
            lease = dialing => lease?,
        };
        lease.connection.agent().cloned()
    }

    /// Returns what the agent said of itself.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotDialed`] before it did, [`ClientError::Closed`] afterwards.
    pub fn agent(&self) -> Result<Arc<InitializeResponse>, ClientError> {
        self.lease()?.connection.agent().cloned()
    }

    /// Finds the proof that the agent knows `session/set_model`: `key` stands in the
    /// `_meta` of its answer to `initialize`, and not with null.
    ///
    /// # Errors
    ///
    /// [`ClientError::SetModelUnsupported`] when it does not; else as
    /// [`agent`](Self::agent).
    pub fn set_model_proof(&self, key: &str) -> Result<SetModelProof, ClientError> {
        let lease = self.lease()?;
        SetModelProof::find(&lease, key)
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
        Ok(self.lease()?.links.stats())
    }

    /// Returns what became of the updates of all sessions so far; nothing before the
    /// client is connected.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        let sessions = self.inner.current.lock().clone();
        sessions.map_or_else(SessionCounters::default, |sessions| sessions.counters())
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
        session::open(self.lease()?, setup.into().or_timeout(self.limit)).await
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
        Loading::start(
            self.lease()?,
            session.into(),
            setup.into().or_timeout(self.limit),
        )
        .await
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
        session::resume(
            self.lease()?,
            session.into(),
            setup.into().or_timeout(self.limit),
        )
        .await
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
        // Dropped, it ends the connection.
        let sessions = Lease::new(&self.inner.retire().await?);
        sessions.close_all().await;
        sessions.connection.peer.close();
        match &sessions.connection.child {
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
        // The connection goes last: an agent that saw the end of its input would take it
        // as a hint to do something.
        let sessions = Lease::new(&self.inner.retire().await?);
        match &sessions.connection.child {
            Some(child) => Some(child.kill_now().await),
            None => None,
        }
    }

    /// Returns how the newest line began that the agent wrote to standard output and
    /// that is no message at all: a banner, a log, a message behind something else.
    ///
    /// What a person needs to see when an agent does not answer; like the end of
    /// standard error, it may hold secrets.
    #[must_use]
    pub fn noise(&self) -> Option<Arc<str>> {
        let sessions = self.inner.current.lock().clone();
        sessions?.connection.peer.noise()
    }

    /// Waits for the end of the client: it was closed, or the agent went away.
    ///
    /// A failed [`dial`](Self::dial) is not the end.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn done(&self) -> ClientEnd {
        let mut end = self.inner.end.subscribe();
        let end = end.wait_for(Option::is_some).await;
        // An error means that the sender, which we hold, is gone.
        end.ok()
            .and_then(|end| end.clone())
            .unwrap_or(ClientEnd::Closed)
    }

    pub(crate) fn lease(&self) -> Result<Arc<Lease>, ClientError> {
        if let Some(end) = &*self.inner.end.borrow() {
            return Err(end.clone().into());
        }
        let dialed = self.inner.dialed.get();
        dialed.cloned().ok_or(ClientError::NotDialed)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("dialed", &self.inner.dialed.initialized())
            .field("end", &*self.inner.end.borrow())
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// Connects once. Dropped, or failed, it ends what it started.
    async fn dial(self: &Arc<Self>) -> Result<Arc<Lease>, ClientError> {
        let lease = self.start().await?;
        let connection = &lease.connection;
        let request = self.options.initialize_request();
        let introduced = connection.initialize(&request, &self.options.timeouts);
        if let Err(error) = introduced.await {
            if let Some(child) = &connection.child {
                child.end(Ending::Abort);
            }
            return Err(error);
        }
        // Closed meanwhile, perhaps before there was something to end.
        if self.end.borrow().is_some() {
            return Err(ClientError::Closed);
        }
        tokio::spawn(note_death(Arc::downgrade(self), Arc::clone(&**lease)));
        Ok(lease)
    }

    /// Starts the agent, or takes the streams. A process that comes up when nobody waits for it
    /// any more is killed, and closing the client waits for that.
    async fn start(self: &Arc<Self>) -> Result<Arc<Lease>, ClientError> {
        if let Origin::Streams(_) = self.origin {
            return self.begin().await;
        }
        let starting = Arc::clone(&self.starting).lock_owned().await;
        let (started, lease) = oneshot::channel();
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(Ok(unwanted)) = started.send(inner.begin().await)
                && let Some(child) = &unwanted.connection.child
            {
                child.kill_now().await;
            }
            drop(starting);
        });
        // It ends without a word with its runtime alone.
        lease.await.unwrap_or(Err(ClientError::Closed))
    }

    async fn begin(&self) -> Result<Arc<Lease>, ClientError> {
        let options = Arc::clone(&self.options);
        let pipes = self.origin.open(&options.timeouts).await?;
        let sessions = Sessions::start(pipes, Arc::clone(&options), |sessions| {
            AgentRequests::new(sessions, options)
        });
        let lease = Lease::new(&sessions);
        *self.current.lock() = Some(sessions);
        Ok(lease)
    }

    /// Closes the client for everybody, and returns what is to be ended, still up. What is
    /// being started is waited for, and nobody takes it any more.
    async fn retire(&self) -> Option<Arc<Sessions>> {
        self.finish(ClientEnd::Closed);
        // A start that takes longer waits for a disk or a network; its guard ends it.
        let _ = timeout(START_GRACE, self.starting.lock()).await;
        self.current.lock().clone()
    }

    /// Notes the end, if it is the first.
    fn finish(&self, end: ClientEnd) {
        self.end.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(end);
            }
            first
        });
    }
}

/// Closes the client when its agent goes away.
async fn note_death(client: Weak<Inner>, sessions: Arc<Sessions>) {
    let death = sessions.connection.ended().await;
    if let Some(client) = client.upgrade() {
        client.finish(ClientEnd::Died(death));
    }
}
