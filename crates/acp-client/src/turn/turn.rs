//! One turn: a prompt, what happens, in order, and then its end.

use std::sync::Arc;

use acp_protocol::Meta;
use acp_protocol::rpc::{CallError, CallFacts};
use acp_protocol::v1::{PromptRequest, PromptResponse, SessionId, StopReason, methods};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout};

use super::PromptBlocks;
use crate::error::ClientError;
use crate::session::{Lease, Read, Reader, Session, SessionControl, SessionState, TurnEvent};

impl Session {
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
    pub async fn prompt(&mut self, prompt: impl Into<PromptBlocks>) -> Result<Turn, ClientError> {
        Turn::start(self, prompt.into()).await
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
        prompt: impl Into<PromptBlocks>,
    ) -> Result<Turn, ClientError> {
        let prompt = prompt.into();
        loop {
            let mut gate = self.state.gate.watch();
            match Turn::start(self, prompt.clone()).await {
                Err(ClientError::TurnInProgress) => {}
                other => return other,
            }
            let grace = self.lease.options.timeouts.cancel_grace;
            gate.changed(grace).await;
        }
    }
}

/// How a turn ended.
///
/// `cancelled` is an end like any other, and so is a stop reason nobody has heard of.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PromptResult {
    /// Why the agent stopped.
    pub stop_reason: StopReason,
    /// What the agent added.
    pub meta: Option<Box<Meta>>,
    /// What is known of the call.
    pub facts: CallFacts,
}

/// A running turn.
///
/// It gives what happens in wire order and then ends. Reading it is what keeps the
/// agent going: one that fills its mailbox waits.
///
/// Dropped before its end, it cancels the turn at the agent. The session takes no new
/// turn until the agent has answered.
#[derive(Debug)]
#[must_use = "dropping a turn cancels it"]
pub struct Turn {
    session: Arc<SessionState>,
    number: u64,
    stage: TurnStage,
    /// Keeps the connection up while the turn runs.
    _lease: Arc<Lease>,
}

#[derive(Debug)]
enum TurnStage {
    Running(OwnedMutexGuard<Reader>),
    /// The answer is there and not yet put into words; `None` when there will be none.
    Ending(CallFacts, Option<Result<PromptResponse, CallError>>),
    Ended(CallFacts, Result<PromptResult, ClientError>),
    /// Handed out.
    Over,
}

impl Turn {
    async fn start(session: &Session, prompt: PromptBlocks) -> Result<Self, ClientError> {
        let state = Arc::clone(&session.state);
        state.check_open()?;
        let connection = state.connection();
        prompt.check(connection.offers()?)?;
        let grace = state.sessions.options.timeouts.cancel_grace;
        let number = state.gate.begin(Instant::now(), grace)?;
        let request = PromptRequest::new(state.id.clone(), prompt.into_blocks());
        let Ok(mut reader) = Arc::clone(&state.reader).try_lock_owned() else {
            // Nobody reads while no turn runs and `updates` is not in use.
            state.gate.end(number);
            return Err(ClientError::TurnInProgress);
        };
        if let Err(error) = reader.start_turn(&request, connection.peer.received()) {
            state.gate.end(number);
            let facts = CallFacts::default();
            return Err(connection
                .explain(methods::SESSION_PROMPT, error, facts)
                .await);
        }
        state.cancel_if_late(number);
        Ok(Self {
            session: state,
            number,
            stage: TurnStage::Running(reader),
            _lease: Arc::clone(&session.lease),
        })
    }

