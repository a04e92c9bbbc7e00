//! Calls into a host, which may panic or hang.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use acp_host::BoxFuture;

/// A host call panicked; what it said stays with the panic hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// A future of a host whose panics are caught.
pub(crate) struct Guarded<'a, T>(Option<BoxFuture<'a, T>>);

/// Calls a host and catches its panics, those of the call itself included.
pub(crate) fn guard<'a, T>(call: impl FnOnce() -> BoxFuture<'a, T>) -> Guarded<'a, T> {
    Guarded(catch_unwind(AssertUnwindSafe(call)).ok())
}

impl<T> Future for Guarded<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.0 else {
            return Poll::Ready(Err(Panicked));
        };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(_) => {
                self.discard();
                Poll::Ready(Err(Panicked))
            }
        }
    }
}

impl<T> Guarded<'_, T> {
    /// Drops the future; its destructors may panic too.
    fn discard(&mut self) {
        let future = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
    }
}

impl<T> Drop for Guarded<'_, T> {
    fn drop(&mut self) {
        self.discard();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    struct PanicsOnDrop;

    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    fn poll<T>(guarded: &mut Guarded<'_, T>) -> Poll<Result<T, Panicked>> {
        Pin::new(guarded).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn panics_are_caught_wherever_they_happen() {
        let mut in_call = guard::<()>(|| panic!("in the call"));
        assert_eq!(poll(&mut in_call), Poll::Ready(Err(Panicked)));

        let mut in_poll = guard::<()>(|| {
            Box::pin(async {
                std::future::ready(()).await;
                panic!("in the poll")
            })
        });
        assert_eq!(poll(&mut in_poll), Poll::Ready(Err(Panicked)));
        assert_eq!(
            poll(&mut in_poll),
            Poll::Ready(Err(Panicked)),
            "never polled again"
        );

        let mut in_drop = guard::<()>(|| {
            Box::pin(async {
                let _held = PanicsOnDrop;
                std::future::pending::<()>().await;
            })
        });
        assert_eq!(poll(&mut in_drop), Poll::Pending);
        drop(in_drop);

        let mut fine = guard(|| Box::pin(async { 7 }));
        assert_eq!(poll(&mut fine), Poll::Ready(Ok(7)));
    }
}
