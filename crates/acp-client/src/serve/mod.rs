//! Serves what the agent asks of its client: for the session it asks about, as the
//! options say.

mod elicitation;
mod permission;
mod workspace;

use std::future::Future;
use std::sync::{Arc, Weak};

use acp_connection::{BoxFuture, Context, Handler, IncomingNotification, IncomingRequest, Peer};
use acp_protocol::rpc::{CallId, Fault, RawResponse};
use acp_protocol::v1::{CompleteElicitationNotification, NewSessionResponse, SessionId, methods};
use serde::Deserialize;

use crate::options::ClientOptions;
use crate::session::{SessionState, Sessions};

/// Serves the requests of an agent: what is configured, for sessions that are open.
pub(crate) struct AgentRequests {
    sessions: Weak<Sessions>,
    options: Arc<ClientOptions>,
}

impl AgentRequests {
    pub(crate) fn new(sessions: Weak<Sessions>, options: Arc<ClientOptions>) -> Self {
        Self { sessions, options }
    }

    /// Answers what is not configured.
    fn refuse(request: IncomingRequest) {
        match request.method() {
            methods::ELICITATION_CREATE => {
                request.refuse(Fault::invalid_params("elicitation is not offered"));
            }
            _ => request.unknown_method(),
        }
    }
}

impl Handler for AgentRequests {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        if !self.options.serves(request.method()) {
            Self::refuse(request);
            return None;
        }
        let Some(sessions) = self.sessions.upgrade() else {
            request.refuse(no_such_session());
            return None;
        };
        let Some(session) = unnamed(&sessions, &request) else {
            return serve(&sessions, request);
        };
        let mut request = request;
        request.detach();
        Some(Box::pin(async move {
            sessions.wait_for(&session).await;
            if let Some(work) = serve(&sessions, request) {
                work.await;
            }
        }))
    }

    fn notification(&self, notification: IncomingNotification<'_>) {
        if notification.method() == methods::ELICITATION_COMPLETE
            && let Some(sessions) = self.sessions.upgrade()
            && let Ok(CompleteElicitationNotification { elicitation_id, .. }) =
                notification.decode()
        {
            let at = notification.receive_seq();
            sessions.links.complete(&elicitation_id, at);
        }
    }

    /// Closes a session that was opened when nobody waited for it any more.
    fn late_answer(&self, _: &Peer, call: CallId, answer: &RawResponse) {
        let Some(sessions) = self.sessions.upgrade() else {
            return;
        };
        let opened = sessions.take_undo(call).or_else(|| {
            let opened = answer.decode::<NewSessionResponse>().ok()?;
            Some(opened.session_id)
        });
        if let Some(session) = opened {
            sessions.close_unwanted(session);
        }
    }
}

fn serve(sessions: &Sessions, request: IncomingRequest) -> Option<BoxFuture> {
    match request.method() {
        methods::SESSION_REQUEST_PERMISSION => permission::serve(sessions, request),
        methods::ELICITATION_CREATE => elicitation::serve(sessions, request),
        _ => workspace::serve(sessions, request),
    }
}

/// Returns the session a request is about if we do not know it, but may in a moment.
fn unnamed(sessions: &Sessions, request: &IncomingRequest) -> Option<SessionId> {
    if !sessions.is_naming() {
        return None;
    }
    let SessionOf { session_id } = request.decode().ok()?;
    sessions.find(&session_id).is_none().then_some(session_id)
}

/// What every request tells of its session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionOf {
    session_id: SessionId,
}

/// Finds the session a request is about.
fn find(sessions: &Sessions, id: &SessionId) -> Result<Arc<SessionState>, Fault> {
    if id.as_str().is_empty() {
        return Err(Fault::invalid_params("the session id is empty"));
    }
    sessions.find(id).ok_or_else(no_such_session)
}

fn no_such_session() -> Fault {
    Fault::not_found("no such session")
}

/// Waits for `answer`, or fails as soon as the agent takes its request back.
async fn unless_cancelled<F: Future>(context: &Context, answer: F) -> Result<F::Output, Fault> {
    context
        .run_until_cancelled(answer)
        .await
        .ok_or_else(Fault::cancelled)
}
