//! Who answers permission requests as they come.

use std::future::Future;
use std::pin::Pin;

use acp_protocol::v1::RequestPermissionOutcome;

use super::{Decision, PermissionAsk, Policy, Reason};

/// Answers the permission requests of an agent.
///
/// Closures of the same shape answer too:
///
/// ```
/// use acp_client::{ClientOptions, PermissionAsk};
///
/// let options = ClientOptions::new().with_permissions(async |ask: PermissionAsk| {
///     println!("{:?} wants to run", ask.tool().title);
///     ask.reject()
/// });
/// # drop(options);
/// ```
pub trait AnswerPermissions: Send + Sync + 'static {
    /// Answers one request.
    ///
    /// The answer must name an option that was offered; any other counts as
    /// `cancelled`. The future is dropped when the turn is cancelled or the agent
    /// takes its request back.
    fn answer(&self, ask: PermissionAsk) -> impl Future<Output = RequestPermissionOutcome> + Send;
}

impl<F, Fut> AnswerPermissions for F
where
    F: Fn(PermissionAsk) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = RequestPermissionOutcome> + Send,
{
    fn answer(&self, ask: PermissionAsk) -> impl Future<Output = RequestPermissionOutcome> + Send {
        self(ask)
    }
}

impl AnswerPermissions for Policy {
    async fn answer(&self, ask: PermissionAsk) -> RequestPermissionOutcome {
        let decision = self.decide_about(&ask).await;
        ask.explain(decision.reason.clone());
        decision.outcome()
    }
}

impl Policy {
    /// Decides where messages are read, and therefore never blocks.
    pub(super) async fn decide_about(&self, ask: &PermissionAsk) -> Decision {
        if !self.may_block() {
            return self.decide(ask.tool(), ask.options());
        }
        let (policy, asked) = (self.clone(), ask.clone());
        tokio::task::spawn_blocking(move || policy.decide(asked.tool(), asked.options()))
            .await
            .unwrap_or_else(|_| Decision::reject(ask.options(), Reason::NothingAllowed))
    }
}

/// [`AnswerPermissions`] behind a pointer.
pub(crate) trait DynAnswerPermissions: Send + Sync + 'static {
    fn answer_boxed<'a>(
        &'a self,
        ask: PermissionAsk,
    ) -> Pin<Box<dyn Future<Output = RequestPermissionOutcome> + Send + 'a>>;
}

impl<T: AnswerPermissions> DynAnswerPermissions for T {
    fn answer_boxed<'a>(
        &'a self,
        ask: PermissionAsk,
    ) -> Pin<Box<dyn Future<Output = RequestPermissionOutcome> + Send + 'a>> {
        Box::pin(self.answer(ask))
    }
}
