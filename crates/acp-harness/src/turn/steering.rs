//! Telling an agent more while it works.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use acp_client::{
    SessionControl, Steered, SteeringError, SteeringFailure, SteeringOutcome, SteeringPrompt,
};
use acp_protocol::Meta;
use acp_protocol::rpc::{ErrorCode, ReceiveSeq};
use acp_protocol::v1::InitializeResponse;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::limits::{MAX_STEERINGS, STEERING_GRACE};
use crate::registry::AgentEntry;

/// Tells whether an agent can be steered: it says so, and what it does when no turn runs is
/// known: by its own word, or for this very version by its entry
/// ([`Quirks::steering_versions`](crate::registry::Quirks::steering_versions)).
///
/// An agent that began a turn of its own instead would work for nobody.
#[must_use]
pub fn can_steer(entry: &AgentEntry, agent: &InitializeResponse) -> bool {
    let meta = agent.meta.as_ref();
    let Some(steering) = meta.and_then(|meta| meta.get("steering")) else {
        return false;
    };
    let behaviors = steering.get("idleBehaviors").and_then(Value::as_array);
    let by_word = behaviors.is_some_and(|all| all.iter().any(|one| one == PROMPT_REQUIRED));
    let version = agent.agent_info.as_ref().map(|info| &info.version);
    let by_version = version.is_some_and(|it| entry.quirks.steering_versions.contains(it));
    steering.get("supported") == Some(&Value::Bool(true)) && (by_word || by_version)
}

const PROMPT_REQUIRED: &str = "promptRequired";

/// Writes what an agent is told on top of its prompt, such that it begins no turn of its own.
#[must_use]
pub fn steering_prompt(text: &str) -> SteeringPrompt {
    let mut meta = Meta::new();
    meta.insert("idleBehavior".to_owned(), PROMPT_REQUIRED.into());
    SteeringPrompt::new(text).with_meta(meta)
}

/// What came of telling an agent more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SteerOutcome {
    /// It is part of the running turn.
    Injected,
    /// The agent did not take it: say it in the next prompt.
    FallbackRequired,
    /// The agent cannot be steered, or not any more in this turn: say it in the next prompt.
    Unsupported,
    /// It was sent, and what the agent made of it is not known.
    DeliveryUnknown,
    /// The agent took it, into a turn that nobody follows.
    DeliveredUntrackable,
}

impl SteerOutcome {
    /// Tells whether saying it again cannot say it twice.
    #[must_use]
    pub fn is_retry_safe(self) -> bool {
        matches!(self, Self::FallbackRequired | Self::Unsupported)
    }

    /// Reads what came of it.
    #[must_use]
    pub fn of(result: &Result<Steered, SteeringError>) -> Self {
        match result {
            Ok(steered) => match steered.outcome {
                SteeringOutcome::Injected => Self::Injected,
                SteeringOutcome::PromptRequired | SteeringOutcome::Failed => Self::FallbackRequired,
                SteeringOutcome::StartedNewTurn => Self::DeliveredUntrackable,
                _ => Self::DeliveryUnknown,
            },
            Err(error) if !error.write_admitted => Self::FallbackRequired,
            Err(error) => match (error.failure, error.code) {
                (SteeringFailure::Refused, ErrorCode::METHOD_NOT_FOUND) => Self::Unsupported,
                (SteeringFailure::Refused, ErrorCode::INVALID_PARAMS) => Self::FallbackRequired,
                _ => Self::DeliveryUnknown,
            },
        }
    }
}

/// Makes the two ends by which a turn is steered: one to say something, and one for
/// [`TurnRequest::with_steering`](super::TurnRequest::with_steering).
#[must_use]
pub fn steering() -> (SteerHandle, SteerAsks) {
    let (asks, asked) = mpsc::channel(MAX_STEERINGS);
    (SteerHandle(asks), SteerAsks(asked))
}

/// Tells the agent of one turn more while it works. Clones steer the same turn.
#[derive(Clone, Debug)]
pub struct SteerHandle(mpsc::Sender<SteerAsk>);

/// What is said by [`SteerHandle`]s of one turn.
#[derive(Debug)]
pub struct SteerAsks(mpsc::Receiver<SteerAsk>);

#[derive(Debug)]
struct SteerAsk {
    text: String,
    answer: oneshot::Sender<SteerOutcome>,
}

impl SteerHandle {
    /// Tells the agent something, and waits for what it makes of it. Before the turn has
    /// begun, it waits for that.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the outcome; the agent may be told all the same.
    pub async fn steer(&self, text: impl Into<String>) -> SteerOutcome {
        let (answer, answered) = oneshot::channel();
        let text = text.into();
        if self.0.send(SteerAsk { text, answer }).await.is_err() {
            return SteerOutcome::FallbackRequired;
        }
        // Dropped without an answer, it was not sent: the turn ended before.
        answered.await.unwrap_or(SteerOutcome::FallbackRequired)
    }
}

