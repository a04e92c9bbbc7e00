//! One connection of an agent: which method does what, and in which order.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use acp_connection::{BoxFuture, Context, Handler, IncomingNotification, IncomingRequest, Then};
use acp_host::{ClientFeatures, CommandId};
use acp_protocol::{
    Notification, Request,
    rpc::Fault,
    v1::{
        AuthenticateRequest, CancelNotification, CloseSessionRequest, DeleteSessionRequest,
        InitializeRequest, ListSessionsRequest, LoadSessionRequest, LogoutRequest,
        NewSessionRequest, PromptRequest, PromptResponse, ResumeSessionRequest, SessionId,
        SetSessionConfigOptionRequest, SetSessionModeRequest, methods::AgentMethod,
    },
};
use tracing::{Instrument as _, Span, field};

use crate::{
    fault,
    random_id::prompt_name,
    serve::handshake,
    serve::live_sessions::LiveSessions,
    serve::registration::Registration,
    session::Session,
    session::prompt::{AcceptedPrompt, Task},
    wire::prompt,
};

/// One connection of an agent.
#[derive(Clone)]
pub(crate) struct Connection(Arc<State>);

/// What the requests of a connection share.
pub(crate) struct State {
    pub(crate) parts: Arc<Registration>,
    /// What the client can do; set by `initialize`.
    client: OnceLock<Arc<ClientFeatures>>,
    pub(crate) registry: LiveSessions,
    /// The user has logged in on this connection.
    pub(crate) is_logged_in: AtomicBool,
    /// Logins and logouts follow one another.
    pub(crate) login: tokio::sync::Mutex<()>,
}

/// What a request comes to: its response, and the session that the client knows
/// from then on.
pub(crate) type Served<R> = Result<(R, Option<Arc<Session>>), Fault>;

impl Connection {
    pub(crate) fn new(parts: Arc<Registration>) -> Self {
        Self(Arc::new(State {
            parts,
            client: OnceLock::new(),
            registry: LiveSessions::default(),
            is_logged_in: AtomicBool::new(false),
            login: tokio::sync::Mutex::default(),
        }))
    }

    /// Closes all sessions, side by side, each within its bounds (G-16).
    pub(crate) async fn close_sessions(&self) {
        let sessions = self.0.registry.close();
        let closing: Vec<_> = sessions
            .iter()
            .map(|session| self.0.start_close(session))
            .collect();
        for mut closed in closing {
            // Its task ends only after it has told so.
            let _ = closed.wait_for(|is_closed| *is_closed).await;
        }
    }
}

