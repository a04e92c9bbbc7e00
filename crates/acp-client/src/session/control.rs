//! What can be done to a session while a turn runs in it.

use std::sync::{Arc, Weak};
use std::time::Duration;

use acp_protocol::method::Request;
use acp_protocol::rpc::{CallFacts, ReceiveSeq};
use acp_protocol::v1::{
    AvailableCommand, SessionConfigId, SessionConfigOption, SessionConfigOptionValue, SessionId,
    SessionModeId, SessionModeState, SetSessionConfigOptionRequest, SetSessionModeRequest, methods,
};

use super::model::{SetModelProof, SetModelRequest};
use super::set_option::{SetOption, read_options};
use super::{SessionCounters, SessionState};
use crate::error::ClientError;

/// Controls a session from anywhere, also while a turn runs in it.
///
/// Cheap to clone. It keeps neither the agent running nor the session open: once the
/// [`Session`](crate::Session) and its turn are dropped, nothing is known of it any more and
/// requests fail with [`ClientError::SessionClosed`].
#[derive(Debug, Clone)]
pub struct SessionControl {
    id: SessionId,
    session: Weak<SessionState>,
    /// How long its requests may take, where that was said.
    limit: Option<Duration>,
}

impl SessionControl {
    pub(crate) fn new(session: &Arc<SessionState>) -> Self {
        Self {
            id: session.id.clone(),
            session: Arc::downgrade(session),
            limit: None,
        }
    }

