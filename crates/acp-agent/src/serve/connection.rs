//! One connection of an agent: which method does what, and in which order.

use std::sync::{Arc, OnceLock, atomic::AtomicBool};

use acp_connection::{BoxFuture, Context, Handler, IncomingNotification, IncomingRequest, Then};
use acp_host::{ClientFeatures, CommandId};
use acp_protocol::{
    Notification, Request,
    rpc::Fault,
    v1::{
        CancelNotification, InitializeRequest, ListSessionsRequest, LogoutRequest, PromptRequest,
        PromptResponse, SessionId, methods::AgentMethod,
    },
};
use tracing::{Instrument as _, Span, field};

use super::{handshake, live_sessions::LiveSessions, registration::Registration};
use crate::{
    fault, random_id,
    refused::RefusedMember,
    session::{
        Session,
        prompt::{AcceptedPrompt, Task},
    },
    wire::prompt,
};

/// One connection of an agent.
#[derive(Clone)]
pub(super) struct AgentConnection(Arc<ConnectionState>);

/// The state that the requests of a connection share.
pub(super) struct ConnectionState {
    pub(super) agent: Arc<Registration>,
    /// The client's abilities; set by `initialize`.
    client: OnceLock<Arc<ClientFeatures>>,
    pub(super) live_sessions: LiveSessions,
    /// The user has logged in on this connection.
    pub(super) is_logged_in: AtomicBool,
    /// Logins and logouts follow one another.
    pub(super) login: tokio::sync::Mutex<()>,
}

/// The result of a request: its response, and the session that the client knows from
/// then on.
pub(super) type Served<R> = Result<(R, Option<Arc<Session>>), Fault>;

impl AgentConnection {
    pub(super) fn new(agent: Arc<Registration>) -> Self {
        Self(Arc::new(ConnectionState {
            agent,
            client: OnceLock::new(),
            live_sessions: LiveSessions::default(),
            is_logged_in: AtomicBool::new(false),
            login: tokio::sync::Mutex::default(),
        }))
    }

    /// Closes all sessions, side by side, each within its bounds (G-16).
    pub(super) async fn close_sessions(&self) {
        let sessions = self.0.live_sessions.close();
        let closing: Vec<_> = sessions
            .iter()
            .map(|session| self.0.start_close(session))
            .collect();
        for mut closed in closing {
            // Its task sends this before it ends.
            let _ = closed.wait_for(|is_closed| *is_closed).await;
        }
    }

    /// Begins to close all sessions; nobody waits for that.
    fn start_closing(&self) {
        for session in self.0.live_sessions.close() {
            self.0.start_close(&session);
        }
    }
}

