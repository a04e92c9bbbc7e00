//! Asks a person, but does not wait for ever.

use std::time::Duration;

use acp_protocol::v1::RequestPermissionOutcome;
use tokio::time::timeout;

use super::{AnswerPermissions, PermissionRequest, Policy, Reason};

/// Lets a handler answer, usually by asking a person, and refuses when no answer comes
/// in time.
///
/// ```
/// use std::time::Duration;
/// use acp_client::{AskUser, ClientOptions, PermissionRequest, Policy};
/// use acp_protocol::v1::ToolKind;
///
/// let person = async |ask: PermissionRequest| {
///     // Show `ask.tool()` and `ask.options()`, and wait for a choice.
///     ask.reject()
/// };
/// let ask = AskUser::new(person, Duration::from_secs(300))
///     // What needs no asking.
///     .unless(Policy::allow_kinds([ToolKind::Read, ToolKind::Search]));
/// let options = ClientOptions::new().with_permissions(ask);
/// # drop(options);
/// ```
#[derive(Debug, Clone)]
pub struct AskUser<H> {
    handler: H,
    timeout: Duration,
    policy: Option<Policy>,
}

impl<H: AnswerPermissions> AskUser<H> {
    /// Creates one that waits for at most `timeout`.
    #[must_use]
    pub fn new(handler: H, timeout: Duration) -> Self {
        Self {
            handler,
            timeout,
            policy: None,
        }
    }

    /// Does not ask about what `policy` allows.
    #[must_use]
    pub fn unless(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }
}

impl<H: AnswerPermissions> AnswerPermissions for AskUser<H> {
    async fn answer(&self, ask: PermissionRequest) -> RequestPermissionOutcome {
        if let Some(policy) = &self.policy {
            let decision = policy.decide_about(&ask).await;
            if decision.allowed {
                ask.explain(decision.reason.clone());
                return decision.outcome();
            }
        }
        let asked = self.handler.answer(ask.clone());
        match timeout(self.timeout, asked).await {
            Ok(outcome) => outcome,
            Err(_) => {
                ask.explain(Reason::TimedOut);
                ask.reject()
            }
        }
    }
}
