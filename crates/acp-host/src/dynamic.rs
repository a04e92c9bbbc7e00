//! The traits in a form that can be stored: every future boxed.
//!
//! Nobody implements these by hand; they follow from the plain traits.

use std::sync::Arc;

use crate::{
    BoxFuture, ClientLink, GateResponse, HostError, LiveSession, SessionHost, SessionId, Setup,
    Submission,
};

mod sealed {
    pub trait SealedHost {}
    impl<T: super::SessionHost> SealedHost for T {}
    pub trait SealedSession {}
    impl<T: super::LiveSession> SealedSession for T {}
}

/// [`SessionHost`] with boxed futures.
pub trait DynSessionHost: sealed::SealedHost + Send + Sync {
    /// See [`SessionHost::new_session`].
    fn new_session(
        &self,
        setup: Setup,
    ) -> BoxFuture<'_, Result<Arc<dyn DynLiveSession>, HostError>>;
}

/// [`LiveSession`] with boxed futures.
pub trait DynLiveSession: sealed::SealedSession + Send + Sync {
    /// See [`LiveSession::id`].
    fn id(&self) -> &SessionId;
    /// See [`LiveSession::attach`].
    fn attach(&self, link: ClientLink) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::submit`].
    fn submit(&self, submission: Submission) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::respond_gate`].
    fn respond_gate(&self, response: GateResponse) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::interrupt`].
    fn interrupt(&self) -> BoxFuture<'_, bool>;
    /// See [`LiveSession::shutdown`].
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

impl<T: SessionHost> DynSessionHost for T {
    fn new_session(
        &self,
        setup: Setup,
    ) -> BoxFuture<'_, Result<Arc<dyn DynLiveSession>, HostError>> {
        Box::pin(async move {
            let session = SessionHost::new_session(self, setup).await?;
            Ok(Arc::new(session) as Arc<dyn DynLiveSession>)
        })
    }
}

impl<T: LiveSession> DynLiveSession for T {
    fn id(&self) -> &SessionId {
        LiveSession::id(self)
    }

    fn attach(&self, link: ClientLink) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(LiveSession::attach(self, link))
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(LiveSession::submit(self, submission))
    }

    fn respond_gate(&self, response: GateResponse) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(LiveSession::respond_gate(self, response))
    }

    fn interrupt(&self) -> BoxFuture<'_, bool> {
        Box::pin(LiveSession::interrupt(self))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(LiveSession::shutdown(self))
    }
}
