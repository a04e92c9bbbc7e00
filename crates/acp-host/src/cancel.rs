//! A signal that something is no longer wanted, free of any runtime.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;
use pin_project_lite::pin_project;

/// Tells work that nobody wants its result any more.
///
/// Clones share one state: once [`cancel`](Cancel::cancel) was called on any of
/// them, all of them are cancelled for good. It knows no runtime, so the future
/// of [`cancelled`](Cancel::cancelled) can be awaited anywhere.
///
/// ```
/// # use acp_host::Cancel;
/// let cancel = Cancel::new();
/// let seen_by_the_work = cancel.clone();
/// cancel.cancel();
/// assert!(seen_by_the_work.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Arc<Shared>);

#[derive(Default)]
struct Shared {
    fired: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// The wakers of the futures that wait, each under its own key.
#[derive(Default)]
struct Waiting {
    next: u64,
    wakers: Vec<(u64, Waker)>,
}

impl Cancel {
    /// Creates a signal that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels, and wakes everybody who waits; doing it again changes nothing.
    pub fn cancel(&self) {
        let wakers = {
            let mut waiting = self.0.waiting.lock();
            if self.0.fired.swap(true, Ordering::AcqRel) {
                return;
            }
            std::mem::take(&mut waiting.wakers)
        };
        for (_, waker) in wakers {
            waker.wake();
        }
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// Waits until it is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: a dropped future leaves nothing behind.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled {
            shared: Arc::clone(&self.0),
            key: None,
        }
    }

    /// Runs a future until it is ready or this is cancelled; `None` when
    /// cancelling came first.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as the future it is given.
    pub fn run_until_cancelled<F: Future>(&self, work: F) -> RunUntilCancelled<F> {
        RunUntilCancelled {
            work,
            cancelled: self.cancelled(),
        }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

impl Shared {}

/// The future of [`Cancel::cancelled`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Cancelled {
    shared: Arc<Shared>,
    key: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.shared.fired.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let this = &mut *self;
        let mut waiting = this.shared.waiting.lock();
        // Under the lock nobody can fire between this look and the registration.
        if this.shared.fired.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        let key = *this.key.get_or_insert_with(|| {
            waiting.next += 1;
            waiting.next
        });
        match waiting.wakers.iter_mut().find(|(k, _)| *k == key) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => waiting.wakers.push((key, cx.waker().clone())),
        }
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.waiting.lock().wakers.retain(|(k, _)| *k != key);
        }
    }
}

pin_project! {
    /// The future of [`Cancel::run_until_cancelled`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct RunUntilCancelled<F> {
        #[pin]
        work: F,
        cancelled: Cancelled,
    }
}

impl<F: Future> Future for RunUntilCancelled<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.cancelled.shared.fired.load(Ordering::Acquire) {
            return Poll::Ready(None);
        }
        // Who is ready at once leaves no waker behind.
        if let Poll::Ready(value) = this.work.poll(cx) {
            return Poll::Ready(Some(value));
        }
        Pin::new(this.cancelled).poll(cx).map(|()| None)
    }
}

impl fmt::Debug for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancelled").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn waiting(cancel: &Cancel) -> usize {
        cancel.0.waiting.lock().wakers.len()
    }

    #[test]
    fn wakes_each_waiter_once() {
        let (cancel, count) = (Cancel::new(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let (mut one, mut two) = (pin!(cancel.cancelled()), pin!(cancel.cancelled()));
        assert!(one.as_mut().poll(&mut cx).is_pending());
        assert!(one.as_mut().poll(&mut cx).is_pending());
        assert!(two.as_mut().poll(&mut cx).is_pending());
        cancel.cancel();
        cancel.clone().cancel();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        assert!(one.as_mut().poll(&mut cx).is_ready());
        assert!(two.as_mut().poll(&mut cx).is_ready());
    }

    #[test]
    fn dropped_waiters_leave_nothing_behind() {
        let cancel = Cancel::new();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            let mut wait = cancel.cancelled();
            assert!(Pin::new(&mut wait).poll(&mut cx).is_pending());
            assert_eq!(waiting(&cancel), 1);
        }
        assert_eq!(waiting(&cancel), 0);
    }

    #[test]
    fn work_ends_when_it_is_no_longer_wanted() {
        let cancel = Cancel::new();
        let mut cx = Context::from_waker(Waker::noop());
        let mut never = pin!(cancel.run_until_cancelled(std::future::pending::<()>()));
        assert!(never.as_mut().poll(&mut cx).is_pending());
        let mut done = pin!(cancel.run_until_cancelled(std::future::ready(7)));
        assert_eq!(done.as_mut().poll(&mut cx), Poll::Ready(Some(7)));
        cancel.cancel();
        assert_eq!(never.as_mut().poll(&mut cx), Poll::Ready(None));
    }
}
