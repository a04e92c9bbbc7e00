//! Sessions of the kit: begun, taken up again, listed, deleted, set.

use std::sync::Arc;

use acp_host::{
    CatalogEntry, CatalogQuery, ConfigCatalog, ConfigChange, ConfigController, ConfigOption,
    HostError, Loaded, LoopId, SessionCatalog, SessionDeleter, SessionHost, SessionId,
    SessionLoader, SessionResumer, Setup,
};
use uuid::Uuid;

use super::{
    Kit, KitSession, TurnHandler,
    facts::SessionFacts,
    history::{Kept, unknown},
    recorder::journal,
};

impl<H: TurnHandler> SessionHost for Kit<H> {
    type Session = KitSession<H>;

    async fn new_session(&self, setup: Setup) -> Result<KitSession<H>, HostError> {
        let id = SessionId::new(Uuid::now_v7().to_string()).map_err(HostError::internal)?;
        self.begin(id, setup, None).await
    }
}

impl<H: TurnHandler> SessionResumer for Kit<H> {
    type Session = KitSession<H>;

    async fn resume_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<KitSession<H>, HostError> {
        let known = self.kept()?.0.get(&id).await?.ok_or_else(unknown)?;
        self.begin(id, setup, known.title).await
    }
}

impl<H: TurnHandler> SessionLoader for Kit<H> {
    type Session = KitSession<H>;

    async fn load_session(
        &self,
        id: SessionId,
        setup: Setup,
    ) -> Result<Loaded<KitSession<H>>, HostError> {
        let kept = self.kept()?;
        let known = kept.0.get(&id).await?.ok_or_else(unknown)?;
        let records = kept.0.read(&id).await?;
        let session = self.begin(id, setup, known.title).await?;
        let events = journal(records, &LoopId::from("main"));
        Ok(Loaded::new(session, events.into_iter()))
    }
}

impl<H: TurnHandler> SessionCatalog for Kit<H> {
    async fn list(&self, query: CatalogQuery) -> Result<Vec<CatalogEntry>, HostError> {
        self.kept()?.0.list(query).await
    }
}

impl<H: TurnHandler> SessionDeleter for Kit<H> {
    async fn delete(&self, id: &SessionId) -> Result<(), HostError> {
        self.kept()?.0.delete(id).await
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
        facts.set_option(change)
    }
}

impl<H: TurnHandler> Kit<H> {
    fn kept(&self) -> Result<&Kept, HostError> {
        self.kept
            .as_ref()
            .ok_or_else(|| HostError::public("this agent remembers no sessions"))
    }

    async fn begin(
        &self,
        id: SessionId,
        setup: Setup,
        title: Option<String>,
    ) -> Result<KitSession<H>, HostError> {
        let (kept, commands) = (self.kept.clone(), self.commands.clone());
        let facts = SessionFacts::new(id, setup, kept, commands, self.options.clone());
        let facts = Arc::new(facts.with_title(title));
        facts.touch().await?;
        self.live.insert(&facts);
        let handler = Arc::clone(&self.handler);
        Ok(KitSession::new(facts, handler, self.cancel_grace))
    }
}
