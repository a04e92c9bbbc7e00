//! One living connection to one agent: its peer, its process, and how it ends.

mod capability;
pub(crate) mod dial;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acp_connection::{Peer, connect};
use acp_process::{ChildHandle, Exit};
use acp_protocol::method::Request;
use acp_protocol::rpc::{CallError, CallFacts, CloseCause, ErrorCode, Role};
use acp_protocol::v1::{AgentCapabilities, InitializeResponse};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::error::{AgentDeath, ClientError};
use crate::limits::{CLOSE_SESSIONS_TIMEOUT, DEATH_GRACE};
use crate::options::ClientOptions;
use crate::serve::Dispatch;
use crate::serve::Elicitations;
use crate::session::CounterBook;
use crate::session::Registry;

pub(crate) use capability::Capability;

/// What the agent said of itself, once it did.
pub(crate) type AgentCell = Arc<OnceLock<Arc<InitializeResponse>>>;

/// What everything on one connection shares.
pub(crate) struct Connection {
    peer: Peer,
    child: Option<ChildHandle>,
    agent: AgentCell,
    registry: Arc<Registry>,
    elicitations: Arc<Elicitations>,
    counters: CounterBook,
    options: Arc<ClientOptions>,
    death: watch::Receiver<Option<Arc<AgentDeath>>>,
    /// The client is being closed, and its sessions with it.
    closing: AtomicBool,
    sessions_closed: OnceCell<()>,
    runtime: Handle,
}

impl Connection {
    /// Connects, and watches over the end of the connection and of the child.
    pub(crate) fn start<R, W>(
        reader: R,
        writer: W,
        child: Option<ChildHandle>,
        options: Arc<ClientOptions>,
    ) -> Arc<Self>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let registry = Arc::new(Registry::default());
        let agent = AgentCell::default();
        let elicitations = Arc::new(Elicitations::default());
        let dispatch = Dispatch::new(
            Arc::clone(&registry),
            Arc::clone(&options),
            Arc::clone(&agent),
            Arc::clone(&elicitations),
        );
        let peer = connect(
            Role::Client,
            reader,
            writer,
            dispatch,
            options.limits.clone(),
        );
        let (died, death) = watch::channel(None);
        let served = EndServed(Arc::clone(&registry));
        tokio::spawn(watch_over(peer.clone(), child.clone(), died, served));
        Arc::new(Self {
            peer,
            child,
            agent,
            registry,
            elicitations,
            counters: CounterBook::default(),
            options,
            death,
            closing: AtomicBool::new(false),
            sessions_closed: OnceCell::new(),
            runtime: Handle::current(),
        })
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(crate) fn child(&self) -> Option<&ChildHandle> {
        self.child.as_ref()
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    pub(crate) fn elicitations(&self) -> &Elicitations {
        &self.elicitations
    }

    pub(crate) fn counters(&self) -> &CounterBook {
        &self.counters
    }

    pub(crate) fn options(&self) -> &ClientOptions {
        &self.options
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// What the agent said of itself; `None` until it did.
    pub(crate) fn agent(&self) -> Option<&Arc<InitializeResponse>> {
        self.agent.get()
    }

    /// What the agent offers.
    pub(crate) fn offers(&self) -> Result<&AgentCapabilities, ClientError> {
        let agent = self.agent.get().ok_or(ClientError::NotDialed)?;
        Ok(&agent.agent_capabilities)
    }

    pub(crate) fn set_agent(&self, agent: Arc<InitializeResponse>) {
        // Set once, by the attempt that dialed.
        let _ = self.agent.set(agent);
    }

    /// Calls the agent and waits for its answer, but not for ever.
    pub(crate) async fn call<R: Request>(
        &self,
        params: &R,
        limit: Duration,
    ) -> Result<(CallFacts, R::Response), ClientError> {
        match timeout(limit, self.peer.call_with_facts(params)).await {
            Ok((facts, Ok(answer))) => Ok((facts, answer)),
            Ok((_, Err(error))) => Err(self.explain(R::METHOD, error).await),
            Err(_) => Err(self.timed_out(R::METHOD, limit)),
        }
    }

    /// Says why a call failed, with all that is known about it. When the connection
    /// ended it waits a moment to learn how the process did.
    pub(crate) async fn explain(&self, method: &'static str, error: CallError) -> ClientError {
        match error {
            CallError::Peer(error) if error.code == ErrorCode::AUTH_REQUIRED => {
                ClientError::AuthRequired {
                    method,
                    methods: self
                        .agent()
                        .map(|agent| agent.auth_methods.clone())
                        .unwrap_or_default(),
                    error,
                }
            }
            CallError::Peer(error) => ClientError::Refused { method, error },
            CallError::Closed(CloseCause::Local) => match self.death.borrow().clone() {
                Some(death) if !matches!(death.cause(), CloseCause::Local) => {
                    ClientError::Died(death)
                }
                _ => ClientError::Closed,
            },
            CallError::Closed(cause) => ClientError::Died(self.obituary(cause).await),
            CallError::Decode { .. }
            | CallError::MalformedAnswer(_)
            | CallError::IdTypeChanged
            | CallError::AnswerTooLarge { .. } => ClientError::BadAnswer {
                method,
                source: error,
            },
            error => ClientError::NotSent {
                method,
                source: error,
            },
        }
    }

    pub(crate) fn timed_out(&self, method: &'static str, after: Duration) -> ClientError {
        ClientError::TimedOut {
            method,
            after,
            stderr_tail: self.stderr_tail(),
        }
    }

    pub(crate) fn stderr_tail(&self) -> String {
        self.child
            .as_ref()
            .map(ChildHandle::stderr_tail)
            .unwrap_or_default()
    }

    /// Waits until the connection has ended, and returns how.
    pub(crate) async fn ended(&self) -> Arc<AgentDeath> {
        let mut death = self.death.clone();
        match death.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(death)) => Arc::clone(death),
            // The watcher went away with the runtime.
            _ => Arc::new(AgentDeath::new(CloseCause::Local, None, String::new())),
        }
    }

