//! An `Arc` of what implements a trait implements it: one value can be
//! registered for everything that it does.

use std::sync::Arc;

use crate::{
    Authenticator, CatalogEntry, CatalogQuery, ConfigCatalog, ConfigChange, ConfigController,
    ConfigOption, HostError, Loaded, LogoutHandler, SessionCatalog, SessionDeleter, SessionHost,
    SessionId, SessionLoader, SessionResumer, Setup,
};

impl<T: SessionHost> SessionHost for Arc<T> {
    type Session = T::Session;

    fn new_session(
        &self,
        setup: Setup,
    ) -> impl Future<Output = Result<Self::Session, HostError>> + Send {
        (**self).new_session(setup)
    }
}

impl<T: SessionResumer> SessionResumer for Arc<T> {
    type Session = T::Session;

    fn resume_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> impl Future<Output = Result<Self::Session, HostError>> + Send {
        (**self).resume_session(id, setup)
    }
}

impl<T: SessionLoader> SessionLoader for Arc<T> {
    type Session = T::Session;

    fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> impl Future<Output = Result<Loaded<Self::Session>, HostError>> + Send {
        (**self).load_session(id, setup)
    }
}

impl<T: SessionCatalog> SessionCatalog for Arc<T> {
    fn list(
        &self,
        query: CatalogQuery,
    ) -> impl Future<Output = Result<Vec<CatalogEntry>, HostError>> + Send {
        (**self).list(query)
    }
}

impl<T: SessionDeleter> SessionDeleter for Arc<T> {
    fn delete(&self, id: &SessionId) -> impl Future<Output = Result<(), HostError>> + Send {
        (**self).delete(id)
    }
}

impl<T: ConfigCatalog> ConfigCatalog for Arc<T> {
    fn options(
        &self,
        session: &SessionId,
    ) -> impl Future<Output = Result<Vec<ConfigOption>, HostError>> + Send {
        (**self).options(session)
    }
}

impl<T: ConfigController> ConfigController for Arc<T> {
    fn set(
        &self,
        session: &SessionId,
        change: ConfigChange,
    ) -> impl Future<Output = Result<Vec<ConfigOption>, HostError>> + Send {
        (**self).set(session, change)
    }
}

impl<T: Authenticator> Authenticator for Arc<T> {
    fn authenticate(&self, method: &str) -> impl Future<Output = Result<(), HostError>> + Send {
        (**self).authenticate(method)
    }

    fn is_logged_in(&self) -> impl Future<Output = bool> + Send {
        (**self).is_logged_in()
    }
}

impl<T: LogoutHandler> LogoutHandler for Arc<T> {
    fn logout(&self) -> impl Future<Output = Result<(), HostError>> + Send {
        (**self).logout()
    }
}
