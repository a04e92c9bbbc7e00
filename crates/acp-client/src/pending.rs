//! What an agent asks and waits for, until it is answered once.

use std::fmt;

use tokio::sync::oneshot;

/// What an agent asks: a [`PermissionRequest`](crate::PermissionRequest), or a
/// [`Question`](crate::Question).
pub trait AgentQuestion {
    /// What it is answered with.
    type Answer;

    /// The answer when nobody gives one.
    fn refusal(&self) -> Self::Answer;
}

/// A permission request or a question that waits for its answer.
///
/// Dropped without one, it is refused.
#[must_use = "dropping it refuses the request"]
pub struct Pending<R: AgentQuestion> {
    request: Box<R>,
    answer: Option<oneshot::Sender<R::Answer>>,
}

impl<R: AgentQuestion> Pending<R> {
    pub(crate) fn new(request: R) -> (Self, oneshot::Receiver<R::Answer>) {
        let (answer, receiver) = oneshot::channel();
        let pending = Self {
            request: Box::new(request),
            answer: Some(answer),
        };
        (pending, receiver)
    }

    /// Returns what is asked.
    #[must_use]
    pub fn request(&self) -> &R {
        &self.request
    }

    /// Tells whether an answer would still reach the agent.
    ///
    /// It does not after the turn was cancelled, the agent took its request back, or what
    /// it belongs to has ended; answering then is no error.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.answer
            .as_ref()
            .is_some_and(|answer| !answer.is_closed())
    }

    /// Waits until an answer would no longer reach the agent, so that a window can be
    /// closed.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn closed(&mut self) {
        if let Some(answer) = &mut self.answer {
            answer.closed().await;
        }
    }

    pub(crate) fn request_mut(&mut self) -> &mut R {
        &mut self.request
    }

    pub(crate) fn send(mut self, answer: R::Answer) {
        if let Some(sender) = self.answer.take() {
            // Nobody waits for it any more after a cancel.
            let _ = sender.send(answer);
        }
    }
}

impl<R: AgentQuestion> Drop for Pending<R> {
    fn drop(&mut self) {
        if let Some(sender) = self.answer.take() {
            let _ = sender.send(self.request.refusal());
        }
    }
}

impl<R: AgentQuestion + fmt::Debug> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
