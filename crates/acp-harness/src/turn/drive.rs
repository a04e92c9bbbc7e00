//! Reading a turn until it ends, or is made to.

use std::future::pending;
use std::time::Duration;

use acp_client::{Client, ClientError, PromptResult, Turn, TurnEvent, Update};
use acp_protocol::v1::{PromptResponse, SessionUpdate};
use tokio::time::{Instant, sleep_until};

use super::idle::IdleWatch;
use super::steering::{Steerer, Step};
use super::{Observer, Progress, StopHandle, TimeLimit};
use crate::reader::{ReaderEvent, TurnReducer};
use crate::report::TurnReport;

/// What may end a turn before the agent does.
pub(super) struct Bounds<'a> {
    pub(super) stop: &'a StopHandle,
    pub(super) idle: Option<Duration>,
    pub(super) total: Total,
    pub(super) grace: Duration,
}

/// When the whole turn has to be over, and how long that was.
#[derive(Clone, Copy)]
pub(super) struct Total(Option<(Instant, Duration)>);

/// Why a turn was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Stop,
    Limit(TimeLimit, Duration),
}

/// How reading ended.
pub(super) struct Driven {
    /// Why the turn was cancelled, if it was.
    pub(super) cause: Option<Cause>,
    /// What the agent answered; `None` when it did not, although it was cancelled.
    pub(super) answer: Option<Result<PromptResult, ClientError>>,
}

/// What was read of a turn.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) report: TurnReport,
    pub(super) reducer: TurnReducer,
}

impl Total {
    /// Counts from now.
    pub(super) fn begin(bound: Option<Duration>) -> Self {
        Self(bound.and_then(|bound| Some((Instant::now().checked_add(bound)?, bound))))
    }

    /// Waits until it is over, and returns the bound.
    pub(super) async fn passed(self) -> Duration {
        match self.0 {
            Some((at, bound)) => {
                sleep_until(at).await;
                bound
            }
            None => pending().await,
        }
    }
}

impl Bounds<'_> {
    /// Waits until somebody wants the turn to stop, or it has taken too long.
    pub(super) async fn interrupted(&self) -> Cause {
        tokio::select! {
            biased;
            () = self.stop.stopped() => Cause::Stop,
            bound = self.total.passed() => Cause::Limit(TimeLimit::Total, bound),
        }
    }
}

/// Reads a turn to its end. Stopped, or out of time, it is cancelled at the agent, once,
/// and read on; an agent that does not end it within the grace is given up.
pub(super) async fn drive(
    client: &Client,
    mut turn: Turn,
    mut steerer: Steerer,
    bounds: &Bounds<'_>,
    reading: &mut Reading,
    tell: &mut Observer<'_>,
) -> Driven {
    let mut idle = IdleWatch::begin(client, bounds.idle);
    let mut cause = None;
    let interrupted = bounds.interrupted();
    tokio::pin!(interrupted);
    let mut given_up_at = Instant::now();
    loop {
        let why = tokio::select! {
            biased;
            why = &mut interrupted, if cause.is_none() => why,
            bound = idle.expired(), if cause.is_none() => Cause::Limit(TimeLimit::Idle, bound),
            () = sleep_until(given_up_at), if cause.is_some() => {
                return Driven { cause, answer: None };
            }
            event = next(&mut turn, steerer.is_busy()) => match event {
                Some(event) => {
                    if let TurnEvent::Update(update) = &event {
                        steerer.tell_before(update.receive_seq, tell).await;
                    }
                    reading.take(event, tell);
                    continue;
                }
                None => break,
            },
            // Behind the updates: when there are none, all that was received was read.
            step = steerer.step() => {
                if let Step::Tell = step {
                    steerer.tell(None, tell);
                }
                continue;
            }
        };
        turn.cancel();
        given_up_at = Instant::now() + bounds.grace;
        cause = Some(why);
        let limit = match why {
            Cause::Stop => None,
            Cause::Limit(limit, _) => Some(limit),
        };
        tell(Progress::Stopping { limit });
    }
    steerer.end(tell).await;
    let answer = turn.end().await;
    if let Ok(answer) = &answer {
        let mut response = PromptResponse::new(answer.stop_reason.clone());
        response.meta = answer.meta.clone();
        reading.reducer.end(&response);
    }
    Driven {
        cause,
        answer: Some(answer),
    }
}

/// Waits for what happens next: pieces of text are joined, unless something may belong
/// between them.
async fn next(turn: &mut Turn, apart: bool) -> Option<TurnEvent> {
    if apart {
        turn.next().await
    } else {
        turn.next_merged().await
    }
}

impl Reading {
    /// Tells whether anything came of the turn: words or deeds.
    pub(super) fn has_output(&self) -> bool {
        let facts = self.reducer.facts();
        facts.said || facts.calls > 0
    }

    fn take(&mut self, event: TurnEvent, tell: &mut Observer<'_>) {
        match event {
            TurnEvent::Update(update) if !is_replay(&update) => self.read(&update.update, tell),
            TurnEvent::Unreadable { .. } => self.lose(1, tell),
            TurnEvent::Gap { dropped } => self.lose(dropped, tell),
            // What came before the prompt is none of this turn, and what is asked of whoever
            // reads has an answer in being dropped: no.
            _ => {}
        }
    }

    fn lose(&mut self, updates: u64, tell: &mut Observer<'_>) {
        self.report.lose();
        self.reducer.lose(updates);
        tell(Progress::Lost { updates });
    }

    fn read(&mut self, update: &SessionUpdate, tell: &mut Observer<'_>) {
        self.report.read(update);
        let events = self.reducer.read(update);
        let nothing = events.is_empty();
        for event in events {
            tell(match event {
                ReaderEvent::Text(text) => Progress::Message(text),
                ReaderEvent::Reasoning(text) => Progress::Thought(text),
                ReaderEvent::Call(call) => Progress::ToolCall(call),
                ReaderEvent::Result(result) => Progress::ToolResult(result),
            });
        }
        match update {
            SessionUpdate::ToolCallUpdate(update) if nothing => tell(Progress::ToolUpdate {
                id: update.tool_call_id.clone(),
                status: update.status.clone(),
                title: update.title.clone(),
            }),
            SessionUpdate::Plan(plan) => tell(Progress::Plan(plan.clone())),
            SessionUpdate::CurrentModeUpdate(mode) => {
                tell(Progress::Mode(mode.current_mode_id.clone()));
            }
            SessionUpdate::UsageUpdate(usage) => tell(Progress::Usage((**usage).clone())),
            _ => {}
        }
    }
}

/// Tells whether an agent says of an update that it is history: some replay a session
/// after they have loaded it.
fn is_replay(update: &Update) -> bool {
    let meta = update.meta.as_ref();
    meta.and_then(|meta| meta.get("isReplay"))
        .is_some_and(|said| said == true)
}
