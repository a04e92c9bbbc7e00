//! A session of the kit: one turn after the other, each by the handler.

use std::{
    fmt,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use acp_host::{
    Block, Cancel, ClientLink, EventBody, GateResponse, HostError, LiveSession, LoopId, SessionId,
    Submission, TurnFailure,
};
use tokio::time::{Sleep, sleep};

use super::{
    Prompt, Turn, TurnHandler,
    facts::SessionFacts,
    record::{self, What},
    recorder,
};

/// A session of a [`Kit`](super::Kit).
pub struct KitSession<H> {
    handler: Arc<H>,
    cancel_grace: Duration,
    facts: Arc<SessionFacts>,
    link: OnceLock<ClientLink>,
    /// The signal of the turn that runs.
    running: Mutex<Option<Cancel>>,
    turns: AtomicU64,
}

impl<H: TurnHandler> KitSession<H> {
    pub(super) fn new(facts: Arc<SessionFacts>, handler: Arc<H>, cancel_grace: Duration) -> Self {
        Self {
            handler,
            cancel_grace,
            facts,
            link: OnceLock::new(),
            running: Mutex::default(),
            turns: AtomicU64::new(0),
        }
    }

    pub(super) fn loop_id(&self) -> LoopId {
        self.facts.loop_id.clone()
    }

    /// Lets the handler answer. However it ends, by itself or not, there is an
    /// event for it.
    async fn answer(&self, turn: &mut Turn, prompt: Prompt) -> EventBody {
        let cancel = turn.cancel_signal();
        let work = async { self.handler.turn(turn, prompt).await };
        let answered = bounded(work, &cancel, self.cancel_grace).await;
        match answered {
            // Whatever came of it, the client cancelled it.
            _ if cancel.is_cancelled() => EventBody::TurnInterrupted,
            Ended::Finished(Ok(end)) => end.into_event(),
            Ended::Finished(Err(error)) => error.into_event(),
            Ended::Panicked => EventBody::TurnFailed(TurnFailure::Panicked),
            Ended::Dropped => EventBody::TurnInterrupted,
        }
    }

    /// Remembers what the user asks, unless it is cancelled, and then lets the
    /// handler answer.
    async fn remember_and_answer(&self, turn: &mut Turn, content: Vec<Block>) -> EventBody {
        turn.note(|| What::Asked(content.clone()));
        let cancel = turn.cancel_signal();
        match cancel.run_until_cancelled(turn.save()).await {
            None => EventBody::TurnInterrupted,
            Some(Err(error)) => EventBody::TurnFailed(TurnFailure::Other(error)),
            Some(Ok(())) => self.answer(turn, Prompt::new(content)).await,
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Cancel>> {
        // Nothing that can panic runs under it.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: TurnHandler> LiveSession for KitSession<H> {
    fn id(&self) -> &SessionId {
        &self.facts.id
    }

    async fn attach(&self, link: ClientLink) -> Result<(), HostError> {
        let told = self.facts.first_news();
        for body in told {
            let event = self.facts.event(body);
            link.emit(event).await.map_err(HostError::internal)?;
        }
        self.link
            .set(link)
            .map_err(|_| HostError::public("the session is attached already"))
    }

    /// Runs the whole turn: an answer that is ready at once costs no task.
    async fn submit(&self, submission: Submission) -> Result<(), HostError> {
        let link = self
            .link
            .get()
            .ok_or_else(|| HostError::public("the session has no client"))?;
        let Submission {
            command,
            content,
            cancel,
            ..
        } = submission;
        let turn = Turn::new(
            link.clone(),
            Arc::clone(&self.facts),
            &command,
            cancel.clone(),
        );
        *self.running() = Some(cancel);
        let mut ending = Ending {
            turn,
            running: &self.running,
            is_told: false,
        };

        let index = self.turns.fetch_add(1, Ordering::Relaxed);
        ending.turn.tell_now(EventBody::TurnStarted {
            command: Some(command),
            index,
        });
        let mut end = self.remember_and_answer(&mut ending.turn, content).await;
        ending.turn.fail_open_tools().await;
        ending.turn.note(|| What::Ended(recorder::ending(&end)));
        // The answer leaves when all of the turn is remembered.
        if let Err(error) = ending.turn.save().await
            && !matches!(end, EventBody::TurnFailed(_))
        {
            end = EventBody::TurnFailed(TurnFailure::Other(error));
        }
        ending.tell(end);
        Ok(())
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

/// A turn that will have its end told, also if the work on it is dropped.
struct Ending<'s> {
    turn: Turn,
    running: &'s Mutex<Option<Cancel>>,
    is_told: bool,
}

impl Ending<'_> {
    fn tell(&mut self, end: EventBody) {
        self.is_told = true;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.turn.tell_now(end);
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.is_told {
            self.turn.note(|| What::Ended(record::Ending::Interrupted));
            self.turn.save_soon();
            self.tell(EventBody::TurnInterrupted);
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

/// Runs work, catches its panics, and drops it some time after it was
/// cancelled.
async fn bounded<F: Future>(work: F, cancel: &Cancel, grace: Duration) -> Ended<F::Output> {
    let mut work = pin!(work);
    let mut cancelled = cancel.cancelled();
    let mut timer: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|cx| {
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(Poll::Ready(value)) => return Poll::Ready(Ended::Finished(value)),
            Ok(Poll::Pending) => {}
            Err(_) => return Poll::Ready(Ended::Panicked),
        }
        if timer.is_none() && Pin::new(&mut cancelled).poll(cx).is_ready() {
            timer = Some(Box::pin(sleep(grace)));
        }
        match &mut timer {
            Some(timer) => timer.as_mut().poll(cx).map(|()| Ended::Dropped),
            None => Poll::Pending,
        }
    })
    .await
}