impl Handler for AgentConnection {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let method = AgentMethod::find(request.method());
        let Some(method) = method.filter(|method| self.0.agent.serves(*method)) else {
            request.unknown_method();
            return None;
        };
        match method {
            AgentMethod::Initialize => self.initialize(request),
            AgentMethod::Authenticate => self.serve(request, ConnectionState::authenticate),
            AgentMethod::Logout => {
                let params = optional(&request, LogoutRequest::new);
                self.serve_decoded(request, params, ConnectionState::logout)
            }
            AgentMethod::SessionNew => self.serve(request, ConnectionState::new_session),
            AgentMethod::SessionLoad => self.serve(request, ConnectionState::load_session),
            AgentMethod::SessionResume => self.serve(request, ConnectionState::resume_session),
            AgentMethod::SessionList => {
                let params = optional(&request, ListSessionsRequest::new);
                self.serve_decoded(request, params, ConnectionState::list_sessions)
            }
            AgentMethod::SessionDelete => self.serve(request, ConnectionState::delete_session),
            AgentMethod::SessionClose => self.serve(request, ConnectionState::close_session),
            AgentMethod::SessionSetMode => self.serve(request, ConnectionState::set_mode),
            AgentMethod::SessionSetConfigOption => {
                self.serve(request, ConnectionState::set_config_option)
            }
            AgentMethod::SessionPrompt => self.prompt(request),
            // A cancel is a notification; as a request it does not exist.
            AgentMethod::SessionCancel => {
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

    /// A closed session answers its prompt `cancelled`.
    fn end_requests(&self) {
        self.start_closing();
    }
}

impl AgentConnection {
    fn initialize(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let answer = handshake::request(&request).and_then(|params| {
            let features = handshake::client_features(&params);
            let response = handshake::response(&self.0.agent, &features);
            self.0.client.set(Arc::new(features)).map_err(|_| {
                fault::invalid_request(InitializeRequest::METHOD, "the connection is initialized")
            })?;
            Ok(response)
        });
        let (responder, _) = request.into_parts();
        responder.answer(answer);
        None
    }

    /// Serves a request by a method of the state.
    fn serve<R, F, Fut>(&self, request: IncomingRequest, work: F) -> Option<BoxFuture>
    where
        R: Request,
        F: FnOnce(Arc<ConnectionState>, Result<R, Fault>, Context) -> Fut,
        Fut: Future<Output = Served<R::Response>> + Send + 'static,
    {
        let params = request.decode();
        self.serve_decoded(request, params, work)
    }

    /// The same, with parameters that are decoded already. Events that have to follow
    /// the response follow it at once.
    fn serve_decoded<R, F, Fut>(
        &self,
        request: IncomingRequest,
        params: Result<R, Fault>,
        work: F,
    ) -> Option<BoxFuture>
    where
        R: Request,
        F: FnOnce(Arc<ConnectionState>, Result<R, Fault>, Context) -> Fut,
        Fut: Future<Output = Served<R::Response>> + Send + 'static,
    {
        if let Err(fault) = self.0.initialized(R::METHOD) {
            return refuse(request, fault);
        }
        let span =
            tracing::debug_span!("rpc.serve", rpc.method = R::METHOD, rpc.id = ?request.id());
        let (responder, context) = request.into_parts();
        let work = work(Arc::clone(&self.0), params, context);
        let agent = Arc::clone(&self.0.agent);
        let answer = move |served: Served<R::Response>| match served {
            Ok((response, opened)) => {
                responder.answer(Ok(response));
                if let Some(session) = opened {
                    session.core.send_held();
                }
            }
            Err(fault) => responder.answer::<R::Response>(Err(agent.report(R::METHOD, fault))),
        };
        Some(Box::pin(Then::new(work, answer).instrument(span)))
    }

    fn prompt(&self, request: IncomingRequest) -> Option<BoxFuture> {
        if let Err(fault) = self.0.initialized(PromptRequest::METHOD) {
            return refuse(request, fault);
        }
        let accepted = request.decode::<PromptRequest>().and_then(|params| {
            let session = self.0.live(PromptRequest::METHOD, &params.session_id)?;
            let command = CommandId::new(random_id::prompt_id());
            Ok((AcceptedPrompt::begin(session, command)?, params.prompt))
        });
        let (accepted, prompt) = match accepted {
            Ok(accepted) => accepted,
            Err(fault) => return self.refuse_prompt(request, fault),
        };
        let accepts = self.0.agent.prompt;
        let compacts = self.0.agent.compact_command && prompt::is_compact_command(&prompt);
        let span = tracing::debug_span!(
            "acp.turn",
            session.id = %accepted.session_id(),
            rpc.id = ?request.id(),
            stop_reason = field::Empty,
        );
        let state = Arc::clone(&self.0);
        let (responder, context) = request.into_parts();
        let work = async move {
            let authorized = match state.agent.strict_login {
                false => Ok(accepted),
                true => {
                    let authorize = state.authorize(PromptRequest::METHOD);
                    accepted.authorized(authorize, &context).await
                }
            };
            let answer = match authorized {
                Ok(accepted) => {
                    let task = match compacts {
                        true => Ok(Task::Compact),
                        false => prompt::from_wire(prompt, accepts)
                            .map(Task::Prompt)
                            .map_err(|refused| refused.into_fault(PromptRequest::METHOD)),
                    };
                    match task {
                        Ok(task) => accepted.answer(task, &context).await,
                        Err(fault) => {
                            // Lets go of the slot before the answer leaves.
                            drop(accepted);
                            Err(fault)
                        }
                    }
                }
                Err(answer) => answer,
            };
            if let Ok(response) = &answer {
                Span::current().record("stop_reason", response.stop_reason.as_str());
            }
            responder
                .answer(answer.map_err(|fault| state.agent.report(PromptRequest::METHOD, fault)));
        };
        Some(Box::pin(work.instrument(span)))
    }

    /// Refuses a prompt. A user who has to log in first learns nothing else.
    fn refuse_prompt(&self, request: IncomingRequest, fault: Fault) -> Option<BoxFuture> {
        if !self.0.agent.strict_login {
            return refuse(request, fault);
        }
        let state = Arc::clone(&self.0);
        let (responder, context) = request.into_parts();
        Some(Box::pin(async move {
            let admitted = state.admit(PromptRequest::METHOD, &context).await;
            responder.answer::<PromptResponse>(admitted.and(Err(fault)));
        }))
    }

    /// R118. A notification that cannot be read or names no session is ignored: it has
    /// no answer.
    fn cancel(&self, notification: &IncomingNotification<'_>) {
        let Ok(params) = notification.decode::<CancelNotification>() else {
            return;
        };
        if let Some(session) = self.0.live_sessions.get(params.session_id.as_str()) {
            session.cancel();
        }
    }
}

impl ConnectionState {
    /// The abilities of the client, once it is initialized.
    pub(super) fn initialized(&self, method: &str) -> Result<&Arc<ClientFeatures>, Fault> {
        self.client
            .get()
            .ok_or_else(|| fault::invalid_request(method, "initialize comes first"))
    }

    /// Finds a live session.
    pub(super) fn live(&self, method: &str, id: &SessionId) -> Result<Arc<Session>, Fault> {
        match self.live_sessions.get(id.as_str()) {
            Some(session) => Ok(session),
            None => {
                host_id(method, id)?;
                Err(Fault::not_found(format!(
                    "{method}: there is no such session"
                )))
            }
        }
    }
}

/// A session id as the host reads it.
pub(super) fn host_id(method: &str, id: &SessionId) -> Result<acp_host::SessionId, Fault> {
    acp_host::SessionId::new(id.as_str()).map_err(|error| {
        let max = acp_host::SessionId::MAX_BYTES;
        let expected = format!("an id of 1 to {max} bytes without control characters");
        RefusedMember::new("sessionId", error.to_string(), expected).into_fault(method)
    })
}

/// Parameters that may be absent.
fn optional<R: Request>(request: &IncomingRequest, none: fn() -> R) -> Result<R, Fault> {
    let params = request.raw_params();
    if params.is_none_or(|params| params.get() == "null") {
        return Ok(none());
    }
    request.decode()
}

fn refuse(request: IncomingRequest, fault: Fault) -> Option<BoxFuture> {
    request.refuse(fault);
    None
}
