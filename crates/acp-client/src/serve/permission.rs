//! How one permission request comes to its answer.

use std::sync::{Arc, Weak};

use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::{RequestPermissionOutcome, RequestPermissionRequest, ToolKind};

use crate::options::PermissionsBy;
use crate::permission::Entry;
use crate::permission::{DecidedBy, DecisionLog, PendingPermission, PermissionAsk};
use crate::session::Ask;
use crate::session::SessionState;

/// Gets the answer to one permission request: from whoever is to give it, or
/// `cancelled` as soon as the turn is. Either way it is noted in the log.
pub(crate) async fn permit(
    session: Arc<SessionState>,
    by: PermissionsBy,
    log: DecisionLog,
    request: RequestPermissionRequest,
    after: ReceiveSeq,
) -> RequestPermissionOutcome {
    let mut slot = session.slot().subscribe();
    let ask = PermissionAsk::new(&session, request, after);
    let mut entry = Entry::new(log, &ask);
    let cancels = {
        let now = slot.borrow_and_update();
        if now.is_cancelling() {
            return entry.close(RequestPermissionOutcome::Cancelled, DecidedBy::Cancel);
        }
        now.cancels()
    };
    let asked = Asked {
        session: Arc::downgrade(&session),
        ask,
    };
    // Who waits for an answer does not keep the session open.
    drop(session);
    let (outcome, by) = tokio::select! {
        biased;
        _ = slot.wait_for(|slot| slot.cancels() != cancels) => {
            (RequestPermissionOutcome::Cancelled, DecidedBy::Cancel)
        }
        answer = asked.answer(by, &mut entry) => answer,
    };
    entry.close(outcome, by)
}

struct Asked {
    session: Weak<SessionState>,
    ask: PermissionAsk,
}

impl Asked {
    async fn answer(
        self,
        by: PermissionsBy,
        entry: &mut Entry,
    ) -> (RequestPermissionOutcome, DecidedBy) {
        let (outcome, by) = match by {
            PermissionsBy::Refusal => (Some(self.ask.reject()), DecidedBy::Nobody),
            PermissionsBy::Handler(handler) => {
                let Some(ask) = self.complete().await else {
                    return (RequestPermissionOutcome::Cancelled, DecidedBy::Cancel);
                };
                entry.learn(&ask);
                let offered = ask.clone();
                let outcome = handler.answer_boxed(ask).await;
                if offered.offers(&outcome) {
                    (Some(outcome), offered.decided_by(DecidedBy::Handler))
                } else {
                    tracing::warn!("a permission handler picked an option that was not offered");
                    (None, DecidedBy::NotOffered)
                }
            }
            PermissionsBy::Reader => {
                let Self { session, mut ask } = self;
                let (pending, verdict) = PendingPermission::new(ask.clone());
                match session.upgrade() {
                    Some(session) if session.asks().push(Ask::Permission(pending)) => {}
                    Some(_) => return (RequestPermissionOutcome::Cancelled, DecidedBy::Overload),
                    None => return (RequestPermissionOutcome::Cancelled, DecidedBy::Cancel),
                }
                let outcome = verdict.outcome().await;
                if let Some(session) = session.upgrade() {
                    ask.set_tool(session.complete_tool(&ask.request().tool_call));
                    entry.learn(&ask);
                }
                (Some(outcome), ask.decided_by(DecidedBy::Reader))
            }
        };
        (outcome.unwrap_or(RequestPermissionOutcome::Cancelled), by)
    }

    /// Adds what the announcement of the tool says, if it is needed and not read
    /// yet; `None` when the session is gone.
    async fn complete(mut self) -> Option<PermissionAsk> {
        let session = self.session.upgrade()?;
        if self.wants_announcement() {
            session.wait_until_read(self.ask.after()).await;
            let tool = session.complete_tool(&self.ask.request().tool_call);
            self.ask.set_tool(tool);
        }
        Some(self.ask)
    }

    /// Tells whether the announcement of the tool may say what the request does not.
    fn wants_announcement(&self) -> bool {
        let call = &self.ask.request().tool_call;
        match &call.kind {
            None => true,
            Some(ToolKind::Edit | ToolKind::Delete | ToolKind::Move) => {
                call.locations.is_none() && call.content.is_none()
            }
            Some(_) => false,
        }
    }
}
