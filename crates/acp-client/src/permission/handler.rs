//! Who answers permission requests as they come.

use std::future::Future;
use std::pin::Pin;

use acp_protocol::v1::RequestPermissionOutcome;

use super::{Allow, PermissionAsk, Policy};

/// Answers the permission requests of an agent.
///
/// Closures of the same shape answer too:
///
/// ```
/// use acp_client::{ClientOptions, PermissionAsk};
///
/// let options = ClientOptions::new().with_permissions(async |ask: PermissionAsk| {
///     println!("{:?} wants to run", ask.tool().title());
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
        if self.allow() != Allow::Edits {
            return self.decide(ask.tool(), ask.options()).outcome();
        }
        // Following links may block, and this runs where messages are read.
        let policy = self.clone();
        let refusal = ask.reject();
        tokio::task::spawn_blocking(move || policy.decide(ask.tool(), ask.options()).outcome())
            .await
            .unwrap_or(refusal)
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
