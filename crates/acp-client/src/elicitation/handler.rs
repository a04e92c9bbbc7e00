//! Who answers questions as they come.

use std::future::Future;
use std::pin::Pin;

use acp_protocol::v1::ElicitationId;

use super::{ElicitationAnswer, Question};

/// Answers the questions of an agent.
///
/// Closures of the same shape answer too:
///
/// ```
/// use acp_client::{ElicitationAnswer, ClientOptions, ElicitationModes, Question};
///
/// let options = ClientOptions::new().with_elicitation(
///     ElicitationModes::FORM,
///     async |question: Question| {
///         println!("the agent asks: {}", question.message());
///         match question.form() {
///             // As the agent proposes; a person should see it before it is sent.
///             Some(form) => form.defaults(),
///             None => ElicitationAnswer::cancel(),
///         }
///     },
/// );
/// # drop(options);
/// ```
pub trait AnswerQuestions: Send + Sync + 'static {
    /// Answers one question.
    ///
    /// An answer that does not fit the form becomes `cancel`; see [`Question::check`].
    /// The future is dropped when the turn is cancelled, the agent takes its question
    /// back, or what it belongs to has ended.
    fn answer(&self, question: Question) -> impl Future<Output = ElicitationAnswer> + Send;

    /// Hears that what the user was to do at an address is done; called once for each
    /// link at most, in wire order, where messages are read: it must not block.
    fn completed(&self, link: &ElicitationId) {
        let _ = link;
    }
}

impl<F, Fut> AnswerQuestions for F
where
    F: Fn(Question) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ElicitationAnswer> + Send,
{
    fn answer(&self, question: Question) -> impl Future<Output = ElicitationAnswer> + Send {
        self(question)
    }
}

/// [`AnswerQuestions`] behind a pointer.
///
/// What it answers fits the question. The check is made here, so that a client that
/// answers no questions is linked without forms and patterns.
pub(crate) trait DynAnswerQuestions: Send + Sync + 'static {
    fn answer_boxed(
        &self,
        question: Question,
    ) -> Pin<Box<dyn Future<Output = ElicitationAnswer> + Send + '_>>;

    fn link_completed(&self, link: &ElicitationId);
}

impl<T: AnswerQuestions> DynAnswerQuestions for T {
    fn answer_boxed(
        &self,
        question: Question,
    ) -> Pin<Box<dyn Future<Output = ElicitationAnswer> + Send + '_>> {
        Box::pin(async move {
            let answer = self.answer(question.clone()).await;
            let Err(faults) = question.check(&answer) else {
                return answer;
            };
            tracing::warn!(
                faults = faults.len(),
                "an answer does not fit its question and is not sent"
            );
            ElicitationAnswer::cancel()
        })
    }

    fn link_completed(&self, link: &ElicitationId) {
        self.completed(link);
    }
}
