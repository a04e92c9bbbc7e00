//! Calls into a host, which may panic or hang.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use acp_host::HostFuture;

/// A host call panicked; what it said stays with the panic hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostPanicked;

/// A future of a host whose panics are caught.
pub(crate) struct HostCall<'a, T>(Option<HostFuture<'a, T>>);

/// Calls a host and catches its panics, those of the call itself included.
pub(crate) fn call_host<'a, T>(call: impl FnOnce() -> HostFuture<'a, T>) -> HostCall<'a, T> {
    HostCall(catch_unwind(AssertUnwindSafe(call)).ok())
}

impl<T> Future for HostCall<'_, T> {
    type Output = Result<T, HostPanicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(future) = &mut self.0 else {
            return Poll::Ready(Err(HostPanicked));
        };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(_) => {
                self.discard();
                Poll::Ready(Err(HostPanicked))
            }
        }
    }
}

impl<T> HostCall<'_, T> {
    /// Drops the future; its destructors may panic too.
    fn discard(&mut self) {
        let future = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
    }
}

impl<T> Drop for HostCall<'_, T> {
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

    fn poll<T>(guarded: &mut HostCall<'_, T>) -> Poll<Result<T, HostPanicked>> {
        Pin::new(guarded).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn panics_are_caught_wherever_they_happen() {
        let mut in_call = call_host::<()>(|| panic!("in the call"));
        assert_eq!(poll(&mut in_call), Poll::Ready(Err(HostPanicked)));

        let mut in_poll = call_host::<()>(|| {
            Box::pin(async {
                std::future::ready(()).await;
                panic!("in the poll")
            })
        });
        assert_eq!(poll(&mut in_poll), Poll::Ready(Err(HostPanicked)));
        assert_eq!(
            poll(&mut in_poll),
            Poll::Ready(Err(HostPanicked)),
            "never polled again"
        );

        let mut in_drop = call_host::<()>(|| {
            Box::pin(async {
                let _held = PanicsOnDrop;
                std::future::pending::<()>().await;
            })
        });
        assert_eq!(poll(&mut in_drop), Poll::Pending);
        drop(in_drop);

        let mut fine = call_host(|| Box::pin(async { 7 }));
        assert_eq!(poll(&mut fine), Poll::Ready(Ok(7)));
    }
}
