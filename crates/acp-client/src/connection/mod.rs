//! One connection to one agent: its peer, its process, and how it ends.
//!
//! It knows no session. Whoever starts a connection gives it a handler for what the agent
//! asks, and a guard that is dropped when it has ended.

mod capability;
mod dial;
mod timeouts;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acp_connection::{Handler, Peer, connect};
use acp_process::{ChildHandle, Ending, Exit};
use acp_protocol::method::Request;
use acp_protocol::rpc::{CallError, CallFacts, CloseCause, ConnectionRole, ErrorCode, Limits};
use acp_protocol::v1::{AgentCapabilities, InitializeResponse};
use tokio::runtime::Handle;
use tokio::sync::{SetOnce, watch};
use tokio::time::timeout;
use tokio_util::io::InspectReader;

use crate::error::{AgentDeath, ClientError};
use crate::limits::DEATH_GRACE;

pub(crate) use capability::Capability;
pub(crate) use dial::{Origin, Pipes};
pub use timeouts::ClientTimeouts;

/// One connection to one agent.
pub(crate) struct Connection {
    pub(crate) peer: Peer,
    pub(crate) child: Option<ChildHandle>,
    pub(crate) runtime: Handle,
    agent: OnceLock<Arc<InitializeResponse>>,
    first_byte: Arc<SetOnce<()>>,
    death: watch::Receiver<Option<Arc<AgentDeath>>>,
}

impl Connection {
    /// Connects, and watches over the end of the connection and of the child. `guard` is
    /// dropped at that end, also when the runtime goes first.
    pub(crate) fn start(
        pipes: Pipes,
        limits: Limits,
        handler: impl Handler,
        guard: impl Send + 'static,
    ) -> Self {
        let Pipes {
            reader,
            writer,
            child,
        } = pipes;
        let first_byte = Arc::new(SetOnce::new());
        let came = Arc::clone(&first_byte);
        let reader = InspectReader::new(reader, move |bytes: &[u8]| {
            if !bytes.is_empty() && !came.initialized() {
                // An error means that it came already.
                let _ = came.set(());
            }
        });
        let peer = connect(ConnectionRole::Client, reader, writer, handler, limits);
        let (died, death) = watch::channel(None);
        tokio::spawn(watch_over(peer.clone(), child.clone(), died, guard));
        Self {
            peer,
            child,
            runtime: Handle::current(),
            agent: OnceLock::new(),
            first_byte,
            death,
        }
    }

    /// What the agent said of itself.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotDialed`] until it did.
    pub(crate) fn agent(&self) -> Result<&Arc<InitializeResponse>, ClientError> {
        self.agent.get().ok_or(ClientError::NotDialed)
    }

    /// What the agent offers.
    pub(crate) fn offers(&self) -> Result<&AgentCapabilities, ClientError> {
        Ok(&self.agent()?.agent_capabilities)
    }

    /// Checks that the agent offers this.
    pub(crate) fn require(&self, capability: Capability) -> Result<(), ClientError> {
        capability.require_in(self.offers()?)
    }

    /// Calls the agent and waits for its answer, but not for ever.
    pub(crate) async fn call<R: Request>(
        &self,
        params: &R,
        limit: Duration,
    ) -> Result<(CallFacts, R::Response), ClientError> {
        match timeout(limit, self.peer.call_with_facts(params)).await {
            Ok((facts, Ok(answer))) => Ok((facts, answer)),
            Ok((facts, Err(error))) => Err(self.explain(R::METHOD, error, facts).await),
            Err(_) => Err(self.timed_out(R::METHOD, limit)),
        }
    }

    /// Says why a call failed, with all that is known about it. When the connection
    /// ended it waits a moment to learn how the process did.
    pub(crate) async fn explain(
        &self,
        method: &'static str,
        error: CallError,
        facts: CallFacts,
    ) -> ClientError {
        match error {
            CallError::Peer(error) if error.code == ErrorCode::AUTH_REQUIRED => {
                ClientError::AuthRequired {
                    method,
                    methods: self
                        .agent()
                        .map(|agent| agent.auth_methods.clone())
                        .unwrap_or_default(),
                    error,
                    facts,
                }
            }
            CallError::Peer(error) => ClientError::Refused {
                method,
                error,
                facts,
            },
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
                facts,
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
    guard: impl Send,
) {
    let Some(child) = child else {
        let cause = peer.closed().await;
        drop(guard);
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
            // Its last words may still be in the pipe, behind much that nobody has read.
            peer.hear_out();
            (peer.closed().await, Some(exit))
        }
    };
    let tail = exit
        .as_ref()
        .map_or_else(|| child.stderr_tail(), Exit::stderr_tail);
    drop(guard);
    // One that hung up and runs on gets no orderly end: it can be told nothing more.
    let hung_up = exit.is_none() && !matches!(cause, CloseCause::Local);
    died.send_replace(Some(Arc::new(AgentDeath::new(cause, exit, tail))));
    peer.close();
    if hung_up {
        child.end(Ending::Abort);
    }
    child.close_and_wait().await;
}
