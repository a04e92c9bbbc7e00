//! What an agent asks and waits for, until it is answered once.

use std::fmt;

use tokio::sync::oneshot;

/// What an agent asks: a [`PermissionAsk`](crate::PermissionAsk), or a
/// [`Question`](crate::Question).
pub trait AgentAsk {
    /// What it is answered with.
    type Answer;

    /// The answer when nobody gives one.
    fn refusal(&self) -> Self::Answer;
}

/// A permission request or a question that waits for its answer.
///
/// Dropped without one, it is refused.
#[must_use = "dropping it refuses the request"]
pub struct Pending<A: AgentAsk> {
    ask: Box<A>,
    answer: Option<oneshot::Sender<A::Answer>>,
}

impl<A: AgentAsk> Pending<A> {
    pub(crate) fn new(ask: A) -> (Self, oneshot::Receiver<A::Answer>) {
        let (answer, receiver) = oneshot::channel();
        let pending = Self {
            ask: Box::new(ask),
            answer: Some(answer),
        };
        (pending, receiver)
    }

    /// Returns what is asked.
    #[must_use]
    pub fn ask(&self) -> &A {
        &self.ask
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

    pub(crate) fn ask_mut(&mut self) -> &mut A {
        &mut self.ask
    }

    pub(crate) fn send(mut self, answer: A::Answer) {
        if let Some(sender) = self.answer.take() {
            // Nobody waits for it any more after a cancel.
            let _ = sender.send(answer);
        }
    }
}

impl<A: AgentAsk> Drop for Pending<A> {
    fn drop(&mut self) {
        if let Some(sender) = self.answer.take() {
            let _ = sender.send(self.ask.refusal());
        }
    }
}

impl<A: AgentAsk + fmt::Debug> fmt::Debug for Pending<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("ask", &self.ask)
            .finish_non_exhaustive()
    }
}
