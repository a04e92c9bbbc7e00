//! How one permission request comes to its answer.

use std::sync::{Arc, Weak};

use acp_connection::{BoxFuture, IncomingRequest};
use acp_protocol::rpc::{Fault, ReceiveSeq};
use acp_protocol::v1::{
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
};

use super::{find, unless_cancelled};
use crate::bounds::{count_within, within};
use crate::limits::{MAX_ID, MAX_OPTION_NAME, MAX_PERMISSION_OPTIONS};
use crate::options::PermissionsBy;
use crate::permission::{DecidedBy, Entry, PendingPermission, PermissionRequest};
use crate::session::{SessionState, Sessions, Waiting, refuse_unread};

pub(super) fn serve(sessions: &Sessions, request: IncomingRequest) -> Option<BoxFuture> {
    let after = request.received_after();
    request.serve(|asked: RequestPermissionRequest, context| {
        let session = check_size(&asked).and_then(|()| find(sessions, &asked.session_id));
        async move {
            let outcome = answer(session?, asked, after);
            let outcome = unless_cancelled(&context, outcome).await?;
            Ok(RequestPermissionResponse::new(outcome))
        }
    })
}

/// Checks what is kept of a request after its answer, or stands in one: its ids and its
/// options. All else of it is charged to the connection while it waits.
fn check_size(asked: &RequestPermissionRequest) -> Result<(), Fault> {
    within(
        "toolCall.toolCallId",
        asked.tool_call.tool_call_id.as_str(),
        MAX_ID,
    )?;
    count_within(
        "options",
        asked.options.len(),
        MAX_PERMISSION_OPTIONS,
        "entries",
    )?;
    for option in &asked.options {
        within("optionId", option.option_id.as_str(), MAX_ID)?;
        within("name", &option.name, MAX_OPTION_NAME)?;
        within("kind", option.kind.as_str(), MAX_ID)?;
    }
    Ok(())
}

/// Gets the answer from whoever is to give it, or `cancelled` as soon as the turn is.
/// Either way it is noted in the log.
async fn answer(
    session: Arc<SessionState>,
    request: RequestPermissionRequest,
    after: ReceiveSeq,
) -> RequestPermissionOutcome {
    let options = Arc::clone(&session.sessions.options);
    let mut gate = session.gate.watch();
    let tool = session.complete_tool(&request.tool_call);
    let ask = PermissionRequest::new(request, tool, after, Arc::clone(&session.folders));
    let mut entry = Entry::new(options.decisions.clone(), &ask);
    if gate.is_cancelling() {
        return entry.close(RequestPermissionOutcome::Cancelled, DecidedBy::Cancel);
    }
    let permissions = session.permissions.clone();
    let asked = Asked {
        session: Arc::downgrade(&session),
        ask,
    };
    // Who waits for an answer does not keep the session open.
    drop(session);
    let (outcome, by) = tokio::select! {
        biased;
        () = gate.cancelled() => (RequestPermissionOutcome::Cancelled, DecidedBy::Cancel),
        answer = asked.answer(&permissions, &mut entry) => answer,
    };
    entry.close(outcome, by)
}

struct Asked {
    session: Weak<SessionState>,
    ask: PermissionRequest,
}

impl Asked {
    async fn answer(
        mut self,
        by: &PermissionsBy,
        entry: &mut Entry,
    ) -> (RequestPermissionOutcome, DecidedBy) {
        let cancelled = |by| (RequestPermissionOutcome::Cancelled, by);
        match by {
            PermissionsBy::Refusal => (self.ask.reject(), DecidedBy::Nobody),
            PermissionsBy::Handler(handler) => {
                let Some(ask) = self.complete().await else {
                    return cancelled(DecidedBy::Cancel);
                };
                entry.learn(&ask);
                let offered = ask.clone();
                let outcome = handler.answer_boxed(ask).await;
                if !offered.offers(&outcome) {
                    tracing::warn!("a permission handler picked an option that was not offered");
                    return cancelled(DecidedBy::NotOffered);
                }
                (outcome, offered.decided_by(DecidedBy::Handler))
            }
            PermissionsBy::Reader => {
                let (pending, answer) = PendingPermission::new(self.ask.clone());
                let Some(session) = self.session.upgrade() else {
                    return cancelled(DecidedBy::Cancel);
                };
                let Some(ticket) = session.waiting.push(Waiting::Permission(pending)) else {
                    return cancelled(DecidedBy::Overload);
                };
                drop(session);
                let outcome = tokio::select! {
                    biased;
                    outcome = answer => outcome,
                    () = refuse_unread(&self.session, ticket) => {
                        return (self.ask.reject(), DecidedBy::Nobody);
                    }
                };
                if let Some(session) = self.session.upgrade() {
                    let tool = session.complete_tool(&self.ask.raw().tool_call);
                    self.ask.set_tool(tool);
                    entry.learn(&self.ask);
                }
                let outcome = outcome.unwrap_or(RequestPermissionOutcome::Cancelled);
                (outcome, self.ask.decided_by(DecidedBy::Reader))
            }
        }
    }

    /// Adds what the agent said of the tool before, also where the request says enough:
    /// it may have announced something else. `None` when the session is gone.
    async fn complete(mut self) -> Option<PermissionRequest> {
        let session = self.session.upgrade()?;
        if !session.wait_until_read(self.ask.after()).await {
            self.ask.set_unread();
        }
        let tool = session.complete_tool(&self.ask.raw().tool_call);
        self.ask.set_tool(tool);
        Some(self.ask)
    }
}
