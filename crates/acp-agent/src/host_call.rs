//! Calls into a host, which may panic or hang.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use acp_host::HostFuture;

/// A host call panicked, with these words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostPanicked(pub(crate) String);

/// A future of a host whose panics are caught.
pub(crate) struct HostCall<'a, T>(Result<HostFuture<'a, T>, HostPanicked>);

/// Calls a host and catches its panics, those of the call itself included.
pub(crate) fn call_host<'a, T>(call: impl FnOnce() -> HostFuture<'a, T>) -> HostCall<'a, T> {
    HostCall(catch_unwind(AssertUnwindSafe(call)).map_err(HostPanicked::new))
}

impl<T> Future for HostCall<'_, T> {
    type Output = Result<T, HostPanicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = match &mut self.0 {
            Ok(future) => future,
            Err(panicked) => return Poll::Ready(Err(panicked.clone())),
        };
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
            Err(payload) => {
                let panicked = HostPanicked::new(payload);
                self.discard(panicked.clone());
                Poll::Ready(Err(panicked))
            }
        }
    }
}

impl<T> HostCall<'_, T> {
    /// Drops the future; its destructors may panic too.
    fn discard(&mut self, panicked: HostPanicked) {
        let future = std::mem::replace(&mut self.0, Err(panicked));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(future)));
    }
}

impl<T> Drop for HostCall<'_, T> {
    fn drop(&mut self) {
        // A future that panicked was dropped then.
        if self.0.is_ok() {
            self.discard(HostPanicked(String::new()));
        }
    }
}

impl HostPanicked {
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = match payload.downcast_ref::<&str>() {
            Some(text) => Some((*text).to_owned()),
            None => payload.downcast_ref::<String>().cloned(),
        };
        // The payload may panic when it is dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        Self(text.unwrap_or_default())
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
        let panicked = |text: &str| Poll::Ready(Err(HostPanicked(text.to_owned())));
        assert_eq!(poll(&mut in_call), panicked("in the call"));

        let mut in_poll = call_host::<()>(|| {
            Box::pin(async {
                std::future::ready(()).await;
                panic!("in the poll {}", 1)
            })
        });
        assert_eq!(poll(&mut in_poll), panicked("in the poll 1"));
        assert_eq!(
            poll(&mut in_poll),
            panicked("in the poll 1"),
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
