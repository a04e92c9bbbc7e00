//! One turn: what happens, in order, and then its end.

use std::fmt;
use std::sync::Arc;

use acp_protocol::Meta;
use acp_protocol::rpc::{CallError, CallFacts};
use acp_protocol::v1::{
    ElicitationId, PromptRequest, PromptResponse, SessionId, StopReason, methods,
};
use tokio::sync::OwnedMutexGuard;

use crate::connection::Lease;
use crate::elicitation::PendingQuestion;
use crate::permission::PendingPermission;
use crate::session::SessionState;
use crate::session::change;
use crate::session::{Happening, Reader};
use crate::{ClientError, RawLine, SessionControl, Update};

/// What happens in a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum TurnEvent {
    /// The agent tells something.
    Update(Update),
    /// The agent told something before this turn began and after the last one ended,
    /// and nobody has read it yet.
    Earlier(Update),
    /// The agent told something that makes no sense, not even by the protocol's rules
    /// of leniency.
    Unreadable {
        /// What it wrote.
        line: RawLine,
        /// Why it makes no sense.
        error: serde_json::Error,
    },
    /// Updates came faster than they were read, and the oldest were dropped here.
    Gap {
        /// How many.
        dropped: u64,
    },
    /// The agent asks for permission and waits. Only with
    /// [`ClientOptions::with_permissions_in_stream`](crate::ClientOptions::with_permissions_in_stream).
    Permission(PendingPermission),
    /// The agent wants to know something of the user and waits. Only with
    /// [`ClientOptions::with_elicitation_in_stream`](crate::ClientOptions::with_elicitation_in_stream).
    Question(PendingQuestion),
    /// What the user agreed to do at an address is done, says the agent. Once for each
    /// link at most.
    LinkCompleted {
        /// The agent's name for it; see [`Link::id`](crate::elicitation::Link::id).
        link: ElicitationId,
    },
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
#[must_use = "dropping a turn cancels it"]
pub struct Turn {
    session: Arc<SessionState>,
    number: u64,
    stage: Stage,
    /// Keeps the connection up while the turn runs.
    _lease: Arc<Lease>,
}

enum Stage {
    Running(OwnedMutexGuard<Reader>),
    /// The answer is there and not yet put into words; `None` when there will be none.
    Ending(CallFacts, Option<Result<PromptResponse, CallError>>),
    Ended(CallFacts, Result<PromptResult, ClientError>),
    /// Handed out.
    Over,
}

impl Turn {
    pub(crate) fn new(
        session: Arc<SessionState>,
        number: u64,
        reader: OwnedMutexGuard<Reader>,
        lease: Arc<Lease>,
    ) -> Self {
        Self {
            session,
            number,
            stage: Stage::Running(reader),
            _lease: lease,
        }
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
        if let Stage::Running(reader) = &mut self.stage {
            let happening = match merged {
                true => reader.next_merged(&self.session).await,
                false => reader.next(&self.session).await,
            };
            let (facts, answer) = match happening {
                Happening::Event(event) => return Some(event),
                Happening::End(end) => (end.facts, Some(end.result::<PromptRequest>())),
                Happening::Closed => (CallFacts::default(), None),
            };
            // From here on the session can take the next turn.
            self.stage = Stage::Ending(facts, answer);
            change(self.session.slot(), |slot| slot.end(self.number));
        }
        if let Stage::Ending(facts, answer) = &self.stage {
            let facts = *facts;
            let end = match answer {
                Some(Ok(answer)) => Ok(PromptResult::new(answer.clone(), facts)),
                Some(Err(error)) => {
                    let connection = self.session.connection();
                    Err(connection
                        .explain(methods::SESSION_PROMPT, error.clone())
                        .await)
                }
                None => Err(self.session.why_closed(methods::SESSION_PROMPT).await),
            };
            tracing::debug!(
                session.id = %self.session.id(),
                stop_reason = end.as_ref().map_or("none", |end| end.stop_reason.as_str()),
                "a turn ended"
            );
            self.stage = Stage::Ended(facts, end);
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
    pub async fn end(mut self) -> Result<PromptResult, ClientError> {
        while self.next().await.is_some() {}
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Ended(_, end) => end,
            Stage::Running(_) | Stage::Ending(..) | Stage::Over => Err(ClientError::Closed),
        }
    }

    /// Returns what is known of the call besides its answer, once the turn has ended;
    /// also when it ended with an error.
    #[must_use]
    pub fn facts(&self) -> Option<CallFacts> {
        match self.stage {
            Stage::Ending(facts, _) | Stage::Ended(facts, _) => Some(facts),
            Stage::Running(_) | Stage::Over => None,
        }
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        self.session.id()
    }

    /// Returns a handle that can cancel this turn from elsewhere.
    #[must_use]
    pub fn control(&self) -> SessionControl {
        SessionControl::new(Arc::clone(&self.session))
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
        let Stage::Running(mut reader) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return;
        };
        let session = Arc::clone(&self.session);
        let number = self.number;
        session.cancel();
        self.session.connection().runtime().spawn(async move {
            reader.discard_turn(&session).await;
            drop(reader);
            change(session.slot(), |slot| slot.end(number));
        });
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("session", self.session.id())
            .field("number", &self.number)
            .finish_non_exhaustive()
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