/// Steers one turn, and puts the outcomes in their place among the updates.
///
/// Answers are polled where updates are read, and on no task of their own: their order is
/// then that in which they were received, and not that in which tasks were woken.
pub(super) struct Steerer {
    control: SessionControl,
    asked: Option<mpsc::Receiver<SteerAsk>>,
    /// Whether the agent can be steered, and nothing went wrong with it yet.
    works: bool,
    sent: Vec<SentSteering>,
    answered: Vec<AnsweredSteering>,
    /// Outcomes whose place has come.
    outcomes: VecDeque<SteerOutcome>,
}

/// A steering prompt that the agent has not answered.
struct SentSteering {
    result: Pin<Box<dyn Future<Output = Result<Steered, SteeringError>> + Send>>,
    answer: oneshot::Sender<SteerOutcome>,
}

/// An answer whose place has not come yet.
struct AnsweredSteering {
    outcome: SteerOutcome,
    seq: ReceiveSeq,
    answer: oneshot::Sender<SteerOutcome>,
}

impl Steerer {
    pub(super) fn new(control: SessionControl, asked: Option<SteerAsks>, works: bool) -> Self {
        Self {
            control,
            asked: asked.map(|asked| asked.0),
            works,
            sent: Vec::new(),
            answered: Vec::new(),
            outcomes: VecDeque::new(),
        }
    }

    /// Tells whether an outcome may belong between two updates.
    pub(super) fn is_busy(&self) -> bool {
        !self.sent.is_empty() || !self.answered.is_empty()
    }

    /// Takes the next outcome whose place has come.
    pub(super) fn next_outcome(&mut self) -> Option<SteerOutcome> {
        self.outcomes.pop_front()
    }

    /// Goes a step on, when every received update was read: sends a prompt, receives an
    /// answer, or gives the answers before their place. Between the two the updates have
    /// another chance: those that came before the answer may have come just now.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub(super) async fn step(&mut self) {
        if !self.answered.is_empty() {
            return self.place(None);
        }
        let ask = poll_fn(|cx| {
            self.receive(cx);
            match &mut self.asked {
                _ if !self.answered.is_empty() => Poll::Ready(None),
                Some(asked) if self.sent.len() < MAX_STEERINGS => asked.poll_recv(cx).map(Some),
                _ => Poll::Pending,
            }
        });
        match ask.await {
            Some(Some(ask)) => self.begin(ask),
            // Nobody is left who could ask.
            Some(None) => self.asked = None,
            None => {}
        }
    }

    /// Places the outcomes that were received before this update.
    pub(super) async fn place_before(&mut self, seq: ReceiveSeq) {
        poll_fn(|cx| {
            self.receive(cx);
            Poll::Ready(())
        })
        .await;
        self.place(Some(seq));
    }

    /// Ends with the turn: answers that are under way have a moment to come.
    pub(super) async fn finish(&mut self) {
        let all = poll_fn(|cx| {
            self.receive(cx);
            match self.sent.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        // Received or not, each gets an outcome.
        let _ = timeout(STEERING_GRACE, all).await;
        self.give_up();
        self.place(None);
    }

    /// Places the outcomes that were received before an update, or all of them.
    fn place(&mut self, before: Option<ReceiveSeq>) {
        self.answered.sort_by_key(|answered| answered.seq);
        let placed = match before {
            Some(seq) => self.answered.partition_point(|answered| answered.seq < seq),
            None => self.answered.len(),
        };
        for answered in self.answered.drain(..placed) {
            // A prompt that may have been taken is not to be taken twice, so no more of them.
            self.works &= matches!(
                answered.outcome,
                SteerOutcome::Injected | SteerOutcome::FallbackRequired
            );
            self.outcomes.push_back(answered.outcome);
            // Nobody waits any more, if that fails.
            let _ = answered.answer.send(answered.outcome);
        }
    }

    fn begin(&mut self, ask: SteerAsk) {
        if !self.works {
            // Nobody waits any more, if that fails.
            let _ = ask.answer.send(SteerOutcome::Unsupported);
            return;
        }
        let prompt = steering_prompt(&ask.text);
        self.sent.push(SentSteering {
            result: Box::pin(self.control.steer(prompt).result()),
            answer: ask.answer,
        });
    }

    /// Takes the answers that are there.
    fn receive(&mut self, cx: &mut Context<'_>) {
        let mut n = 0;
        while let Some(sent) = self.sent.get_mut(n) {
            let Poll::Ready(result) = sent.result.as_mut().poll(cx) else {
                n += 1;
                continue;
            };
            let answer = self.sent.swap_remove(n).answer;
            self.answered.push(AnsweredSteering {
                outcome: SteerOutcome::of(&result),
                seq: match &result {
                    Ok(steered) => steered.facts.response_seq,
                    Err(error) => error.response_seq,
                },
                answer,
            });
        }
    }

    /// Waits for no answer any more. What was sent was sent.
    fn give_up(&mut self) {
        for sent in self.sent.drain(..) {
            self.answered.push(AnsweredSteering {
                outcome: SteerOutcome::DeliveryUnknown,
                seq: ReceiveSeq::default(),
                answer: sent.answer,
            });
        }
    }
}

impl Drop for Steerer {
    fn drop(&mut self) {
        self.give_up();
        for answered in self.answered.drain(..) {
            // Nobody waits any more, if that fails.
            let _ = answered.answer.send(answered.outcome);
        }
    }
}
