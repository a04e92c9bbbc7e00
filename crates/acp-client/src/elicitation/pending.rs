//! A question that waits for its one answer.

use super::{ElicitationAnswer, FormError, Question};
use crate::pending::{AgentQuestion, Pending};

/// A question that waits for its answer.
///
/// Dropped without one, it is answered as nobody would: forms are declined, links
/// cancelled.
pub type PendingQuestion = Pending<Question>;

impl AgentQuestion for Question {
    type Answer = ElicitationAnswer;

    fn refusal(&self) -> ElicitationAnswer {
        Self::refusal(self)
    }
}

impl PendingQuestion {
    /// Answers.
    ///
    /// # Errors
    ///
    /// [`InvalidAnswer`] when the answer does not fit the form; nothing was sent then,
    /// and the question is in it to be answered again.
    pub fn answer(self, answer: ElicitationAnswer) -> Result<(), InvalidAnswer> {
        match self.request().check(&answer) {
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
    pub fn decline(self) {
        self.send(ElicitationAnswer::decline());
    }

    /// Says nothing.
    pub fn cancel(self) {
        self.send(ElicitationAnswer::cancel());
    }
}

/// An answer that does not fit its form; prints without the values.
#[derive(Debug, thiserror::Error)]
#[error("answer the question: {}", listed(.faults))]
pub struct InvalidAnswer {
    /// The question, which is still open.
    pub question: PendingQuestion,
    /// What does not fit.
    pub faults: Vec<FormError>,
}

fn listed(faults: &[FormError]) -> String {
    let faults: Vec<_> = faults.iter().map(FormError::to_string).collect();
    faults.join(", ")
}
