//! What waits for whoever reads the session, beside the updates.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem::discriminant;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::ElicitationId;
use parking_lot::Mutex;

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
    queue: VecDeque<Waiting>,
    waker: Option<Waker>,
}

impl WaitingQueue {
    /// Adds one. False when too many of its kind wait already; then it is dropped.
    pub(crate) fn push(&self, waiting: Waiting) -> bool {
        let waker = {
            let mut inner = self.inner.lock();
            inner.queue.retain(Waiting::is_open);
            let alike = |other: &&Waiting| discriminant(*other) == discriminant(&waiting);
            if inner.queue.iter().filter(alike).count() >= MAX_OPEN_ASKS {
                return false;
            }
            inner.queue.push_back(waiting);
            self.any.store(true, Ordering::Release);
            inner.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Tells after which update the first of them came.
    pub(super) fn first_after(&self) -> Option<ReceiveSeq> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut inner = self.inner.lock();
        inner.queue.retain(Waiting::is_open);
        self.any.store(!inner.queue.is_empty(), Ordering::Release);
        inner.queue.front().map(Waiting::after)
    }

    /// Takes the first, with everything that is known by now of its tool.
    pub(super) fn take(&self, session: &SessionState) -> Option<TurnEvent> {
        let waiting = self.inner.lock().queue.pop_front()?;
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
