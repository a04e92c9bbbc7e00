//! One session of an agent.

use std::sync::Arc;
use std::time::Duration;

use acp_protocol::v1::{PromptRequest, SessionConfigOption, SessionId, SessionModeState, methods};
use tokio::time::{Instant, sleep_until};

use super::turn_gate::{Busy, change};
use crate::connection::Lease;
use crate::session::SessionState;
use crate::{ClientError, Prompt, SessionControl, SessionCounters, Turn, Updates};

/// One session of an agent.
///
/// It runs one turn at a time. It can move to another task; what has to be done to it
/// from elsewhere goes through its [`control`](Self::control).
///
/// Dropping it forgets it here. The agent keeps it until it is told otherwise
/// ([`close`](Self::close)) or ends.
#[derive(Debug)]
pub struct Session {
    state: Arc<SessionState>,
    lease: Arc<Lease>,
}

impl Session {
    pub(crate) fn new(state: Arc<SessionState>, lease: Arc<Lease>) -> Self {
        Self { state, lease }
    }

    /// Returns the agent's name for the session.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        self.state.id()
    }

    /// Returns a handle for what is to be done from elsewhere.
    #[must_use]
    pub fn control(&self) -> SessionControl {
        SessionControl::new(Arc::clone(&self.state))
    }

    /// Returns the newest known modes, `None` when the agent told of none.
    #[must_use]
    pub fn modes(&self) -> Option<SessionModeState> {
        self.control().modes()
    }

    /// Returns the newest known configuration options, `None` when the agent told of
    /// none.
    #[must_use]
    pub fn config_options(&self) -> Option<Vec<SessionConfigOption>> {
        self.control().config_options()
    }

    /// Returns what became of the updates of the session so far.
    #[must_use]
    pub fn counters(&self) -> SessionCounters {
        self.state.counters()
    }

    /// Starts a turn; a string is enough for a prompt.
    ///
    /// Resolves as soon as the prompt is on its way.
    ///
    /// # Errors
    ///
    /// [`ClientError::TurnInProgress`] while a turn runs, also one that was dropped
    /// and that the agent has not answered; [`ClientError::TurnStillRunning`] when it
    /// has not within the grace of a cancel; [`ClientError::EmptyPrompt`] and
    /// [`ClientError::Unsupported`] for content the agent does not take.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it resolves, no turn was started.
    pub async fn prompt(&mut self, prompt: impl Into<Prompt>) -> Result<Turn, ClientError> {
        self.start(prompt.into()).await
    }

    /// Starts a turn as soon as no other one runs.
    ///
    /// # Errors
    ///
    /// As [`prompt`](Self::prompt), without [`ClientError::TurnInProgress`].
    ///
    /// # Cancel safety
    ///
    /// Dropped before it resolves, no turn was started.
    pub async fn prompt_when_idle(
        &mut self,
        prompt: impl Into<Prompt>,
    ) -> Result<Turn, ClientError> {
        let prompt = prompt.into();
        let mut slot = self.state.slot().subscribe();
        loop {
            let now = *slot.borrow_and_update();
            let stuck_at = now.stuck_at(self.cancel_grace());
            match self.start(prompt.clone()).await {
                Err(ClientError::TurnInProgress) => {}
                other => return other,
            }
            match stuck_at {
                Some(stuck_at) => tokio::select! {
                    _ = slot.changed() => {}
                    () = sleep_until(stuck_at) => {}
                },
                // An error means that the sender, which we hold, is gone.
                None => _ = slot.changed().await,
            }
        }
    }

    /// Reads what comes while no turn runs: titles, commands, late words.
    ///
    /// What nobody reads here comes at the beginning of the next turn, marked as
    /// [`TurnEvent::Earlier`](crate::TurnEvent::Earlier); of it the newest 512 updates are kept.
    pub fn updates(&mut self) -> Updates<'_> {
        Updates::new(self)
    }

    /// Tells the agent to close the session and forget what runs in it. Commands that
    /// the agent runs through this client end.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] when the agent does not offer that (R069); the
    /// session is forgotten here all the same. Else as any request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent may have closed the session.
    pub async fn close(self) -> Result<(), ClientError> {
        self.state.close().await
    }

    pub(crate) fn state(&self) -> &SessionState {
        &self.state
    }

    async fn start(&self, prompt: Prompt) -> Result<Turn, ClientError> {
        self.state.check_open()?;
        let connection = self.lease.connection();
        if let Some(agent) = connection.agent() {
            prompt.check(&agent.agent_capabilities)?;
        }
        let slot = self.state.slot();
        let mut begun = Err(Busy::InProgress);
        change(slot, |slot| {
            begun = slot.begin(Instant::now(), self.cancel_grace());
        });
        let number = begun?;
        let request = PromptRequest::new(self.state.id().clone(), prompt.into_blocks());
        let Ok(mut reader) = Arc::clone(self.state.reader()).try_lock_owned() else {
            // Nobody reads while the slot is free and `updates` is not in use.
            change(slot, |slot| slot.end(number));
            return Err(ClientError::TurnInProgress);
        };
        if let Err(error) = reader.start_turn(&request, connection.peer().received()) {
            change(slot, |slot| slot.end(number));
            return Err(connection.explain(methods::SESSION_PROMPT, error).await);
        }
        let state = Arc::clone(&self.state);
        Ok(Turn::new(state, number, reader, Arc::clone(&self.lease)))
    }

    fn cancel_grace(&self) -> Duration {
        self.lease.connection().options().timeouts.cancel_grace
    }
}
