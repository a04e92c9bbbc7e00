//! Permission requests that wait for whoever reads the session.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use acp_protocol::rpc::ReceiveSeq;

use crate::limits::MAX_OPEN_ASKS;
use crate::permission::PendingPermission;

/// The requests of one session, in wire order.
///
/// Those that were settled meanwhile (by a cancel) are skipped.
#[derive(Default)]
pub(crate) struct AskQueue {
    /// Whether there may be one: the reader looks here for each update.
    any: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<PendingPermission>,
    waker: Option<Waker>,
}

impl AskQueue {
    /// Adds a request. False when too many wait already; it is refused then.
    pub(crate) fn push(&self, pending: PendingPermission) -> bool {
        let waker = {
            let mut inner = self.lock();
            inner.queue.retain(PendingPermission::is_open);
            if inner.queue.len() >= MAX_OPEN_ASKS {
                return false;
            }
            inner.queue.push_back(pending);
            self.any.store(true, Ordering::Release);
            inner.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Tells after which update the first of them was asked.
    pub(crate) fn first_after(&self) -> Option<ReceiveSeq> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let mut inner = self.lock();
        inner.queue.retain(PendingPermission::is_open);
        self.any.store(!inner.queue.is_empty(), Ordering::Release);
        inner.queue.front().map(|pending| pending.ask().after())
    }

    /// Takes the first.
    pub(crate) fn pop(&self) -> Option<PendingPermission> {
        self.lock().queue.pop_front()
    }

    /// Waits until there is one. One at a time can wait.
    pub(crate) async fn arrival(&self) {
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.queue.is_empty() {
                inner.waker = Some(cx.waker().clone());
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
