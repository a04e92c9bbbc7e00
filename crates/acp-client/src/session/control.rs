//! What can be done to a session while a turn runs in it.

use std::sync::Arc;

use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::{
    SessionConfigId, SessionConfigOption, SessionConfigOptionValue, SessionId, SessionModeId,
    SessionModeState, SetSessionConfigOptionRequest, SetSessionModeRequest, methods,
};

use super::model::{SetModelProof, SetModelRequest};
use super::set_option::{SetOption, read_options};
use super::{SessionCounters, SessionState};
use crate::error::ClientError;

/// Controls a session from anywhere, also while a turn runs in it.
///
/// Cheap to clone. It does not keep the agent running.
#[derive(Debug, Clone)]
pub struct SessionControl {
    pub(crate) session: Arc<SessionState>,
}

impl SessionControl {
    pub(crate) fn new(session: Arc<SessionState>) -> Self {
        Self { session }
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session.id
    }

    /// Cancels the running turn and returns at once.
    ///
    /// The turn ends when the agent answers it, as a rule with `cancelled`. Permission
    /// requests of the session that are open are answered `cancelled` (R117). While the
    /// turn goes on, the cancel is said again a few times: several agents lose one that
    /// comes right behind its prompt.
    pub fn cancel(&self) {
        self.session.cancel();
    }

    /// Returns the newest known modes, as [`Session::modes`](crate::Session::modes) does.
    #[must_use]
    pub fn modes(&self) -> Option<SessionModeState> {
        self.session.settings.lock().modes().cloned()
    }

    /// Returns the newest known configuration options, as
    /// [`Session::config_options`](crate::Session::config_options) does.
    #[must_use]
    pub fn config_options(&self) -> Option<Vec<SessionConfigOption>> {
        self.session.settings.lock().options().map(<[_]>::to_vec)
    }

    /// Returns what became of the updates of the session so far.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        self.session.counters()
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
        self.session.wait_updates(None).await
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
        self.session.wait_updates(Some(seq)).await
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
        self.session.check_open()?;
        let mode = mode.into();
        let option = self.session.settings.lock().mode_option(&mode)?;
        if let Some((config, value)) = option {
            return self.set_config_option(config, value).await;
        }
        let request = SetSessionModeRequest::new(self.session.id.clone(), mode.clone());
        let (facts, _) = self.session.sessions.request(&request).await?;
        let mut settings = self.session.settings.lock();
        settings.set_mode(mode, facts.response_seq);
        Ok(())
    }

    /// Sets a configuration option: to one of its values, by the id of the value, or
    /// to `true` or `false`.
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
        self.session.check_open()?;
        let request = SetSessionConfigOptionRequest::new(&self.session.id, option, value.into());
        let sent = SetOption(request.clone());
        let (facts, answer) = self.session.sessions.request(&sent).await?;
        let options = read_options(&answer).map_err(|source| ClientError::BadAnswer {
            method: methods::SESSION_SET_CONFIG_OPTION,
            source,
        })?;
        let mut settings = self.session.settings.lock();
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
        proof.check(&self.session.sessions)?;
        self.session.check_open()?;
        let request = SetModelRequest {
            session_id: self.session.id.clone(),
            model_id: model.into(),
        };
        self.session.sessions.request(&request).await?;
        Ok(())
    }
}
