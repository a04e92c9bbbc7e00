//! A session of the kit: one turn after the other, each by the handler.

pub(in crate::kit) mod facts;
mod gates;
mod host;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use acp_host::{
    Block, Cancel, Cancelled, ClientLink, CommandId, EventBody, GateResponse, HostError,
    LiveSession, LoopId, SessionId, Submission, TurnFailure,
};
use parking_lot::{Mutex, MutexGuard};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};

use crate::kit::{
    Prompt, Turn, TurnHandler,
    compactor::{DynCompactor, compact_with},
    history::recorder,
    history::{RecordBody, RecordedEnd},
    session::facts::SessionFacts,
};

/// A session of a [`Kit`](crate::kit::Kit).
pub struct KitSession<H> {
    handler: Arc<H>,
    cancel_grace: Duration,
    compactor: Option<Arc<dyn DynCompactor>>,
    facts: Arc<SessionFacts>,
    link: OnceLock<ClientLink>,
    /// The signal of the turn that runs.
    running: Mutex<Option<Cancel>>,
    turns: AtomicU64,
}

impl<H: TurnHandler> KitSession<H> {
    pub(in crate::kit) fn new(
        facts: Arc<SessionFacts>,
        handler: Arc<H>,
        cancel_grace: Duration,
        compactor: Option<Arc<dyn DynCompactor>>,
    ) -> Self {
        Self {
            handler,
            cancel_grace,
            compactor,
            facts,
            link: OnceLock::new(),
            running: Mutex::default(),
            turns: AtomicU64::new(0),
        }
    }

    pub(in crate::kit) fn loop_id(&self) -> LoopId {
        self.facts.loop_id.clone()
    }

    /// Lets the handler answer. However it ends, by itself or not, there is an
    /// event for it.
    async fn answer(&self, turn: &mut Turn, prompt: Prompt) -> EventBody {
        let cancel = turn.cancel_signal();
        let answered = Bounded {
            work: async { self.handler.turn(turn, prompt).await },
            cancelled: cancel.cancelled(),
            grace: self.cancel_grace,
            timer: None,
        };
        match answered.await {
            // The client cancelled it, however it ended.
            _ if cancel.is_cancelled() => EventBody::TurnInterrupted,
            Ended::Finished(Ok(end)) => end.into_event(),
            Ended::Finished(Err(error)) => error.into_event(),
            Ended::Panicked => EventBody::TurnFailed(TurnFailure::Panicked),
            Ended::Dropped => EventBody::TurnInterrupted,
        }
    }

    /// Lets the compactor shorten the conversation, as [`answer`](Self::answer) does.
    async fn compact_by(&self, turn: &mut Turn, compactor: &dyn DynCompactor) -> EventBody {
        let cancel = turn.cancel_signal();
        let compacted = Bounded {
            work: compact_with(turn, compactor),
            cancelled: cancel.cancelled(),
            grace: self.cancel_grace,
            timer: None,
        };
        match compacted.await {
            _ if cancel.is_cancelled() => EventBody::TurnInterrupted,
            Ended::Finished(Ok(())) => EventBody::TurnDone,
            Ended::Finished(Err(error)) => error.into_event(),
            Ended::Panicked => EventBody::TurnFailed(TurnFailure::Panicked),
            Ended::Dropped => EventBody::TurnInterrupted,
        }
    }

    /// Remembers what the user asks, unless it is cancelled, and then lets the
    /// handler answer, or the compactor shorten the conversation.
    async fn remember_and_answer(&self, turn: &mut Turn, task: TurnTask) -> EventBody {
        if turn.recorder().is_some() {
            turn.note(|| RecordBody::Asked(task.content()));
            let cancel = turn.cancel_signal();
            let saved = cancel.run_until_cancelled(turn.save()).await;
            if let Some(Err(error)) = saved {
                return EventBody::TurnFailed(TurnFailure::Other(error));
            }
        }
        if turn.is_cancelled() {
            return EventBody::TurnInterrupted;
        }
        match task {
            TurnTask::Answer(content) => self.answer(turn, Prompt::new(content)).await,
            TurnTask::Compact(compactor) => self.compact_by(turn, &*compactor).await,
        }
    }

