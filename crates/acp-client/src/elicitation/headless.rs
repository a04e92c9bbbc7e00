//! Answers when nobody is there.

use super::{AnswerQuestions, ElicitationAnswer, Question, QuestionKind};

/// Answers questions without a person.
///
/// Links are cancelled either way: there is nobody to go anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Headless {
    /// Declines every form.
    #[default]
    DeclineAll,
    /// Fills in forms with what the agent proposes itself, and declines those that are
    /// not complete so.
    UseDefaults,
}

impl Headless {
    /// Answers a question.
    #[must_use]
    pub fn decide(self, question: &Question) -> ElicitationAnswer {
        match (self, question.kind()) {
            (Self::UseDefaults, QuestionKind::Form(form)) => {
                let answer = form.defaults();
                match form.check(&answer) {
                    Ok(()) => answer,
                    Err(_) => question.refusal(),
                }
            }
            _ => question.refusal(),
        }
    }
}

impl AnswerQuestions for Headless {
    async fn answer(&self, question: Question) -> ElicitationAnswer {
        self.decide(&question)
    }
}
