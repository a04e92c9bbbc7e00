//! A prompt, from the moment it has its slot to its answer.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context as TaskContext, Poll},
};

use acp_connection::Context;
use acp_host::{Block, Cancel, CommandId, HostError, Submission, dynamic::DynLiveSession};
use acp_protocol::{rpc::Fault, v1::SessionId};
use tokio::time::{Sleep, sleep};

use crate::{
    fault::{self, ErrorData},
    host_call::{HostCall, call_host},
    limits::AgentLimits,
    session::Session,
    turn::active_prompt::PromptProgress,
    turn::outcome::{PromptAnswer, PromptEnd, StopCause},
};

/// What a prompt asks of the host.
pub(crate) enum Task {
    /// A turn.
    Prompt(Vec<Block>),
    /// To shorten the conversation.
    Compact,
}

/// A prompt that has the slot of its session.
///
/// Dropping it lets go of the slot: at once if the host is not at work on the
/// prompt, else when the turn has ended. It is dropped when the connection ends;
/// then the session is closed, which interrupts the turn.
pub(crate) struct AcceptedPrompt {
    session: Arc<Session>,
    command: CommandId,
    cancel: Cancel,
    /// The host took the prompt, and its turn may run on without us.
    is_running: bool,
    is_answered: bool,
}

impl AcceptedPrompt {
    /// Takes the slot of a session. Called in wire order, so that a cancel right
    /// behind the prompt finds it.
    ///
    /// # Errors
    ///
    /// -32600 if the session is at work or being closed; nothing is queued.
    pub(crate) fn begin(session: Arc<Session>, command: CommandId) -> Result<Self, Fault> {
        let cancel = Cancel::new();
        let begun = session.core.turns().begin(command.clone(), cancel.clone());
        begun.map_err(|refused| fault::invalid_request(fault::PROMPT, refused))?;
        Ok(Self {
            session,
            command,
            cancel,
            is_running: false,
            is_answered: false,
        })
    }

    /// The id of the session.
    pub(crate) fn session_id(&self) -> &SessionId {
        &self.session.core.id
    }

    /// Goes on once the user is known to be logged in.
    ///
    /// # Errors
    ///
    /// The answer to a prompt that may not run, or that nobody wants any more;
    /// the slot is free then.
    pub(crate) async fn authorized(
        mut self,
        authorize: impl Future<Output = Result<(), Fault>>,
        request: &Context,
    ) -> Result<Self, PromptAnswer> {
        let mut authorize = pin!(authorize);
        let mut request_cancelled = pin!(request.cancelled());
        let answer = poll_fn(|cx| {
            match self.poll_answer(cx) {
                Ok(answer) => return Poll::Ready(Some(answer)),
                Err(progress) if progress.is_stopped => {
                    return Poll::Ready(Some(self.abandon(true)));
                }
                Err(_) => {}
            }
            if request_cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Some(Err(Fault::cancelled())));
            }
            authorize
                .as_mut()
                .poll(cx)
                .map(|authorized| authorized.err().map(Err))
        })
        .await;
        match answer {
            None => Ok(self),
            Some(answer) => {
                // Lets go of the slot before the answer leaves.
                drop(self);
                Err(answer)
            }
        }
    }

    /// Lets the host do what is asked, and waits for its end.
    pub(crate) async fn answer(mut self, task: Task, request: &Context) -> PromptAnswer {
        let live = Arc::clone(&self.session.live);
        let (command, cancel) = (self.command.clone(), self.cancel.clone());
        let submit = match task {
            Task::Prompt(content) => {
                let submission = Submission::new(command, content, cancel);
                call_host(|| live.submit(submission))
            }
            Task::Compact => {
                if let Some(prompt) = self.session.core.turns().prompt(&command) {
                    prompt.expect_no_turn();
                }
                call_host(|| live.compact(command, cancel))
            }
        };
        let mut request_cancelled = pin!(request.cancelled());
        let mut wait = Wait {
            live: &*live,
            submit: Some(submit),
            interrupt: None,
            interrupted_at: None,
            timer: None,
        };
        poll_fn(|cx| wait.poll(&mut self, request_cancelled.as_mut(), cx)).await
    }
}

impl Drop for AcceptedPrompt {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let mut turns = self.session.core.turns();
        turns.abandon(&self.command, !self.is_running);
    }
}

/// What is waited for until a prompt can be answered.
struct Wait<'a> {
    live: &'a dyn DynLiveSession,
    submit: Option<HostCall<'a, Result<(), HostError>>>,
    interrupt: Option<HostCall<'a, bool>>,
    /// How far the host was when it was last interrupted.
    interrupted_at: Option<Stage>,
    timer: Option<(Bound, Pin<Box<Sleep>>)>,
}

/// How far the host is with a prompt. An interruption only reaches what has
/// begun, so it is repeated when something begins behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stage {
    is_accepted: bool,
    is_started: bool,
}

/// What a timer bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// The time until the turn begins.
    Start,
    /// The time until a turn ends that nobody wants any more.
    Interrupt,
    /// The time until a prompt is withdrawn whose turn has not begun.
    Withdraw,
    /// The time in which a turn reports something.
    Idle,
}