    /// Closes every session at the agent, where it knows how to, but does not wait for
    /// long. Done once; callers at the same time wait for it together.
    pub(crate) async fn close_sessions(&self) {
        self.closing.store(true, Ordering::Relaxed);
        let closing = async {
            let mut closing = JoinSet::new();
            for session in self.registry.all() {
                // Whatever the answer, the agent is ended next.
                closing.spawn(async move { session.close().await });
            }
            while closing.join_next().await.is_some() {}
        };
        let closed = self.sessions_closed.get_or_init(|| async {
            let _ = timeout(CLOSE_SESSIONS_TIMEOUT, closing).await;
        });
        closed.await;
    }

    /// Tells whether the client is being closed on this side.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Ends the connection; the watcher then ends the process.
    pub(crate) fn hang_up(&self) {
        self.peer.close();
    }

    async fn obituary(&self, cause: CloseCause) -> Arc<AgentDeath> {
        match timeout(DEATH_GRACE, self.ended()).await {
            Ok(death) => death,
            Err(_) => Arc::new(AgentDeath::new(cause, None, self.stderr_tail())),
        }
    }
}

/// Waits for the first sign of the end, learns the rest, tells, and ends the
/// process.
async fn watch_over(
    peer: Peer,
    child: Option<ChildHandle>,
    died: watch::Sender<Option<Arc<AgentDeath>>>,
    served: EndServed,
) {
    let Some(child) = child else {
        let cause = peer.closed().await;
        drop(served);
        died.send_replace(Some(Arc::new(AgentDeath::new(cause, None, String::new()))));
        return;
    };
    let (cause, exit) = tokio::select! {
        cause = peer.closed() => {
            // Who hangs up knows why; an agent that does is asked for its status.
            let exit = match cause {
                CloseCause::Local => None,
                _ => timeout(DEATH_GRACE / 2, child.wait()).await.ok(),
            };
            (cause, exit)
        }
        exit = child.wait() => {
            // Its last words may still be in the pipe. Somebody it left behind may
            // keep that pipe open for ever.
            let cause = timeout(DEATH_GRACE / 2, peer.closed()).await.unwrap_or(CloseCause::PeerEof);
            (cause, Some(exit))
        }
    };
    let tail = exit
        .as_ref()
        .map_or_else(|| child.stderr_tail(), Exit::stderr_tail);
    drop(served);
    died.send_replace(Some(Arc::new(AgentDeath::new(cause, exit, tail))));
    peer.close();
    child.close_and_wait().await;
}

/// Ends what the open sessions are served when the connection ends, also when the
/// runtime goes first.
struct EndServed(Arc<Registry>);

impl Drop for EndServed {
    fn drop(&mut self) {
        for session in self.0.all() {
            session.served().end();
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("child", &self.child)
            .finish_non_exhaustive()
    }
}

/// Keeps a connection: it is hung up when the last of these is dropped.
#[derive(Debug)]
pub(crate) struct Lease(Arc<Connection>);

impl Lease {
    pub(crate) fn new(connection: Arc<Connection>) -> Arc<Self> {
        Arc::new(Self(connection))
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.hang_up();
    }
}