    /// Runs a whole turn. Whatever becomes of it, its end is reported.
    async fn run(
        &self,
        command: CommandId,
        task: TurnTask,
        cancel: Cancel,
    ) -> Result<(), HostError> {
        let link = self
            .link
            .get()
            .ok_or_else(|| HostError::public("the session has no client"))?;
        let turn = Turn::new(
            link.clone(),
            Arc::clone(&self.facts),
            &command,
            cancel.clone(),
        );
        *self.running() = Some(cancel);
        let mut unfinished = UnfinishedTurn {
            turn,
            running: &self.running,
            is_reported: false,
        };

        let index = self.turns.fetch_add(1, Ordering::Relaxed);
        unfinished.turn.send_now(EventBody::TurnStarted {
            command: Some(command),
            index,
        });
        let mut end = self.remember_and_answer(&mut unfinished.turn, task).await;
        unfinished.turn.fail_open_tools().await;
        unfinished
            .turn
            .note(|| RecordBody::Ended(recorder::ending(&end)));
        // The answer leaves when all of the turn is remembered.
        if let Err(error) = unfinished.turn.save().await
            && !matches!(end, EventBody::TurnFailed(_))
        {
            end = EventBody::TurnFailed(TurnFailure::Other(error));
        }
        unfinished.send(end);
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Option<Cancel>> {
        // Nothing that can panic runs under it.
        self.running.lock()
    }
}

impl<H: TurnHandler> LiveSession for KitSession<H> {
    fn id(&self) -> &SessionId {
        &self.facts.id
    }

    async fn attach(&self, link: ClientLink) -> Result<(), HostError> {
        let events = self.facts.first_events();
        for body in events {
            let event = self.facts.event(body);
            link.emit(event).await.map_err(HostError::internal)?;
        }
        self.link
            .set(link)
            .map_err(|_| HostError::public("the session is attached already"))
    }

    /// Runs the whole turn: an answer that is ready at once costs no task.
    async fn submit(&self, submission: Submission) -> Result<(), HostError> {
        let Submission {
            command,
            content,
            cancel,
            ..
        } = submission;
        self.run(command, TurnTask::Answer(content), cancel).await
    }

    async fn compact(&self, command: CommandId, cancel: Cancel) -> Result<(), HostError> {
        let Some(compactor) = &self.compactor else {
            return Err(HostError::public(
                "this session cannot shorten its conversation",
            ));
        };
        let task = TurnTask::Compact(Arc::clone(compactor));
        self.run(command, task, cancel).await
    }

    async fn respond_gate(&self, response: GateResponse) -> Result<(), HostError> {
        self.facts.gates.respond(response)
    }

    async fn interrupt(&self) -> bool {
        let running = self.running().clone();
        running.map(|cancel| cancel.cancel()).is_some()
    }

    async fn shutdown(&self) {
        self.interrupt().await;
    }
}

impl<H> fmt::Debug for KitSession<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KitSession")
            .field("id", &self.facts.id)
            .finish_non_exhaustive()
    }
}

/// The work of a turn.
enum TurnTask {
    /// Answers a prompt.
    Answer(Vec<Block>),
    /// Shortens the conversation.
    Compact(Arc<dyn DynCompactor>),
}

impl TurnTask {
    /// The prompt of the user.
    fn content(&self) -> Vec<Block> {
        match self {
            Self::Answer(content) => content.clone(),
            Self::Compact(_) => vec![Block::text("/compact")],
        }
    }
}

/// A turn whose end is reported, also if the work on it is dropped.
struct UnfinishedTurn<'s> {
    turn: Turn,
    running: &'s Mutex<Option<Cancel>>,
    is_reported: bool,
}

impl UnfinishedTurn<'_> {
    fn send(&mut self, end: EventBody) {
        self.is_reported = true;
        *self.running.lock() = None;
        self.turn.settle_session();
        self.turn.send_now(end);
    }
}

impl Drop for UnfinishedTurn<'_> {
    fn drop(&mut self) {
        if !self.is_reported {
            self.turn
                .note(|| RecordBody::Ended(RecordedEnd::Interrupted));
            self.turn.save_soon();
            self.send(EventBody::TurnInterrupted);
        }
    }
}

/// How work ended.
enum Ended<T> {
    Finished(T),
    Panicked,
    /// It was cancelled, and did not end within its grace.
    Dropped,
}

pin_project! {
    /// Runs work, catches its panics, and drops it some time after it was
    /// cancelled.
    struct Bounded<F> {
        #[pin]
        work: F,
        cancelled: Cancelled,
        grace: Duration,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future> Future for Bounded<F> {
    type Output = Ended<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let work = this.work;
        match catch_unwind(AssertUnwindSafe(|| work.poll(cx))) {
            Ok(Poll::Ready(value)) => return Poll::Ready(Ended::Finished(value)),
            Ok(Poll::Pending) => {}
            Err(_) => return Poll::Ready(Ended::Panicked),
        }
        if this.timer.is_none() && Pin::new(this.cancelled).poll(cx).is_ready() {
            *this.timer = Some(Box::pin(sleep(*this.grace)));
        }
        match this.timer {
            Some(timer) => timer.as_mut().poll(cx).map(|()| Ended::Dropped),
            None => Poll::Pending,
        }
    }
}
