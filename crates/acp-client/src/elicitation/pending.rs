//! A question that waits for its one answer.

use std::fmt;

use super::{Answer, FormFault, Question};
use crate::pending::{AgentAsk, Pending};

/// A question that waits for its answer.
///
/// Dropped without one, it is answered as nobody would: forms are declined, links
/// cancelled.
pub type PendingQuestion = Pending<Question>;

impl AgentAsk for Question {
    type Answer = Answer;

    fn refusal(&self) -> Answer {
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
    pub fn answer(self, answer: Answer) -> Result<(), InvalidAnswer> {
        match self.ask().check(&answer) {
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
        self.send(Answer::decline());
    }

    /// Says nothing.
    pub fn cancel(self) {
        self.send(Answer::cancel());
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
