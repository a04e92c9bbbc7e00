//! Telling a running turn more, by a method that is not in the protocol.

use std::time::Duration;

use acp_connection::CallHandle;
use acp_protocol::method::{Request, Side};
use acp_protocol::rpc::{CallError, CallFacts, ErrorCode, OnDrop, ReceiveSeq};
use acp_protocol::v1::{ContentBlock, SessionId};
use acp_protocol::{Meta, RawJson};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::PromptBlocks;
use crate::error::ClientError;
use crate::gate::GateWatch;
use crate::limits::MAX_STEERING_TEXT;
use crate::session::{SessionControl, SessionState};

impl SessionControl {
    /// Tells the agent more while its turn runs, by `_session/steering`, and returns at
    /// once; the answer comes out of what this gives.
    ///
    /// The method is not in the protocol, and whether an agent knows it and what it does
    /// with it when no turn runs is for the caller to know: nothing is checked but the
    /// content of the prompt. Updates of the turn stay in its stream; their places on
    /// the receive clock tell which of them came before the answer.
    pub fn steer(&self, steering: impl Into<SteeringPrompt>) -> Steering {
        let session = self.open().map_err(|error| SteeringError::unsent(&error));
        Steering(session.and_then(|session| OpenSteering::start(&session, steering.into())))
    }
}

/// What an agent is told on top of its prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct SteeringPrompt {
    prompt: PromptBlocks,
    meta: Option<Meta>,
}

impl SteeringPrompt {
    /// Creates one of content.
    #[must_use]
    pub fn new(prompt: impl Into<PromptBlocks>) -> Self {
        Self {
            prompt: prompt.into(),
            meta: None,
        }
    }

    /// Adds `_meta`, in which agents take what they shall do when no turn runs.
    #[must_use]
    pub fn with_meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl<P: Into<PromptBlocks>> From<P> for SteeringPrompt {
    fn from(prompt: P) -> Self {
        Self::new(prompt)
    }
}

/// What the agent made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SteeringOutcome {
    /// It is part of the running turn.
    Injected,
    /// No turn runs, and a prompt is needed.
    PromptRequired,
    /// No turn ran, and the agent began one.
    StartedNewTurn,
    /// It could not be done.
    Failed,
    /// A word that this client does not know, as the agent wrote it.
    Other(String),
}

impl SteeringOutcome {
    fn new(word: String) -> Self {
        match word.as_str() {
            "injected" => Self::Injected,
            "promptRequired" => Self::PromptRequired,
            "startedNewTurn" => Self::StartedNewTurn,
            "failed" => Self::Failed,
            _ => Self::Other(word),
        }
    }

    /// Returns the word of the agent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Injected => "injected",
            Self::PromptRequired => "promptRequired",
            Self::StartedNewTurn => "startedNewTurn",
            Self::Failed => "failed",
            Self::Other(word) => word,
        }
    }
}

/// The answer to a steering.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Steered {
    /// What the agent made of it.
    pub outcome: SteeringOutcome,
    /// Why, in the words of the agent: at most 1,024 bytes without control characters.
    pub reason: Option<String>,
    /// What is known of the call. Updates with a place on the receive clock before
    /// [`CallFacts::response_seq`] were sent before the answer, others after it.
    pub facts: CallFacts,
}

/// Why a steering has no answer.
///
/// It keeps nothing of the agent but its code and the beginning of its message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("steer the turn: {message} ({code})")]
#[non_exhaustive]
pub struct SteeringError {
    /// The code of the agent; -32603 for what went wrong on this side, -32800 when it
    /// was cancelled here.
    pub code: ErrorCode,
    /// At most 1,024 bytes without control characters.
    pub message: String,
    /// Whether the request was on its way, so that the agent may have acted on it.
    pub write_admitted: bool,
    /// The place of the answer on the receive clock; zero when there was none.
    pub response_seq: ReceiveSeq,
    /// What kind of failure it is.
    pub failure: SteeringFailure,
}

/// What kind of failure kept a steering from its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SteeringFailure {
    /// The agent answered with an error.
    Refused,
    /// The session or the connection is closed.
    Closed,
    /// The agent did not answer, although the turn is over.
    TimedOut,
    /// Something else; nothing was sent, or the answer makes no sense.
    Other,
}

impl SteeringError {
    fn new(failure: SteeringFailure, code: ErrorCode, message: &str, facts: CallFacts) -> Self {
        Self {
            code,
            message: clean(message),
            write_admitted: facts.write_admitted,
            response_seq: facts.response_seq,
            failure,
        }
    }

