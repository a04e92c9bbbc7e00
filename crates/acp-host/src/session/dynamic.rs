//! The traits in a form that can be stored: every future boxed.
//!
//! They follow from the plain traits; implement those.

use std::sync::Arc;

use crate::{
    Authenticator, Cancel, CatalogEntry, CatalogQuery, ClientLink, CommandId, ConfigCatalog,
    ConfigChange, ConfigController, ConfigOption, GateResponse, HostError, HostEvent, HostFuture,
    LiveSession, LogoutHandler, Replay, SessionCatalog, SessionDeleter, SessionHost, SessionId,
    SessionLoader, SessionResumer, Setup, Submission,
};

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
        $name:ident: $bounds:ident, of $plain:ident {
            $(ref fn $getter:ident() -> $value:ty;)?
            $(fn $method:ident($($arg:ident: $type:ty),*) -> $result:ty;)*
        }
    ) => {
        $(#[$doc])*
        pub trait $name: $bounds + Send + Sync + 'static {
            $(
                #[doc = concat!("See [`", stringify!($plain), "::", stringify!($getter), "`].")]
                fn $getter(&self) -> $value;
            )?
            $(
                #[doc = concat!("See [`", stringify!($plain), "::", stringify!($method), "`].")]
                fn $method<'a>(&'a self, $($arg: $type),*) -> HostFuture<'a, $result>;
            )*
        }

        impl<T: $plain> $name for T {
            $(
                fn $getter(&self) -> $value {
                    $plain::$getter(self)
                }
            )?
            $(
                fn $method<'a>(&'a self, $($arg: $type),*) -> HostFuture<'a, $result> {
                    Box::pin($plain::$method(self, $($arg),*))
                }
            )*
        }
    };
}

/// [`SessionHost`] with boxed futures.
pub trait DynSessionHost: Send + Sync + 'static {
    /// See [`SessionHost::new_session`].
    fn new_session(&self, setup: Setup) -> HostFuture<'_, LiveResult>;
    /// See [`SessionHost::compacts`].
    fn compacts(&self) -> bool;
}

/// [`SessionResumer`] with boxed futures.
pub trait DynSessionResumer: Send + Sync + 'static {
    /// See [`SessionResumer::resume_session`].
    fn resume_session(&self, id: SessionId, setup: Setup) -> HostFuture<'_, LiveResult>;
}

/// [`SessionLoader`] with boxed futures.
pub trait DynSessionLoader: Send + Sync + 'static {
    /// See [`SessionLoader::load_session`].
    fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> HostFuture<'_, Result<DynLoaded, HostError>>;
}

/// [`Replay`] with boxed futures.
pub trait DynReplay: Send {
    /// See [`Replay::next_event`].
    fn next_event(&mut self) -> HostFuture<'_, Result<Option<HostEvent>, HostError>>;
}

twin! {
    /// [`LiveSession`] with boxed futures.
    DynLiveSession: Send, of LiveSession {
        ref fn id() -> &SessionId;
        fn attach(link: ClientLink) -> Result<(), HostError>;
        fn submit(submission: Submission) -> Result<(), HostError>;
        fn compact(command: CommandId, cancel: Cancel) -> Result<(), HostError>;
        fn respond_gate(response: GateResponse) -> Result<(), HostError>;
        fn interrupt() -> bool;
        fn shutdown() -> ();
    }
}

twin! {
    /// [`SessionCatalog`] with boxed futures.
    DynSessionCatalog: Send, of SessionCatalog {
        fn list(query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError>;
    }
}

twin! {
    /// [`SessionDeleter`] with boxed futures.
    DynSessionDeleter: Send, of SessionDeleter {
        fn delete(id: &'a SessionId) -> Result<(), HostError>;
    }
}

twin! {
    /// [`ConfigCatalog`] with boxed futures.
    DynConfigCatalog: Send, of ConfigCatalog {
        fn options(session: &'a SessionId) -> Result<Vec<ConfigOption>, HostError>;
    }
}

twin! {
    /// [`ConfigController`] with boxed futures.
    DynConfigController: DynConfigCatalog, of ConfigController {
        fn set(
            session: &'a SessionId,
            change: ConfigChange
        ) -> Result<Vec<ConfigOption>, HostError>;
    }
}

twin! {
    /// [`Authenticator`] with boxed futures.
    DynAuthenticator: Send, of Authenticator {
        fn authenticate(method: &'a str) -> Result<(), HostError>;
        fn is_logged_in() -> bool;
    }
}

twin! {
    /// [`LogoutHandler`] with boxed futures.
    DynLogoutHandler: Send, of LogoutHandler {
        fn logout() -> Result<(), HostError>;
    }
}

impl<T: SessionHost> DynSessionHost for T {
    fn new_session(&self, setup: Setup) -> HostFuture<'_, LiveResult> {
        Box::pin(async move { stored(SessionHost::new_session(self, setup).await?) })
    }

    fn compacts(&self) -> bool {
        SessionHost::compacts(self)
    }
}

impl<T: SessionResumer> DynSessionResumer for T {
    fn resume_session(&self, id: SessionId, setup: Setup) -> HostFuture<'_, LiveResult> {
        Box::pin(async move { stored(SessionResumer::resume_session(self, id, setup).await?) })
    }
}

impl<T: SessionLoader> DynSessionLoader for T {
    fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> HostFuture<'_, Result<DynLoaded, HostError>> {
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
    fn next_event(&mut self) -> HostFuture<'_, Result<Option<HostEvent>, HostError>> {
        Box::pin(Replay::next_event(self))
    }
}
