//! What waits for whoever reads the session, beside the updates.

use std::collections::VecDeque;
use std::future::{pending, poll_fn};
use std::mem::discriminant;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::ElicitationId;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use super::{SessionState, TurnEvent};
use crate::elicitation::PendingQuestion;
use crate::limits::MAX_OPEN_ASKS;
use crate::permission::PendingPermission;

/// One of the things that wait.
pub(crate) enum Waiting {
    Permission(PendingPermission),
    Question(PendingQuestion),
    LinkCompleted { link: ElicitationId, at: ReceiveSeq },
}

impl Waiting {
    /// Tells whether it still matters: what was settled meanwhile does not.
    fn is_open(&self) -> bool {
        match self {
            Self::Permission(pending) => pending.is_open(),
            Self::Question(pending) => pending.is_open(),
            Self::LinkCompleted { .. } => true,
        }
    }

    /// Returns after what it came.
    fn after(&self) -> ReceiveSeq {
        match self {
            Self::Permission(pending) => pending.request().after(),
            Self::Question(pending) => pending.request().after(),
            Self::LinkCompleted { at, .. } => *at,
        }
    }

    /// Makes what the reader gets, with everything that is known by now.
    fn into_event(self, session: &SessionState) -> TurnEvent {
        match self {
            Self::Permission(mut pending) => {
                let tool = session.complete_tool(&pending.request().raw().tool_call);
                pending.set_tool(tool);
                TurnEvent::Permission(pending)
            }
            Self::Question(pending) => TurnEvent::Question(pending),
            Self::LinkCompleted { link, .. } => TurnEvent::LinkCompleted { link },
        }
    }
}

/// What waits in one session, in wire order.
///
/// What was settled meanwhile (by a cancel) is skipped.
#[derive(Default)]
pub(crate) struct WaitingQueue {
    /// Whether there may be one: the reader looks here for each update.
    any: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<(Ticket, Waiting)>,
    next: u64,
    waker: Option<Waker>,
}

/// Names something that waits in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl WaitingQueue {
    /// Adds one. `None` when too many of its kind wait already; then it is dropped.
    pub(crate) fn push(&self, waiting: Waiting) -> Option<Ticket> {
        let (ticket, waker) = {
            let mut inner = self.inner.lock();
            inner.queue.retain(|(_, waiting)| waiting.is_open());
            let kind = discriminant(&waiting);
            let alike = inner
                .queue
                .iter()
                .filter(|(_, other)| discriminant(other) == kind);
            if alike.count() >= MAX_OPEN_ASKS {
                return None;
            }
            let ticket = Ticket(inner.next);
            inner.next += 1;
            inner.queue.push_back((ticket, waiting));
            self.any.store(true, Ordering::Release);
            (ticket, inner.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(ticket)
    }

    /// Takes one out again; `None` when its reader has it.
    pub(super) fn withdraw(&self, ticket: Ticket) -> Option<Waiting> {
        let mut inner = self.inner.lock();
        let at = inner.queue.iter().position(|(known, _)| *known == ticket)?;
        inner.queue.remove(at).map(|(_, waiting)| waiting)
    }

    /// Tells after which update the first of them came.
    pub(super) fn first_after(&self) -> Option<ReceiveSeq> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut inner = self.inner.lock();
        inner.queue.retain(|(_, waiting)| waiting.is_open());
        self.any.store(!inner.queue.is_empty(), Ordering::Release);
        inner.queue.front().map(|(_, waiting)| waiting.after())
    }

    /// Takes the first, with everything that is known by now of its tool.
    pub(super) fn take(&self, session: &SessionState) -> Option<TurnEvent> {
        let (_, waiting) = self.inner.lock().queue.pop_front()?;
        Some(waiting.into_event(session))
    }

    /// Waits until there is one. One at a time can wait.
    pub(super) async fn arrival(&self) {
        poll_fn(|cx| {
            let mut inner = self.inner.lock();
            if inner.queue.is_empty() {
                inner.waker = Some(cx.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }
}

/// Whether somebody reads a session: a turn of it runs, or its updates between turns are
/// read.
#[derive(Debug, Clone)]
pub(super) struct IsRead(watch::Sender<bool>);

impl IsRead {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(super) fn set(&self, is_read: bool) {
        self.0
            .send_if_modified(|known| std::mem::replace(known, is_read) != is_read);
    }

    /// Waits until nobody has read for a while.
    async fn unread_for(&self, limit: Duration) {
        let mut is_read = self.0.subscribe();
        loop {
            // They fail when the sender is gone, which is ours.
            let _ = is_read.wait_for(|is_read| !is_read).await;
            if timeout(limit, is_read.wait_for(|is_read| *is_read))
                .await
                .is_err()
            {
                return;
            }
        }
    }
}

/// Waits until something has waited in a session that nobody reads for as long as it may,
/// and takes it out again, which refuses it. Never returns when a reader took it before.
pub(crate) async fn refuse_unread(session: &Weak<SessionState>, ticket: Ticket) {
    let Some((is_read, limit)) = session.upgrade().map(|session| {
        let limit = session.sessions.options.timeouts.unread;
        (session.is_read.clone(), limit)
    }) else {
        return pending().await;
    };
    is_read.unread_for(limit).await;
    let withdrawn = session
        .upgrade()
        .and_then(|session| session.waiting.withdraw(ticket));
    match withdrawn {
        Some(waiting) => {
            tracing::warn!("the agent asks in a session that nobody reads, and is refused");
            drop(waiting);
        }
        None => pending().await,
    }
}