    /// Waits for the next thing that happens in this turn.
    ///
    /// Returns `None` once the turn has ended; [`end`](Self::end) then tells how
    /// without waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: when another branch of `select!` wins, nothing is lost.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        self.advance(false).await
    }

    async fn advance(&mut self, merged: bool) -> Option<TurnEvent> {
        if let TurnStage::Running(reader) = &mut self.stage {
            let read = match reader.try_next(&self.session, merged) {
                Some(read) => read,
                None => reader.next(&self.session, merged).await,
            };
            let (facts, answer) = match read {
                Read::Event(event) => return Some(event),
                Read::End(end) => (end.facts, Some(end.result::<PromptRequest>())),
                // The prompt was queued.
                Read::Closed => {
                    let facts = CallFacts {
                        write_admitted: true,
                        ..CallFacts::default()
                    };
                    (facts, None)
                }
            };
            // From here on the session can take the next turn.
            self.stage = TurnStage::Ending(facts, answer);
            self.session.gate.end(self.number);
        }
        if let TurnStage::Ending(facts, answer) = &self.stage {
            let facts = *facts;
            let end = match answer {
                Some(Ok(answer)) => Ok(PromptResult::new(answer.clone(), facts)),
                Some(Err(error)) => {
                    let connection = self.session.connection();
                    Err(connection
                        .explain(methods::SESSION_PROMPT, error.clone(), facts)
                        .await)
                }
                None => Err(self.session.why_closed(methods::SESSION_PROMPT).await),
            };
            tracing::debug!(
                session.id = %self.session.id,
                stop_reason = end.as_ref().map_or("none", |end| end.stop_reason.as_str()),
                "a turn ended"
            );
            self.stage = TurnStage::Ended(facts, end);
        }
        None
    }

    /// Waits as [`next`](Self::next), and joins pieces of text that are there already:
    /// under a flood fewer and larger ones, and none later than without.
    ///
    /// An update of several pieces has the place and the line of the last.
    ///
    /// # Cancel safety
    ///
    /// As [`next`](Self::next).
    pub async fn next_merged(&mut self) -> Option<TurnEvent> {
        self.advance(true).await
    }

    /// Waits for the end of the turn and tells how it ended.
    ///
    /// What happens until then is dropped; permission requests and questions among it
    /// are refused.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] when the agent answered with an error,
    /// [`ClientError::AuthRequired`] when it wants a login, [`ClientError::Died`] when
    /// it went away, [`ClientError::BadAnswer`] when its answer makes no sense.
    ///
    /// # Cancel safety
    ///
    /// Dropping this future drops the turn, which cancels it.
    pub async fn end(self) -> Result<PromptResult, ClientError> {
        self.end_with_facts().await.1
    }

    /// Waits for the end of the turn as [`end`](Self::end), and also returns what is known
    /// of the call where the turn ended with an error: whether the agent may have acted on
    /// the prompt, and the place of its answer on the receive clock.
    ///
    /// # Cancel safety
    ///
    /// As [`end`](Self::end).
    pub async fn end_with_facts(mut self) -> (CallFacts, Result<PromptResult, ClientError>) {
        while self.next().await.is_some() {}
        match std::mem::replace(&mut self.stage, TurnStage::Over) {
            TurnStage::Ended(facts, end) => (facts, end),
            TurnStage::Running(_) | TurnStage::Ending(..) | TurnStage::Over => {
                (CallFacts::default(), Err(ClientError::Closed))
            }
        }
    }

    /// Returns what is known of the call besides its answer, once the turn has ended;
    /// also when it ended with an error.
    #[must_use]
    pub fn facts(&self) -> Option<CallFacts> {
        match self.stage {
            TurnStage::Ending(facts, _) | TurnStage::Ended(facts, _) => Some(facts),
            TurnStage::Running(_) | TurnStage::Over => None,
        }
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session.id
    }

    /// Returns a handle that can cancel this turn from elsewhere.
    #[must_use]
    pub fn control(&self) -> SessionControl {
        SessionControl::new(&self.session)
    }

    /// Tells whether the turn was cancelled on this side and has not ended.
    #[must_use]
    pub fn is_cancelling(&self) -> bool {
        let gate = self.session.gate.watch();
        gate.is_cancelling() && gate.running() == Some(self.number)
    }

    /// Cancels the turn at the agent; go on reading until it ended.
    ///
    /// Permission requests that are open are answered `cancelled`, and so are questions.
    pub fn cancel(&self) {
        self.session.cancel();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let TurnStage::Running(mut reader) = std::mem::replace(&mut self.stage, TurnStage::Over)
        else {
            return;
        };
        let session = Arc::clone(&self.session);
        let number = self.number;
        session.cancel();
        let grace = session.sessions.options.timeouts.cancel_grace;
        self.session.connection().runtime.spawn(async move {
            // For as long as an agent may take, it can ask about the session although
            // nobody else holds it.
            let discarded = timeout(grace, reader.discard_turn()).await;
            let weak = Arc::downgrade(&session);
            drop(session);
            if discarded.is_err() {
                reader.discard_turn().await;
            }
            drop(reader);
            if let Some(session) = weak.upgrade() {
                session.gate.end(number);
            }
        });
    }
}

impl PromptResult {
    fn new(answer: PromptResponse, facts: CallFacts) -> Self {
        Self {
            stop_reason: answer.stop_reason,
            meta: answer.meta,
            facts,
        }
    }
}
