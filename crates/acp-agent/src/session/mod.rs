//! A session on a connection: its prompts, events, gates, and the host's calls to the
//! client.

mod client_calls;
mod gate;
mod gate_request;
mod link;
mod outgoing;
pub(crate) mod prompt;
pub(crate) mod replay;
mod session_events;
mod terminal;
pub(crate) mod unsent;

use std::{
    future::poll_fn,
    ops::{Deref, DerefMut},
    path::PathBuf,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use acp_connection::{Peer, SendLane, Unsent};
use acp_host::{ClientFeatures, ClientLink, HostError, dynamic::DynLiveSession};
use acp_protocol::{rpc::frame::UpdateHead, v1::SessionId};
use parking_lot::{Mutex, MutexGuard};
use tokio::{runtime::Handle, sync::watch, time::timeout};

use crate::{
    fault,
    host_call::{HostPanicked, call_host},
    limits::AgentLimits,
    session::link::SessionPort,
    turn::client_view::ClientView,
    turn::effects::ClosedTool,
    turn::outcome::StopCause,
    turn::session_turns::SessionTurns,
    wire::event_meta::EventName,
};

/// A live session: what the host made of it, and its way to the client.
pub(crate) struct Session {
    pub(crate) core: Arc<SessionCore>,
    pub(crate) live: Arc<dyn DynLiveSession>,
    /// Bytes of its set-up, as it came.
    pub(crate) setup_bytes: usize,
    /// Taken by whoever sets an option, so that one change follows the other.
    pub(crate) setting: tokio::sync::Mutex<()>,
    /// Becomes true when the session is closed; there is one as soon as
    /// somebody closes it.
    closing: OnceLock<watch::Receiver<bool>>,
    /// An interruption outside of prompts is under way.
    interrupting: AtomicBool,
}

/// What the host's link holds of a session: not the host's part of it, so a
/// host that keeps its link does not keep itself alive.
pub(crate) struct SessionCore {
    pub(crate) id: SessionId,
    /// The folder in which it works.
    pub(crate) cwd: PathBuf,
    /// What stands in front of its updates.
    pub(crate) update_head: UpdateHead,
    /// The updates of one session take turns with those of others.
    pub(crate) lane: SendLane,
    pub(crate) limits: Arc<AgentLimits>,
    pub(crate) client: Arc<ClientFeatures>,
    /// Where tasks are spawned, whatever thread an event comes from.
    pub(crate) runtime: Handle,
    /// Whether updates carry the ids of their events.
    pub(crate) has_event_ids: bool,
    /// Held while events of the session as a whole are sent, which keeps their order.
    event_queue: OnceLock<Arc<tokio::sync::Mutex<()>>>,
    live: Weak<dyn DynLiveSession>,
    turns: Mutex<SessionTurns>,
}

impl SessionCore {
    /// The turns, locked. No host code runs under the lock; signals and wakers are
    /// fired when it is released.
    pub(crate) fn turns(&self) -> TurnsGuard<'_> {
        // A panic under the lock can only come from serialising, and the turns are
        // changed before or after that, as a whole.
        let turns = self.turns.lock();
        TurnsGuard {
            core: self,
            turns: Some(turns),
        }
    }

    /// Sends the ends of tool calls that the client believes open behind their turn;
    /// nothing waits for room, because the answer to the prompt does not either.
    fn send_closed_tools(&self, closed: Vec<ClosedTool>) {
        for ClosedTool { meta, id, update } in closed {
            let meta = self
                .has_event_ids
                .then(|| meta.json(&EventName::ToolEnd(id), 0));
            let unsent = Unsent::encode_update(&self.update_head, &update, meta.as_deref());
            // It fails only if the connection is closed.
            let _ = unsent.and_then(|unsent| self.lane.send_now(unsent));
        }
    }

    /// The host's part of the session, while it lives.
    pub(crate) fn live(&self) -> Option<Arc<dyn DynLiveSession>> {
        self.live.upgrade()
    }

    pub(crate) fn peer(&self) -> &Peer {
        self.lane.peer()
    }
}

/// The locked turns of a session.
pub(crate) struct TurnsGuard<'a> {
    core: &'a SessionCore,
    turns: Option<MutexGuard<'a, SessionTurns>>,
}

impl Deref for TurnsGuard<'_> {
    type Target = SessionTurns;

    fn deref(&self) -> &SessionTurns {
        self.turns
            .as_ref()
            .expect("it is locked until it is dropped")
    }
}

impl DerefMut for TurnsGuard<'_> {
    fn deref_mut(&mut self) -> &mut SessionTurns {
        self.turns
            .as_mut()
            .expect("it is locked until it is dropped")
    }
}

impl Drop for TurnsGuard<'_> {
    fn drop(&mut self) {
        let effects = self.take_effects();
        let Some(mut effects) = effects else { return };
        // Under the lock, so that they leave before the answer to the prompt.
        self.core.send_closed_tools(effects.take_closed_tools());
        drop(self.turns.take());
        effects.run();
    }
}

