//! Sessions of the kit: begun, taken up again, listed, deleted, set.

use std::sync::Arc;

use acp_host::{
    CatalogEntry, CatalogQuery, ConfigCatalog, ConfigChange, ConfigController, ConfigOption,
    HostError, RestoredSession, SessionCatalog, SessionDeleter, SessionHost, SessionId,
    SessionLoader, SessionResumer, Setup,
};

use crate::kit::{
    Kit, KitSession, TurnHandler,
    history::Earlier,
    history::replay::RecordReplay,
    history::{SharedHistory, StoredSession, unknown},
    session::facts::SessionFacts,
};
use crate::random_id;

impl<H: TurnHandler> SessionHost for Kit<H> {
    type Session = KitSession<H>;

    async fn new_session(&self, setup: Setup) -> Result<KitSession<H>, HostError> {
        let id = SessionId::new(random_id::session_id()).map_err(HostError::internal)?;
        let facts = self.facts(id, setup);
        facts.create().await?;
        Ok(self.begin(facts))
    }

    fn compacts(&self) -> bool {
        self.compactor.0.is_some()
    }
}

impl<H: TurnHandler> SessionResumer for Kit<H> {
    type Session = KitSession<H>;

    async fn resume_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<KitSession<H>, HostError> {
        let stored = self.history()?.0.get(&id).await?.ok_or_else(unknown)?;
        self.take_up(id, setup, stored).await
    }
}

impl<H: TurnHandler> SessionLoader for Kit<H> {
    type Session = KitSession<H>;

    async fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<RestoredSession<KitSession<H>>, HostError> {
        let history = self.history()?;
        let stored = history.0.get(&id).await?.ok_or_else(unknown)?;
        let records = Earlier::new(history.clone(), id.clone(), stored.length);
        let session = self.take_up(id, setup, stored).await?;
        let journal = RecordReplay::new(records, session.loop_id());
        Ok(RestoredSession::new(session, journal))
    }
}

impl<H: TurnHandler> SessionCatalog for Kit<H> {
    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError> {
        Ok(self.history()?.0.list(query).await?)
    }
}

impl<H: TurnHandler> SessionDeleter for Kit<H> {
    async fn delete(&self, id: &SessionId) -> Result<(), HostError> {
        Ok(self.history()?.0.delete(id).await?)
    }
}

impl<H: TurnHandler> ConfigCatalog for Kit<H> {
    async fn options(&self, session: &SessionId) -> Result<Vec<ConfigOption>, HostError> {
        Ok(self.live.get(session).ok_or_else(unknown)?.options())
    }
}

impl<H: TurnHandler> ConfigController for Kit<H> {
    async fn set(
        &self,
        session: &SessionId,
        change: ConfigChange,
    ) -> Result<Vec<ConfigOption>, HostError> {
        let facts = self.live.get(session).ok_or_else(unknown)?;
        facts.set_option(change).await
    }
}

impl<H: TurnHandler> Kit<H> {
    fn history(&self) -> Result<&SharedHistory, HostError> {
        self.history
            .as_ref()
            .ok_or_else(|| HostError::public("this agent remembers no sessions"))
    }

    fn facts(&self, id: SessionId, setup: Setup) -> SessionFacts {
        let (history, commands) = (self.history.clone(), self.commands.clone());
        SessionFacts::new(id, setup, history, commands, self.options.clone())
    }

    async fn take_up(
        &self,
        id: SessionId,
        setup: Setup,
        stored: StoredSession,
    ) -> Result<KitSession<H>, HostError> {
        let facts = self.facts(id, setup).with_stored(stored);
        facts.take_up().await?;
        Ok(self.begin(facts))
    }

    fn begin(&self, facts: SessionFacts) -> KitSession<H> {
        let facts = Arc::new(facts);
        if !self.options.is_empty() {
            // Whoever sets an option looks for it.
            self.live.insert(&facts);
        }
        let handler = Arc::clone(&self.handler);
        let compactor = self.compactor.0.clone();
        KitSession::new(facts, handler, self.cancel_grace, compactor)
    }
}
