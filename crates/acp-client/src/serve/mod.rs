//! What the agent asks of the client.

mod links;
pub(crate) mod permission;
mod question;
pub(crate) mod workspace;

use std::future::Future;
use std::sync::Arc;

use acp_connection::{BoxFuture, Context, Handler, IncomingNotification, IncomingRequest, Peer};
use acp_protocol::rpc::{Answer, CallId, Fault};
use acp_protocol::v1::{
    CloseSessionRequest, CreateElicitationRequest, NewSessionResponse, RequestPermissionRequest,
    RequestPermissionResponse, SessionId, methods,
};
use serde::Deserialize;

use crate::connection::AgentCell;
use crate::connection::Capability;
use crate::elicitation::Elicitation;
use crate::options::ClientOptions;
use crate::serve::permission::permit;
use crate::serve::workspace::serve;
use crate::session::Registry;
use crate::session::SessionState;

pub use links::LinkStats;
pub(crate) use question::Elicitations;

/// Serves the agent: what is configured, for sessions that are open.
#[derive(Clone)]
pub(crate) struct Dispatch {
    registry: Arc<Registry>,
    options: Arc<ClientOptions>,
    agent: AgentCell,
    elicitations: Arc<Elicitations>,
}

impl Dispatch {
    pub(crate) fn new(
        registry: Arc<Registry>,
        options: Arc<ClientOptions>,
        agent: AgentCell,
        elicitations: Arc<Elicitations>,
    ) -> Self {
        Self {
            registry,
            options,
            agent,
            elicitations,
        }
    }

    fn permission(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let registry = Arc::clone(&self.registry);
        let by = self.options.permissions.clone();
        let log = self.options.decisions.clone();
        let after = request.received_after();
        request.serve(move |ask: RequestPermissionRequest, context| {
            let session = find(&registry, &ask.session_id);
            async move {
                let outcome = permit(session?, by, log, ask, after);
                let outcome = unless_cancelled(&context, outcome).await?;
                Ok(RequestPermissionResponse::new(outcome))
            }
        })
    }

    /// Serves a question, in the ways that are configured.
    ///
    /// Called through the options alone: a client that offers no questions is then
    /// linked without all that belongs to them.
    pub(crate) fn question(
        &self,
        options: &Elicitation,
        request: IncomingRequest,
    ) -> Option<BoxFuture> {
        let peer = request.peer().clone();
        let after = request.received_after();
        request.serve(move |asked: CreateElicitationRequest, context| {
            let asked = self
                .elicitations
                .admit(options, &peer, &self.registry, asked, after);
            async move { unless_cancelled(&context, asked?.answer()).await }
        })
    }

    fn serve(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            methods::SESSION_REQUEST_PERMISSION => self.permission(request),
            methods::ELICITATION_CREATE => match &self.options.elicitation {
                Some(options) => (options.serve)(self, options, request),
                None => {
                    request.refuse(Fault::invalid_params("elicitation is not offered"));
                    None
                }
            },
            method if self.options.serves(method) => serve(&self.registry, request),
            _ => {
                request.unknown_method();
                None
            }
        }
    }

    /// Tells about which session a request is that we do not know, but may in a moment.
    fn unnamed(&self, request: &IncomingRequest) -> Option<SessionId> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct About {
            session_id: SessionId,
        }
        let method = request.method();
        let may_serve = method == methods::SESSION_REQUEST_PERMISSION
            || method == methods::ELICITATION_CREATE
            || self.options.serves(method);
        if !may_serve || !self.registry.is_naming() {
            return None;
        }
        let About { session_id } = request.decode().ok()?;
        self.registry
            .find(&session_id)
            .is_none()
            .then_some(session_id)
    }
}

impl Handler for Dispatch {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let Some(session) = self.unnamed(&request) else {
            return self.serve(request);
        };
        let dispatch = self.clone();
        Some(Box::pin(async move {
            dispatch.registry.learn_of(&session).await;
            if let Some(work) = dispatch.serve(request) {
                work.await;
            }
        }))
    }

    fn notification(&self, notification: IncomingNotification<'_>) {
        if notification.method() == methods::ELICITATION_COMPLETE
            && let Ok(end) = notification.decode()
        {
            self.elicitations.complete(&end, notification.receive_seq());
        }
    }

    /// Closes a session that was opened when nobody waited for it any more.
    fn late_answer(&self, peer: &Peer, call: CallId, answer: &Answer) {
        let session = match self.registry.take_undo(call) {
            Some(session) => session,
            None => match answer.decode::<NewSessionResponse>() {
                Ok(opened) => opened.session_id,
                Err(_) => return,
            },
        };
        let closes = self
            .agent
            .get()
            .is_some_and(|agent| Capability::Close.is_in(&agent.agent_capabilities));
        // Somebody may have opened it anew meanwhile.
        if closes && self.registry.find(&session).is_none() {
            // Whether it is closed or not, nobody is left to be told.
            if let Ok(call) = peer.start_call(&CloseSessionRequest::new(session)) {
                call.detach();
            }
        }
    }
}

pub(crate) fn find(registry: &Registry, id: &SessionId) -> Result<Arc<SessionState>, Fault> {
    if id.as_str().is_empty() {
        return Err(Fault::invalid_params("the session id is empty"));
    }
    registry
        .find(id)
        .ok_or_else(|| Fault::not_found("no such session"))
}

/// Waits for `answer`, or fails as soon as the agent takes its request back.
pub(crate) async fn unless_cancelled<F: Future>(
    context: &Context,
    answer: F,
) -> Result<F::Output, Fault> {
    context
        .run_until_cancelled(answer)
        .await
        .ok_or_else(Fault::cancelled)
}
