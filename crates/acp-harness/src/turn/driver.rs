//! The one loop that every turn goes through.

use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use acp_client::limits::CANCEL_GRACE;
use acp_client::{Client, ClientError, PromptResult, Turn, TurnEvent};
use acp_protocol::v1::InitializeResponse;
use derive_setters::Setters;
use tokio::time::{Instant, sleep_until};

use super::idle::IdleWatch;
use super::steering::{Steerer, can_steer};
use super::{SteerAsks, SteerOutcome, StopHandle, TimeLimit};
use crate::limits::IDLE_TIMEOUT;
use crate::registry::AgentEntry;

/// The bounds within which a turn ends, its start included.
///
/// Clones bound the same turn: the total time counts from
/// [`with_total`](Self::with_total) on.
#[derive(Setters, Clone, Debug)]
#[setters(generate = false, prefix = "with_")]
pub struct TurnBounds {
    stop: StopHandle,
    total: Option<(Instant, Duration)>,
    /// Bounds how long the agent may be silent while nothing is owed to it.
    #[setters(generate)]
    idle: Option<Duration>,
    /// Bounds how long the agent may take to end a cancelled turn. After a time limit it is
    /// never longer than that limit, so that a turn takes at most twice its limit.
    #[setters(generate)]
    grace: Duration,
}

/// Why a turn is cancelled from our side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// Its [`StopHandle`] was used.
    Stopped,
    /// It took too long.
    Limit {
        /// Which of the bounds it was.
        limit: TimeLimit,
        /// The bound.
        after: Duration,
    },
}

impl StopCause {
    /// How long the agent may take to end the cancelled turn.
    fn grace(self, grace: Duration) -> Duration {
        match self {
            Self::Stopped => grace,
            Self::Limit { after, .. } => grace.min(after),
        }
    }
}

impl TurnBounds {
    /// Lets this handle stop the turn. The agent may be silent for 10 minutes and has
    /// 10 seconds to end a cancelled turn; the total time is not bounded.
    #[must_use]
    pub fn new(stop: &StopHandle) -> Self {
        Self {
            stop: stop.clone(),
            total: None,
            idle: Some(IDLE_TIMEOUT),
            grace: CANCEL_GRACE,
        }
    }

    /// Bounds the total time, from now on.
    #[must_use]
    pub fn with_total(mut self, bound: Option<Duration>) -> Self {
        self.total = bound.and_then(|bound| Some((Instant::now().checked_add(bound)?, bound)));
        self
    }

    /// Waits until somebody stops the turn, or its total time is over.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn exceeded(&self) -> StopCause {
        let passed = async {
            match self.total {
                Some((at, after)) => {
                    sleep_until(at).await;
                    after
                }
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.stop.stopped() => StopCause::Stopped,
            after = passed => StopCause::Limit { limit: TimeLimit::Total, after },
        }
    }

    /// Does some work within the bounds. Unfinished work is dropped.
    ///
    /// # Errors
    ///
    /// The cause, when the turn is to end before the work is done.
    ///
    /// # Cancel safety
    ///
    /// As the work.
    pub async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, StopCause> {
        tokio::select! {
            biased;
            cause = self.exceeded() => Err(cause),
            done = work => Ok(done),
        }
    }
}

/// What happens in a turn, as its driver reports it.
#[derive(Debug)]
#[non_exhaustive]
pub enum DriverEvent {
    /// An event of the client: an update with the line it came in, or a question that waits
    /// for its answer.
    Turn(TurnEvent),
    /// The agent answered a steering prompt. In its place among the updates.
    Steered(SteerOutcome),
    /// The agent is asked to cancel the turn. At most once.
    Stopping(StopCause),
}

/// Drives one turn to its end: reads it, notices when it has to end, cancels it, and gives
/// up on an agent that does not end it in time.
///
/// [`Harness::run`](super::Harness::run) makes a report of the events; `acp run` shows them
/// and answers questions. Both read the same loop:
///
/// ```no_run
/// use acp_harness::turn::{DriverEvent, StopHandle, TurnBounds, TurnDriver};
///
/// # async fn example(client: &acp_client::Client, turn: acp_client::Turn) {
/// let bounds = TurnBounds::new(&StopHandle::new());
/// let mut driver = TurnDriver::new(client, turn, &bounds);
/// while let Some(event) = driver.next().await {
///     if let DriverEvent::Turn(event) = event {
///         println!("{event:?}");
///     }
/// }
/// let ended = driver.end().await;
/// if ended.answer.is_none() {
///     client.kill().await;
/// }
/// # }
/// ```
#[derive(Setters)]
#[setters(generate = false, prefix = "with_")]
pub struct TurnDriver {
    turn: Turn,
    exceeded: Pin<Box<dyn Future<Output = StopCause> + Send>>,
    idle: IdleWatch,
    grace: Duration,
    steerer: Steerer,
    /// An update that was read, and that answers to steering prompts come before.
    held: Option<TurnEvent>,
    /// Joins pieces of text that wait together, where nothing may belong between them.
    #[setters(generate, bool, rename = "merging")]
    merges: bool,
    stopping: Option<Stopping>,
    /// A cancel that is still to be reported.
    announced: Option<StopCause>,
    state: ReadState,
}