impl Handler for Connection {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let method = AgentMethod::find(request.method());
        let Some(method) = method.filter(|method| self.0.parts.serves(*method)) else {
            request.unknown_method();
            return None;
        };
        match method {
            AgentMethod::Initialize => self.initialize(request),
            AgentMethod::Authenticate => {
                let params = request.decode::<AuthenticateRequest>();
                self.serve(request, params, State::authenticate)
            }
            AgentMethod::Logout => {
                let params = optional(&request, LogoutRequest::new);
                self.serve(request, params, State::logout)
            }
            AgentMethod::SessionNew => {
                let params = request.decode::<NewSessionRequest>();
                self.serve(request, params, State::new_session)
            }
            AgentMethod::SessionLoad => {
                let params = request.decode::<LoadSessionRequest>();
                self.serve(request, params, State::load_session)
            }
            AgentMethod::SessionResume => {
                let params = request.decode::<ResumeSessionRequest>();
                self.serve(request, params, State::resume_session)
            }
            AgentMethod::SessionList => {
                let params = optional(&request, ListSessionsRequest::new);
                self.serve(request, params, State::list_sessions)
            }
            AgentMethod::SessionDelete => {
                let params = request.decode::<DeleteSessionRequest>();
                self.serve(request, params, State::delete_session)
            }
            AgentMethod::SessionClose => {
                let params = request.decode::<CloseSessionRequest>();
                self.serve(request, params, State::close_session)
            }
            AgentMethod::SessionSetMode => {
                let params = request.decode::<SetSessionModeRequest>();
                self.serve(request, params, State::set_mode)
            }
            AgentMethod::SessionSetConfigOption => {
                let params = request.decode::<SetSessionConfigOptionRequest>();
                self.serve(request, params, State::set_config_option)
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
}

impl Connection {
    fn initialize(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let answer = handshake::request(&request).and_then(|params| {
            let features = handshake::client_features(&params);
            let response = handshake::response(&self.0.parts, &features);
            self.0.client.set(Arc::new(features)).map_err(|_| {
                fault::invalid_request(InitializeRequest::METHOD, "the connection is initialized")
            })?;
            Ok(response)
        });
        let (responder, _) = request.into_parts();
        responder.answer(answer);
        None
    }

    /// Serves a request by a method of the state. What has to follow the
    /// response follows it at once.
    fn serve<R, F, Fut>(
        &self,
        request: IncomingRequest,
        params: Result<R, Fault>,
        work: F,
    ) -> Option<BoxFuture>
    where
        R: Request,
        F: FnOnce(Arc<State>, Result<R, Fault>, Context) -> Fut,
        Fut: Future<Output = Served<R::Response>> + Send + 'static,
    {
        if let Err(fault) = self.0.initialized(R::METHOD) {
            return refuse(request, fault);
        }
        let span =
            tracing::debug_span!("rpc.serve", rpc.method = R::METHOD, rpc.id = ?request.id());
        let (responder, context) = request.into_parts();
        let work = work(Arc::clone(&self.0), params, context);
        let answer = |served: Served<R::Response>| match served {
            Ok((response, opened)) => {
                responder.answer(Ok(response));
                if let Some(session) = opened {
                    session.core.send_held();
                }
            }
            Err(fault) => responder.answer::<R::Response>(Err(fault)),
        };
        Some(Box::pin(Then::new(work, answer).instrument(span)))
    }

    fn prompt(&self, request: IncomingRequest) -> Option<BoxFuture> {
        if let Err(fault) = self.0.initialized(PromptRequest::METHOD) {
            return refuse(request, fault);
        }
        let accepted = request.decode::<PromptRequest>().and_then(|params| {
            let session = self.0.live(PromptRequest::METHOD, &params.session_id)?;
            let command = CommandId::new(prompt_name());
            Ok((AcceptedPrompt::begin(session, command)?, params.prompt))
        });
        let (accepted, prompt) = match accepted {
            Ok(accepted) => accepted,
            Err(fault) => return self.refuse_prompt(request, fault),
        };
        let accepts = self.0.parts.prompt;
        let compacts = self.0.parts.compact_command && prompt::is_compact_command(&prompt);
        let span = tracing::debug_span!(
            "acp.turn",
            session.id = %accepted.session_id(),
            rpc.id = ?request.id(),
            stop_reason = field::Empty,
        );
        let state = Arc::clone(&self.0);
        let (responder, context) = request.into_parts();
        let work = async move {
            let authorized = match state.parts.strict_login() {
                None => Ok(accepted),
                Some(_) => {
                    let authorize = state.authorize(PromptRequest::METHOD);
                    accepted.authorized(authorize, &context).await
                }
            };
            let answer = match authorized {
                Ok(accepted) => {
                    let task = match compacts {
                        true => Ok(Task::Compact),
                        false => prompt::from_wire(prompt, accepts).map(Task::Prompt),
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
            responder.answer(answer);
        };
        Some(Box::pin(work.instrument(span)))
    }

    /// Refuses a prompt; who has to log in first learns nothing but that.
    fn refuse_prompt(&self, request: IncomingRequest, fault: Fault) -> Option<BoxFuture> {
        if self.0.parts.strict_login().is_none() {
            return refuse(request, fault);
        }
        let state = Arc::clone(&self.0);
        let (responder, context) = request.into_parts();
        Some(Box::pin(async move {
            let admitted = state.admit(PromptRequest::METHOD, &context).await;
            responder.answer::<PromptResponse>(admitted.and(Err(fault)));
        }))
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
}

impl State {
    /// What the client can do, once it has said so.
    pub(crate) fn initialized(&self, method: &str) -> Result<&Arc<ClientFeatures>, Fault> {
        self.client
            .get()
            .ok_or_else(|| fault::invalid_request(method, "initialize comes first"))
    }

    /// Finds a live session.
    pub(crate) fn live(&self, method: &str, id: &SessionId) -> Result<Arc<Session>, Fault> {
        match self.registry.get(id.as_str()) {
            Some(session) => Ok(session),
            None => {
                host_id(method, id)?;
                Err(Fault::not_found(format!(
                    "{method}: there is no such session"
                )))
            }
        }
    }

    /// Takes note that somebody is logged in, or nobody is any more.
    pub(crate) fn set_logged_in(&self, is_logged_in: bool) {
        self.is_logged_in.store(is_logged_in, Ordering::Release);
    }
}

/// A session id as the host reads it.
pub(crate) fn host_id(method: &str, id: &SessionId) -> Result<acp_host::SessionId, Fault> {
    acp_host::SessionId::new(id.as_str())
        .map_err(|error| fault::invalid_params(method, &format!("sessionId: {error}")))
}

/// Parameters that may be left out.
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