    fn of_call(error: &CallError, facts: CallFacts) -> Self {
        let (failure, code) = match error {
            CallError::Peer(error) => {
                return Self::new(SteeringFailure::Refused, error.code, &error.message, facts);
            }
            CallError::Closed(_) => (SteeringFailure::Closed, ErrorCode::INTERNAL),
            CallError::Cancelled => (SteeringFailure::Other, ErrorCode::REQUEST_CANCELLED),
            _ => (SteeringFailure::Other, ErrorCode::INTERNAL),
        };
        Self::new(failure, code, &error.to_string(), facts)
    }

    /// Nothing was sent.
    fn unsent(error: &ClientError) -> Self {
        let failure = match error {
            ClientError::SessionClosed | ClientError::Closed | ClientError::Died(_) => {
                SteeringFailure::Closed
            }
            _ => SteeringFailure::Other,
        };
        let message = error.to_string();
        Self::new(failure, ErrorCode::INTERNAL, &message, CallFacts::default())
    }

    fn timed_out(after: Duration) -> Self {
        let message = format!("the agent did not answer within {} s", after.as_secs());
        let facts = CallFacts {
            write_admitted: true,
            ..CallFacts::default()
        };
        Self::new(
            SteeringFailure::TimedOut,
            ErrorCode::INTERNAL,
            &message,
            facts,
        )
    }
}

/// A steering that was begun; see [`SessionControl::steer`](crate::SessionControl::steer).
///
/// Dropping it stops listening: what was sent was sent, and the agent is not asked to
/// take it back.
#[must_use = "the agent tells whether it took it"]
#[derive(Debug)]
pub struct Steering(Result<OpenSteering, SteeringError>);

#[derive(Debug)]
struct OpenSteering {
    call: CallHandle<SteeringResponse>,
    gate: GateWatch,
    limit: Duration,
}

impl OpenSteering {
    fn start(session: &SessionState, steering: SteeringPrompt) -> Result<Self, SteeringError> {
        let connection = session.connection();
        let checked = connection
            .offers()
            .and_then(|offers| steering.prompt.check(offers));
        checked.map_err(|error| SteeringError::unsent(&error))?;
        let request = SteeringRequest {
            session_id: session.id.clone(),
            prompt: steering.prompt.into_blocks(),
            meta: steering.meta,
        };
        // Before the call: a turn that ends meanwhile is over then.
        let gate = session.gate.watch();
        let call = connection
            .peer
            .start_call(&request)
            .map_err(|error| SteeringError::of_call(&error, CallFacts::default()))?
            .with_on_drop(OnDrop::Forget);
        Ok(Self {
            call,
            gate,
            limit: session.sessions.options.timeouts.request,
        })
    }
}

impl Steering {
    /// Tells whether the request is on its way: queued, behind what is queued already.
    ///
    /// That is settled from the beginning, also when the agent does not read; the
    /// [`result`](Self::result) comes later. Once on its way a request cannot be taken
    /// back.
    #[must_use]
    pub fn admission(&self) -> bool {
        self.0.is_ok()
    }

    /// Waits for the answer: as long as the turn runs, and then for as long as short
    /// requests may take.
    ///
    /// # Errors
    ///
    /// [`SteeringError`], also when nothing was sent.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the answer.
    pub async fn result(self) -> Result<Steered, SteeringError> {
        let OpenSteering {
            call,
            mut gate,
            limit,
        } = self.0?;
        let overdue = async {
            if let Some(turn) = gate.running() {
                gate.turn_ended(turn).await;
            }
            sleep(limit).await;
        };
        tokio::select! {
            biased;
            (facts, answer) = call.result() => match answer {
                Ok(answer) => Ok(Steered {
                    outcome: SteeringOutcome::new(answer.outcome),
                    reason: answer.reason.as_ref().and_then(|reason| {
                        acp_text::json_text(reason.as_str()).map(|reason| clean(&reason))
                    }),
                    facts,
                }),
                Err(error) => Err(SteeringError::of_call(&error, facts)),
            },
            () = overdue => Err(SteeringError::timed_out(limit)),
        }
    }
}

/// Makes one line of bounded length of an agent's words.
fn clean(text: &str) -> String {
    // A line that is cut once, in bytes, with a mark at its end.
    let line = acp_text::one_line(text, MAX_STEERING_TEXT + 1);
    acp_text::shorten_bytes(&line, MAX_STEERING_TEXT)
}

/// The request. Its name begins with an underscore: its id is one of those of
/// extensions, which never meet the ids of the protocol's own requests.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SteeringRequest {
    session_id: SessionId,
    prompt: Vec<ContentBlock>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

impl Request for SteeringRequest {
    const METHOD: &'static str = "_session/steering";
    const SERVED_BY: Side = Side::Agent;
    type Response = SteeringResponse;
}

#[derive(Debug, Serialize, Deserialize)]
struct SteeringResponse {
    outcome: String,
    /// Not decoded with the rest: a reason that makes no sense must not hide the
    /// outcome.
    #[serde(default)]
    reason: Option<RawJson>,
}
