//! A question and its one answer.

use std::fmt;

use tokio::sync::oneshot;

use super::{Answer, FormFault, Question};

/// A question that waits for its answer.
///
/// Dropped without one, it is answered as nobody would: forms are declined, links
/// cancelled.
#[derive(Debug)]
#[must_use = "dropping it refuses the question"]
pub struct PendingQuestion {
    question: Question,
    verdict: Option<oneshot::Sender<Answer>>,
}

impl PendingQuestion {
    pub(crate) fn new(question: Question) -> (Self, oneshot::Receiver<Answer>) {
        let (verdict, receiver) = oneshot::channel();
        let pending = Self {
            question,
            verdict: Some(verdict),
        };
        (pending, receiver)
    }

    /// Returns what is asked.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Tells whether an answer would still reach the agent.
    ///
    /// It does not after the turn was cancelled, the agent took the question back, or
    /// what it belongs to has ended; answering then is no error.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.verdict
            .as_ref()
            .is_some_and(|verdict| !verdict.is_closed())
    }

    /// Waits until an answer would no longer reach the agent, so that a window can be
    /// closed.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn closed(&mut self) {
        if let Some(verdict) = &mut self.verdict {
            verdict.closed().await;
        }
    }

    /// Answers.
    ///
    /// # Errors
    ///
    /// [`InvalidAnswer`] when the answer does not fit the form; nothing was sent then,
    /// and the question is in it to be answered again.
    pub fn answer(mut self, answer: Answer) -> Result<(), InvalidAnswer> {
        match self.question.check(&answer) {
            Ok(()) => {
                self.send(answer);
                Ok(())
            }
            Err(faults) => Err(InvalidAnswer {
                question: self,
                faults,
            }),
        }
    }

    /// Says no.
    pub fn decline(mut self) {
        self.send(Answer::decline());
    }

    /// Says nothing.
    pub fn cancel(mut self) {
        self.send(Answer::cancel());
    }

    fn send(&mut self, answer: Answer) {
        if let Some(verdict) = self.verdict.take() {
            // Nobody waits for it any more after a cancel.
            let _ = verdict.send(answer);
        }
    }
}

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        let refusal = self.question.refusal();
        self.send(refusal);
    }
}

/// An answer that does not fit its form; prints without the values.
#[derive(Debug)]
pub struct InvalidAnswer {
    /// The question, which is still open.
    pub question: PendingQuestion,
    /// What does not fit.
    pub faults: Vec<FormFault>,
}

impl fmt::Display for InvalidAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("answer the question: ")?;
        for (nth, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if nth > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidAnswer {}