/// What a session needs besides the host's part of it.
pub(crate) struct SessionParts<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) client: Arc<ClientFeatures>,
    pub(crate) cwd: PathBuf,
    pub(crate) setup_bytes: usize,
    pub(crate) limits: Arc<AgentLimits>,
    pub(crate) has_event_ids: bool,
    pub(crate) view: ClientView,
}

impl Session {
    pub(crate) fn new(live: Arc<dyn DynLiveSession>, parts: SessionParts<'_>) -> Arc<Self> {
        let id = SessionId::from(live.id().to_shared());
        let core = SessionCore {
            update_head: UpdateHead::new(id.as_str()),
            id,
            cwd: parts.cwd,
            lane: parts.peer.open_lane(),
            limits: parts.limits,
            client: parts.client,
            runtime: Handle::current(),
            has_event_ids: parts.has_event_ids,
            event_queue: OnceLock::new(),
            live: Arc::downgrade(&live),
            turns: Mutex::new(SessionTurns::new(parts.view)),
        };
        Arc::new(Self {
            core: Arc::new(core),
            live,
            setup_bytes: parts.setup_bytes,
            setting: tokio::sync::Mutex::default(),
            closing: OnceLock::new(),
            interrupting: AtomicBool::new(false),
        })
    }

    /// Gives the host its way to the client.
    pub(crate) async fn attach(&self) -> Result<(), HostError> {
        let link = ClientLink::new(Arc::new(SessionPort(Arc::clone(&self.core))));
        match call_host(|| self.live.attach(link)).await {
            Ok(attached) => attached,
            Err(HostPanicked(words)) => {
                Err(HostError::internal(format!("the host panicked: {words}")))
            }
        }
    }

    /// Takes note that the client cancelled what runs (R118). The prompt does
    /// the rest; where none runs, the host is interrupted all the same.
    pub(crate) fn cancel(self: &Arc<Self>) {
        let has_prompt = {
            let mut turns = self.core.turns();
            turns.stop(None, StopCause::Cancelled);
            turns.is_active()
        };
        if !has_prompt {
            self.interrupt_soon();
        }
    }

    /// Interrupts the host on a task of its own, unless that is under way.
    pub(crate) fn interrupt_soon(self: &Arc<Self>) {
        if !self.interrupting.swap(true, Ordering::AcqRel) {
            let session = Arc::clone(self);
            self.core.runtime.spawn(async move {
                session.interrupt().await;
                session.interrupting.store(false, Ordering::Release);
            });
        }
    }

    /// Closes the session, once for all who want it, on a task of its own; who
    /// waits for it may be dropped. Then `forget` is called.
    pub(crate) fn close(
        self: &Arc<Self>,
        forget: impl FnOnce(&Arc<Self>) + Send + 'static,
    ) -> watch::Receiver<bool> {
        let begin = || {
            let (closed, receiver) = watch::channel(false);
            let session = Arc::clone(self);
            self.core.runtime.spawn(async move {
                session.run_close().await;
                forget(&session);
                // Whoever asked may have gone.
                let _ = closed.send(true);
            });
            receiver
        };
        self.closing.get_or_init(begin).clone()
    }

    /// Lets go of the session: no prompt begins any more, the running one is
    /// cancelled and waited for, then the host lets go of its resources.
    async fn run_close(&self) {
        {
            let mut turns = self.core.turns();
            turns.mark_closing();
            turns.stop(None, StopCause::Cancelled);
        }
        // One budget for both, and they run side by side: a hung interruption
        // must not delay the prompt.
        let idle = poll_fn(|cx| self.core.turns().poll_idle(cx.waker()));
        let _ = timeout(self.core.limits.interrupt, async {
            tokio::join!(self.interrupt(), idle);
        })
        .await;
        // Where the turn does not end, its prompt is answered by the same bound:
        // before the session is gone.
        let answered = poll_fn(|cx| self.core.turns().poll_answered(cx.waker()));
        let _ = timeout(self.core.limits.shutdown, answered).await;
        self.shut_down().await;
        self.core.turns().close();
    }

    /// Lets the host let go of its resources, within its bound.
    pub(crate) async fn shut_down(&self) {
        let call = call_host(|| self.live.shutdown());
        if let Ok(Err(panicked)) = timeout(self.core.limits.shutdown, call).await {
            fault::log(
                &self.core.id,
                "the host panicked at the end of a session",
                panicked,
            );
        }
    }

    /// Does so on a task of its own. The client does not know the session, and
    /// hears nothing of it any more.
    pub(crate) fn shut_down_soon(self: &Arc<Self>) {
        self.core.turns().close();
        let session = Arc::clone(self);
        self.core
            .runtime
            .spawn(async move { session.shut_down().await });
    }

    async fn interrupt(&self) {
        let call = call_host(|| self.live.interrupt());
        if let Ok(Err(panicked)) = timeout(self.core.limits.interrupt, call).await {
            fault::log(
                &self.core.id,
                "the host panicked when it was interrupted",
                panicked,
            );
        }
    }
}