/// A cancel that was sent.
#[derive(Clone, Copy)]
struct Stopping {
    cause: StopCause,
    /// When the agent is given up.
    until: Instant,
}

/// How far a turn was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadState {
    Running,
    /// Answers to steering prompts may still come.
    Ending,
    Ended,
    GivenUp,
}

/// How a turn ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct DrivenTurn {
    /// Why it was cancelled, if it was.
    pub cause: Option<StopCause>,
    /// The agent's answer to the prompt; `None` when it was cancelled and did not end in
    /// time. Its process should be killed then.
    pub answer: Option<Result<PromptResult, ClientError>>,
    /// A turn that was given up. Dropped, it cancels once more, which is no use to an agent
    /// that is killed first.
    _given_up: Option<Turn>,
}

impl TurnDriver {
    /// Drives a turn that has just begun. The client has to be its own.
    #[must_use]
    pub fn new(client: &Client, turn: Turn, bounds: &TurnBounds) -> Self {
        let (idle, grace) = (bounds.idle, bounds.grace);
        let bounds = bounds.clone();
        Self {
            steerer: Steerer::new(turn.control(), None, false),
            turn,
            exceeded: Box::pin(async move { bounds.exceeded().await }),
            idle: IdleWatch::begin(client, idle),
            grace,
            held: None,
            merges: false,
            stopping: None,
            announced: None,
            state: ReadState::Running,
        }
    }

    /// Steers the turn, if this agent can be steered.
    #[must_use]
    pub fn steered_by(
        mut self,
        asks: Option<SteerAsks>,
        entry: &AgentEntry,
        agent: Option<&InitializeResponse>,
    ) -> Self {
        let steers = agent.is_some_and(|agent| can_steer(entry, agent));
        self.steerer = Steerer::new(self.turn.control(), asks, steers);
        self
    }

    /// Waits for the next event; `None` when the turn has ended or was given up.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: when another branch of `select!` wins, no event is lost.
    pub async fn next(&mut self) -> Option<DriverEvent> {
        loop {
            if let Some(cause) = self.announced.take() {
                return Some(DriverEvent::Stopping(cause));
            }
            if let Some(outcome) = self.steerer.next_outcome() {
                return Some(DriverEvent::Steered(outcome));
            }
            if let Some(event) = self.held.take() {
                return Some(DriverEvent::Turn(event));
            }
            match self.state {
                ReadState::Running => {}
                ReadState::Ending => {
                    self.steerer.finish().await;
                    self.state = ReadState::Ended;
                    continue;
                }
                ReadState::Ended | ReadState::GivenUp => return None,
            }
            let running = self.stopping.is_none();
            let patience = self.stopping.map(|stopping| stopping.until);
            let apart = !self.merges || self.steerer.is_busy();
            let cause = tokio::select! {
                biased;
                cause = &mut self.exceeded, if running => cause,
                after = self.idle.expired(), if running => {
                    StopCause::Limit { limit: TimeLimit::Idle, after }
                }
                () = until(patience) => {
                    self.state = ReadState::GivenUp;
                    continue;
                }
                event = next(&mut self.turn, apart) => {
                    match event {
                        Some(TurnEvent::Update(update)) => {
                            self.steerer.place_before(update.receive_seq).await;
                            self.held = Some(TurnEvent::Update(update));
                        }
                        Some(event) => return Some(DriverEvent::Turn(event)),
                        None => self.state = ReadState::Ending,
                    }
                    continue;
                }
                // Behind the updates: when there are none, all that was received was read.
                () = self.steerer.step() => continue,
            };
            self.stop(cause);
        }
    }

    /// Cancels the turn at the agent; once it is being cancelled, this does nothing.
    pub fn stop(&mut self, cause: StopCause) {
        if self.stopping.is_none() {
            self.turn.cancel();
            let until = Instant::now() + cause.grace(self.grace);
            self.stopping = Some(Stopping { cause, until });
            self.announced = Some(cause);
        }
    }

    /// Gives the turn up now: the next [`next`](Self::next) is `None`, and what was received and
    /// not read is left. For who kills the agent and wants to be done with it.
    pub fn give_up(&mut self) {
        if matches!(self.state, ReadState::Running | ReadState::Ending) {
            self.state = ReadState::GivenUp;
            self.held = None;
        }
    }

    /// Returns how the turn ended, once [`next`](Self::next) has given `None`. Ended
    /// before, the turn is read to its end without bounds.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels a turn that has not ended.
    pub async fn end(self) -> DrivenTurn {
        let cause = self.stopping.map(|stopping| stopping.cause);
        let (answer, given_up) = match self.state {
            ReadState::GivenUp => (None, Some(self.turn)),
            _ => (Some(self.turn.end().await), None),
        };
        DrivenTurn {
            cause,
            answer,
            _given_up: given_up,
        }
    }
}

async fn next(turn: &mut Turn, apart: bool) -> Option<TurnEvent> {
    if apart {
        turn.next().await
    } else {
        turn.next_merged().await
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
