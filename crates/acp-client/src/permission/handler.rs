//! Who answers permission requests as they come.

use std::future::Future;
use std::pin::Pin;

use acp_protocol::v1::RequestPermissionOutcome;

use super::{Decision, PermissionRequest, Policy, Reason};

/// Answers the permission requests of an agent.
///
/// Closures of the same shape answer too:
///
/// ```
/// use acp_client::{ClientOptions, PermissionRequest};
///
/// let options = ClientOptions::new().with_permissions(async |ask: PermissionRequest| {
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
    fn answer(
        &self,
        ask: PermissionRequest,
    ) -> impl Future<Output = RequestPermissionOutcome> + Send;
}

impl<F, Fut> AnswerPermissions for F
where
    F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = RequestPermissionOutcome> + Send,
{
    fn answer(
        &self,
        ask: PermissionRequest,
    ) -> impl Future<Output = RequestPermissionOutcome> + Send {
        self(ask)
    }
}

impl AnswerPermissions for Policy {
    async fn answer(&self, ask: PermissionRequest) -> RequestPermissionOutcome {
        let decision = self.decide_about(&ask).await;
        ask.explain(decision.reason.clone());
        decision.outcome()
    }
}

impl Policy {
    /// Decides where messages are read, and therefore never blocks.
    pub(super) async fn decide_about(&self, ask: &PermissionRequest) -> Decision {
        if ask.is_unread() {
            return Decision::reject(ask.options(), Reason::AnnouncementUnread);
        }
        if !self.may_block(ask.tool()) {
            return self.decide(ask.tool(), ask.options());
        }
        let (policy, asked) = (self.clone(), ask.clone());
        tokio::task::spawn_blocking(move || policy.decide_request(&asked))
            .await
            .unwrap_or_else(|_| Decision::reject(ask.options(), Reason::NothingAllowed))
    }
}

/// [`AnswerPermissions`] behind a pointer.
pub(crate) trait DynAnswerPermissions: Send + Sync + 'static {
    fn answer_boxed<'a>(
        &'a self,
        ask: PermissionRequest,
    ) -> Pin<Box<dyn Future<Output = RequestPermissionOutcome> + Send + 'a>>;
}

impl<T: AnswerPermissions> DynAnswerPermissions for T {
    fn answer_boxed<'a>(
        &'a self,
        ask: PermissionRequest,
    ) -> Pin<Box<dyn Future<Output = RequestPermissionOutcome> + Send + 'a>> {
        Box::pin(self.answer(ask))
    }
}
