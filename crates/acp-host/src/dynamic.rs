//! The traits in a form that can be stored: every future boxed.
//!
//! Nobody implements these by hand; they follow from the plain traits.

use std::sync::Arc;

use crate::{
    Authenticator, BoxFuture, Cancel, CatalogEntry, CatalogQuery, ClientLink, CommandId,
    ConfigCatalog, ConfigChange, ConfigController, ConfigOption, Event, GateResponse, HostError,
    LiveSession, LogoutHandler, Replay, SessionCatalog, SessionDeleter, SessionHost, SessionId,
    SessionLoader, SessionResumer, Setup, Submission,
};

mod sealed {
    macro_rules! seal {
        ($($seal:ident: $plain:ident)*) => {$(
            pub trait $seal {}
            impl<T: super::$plain + ?Sized> $seal for T {}
        )*};
    }
    seal! {
        SealedHost: SessionHost
        SealedSession: LiveSession
        SealedResumer: SessionResumer
        SealedLoader: SessionLoader
        SealedReplay: Replay
        SealedCatalog: SessionCatalog
        SealedDeleter: SessionDeleter
        SealedOptions: ConfigCatalog
        SealedController: ConfigController
        SealedAuthenticator: Authenticator
        SealedLogout: LogoutHandler
    }
}

type LiveResult = Result<Arc<dyn DynLiveSession>, HostError>;

/// A session that was taken up, and its journal, in a form that can be stored.
pub struct DynLoaded {
    /// The session.
    pub session: Arc<dyn DynLiveSession>,
    /// What happened in it so far.
    pub journal: Box<dyn DynReplay>,
}

/// Writes the twin of a trait, and implements it for whoever implements that.
macro_rules! twin {
    (
        $(#[$doc:meta])*
        $name:ident: $sealed:ident + $bounds:ident, of $plain:ident {
            $(fn $method:ident($($arg:ident: $type:ty),*) -> $result:ty;)*
        }
    ) => {
        $(#[$doc])*
        pub trait $name: sealed::$sealed + $bounds {
            $(
                #[doc = concat!("See [`", stringify!($plain), "::", stringify!($method), "`].")]
                fn $method<'a>(&'a self, $($arg: $type),*) -> BoxFuture<'a, $result>;
            )*
        }

        impl<T: $plain> $name for T {
            $(
                fn $method<'a>(&'a self, $($arg: $type),*) -> BoxFuture<'a, $result> {
                    Box::pin($plain::$method(self, $($arg),*))
                }
            )*
        }
    };
}

/// What every stored host is.
pub trait Shared: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Shared for T {}

/// [`SessionHost`] with boxed futures.
pub trait DynSessionHost: sealed::SealedHost + Shared {
    /// See [`SessionHost::new_session`].
    fn new_session(&self, setup: Setup) -> BoxFuture<'_, LiveResult>;
}

/// [`SessionResumer`] with boxed futures.
pub trait DynSessionResumer: sealed::SealedResumer + Shared {
    /// See [`SessionResumer::resume_session`].
    fn resume_session(&self, id: SessionId, setup: Setup) -> BoxFuture<'_, LiveResult>;
}

/// [`SessionLoader`] with boxed futures.
pub trait DynSessionLoader: sealed::SealedLoader + Shared {
    /// See [`SessionLoader::load_session`].
    fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> BoxFuture<'_, Result<DynLoaded, HostError>>;
}

/// [`Replay`] with boxed futures.
pub trait DynReplay: sealed::SealedReplay + Send {
    /// See [`Replay::next_event`].
    fn next_event(&mut self) -> BoxFuture<'_, Result<Option<Event>, HostError>>;
}

/// [`LiveSession`] with boxed futures.
pub trait DynLiveSession: sealed::SealedSession + Shared {
    /// See [`LiveSession::id`].
    fn id(&self) -> &SessionId;
    /// See [`LiveSession::attach`].
    fn attach(&self, link: ClientLink) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::submit`].
    fn submit(&self, submission: Submission) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::compact`].
    fn compact(&self, command: CommandId, cancel: Cancel) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::respond_gate`].
    fn respond_gate(&self, response: GateResponse) -> BoxFuture<'_, Result<(), HostError>>;
    /// See [`LiveSession::interrupt`].
    fn interrupt(&self) -> BoxFuture<'_, bool>;
    /// See [`LiveSession::shutdown`].
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

twin! {
    /// [`SessionCatalog`] with boxed futures.
    DynSessionCatalog: SealedCatalog + Shared, of SessionCatalog {
        fn list(query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError>;
    }
}

twin! {
    /// [`SessionDeleter`] with boxed futures.
    DynSessionDeleter: SealedDeleter + Shared, of SessionDeleter {
        fn delete(id: &'a SessionId) -> Result<(), HostError>;
    }
}

twin! {
    /// [`ConfigCatalog`] with boxed futures.
    DynConfigCatalog: SealedOptions + Shared, of ConfigCatalog {
        fn options(session: &'a SessionId) -> Result<Vec<ConfigOption>, HostError>;
    }
}

twin! {
    /// [`ConfigController`] with boxed futures.
    DynConfigController: SealedController + DynConfigCatalog, of ConfigController {
        fn set(
            session: &'a SessionId,
            change: ConfigChange
        ) -> Result<Vec<ConfigOption>, HostError>;
    }
}

twin! {
    /// [`Authenticator`] with boxed futures.
    DynAuthenticator: SealedAuthenticator + Shared, of Authenticator {
        fn authenticate(method: &'a str) -> Result<(), HostError>;
        fn is_logged_in() -> bool;
    }
}

twin! {
    /// [`LogoutHandler`] with boxed futures.
    DynLogoutHandler: SealedLogout + Shared, of LogoutHandler {
        fn logout() -> Result<(), HostError>;
    }
}

impl<T: SessionHost> DynSessionHost for T {
    fn new_session(&self, setup: Setup) -> BoxFuture<'_, LiveResult> {
        Box::pin(async move { stored(SessionHost::new_session(self, setup).await?) })
    }
}

impl<T: SessionResumer> DynSessionResumer for T {
    fn resume_session(&self, id: SessionId, setup: Setup) -> BoxFuture<'_, LiveResult> {
        Box::pin(async move { stored(SessionResumer::resume_session(self, id, setup).await?) })
    }
}

impl<T: SessionLoader> DynSessionLoader for T {
    fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> BoxFuture<'_, Result<DynLoaded, HostError>> {
        Box::pin(async move {
            let loaded = SessionLoader::load_session(self, id, setup).await?;
            Ok(DynLoaded {
                session: stored(loaded.session)?,
                journal: loaded.journal,
            })
        })
    }
}

fn stored(session: impl LiveSession) -> LiveResult {
    Ok(Arc::new(session))
}

impl<T: Replay> DynReplay for T {
    fn next_event(&mut self) -> BoxFuture<'_, Result<Option<Event>, HostError>> {
        Box::pin(Replay::next_event(self))
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

    fn compact(&self, command: CommandId, cancel: Cancel) -> BoxFuture<'_, Result<(), HostError>> {
        Box::pin(LiveSession::compact(self, command, cancel))
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