impl Wait<'_> {
    fn poll(
        &mut self,
        prompt: &mut AcceptedPrompt,
        mut request_cancelled: Pin<&mut impl Future<Output = ()>>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<PromptAnswer> {
        let session = Arc::clone(&prompt.session);
        let core = &session.core;
        loop {
            self.poll_submit(prompt, cx);
            let progress = match prompt.poll_answer(cx) {
                Ok(answer) => return Poll::Ready(answer),
                Err(progress) => progress,
            };
            if progress.has_ended {
                return Poll::Pending;
            }
            if !progress.is_stopped && request_cancelled.as_mut().poll(cx).is_ready() {
                prompt.stop(StopCause::Request);
                continue;
            }
            if progress.is_stopped {
                self.poll_interrupt(progress, cx);
            }
            match self.poll_timer(progress, &core.limits, cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Bound::Start) => prompt.stop(StopCause::Broken(not_begun())),
                Poll::Ready(Bound::Interrupt | Bound::Withdraw) => {
                    return Poll::Ready(self.give_up(prompt));
                }
                Poll::Ready(Bound::Idle) => {
                    self.timer = None;
                    if !prompt.has_moved() {
                        tracing::warn!(session.id = %core.id, "a turn reported nothing for too long");
                        prompt.stop(StopCause::Broken(silent()));
                    }
                }
            }
        }
    }

    /// Lets the host take the prompt, or even run the turn in place.
    fn poll_submit(&mut self, prompt: &mut AcceptedPrompt, cx: &mut TaskContext<'_>) {
        let Some(submit) = &mut self.submit else {
            return;
        };
        let Poll::Ready(submitted) = Pin::new(submit).poll(cx) else {
            return;
        };
        self.submit = None;
        let fault = match submitted {
            Ok(Ok(())) => {
                prompt.is_running = true;
                return;
            }
            Ok(Err(error)) => fault::from_host(fault::PROMPT, error),
            Err(panicked) => fault::from_panic(fault::PROMPT, panicked),
        };
        let mut turns = prompt.session.core.turns();
        turns.end(&prompt.command, PromptEnd::NotAccepted(fault));
    }

    fn poll_interrupt(&mut self, progress: PromptProgress, cx: &mut TaskContext<'_>) {
        let stage = Stage {
            is_accepted: self.submit.is_none(),
            is_started: progress.has_turn,
        };
        loop {
            if self.interrupt.is_none() && self.interrupted_at != Some(stage) {
                let live = self.live;
                self.interrupt = Some(call_host(|| live.interrupt()));
                self.interrupted_at = Some(stage);
            }
            let Some(interrupt) = &mut self.interrupt else {
                return;
            };
            if Pin::new(interrupt).poll(cx).is_pending() {
                return;
            }
            self.interrupt = None;
        }
    }

    fn poll_timer(
        &mut self,
        progress: PromptProgress,
        limits: &AgentLimits,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Bound> {
        let is_accepted = self.submit.is_none();
        let (bound, time) = match (progress.is_stopped, progress.has_begun) {
            (true, false) if is_accepted => (Bound::Withdraw, limits.withdraw),
            (true, _) => (Bound::Interrupt, limits.interrupt),
            (false, false) => (Bound::Start, limits.turn_start),
            (false, true) => match limits.turn_idle {
                Some(time) => (Bound::Idle, time),
                None => {
                    self.timer = None;
                    return Poll::Pending;
                }
            },
        };
        let timer = match &mut self.timer {
            Some((known, timer)) if *known == bound => timer,
            timer => &mut timer.insert((bound, Box::pin(sleep(time)))).1,
        };
        timer.as_mut().poll(cx).map(|()| bound)
    }

    /// Answers without the end of the turn. The session takes no other prompt
    /// until the turn has ended (G-13); a turn that runs in `submit` ends here.
    fn give_up(&mut self, prompt: &mut AcceptedPrompt) -> PromptAnswer {
        let runs_in_place = self.submit.take().is_some();
        self.interrupt = None;
        prompt.abandon(runs_in_place)
    }
}

impl AcceptedPrompt {
    fn poll_answer(&mut self, cx: &TaskContext<'_>) -> Result<PromptAnswer, PromptProgress> {
        let mut turns = self.session.core.turns();
        let answer = turns.poll_answer(&self.command, cx.waker());
        self.is_answered |= answer.is_ok();
        answer
    }

    /// Stops waiting for the end; the slot is free now if `is_over`, else when
    /// the end comes.
    fn abandon(&mut self, is_over: bool) -> PromptAnswer {
        self.is_answered = true;
        let stop = self.session.core.turns().abandon(&self.command, is_over);
        stop.unwrap_or(StopCause::Cancelled).answer()
    }

    /// Whether its turn reported something since the last call.
    fn has_moved(&self) -> bool {
        let mut turns = self.session.core.turns();
        turns
            .prompt(&self.command)
            .is_none_or(|prompt| prompt.take_moved())
    }

    fn stop(&self, stop: StopCause) {
        self.session.core.turns().stop(Some(&self.command), stop);
    }
}

/// The message for the client when a turn began and does not get on.
fn silent() -> Fault {
    fault::internal(fault::PROMPT, "the turn reported nothing for too long")
        .with_data(&ErrorData::new("silent").retryable(None))
}

/// What the client reads when the host took a prompt and did not begin.
fn not_begun() -> Fault {
    fault::internal(fault::PROMPT, "the turn did not begin in time")
        .with_data(&ErrorData::new("not_begun").retryable(None))
}
