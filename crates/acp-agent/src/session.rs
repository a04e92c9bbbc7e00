//! A session that is live on a connection.

use std::{
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use acp_host::{ClientFeatures, ClientLink, HostError, dynamic::DynLiveSession};
use acp_protocol::v1::SessionId;
use acp_transport_stdio::{Peer, SendLane};
use tokio::{runtime::Handle, time::timeout};

use crate::{guard::guard, limits::AgentLimits, link::LinkPort, outcome::Stop, slot::PromptSlot};

/// A live session: what the host made of it, and its way to the client.
pub(crate) struct Session {
    pub(crate) core: Arc<Core>,
    pub(crate) live: Arc<dyn DynLiveSession>,
    /// An interruption outside of prompts is under way.
    interrupting: AtomicBool,
}

/// What the host's link holds of a session: not the host's part of it, so a
/// host that keeps its link does not keep itself alive.
pub(crate) struct Core {
    pub(crate) id: SessionId,
    /// The updates of one session take turns with those of others.
    pub(crate) lane: SendLane,
    pub(crate) limits: Arc<AgentLimits>,
    pub(crate) client: ClientFeatures,
    /// Where tasks are spawned, whatever thread an event comes from.
    pub(crate) runtime: Handle,
    /// Whether updates carry the names of their events.
    pub(crate) stamps: bool,
    live: Weak<dyn DynLiveSession>,
    slot: Mutex<PromptSlot>,
}

impl Core {
    /// The slot, locked. No host code runs under the lock.
    pub(crate) fn slot(&self) -> MutexGuard<'_, PromptSlot> {
        // A panic under the lock can only come from serialising; the slot is
        // changed before or after that, as a whole.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host's part of the session, while it lives.
    pub(crate) fn live(&self) -> Option<Arc<dyn DynLiveSession>> {
        self.live.upgrade()
    }

    pub(crate) fn peer(&self) -> &Peer {
        self.lane.peer()
    }
}

impl Session {
    pub(crate) fn new(
        live: Arc<dyn DynLiveSession>,
        peer: &Peer,
        client: ClientFeatures,
        limits: Arc<AgentLimits>,
        stamps: bool,
    ) -> Arc<Self> {
        let core = Core {
            id: SessionId::from(live.id().to_shared()),
            lane: peer.open_lane(),
            limits,
            client,
            runtime: Handle::current(),
            stamps,
            live: Arc::downgrade(&live),
            slot: Mutex::default(),
        };
        Arc::new(Self {
            core: Arc::new(core),
            live,
            interrupting: AtomicBool::new(false),
        })
    }

    /// Gives the host its way to the client.
    pub(crate) async fn attach(&self) -> Result<(), HostError> {
        let link = ClientLink::new(Arc::new(LinkPort::new(Arc::clone(&self.core))));
        match guard(|| self.live.attach(link)).await {
            Ok(attached) => attached,
            Err(_) => Err(HostError::public("the agent failed")),
        }
    }

    /// Takes note that the client cancelled what runs (R118). The prompt does
    /// the rest; where none runs, the host is interrupted all the same.
    pub(crate) fn cancel(self: &Arc<Self>) {
        let (has_prompt, after) = {
            let mut slot = self.core.slot();
            (slot.is_taken(), slot.stop(None, Stop::Cancelled))
        };
        after.run();
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

    /// Lets go of the session: no prompt begins any more, the running one is
    /// cancelled and waited for, then the host lets go of its resources.
    pub(crate) async fn close(&self) {
        let after = {
            let mut slot = self.core.slot();
            slot.mark_closing();
            slot.stop(None, Stop::Cancelled)
        };
        after.run();
        // One budget for both, and they run side by side: a hung interruption
        // must not delay the prompt.
        let idle = poll_fn(|cx| self.core.slot().poll_idle(cx.waker()));
        let _ = timeout(self.core.limits.interrupt, async {
            tokio::join!(self.interrupt(), idle);
        })
        .await;
        self.shut_down().await;
    }

    /// Lets the host let go of its resources, within its bound.
    pub(crate) async fn shut_down(&self) {
        let call = guard(|| self.live.shutdown());
        let _ = timeout(self.core.limits.shutdown, call).await;
    }

    /// Does so on a task of its own.
    pub(crate) fn shut_down_soon(self: &Arc<Self>) {
        let session = Arc::clone(self);
        self.core
            .runtime
            .spawn(async move { session.shut_down().await });
    }

    async fn interrupt(&self) {
        let call = guard(|| self.live.interrupt());
        let _ = timeout(self.core.limits.interrupt, call).await;
    }
}
