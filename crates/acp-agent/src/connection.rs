//! One connection of an agent: which method does what, and in which order.

use std::sync::{Arc, OnceLock};

use acp_host::{ClientFeatures, CommandId, PromptContent, dynamic::DynSessionHost};
use acp_protocol::{
    Notification, Request,
    rpc::{Fault, Limits},
    v1::{
        CancelNotification, Implementation, InitializeRequest, NewSessionRequest,
        NewSessionResponse, PromptRequest, SessionId,
    },
};
use acp_transport_stdio::{BoxFuture, Context, Handler, IncomingNotification, IncomingRequest};
use tracing::{Instrument as _, Span, field};
use uuid::Uuid;

use crate::{
    content, fault,
    guard::{Panicked, guard},
    handshake,
    limits::AgentLimits,
    prompt::Accepted,
    registry::{Refused, Registry},
    session::Session,
    setup::SetupPolicy,
};

/// What an agent is made of, shared by its connections.
pub(crate) struct Parts {
    pub(crate) host: Box<dyn DynSessionHost>,
    pub(crate) info: Implementation,
    pub(crate) setup: SetupPolicy,
    pub(crate) prompt: PromptContent,
    pub(crate) limits: Arc<AgentLimits>,
    pub(crate) connection_limits: Limits,
    pub(crate) stamps: bool,
}

/// One connection of an agent.
#[derive(Clone)]
pub(crate) struct Connection(Arc<State>);

struct State {
    parts: Arc<Parts>,
    /// What the client can do; set by `initialize`.
    client: OnceLock<ClientFeatures>,
    registry: Registry,
}

impl Connection {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self(Arc::new(State {
            parts,
            client: OnceLock::new(),
            registry: Registry::default(),
        }))
    }

    /// Closes all sessions, side by side, each within its bounds (G-16).
    pub(crate) async fn close_sessions(&self) {
        let mut closing = tokio::task::JoinSet::new();
        for session in self.0.registry.close() {
            closing.spawn(async move { session.close().await });
        }
        while closing.join_next().await.is_some() {}
    }
}

impl Handler for Connection {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            InitializeRequest::METHOD => self.initialize(request),
            NewSessionRequest::METHOD => self.new_session(request),
            PromptRequest::METHOD => self.prompt(request),
            _ => {
                request.unknown_method();
                None
            }
        }
    }

    fn notification(&self, notification: IncomingNotification<'_>) {
        if notification.method() == CancelNotification::METHOD {
            self.cancel(&notification);
        }
    }
}

impl Connection {
    fn initialize(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let parts = &self.0.parts;
        let answer = handshake::request(&request).and_then(|params| {
            let features = handshake::client_features(&params);
            self.0.client.set(features).map_err(|_| {
                fault::invalid_request(InitializeRequest::METHOD, "the connection is initialized")
            })?;
            Ok(handshake::response(&parts.info, &parts.setup, parts.prompt))
        });
        let (responder, _) = request.into_parts();
        responder.answer(answer);
        None
    }

    fn new_session(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let client = match self.initialized(&request) {
            Ok(client) => client.clone(),
            Err(fault) => return refuse(request, fault),
        };
        let state = Arc::clone(&self.0);
        request.serve(|params: NewSessionRequest, context| async move {
            state.new_session(params, client, &context).await
        })
    }

    fn prompt(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let accepted = self
            .initialized(&request)
            .and_then(|_| request.decode::<PromptRequest>())
            .and_then(|params| {
                let session = self.0.live(PromptRequest::METHOD, &params.session_id)?;
                let command = CommandId::from(Uuid::now_v7().to_string());
                Ok((Accepted::begin(session, command)?, params.prompt))
            });
        let (accepted, prompt) = match accepted {
            Ok(accepted) => accepted,
            Err(fault) => return refuse(request, fault),
        };
        let accepts = self.0.parts.prompt;
        let span = tracing::debug_span!(
            "acp.turn",
            session.id = %accepted.session_id(),
            rpc.id = ?request.id(),
            stop_reason = field::Empty,
        );
        let (responder, context) = request.into_parts();
        let work = async move {
            let answer = match content::from_wire(prompt, accepts) {
                Ok(content) => accepted.answer(content, &context).await,
                Err(fault) => {
                    // Lets go of the slot before the answer leaves.
                    drop(accepted);
                    Err(fault)
                }
            };
            if let Ok(response) = &answer {
                Span::current().record("stop_reason", response.stop_reason.as_str());
            }
            responder.answer(answer);
        };
        Some(Box::pin(work.instrument(span)))
    }

    /// R118. What cannot be read or is not known is ignored: nobody waits for
    /// an answer.
    fn cancel(&self, notification: &IncomingNotification<'_>) {
        let Ok(params) = notification.decode::<CancelNotification>() else {
            return;
        };
        if let Some(session) = self.0.registry.get(params.session_id.as_str()) {
            session.cancel();
        }
    }

    fn initialized(&self, request: &IncomingRequest) -> Result<&ClientFeatures, Fault> {
        self.0
            .client
            .get()
            .ok_or_else(|| fault::invalid_request(request.method(), "initialize comes first"))
    }
}

impl State {
    fn live(&self, method: &str, id: &SessionId) -> Result<Arc<Session>, Fault> {
        self.registry
            .get(id.as_str())
            .ok_or_else(|| match acp_host::SessionId::new(id.as_str()) {
                Ok(_) => Fault::not_found(format!("{method}: there is no such session")),
                Err(error) => fault::invalid_params(method, &format!("sessionId: {error}")),
            })
    }

    async fn new_session(
        self: Arc<Self>,
        params: NewSessionRequest,
        client: ClientFeatures,
        context: &Context,
    ) -> Result<NewSessionResponse, Fault> {
        let method = NewSessionRequest::METHOD;
        let (parts, limits) = (&self.parts, &self.parts.limits);
        let refused = |refused: Refused| refused.into_fault(method);
        self.registry
            .check_room(limits.live_sessions)
            .map_err(refused)?;
        let setup = parts.setup.check(
            method,
            &params.cwd,
            &params.additional_directories,
            params.mcp_servers,
            client.clone(),
        )?;
        let made = context
            .run_until_cancelled(guard(|| parts.host.new_session(setup)))
            .await;
        let live = match made.ok_or_else(Fault::cancelled)? {
            Ok(made) => made.map_err(|error| fault::from_host(method, error))?,
            Err(Panicked) => return Err(fault::internal(method, "the agent failed")),
        };
        let session = Session::new(
            live,
            context.peer(),
            client,
            Arc::clone(limits),
            parts.stamps,
        );
        self.take_in(&session, method, context).await?;
        Ok(NewSessionResponse::new(&session.core.id))
    }

    /// Registers a session and attaches it. One that cannot be used is shut
    /// down, and nobody waits for that.
    async fn take_in(
        &self,
        session: &Arc<Session>,
        method: &str,
        context: &Context,
    ) -> Result<(), Fault> {
        let max = self.parts.limits.live_sessions;
        if let Err(refused) = self.registry.insert(session, max) {
            session.shut_down_soon();
            return Err(refused.into_fault(method));
        }
        let fault = match context.run_until_cancelled(session.attach()).await {
            Some(Ok(())) => return Ok(()),
            Some(Err(error)) => fault::from_host(method, error),
            None => Fault::cancelled(),
        };
        // Who closed the connection meanwhile has shut it down.
        if self.registry.remove(&session.core.id) {
            session.shut_down_soon();
        }
        Err(fault)
    }
}

fn refuse(request: IncomingRequest, fault: Fault) -> Option<BoxFuture> {
    request.refuse(fault);
    None
}