    /// Bounds how long each request of this handle may take, in place of
    /// [`ClientTimeouts::request`](crate::ClientTimeouts::request).
    ///
    /// ```no_run
    /// # async fn set(session: &acp_client::Session) -> Result<(), acp_client::ClientError> {
    /// use std::time::Duration;
    ///
    /// let patient = session.control().with_timeout(Duration::from_secs(120));
    /// patient.set_config_option("model", "large").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.id
    }

    /// Cancels the running turn and returns at once.
    ///
    /// The turn ends when the agent answers it, as a rule with `cancelled`. Permission
    /// requests of the session that are open are answered `cancelled` (R117). While the
    /// turn goes on, the cancel is sent again a few times: several agents lose one that
    /// comes right behind its prompt.
    ///
    /// Nothing is sent while no turn runs, because some agents keep such a cancel for their
    /// next turn.
    pub fn cancel(&self) {
        if let Some(session) = self.session.upgrade() {
            session.cancel();
        }
    }

    /// Returns the newest known modes, as [`Session::modes`](crate::Session::modes) does.
    #[must_use]
    pub fn modes(&self) -> Option<SessionModeState> {
        let session = self.session.upgrade()?;
        session.settings().modes().cloned()
    }

    /// Returns the newest known configuration options, as
    /// [`Session::config_options`](crate::Session::config_options) does.
    #[must_use]
    pub fn config_options(&self) -> Option<Vec<SessionConfigOption>> {
        let session = self.session.upgrade()?;
        session.settings().options()
    }

    /// Returns the newest known commands, as [`Session::commands`](crate::Session::commands)
    /// does.
    #[must_use]
    pub fn commands(&self) -> Option<Vec<AvailableCommand>> {
        let session = self.session.upgrade()?;
        session.settings().commands().map(<[_]>::to_vec)
    }

    /// Returns the newest known title, as [`Session::title`](crate::Session::title) does.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let session = self.session.upgrade()?;
        session.settings().title().map(str::to_owned)
    }

    /// Returns what became of the updates of the session so far; zeros once it is dropped.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        let session = self.session.upgrade();
        session.map_or_else(SessionCounters::default, |session| session.counters())
    }

    /// Waits until everything that was received so far was read, and its reader came
    /// back for more.
    ///
    /// For who forwards a conversation: what is behind this has been handled. It never
    /// comes true while nobody reads, so do not wait in the task that does.
    ///
    /// # Errors
    ///
    /// [`ClientError::SessionClosed`], [`ClientError::Closed`] and
    /// [`ClientError::Died`] when it will not come true.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn wait_updates(&self) -> Result<(), ClientError> {
        self.wait(None).await
    }

    /// Waits as [`wait_updates`](Self::wait_updates), for what was received up to a
    /// place: that of an update, an answer
    /// ([`response_seq`](acp_protocol::rpc::CallFacts::response_seq)) or a question.
    ///
    /// # Errors
    ///
    /// As [`wait_updates`](Self::wait_updates).
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn wait_updates_through(&self, seq: ReceiveSeq) -> Result<(), ClientError> {
        self.wait(Some(seq)).await
    }

    /// Sets the mode in whichever way the agent offers: as an option of the category
    /// `mode`, else by `session/set_mode`.
    ///
    /// # Errors
    ///
    /// [`ClientError::UnknownMode`] and [`ClientError::Unsupported`] before anything is
    /// sent, else as any request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent is told that nobody waits for its answer; it
    /// may have set the mode by then.
    pub async fn set_mode(&self, mode: impl Into<SessionModeId>) -> Result<(), ClientError> {
        let session = self.open()?;
        let mode = mode.into();
        let option = session.settings().mode_option(&mode)?;
        if let Some((config, value)) = option {
            drop(session);
            return self.set_config_option(config, value).await;
        }
        let request = SetSessionModeRequest::new(self.id.clone(), mode.clone());
        let (facts, _) = self.request(session, &request).await?;
        if let Some(session) = self.session.upgrade() {
            let mut settings = session.settings();
            settings.set_mode(mode, facts.response_seq);
        }
        Ok(())
    }

    /// Sets a configuration option: to one of its values, by the id of the value, or
    /// to `true` or `false`.
    ///
    /// The option `model` that stands for the `models` of an older agent is set by
    /// `session/set_model`: an agent that names models so knows it.
    ///
    /// # Errors
    ///
    /// As any request; the agent judges id and value.
    ///
    /// # Cancel safety
    ///
    /// As [`set_mode`](Self::set_mode).
    pub async fn set_config_option(
        &self,
        option: impl Into<SessionConfigId>,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Result<(), ClientError> {
        let session = self.open()?;
        let (option, value) = (option.into(), value.into());
        if session.settings().is_older_model(&option)
            && let SessionConfigOptionValue::ValueId(model) = &value
        {
            return self.set_older_model(session, model.as_str()).await;
        }
        let request = SetSessionConfigOptionRequest::new(&self.id, option, value);
        let sent = SetOption(request.clone());
        let (facts, answer) = self.request(session, &sent).await?;
        let options = read_options(&answer).map_err(|source| ClientError::BadAnswer {
            method: methods::SESSION_SET_CONFIG_OPTION,
            source,
            facts,
        })?;
        let Some(session) = self.session.upgrade() else {
            return Ok(());
        };
        let mut settings = session.settings();
        match options {
            Some(options) => settings.set_options(options, facts.response_seq),
            // At least one agent sets it and does not say what came of it.
            None => settings.set_value(&request, facts.response_seq),
        }
        Ok(())
    }

    /// Sets the model by `session/set_model`, which is not in the protocol: only with
    /// the proof that the agent knows it.
    ///
    /// An agent that has an option of the category `model` takes it by
    /// [`set_config_option`](Self::set_config_option), which needs no proof.
    ///
    /// # Errors
    ///
    /// [`ClientError::SetModelUnsupported`] when the proof is of another connection;
    /// nothing was sent then. Else as any request.
    ///
    /// # Cancel safety
    ///
    /// As [`set_mode`](Self::set_mode).
    pub async fn set_model(
        &self,
        proof: &SetModelProof,
        model: impl Into<String>,
    ) -> Result<(), ClientError> {
        let session = self.open()?;
        proof.check(&session.sessions)?;
        self.set_older_model(session, &model.into()).await
    }

    /// Sets a model of an agent that shows that it knows `session/set_model`.
    async fn set_older_model(
        &self,
        session: Arc<SessionState>,
        model: &str,
    ) -> Result<(), ClientError> {
        let request = SetModelRequest {
            session_id: self.id.clone(),
            model_id: model.to_owned(),
        };
        let (facts, _) = self.request(session, &request).await?;
        if let Some(session) = self.session.upgrade() {
            session.settings().set_model(model, facts.response_seq);
        }
        Ok(())
    }

    /// Returns the session while it is open.
    pub(crate) fn open(&self) -> Result<Arc<SessionState>, ClientError> {
        let session = self.session.upgrade().ok_or(ClientError::SessionClosed)?;
        session.check_open()?;
        Ok(session)
    }

    /// Waits until everything that was received up to `seq`, or up to now, was read.
    async fn wait(&self, seq: Option<ReceiveSeq>) -> Result<(), ClientError> {
        let session = self.open()?;
        let seq = seq.unwrap_or_else(|| session.connection().peer.received());
        let mailbox = session.mailbox().clone();
        drop(session);
        if mailbox.consumed_through(seq).await {
            return Ok(());
        }
        Err(match self.session.upgrade() {
            Some(session) => session.why_closed(methods::SESSION_UPDATE).await,
            None => ClientError::SessionClosed,
        })
    }

    /// Makes a short request about the session, which need not stay open meanwhile.
    async fn request<R: Request>(
        &self,
        session: Arc<SessionState>,
        request: &R,
    ) -> Result<(CallFacts, R::Response), ClientError> {
        let sessions = Arc::clone(&session.sessions);
        drop(session);
        sessions.request(request, self.limit).await
    }
}
