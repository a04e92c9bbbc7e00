//! Telling an agent more while it works.

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

use super::{Observer, Progress};
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
pub struct SteerHandle(mpsc::Sender<Ask>);

/// What is said by [`SteerHandle`]s of one turn.
#[derive(Debug)]
pub struct SteerAsks(mpsc::Receiver<Ask>);

#[derive(Debug)]
struct Ask {
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
        if self.0.send(Ask { text, answer }).await.is_err() {
            return SteerOutcome::FallbackRequired;
        }
        // Dropped without an answer, it was not sent: the turn ended before.
        answered.await.unwrap_or(SteerOutcome::FallbackRequired)
    }
}

/// Steers one turn, and puts what came of it in its place among the updates.
///
/// Answers are heard where updates are read, and on no task of their own: which came first
/// is then told by their places, and not by who was woken first.
pub(super) struct Steerer {
    control: SessionControl,
    asked: Option<mpsc::Receiver<Ask>>,
    /// Whether the agent can be steered, and nothing went wrong with it yet.
    works: bool,
    running: Vec<Running>,
    /// What came, and was not told yet.
    done: Vec<Done>,
}

/// Something the agent was told and has not answered.
struct Running {
    result: Pin<Box<dyn Future<Output = Result<Steered, SteeringError>> + Send>>,
    answer: oneshot::Sender<SteerOutcome>,
}

struct Done {
    outcome: SteerOutcome,
    seq: ReceiveSeq,
    answer: oneshot::Sender<SteerOutcome>,
}

/// How a step went.
pub(super) enum Step {
    /// Go on.
    Again,
    /// What was heard may be told now.
    Tell,
}

impl Steerer {
    pub(super) fn new(control: SessionControl, asked: Option<SteerAsks>, works: bool) -> Self {
        Self {
            control,
            asked: asked.map(|asked| asked.0),
            works,
            running: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Tells whether something may have to be told between two updates.
    pub(super) fn is_busy(&self) -> bool {
        !self.running.is_empty() || !self.done.is_empty()
    }

    /// Goes a step on, when every update was read that has come: asks the agent, hears from
    /// it, or tells what it had heard before. Between hearing and telling the updates have
    /// another chance: those that came before the answer may have come just now.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub(super) async fn step(&mut self) -> Step {
        if !self.done.is_empty() {
            return Step::Tell;
        }
        let ask = poll_fn(|cx| {
            self.hear(cx);
            match &mut self.asked {
                _ if !self.done.is_empty() => Poll::Ready(None),
                Some(asked) if self.running.len() < MAX_STEERINGS => asked.poll_recv(cx).map(Some),
                _ => Poll::Pending,
            }
        });
        match ask.await {
            Some(Some(ask)) => self.begin(ask),
            // Nobody is left who could ask.
            Some(None) => self.asked = None,
            None => {}
        }
        Step::Again
    }

    /// Hears what has come, and tells what came before this place.
    pub(super) async fn tell_before(&mut self, seq: ReceiveSeq, tell: &mut Observer<'_>) {
        poll_fn(|cx| {
            self.hear(cx);
            Poll::Ready(())
        })
        .await;
        self.tell(Some(seq), tell);
    }

    /// Tells what was heard: what came before this place, or all of it.
    pub(super) fn tell(&mut self, before: Option<ReceiveSeq>, tell: &mut Observer<'_>) {
        self.done.sort_by_key(|done| done.seq);
        let told = match before {
            Some(seq) => self.done.partition_point(|done| done.seq < seq),
            None => self.done.len(),
        };
        for done in self.done.drain(..told) {
            let worked = matches!(
                done.outcome,
                SteerOutcome::Injected | SteerOutcome::FallbackRequired
            );
            // What may have been done is not to be done twice, so no more of it.
            self.works &= worked;
            tell(Progress::Steered(done.outcome));
            // Nobody waits any more, if that fails.
            let _ = done.answer.send(done.outcome);
        }
    }

    /// Ends with the turn: answers that are under way have a moment to come.
    pub(super) async fn end(mut self, tell: &mut Observer<'_>) {
        let all = poll_fn(|cx| {
            self.hear(cx);
            match self.running.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        // However that ends, what is there is told.
        let _ = timeout(STEERING_GRACE, all).await;
        self.give_up();
        self.tell(None, tell);
    }

    fn begin(&mut self, ask: Ask) {
        if !self.works {
            // Nobody waits any more, if that fails.
            let _ = ask.answer.send(SteerOutcome::Unsupported);
            return;
        }
        let prompt = steering_prompt(&ask.text);
        self.running.push(Running {
            result: Box::pin(self.control.steer(prompt).result()),
            answer: ask.answer,
        });
    }

    /// Takes the answers that are there.
    fn hear(&mut self, cx: &mut Context<'_>) {
        let mut n = 0;
        while let Some(running) = self.running.get_mut(n) {
            let Poll::Ready(result) = running.result.as_mut().poll(cx) else {
                n += 1;
                continue;
            };
            let answer = self.running.swap_remove(n).answer;
            self.done.push(Done {
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
        for running in self.running.drain(..) {
            self.done.push(Done {
                outcome: SteerOutcome::DeliveryUnknown,
                seq: ReceiveSeq::default(),
                answer: running.answer,
            });
        }
    }
}

impl Drop for Steerer {
    fn drop(&mut self) {
        self.give_up();
        for done in self.done.drain(..) {
            // Nobody waits any more, if that fails.
            let _ = done.answer.send(done.outcome);
        }
    }
}
