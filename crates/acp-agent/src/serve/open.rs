//! Sessions begun, resumed and loaded.

use std::{path::PathBuf, sync::Arc};

use acp_connection::{Context, Peer};
use acp_host::{ClientFeatures, Setup, dynamic::DynLiveSession};
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{
        LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse,
        ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
        SessionModeState,
    },
};

use crate::{
    fault,
    host_call::call_host,
    serve::connection::{Served, State, host_id},
    serve::live_sessions::{RegisterError, Reservation},
    session::replay,
    session::{Frame, Session},
    turn::client_view::ClientView,
    wire,
};

/// The options of a session as its client first sees them.
type Options = (Option<Vec<SessionConfigOption>>, Option<SessionModeState>);

impl State {
    pub(crate) async fn new_session(
        self: Arc<Self>,
        params: Result<NewSessionRequest, Fault>,
        context: Context,
    ) -> Served<NewSessionResponse> {
        let method = NewSessionRequest::METHOD;
        let served = context.run_until_cancelled(async {
            let (opening, setup) = self.prepare(method, params).await?;
            let made = call_host(|| self.parts.host.new_session(setup)).await;
            let made = fault::called(method, made)?;
            let opened = opening.frame(made, context.peer(), true)?.register()?;
            let (config_options, modes) = opened.attach().await?;
            let mut response = NewSessionResponse::new(&opened.session.core.id);
            (response.config_options, response.modes) = (config_options, modes);
            Ok((response, Some(opened.keep())))
        });
        served.await.unwrap_or_else(|| Err(Fault::cancelled()))
    }

    pub(crate) async fn resume_session(
        self: Arc<Self>,
        params: Result<ResumeSessionRequest, Fault>,
        context: Context,
    ) -> Served<ResumeSessionResponse> {
        let method = ResumeSessionRequest::METHOD;
        let Some(resumer) = &self.parts.resumer else {
            return Err(Fault::method_not_found(method));
        };
        let served = context.run_until_cancelled(async {
            let (opening, setup) = self.prepare(method, params).await?;
            let id = opening.host_id()?;
            let made = call_host(|| resumer.resume_session(id, setup)).await;
            let made = fault::called(method, made)?;
            let opened = opening.frame(made, context.peer(), true)?.register()?;
            let (config_options, modes) = opened.attach().await?;
            let mut response = ResumeSessionResponse::new();
            (response.config_options, response.modes) = (config_options, modes);
            Ok((response, Some(opened.keep())))
        });
        served.await.unwrap_or_else(|| Err(Fault::cancelled()))
    }

    pub(crate) async fn load_session(
        self: Arc<Self>,
        params: Result<LoadSessionRequest, Fault>,
        context: Context,
    ) -> Served<LoadSessionResponse> {
        let method = LoadSessionRequest::METHOD;
        let Some(loader) = &self.parts.loader else {
            return Err(Fault::method_not_found(method));
        };
        let served = context.run_until_cancelled(async {
            let (opening, setup) = self.prepare(method, params).await?;
            let id = opening.host_id()?;
            let loaded = call_host(|| loader.load_session(id, setup)).await;
            let loaded = fault::called(method, loaded)?;
            // The client knows the session: what concerns it need not wait.
            let opened = opening.frame(loaded.session, context.peer(), false)?;
            replay::send(&opened.session.core, method, loaded.journal).await?;
            let opened = opened.register()?;
            let (config_options, modes) = opened.attach().await?;
            let mut response = LoadSessionResponse::new();
            (response.config_options, response.modes) = (config_options, modes);
            Ok((response, Some(opened.keep())))
        });
        served.await.unwrap_or_else(|| Err(Fault::cancelled()))
    }

    /// Checks who asks, and for what, in the order in which a client is told.
    async fn prepare<R: Into<Asked>>(
        &self,
        method: &'static str,
        params: Result<R, Fault>,
    ) -> Result<(Opening<'_>, Setup), Fault> {
        self.authorize(method).await?;
        let asked: Asked = params?.into();
        let max = self.parts.limits.live_sessions;
        let refused = |refused: RegisterError| refused.into_fault(method);
        let place = match &asked.session {
            Some(id) => {
                host_id(method, id)?;
                Some(self.registry.reserve(id, max).map_err(refused)?)
            }
            None => {
                self.registry.check_room(max).map_err(refused)?;
                None
            }
        };
        let client = self.initialized(method)?;
        let setup = self.parts.setup.check(
            method,
            &asked.cwd,
            &asked.directories,
            asked.servers,
            (**client).clone(),
        )?;
        let opening = Opening {
            state: self,
            method,
            client: Arc::clone(client),
            cwd: setup.cwd.clone(),
            asked: asked.session,
            place,
        };
        Ok((opening, setup))
    }
}

/// What the three requests have in common.
struct Asked {
    /// The session to take up; none for a new one.
    session: Option<SessionId>,
    cwd: String,
    directories: Vec<String>,
    servers: Vec<McpServer>,
}

impl From<NewSessionRequest> for Asked {
    fn from(request: NewSessionRequest) -> Self {
        Self {
            session: None,
            cwd: request.cwd,
            directories: request.additional_directories,
            servers: request.mcp_servers,
        }
    }
}

impl From<ResumeSessionRequest> for Asked {
    fn from(request: ResumeSessionRequest) -> Self {
        Self {
            session: Some(request.session_id),
            cwd: request.cwd,
            directories: request.additional_directories,
            servers: request.mcp_servers,
        }
    }
}

impl From<LoadSessionRequest> for Asked {
    fn from(request: LoadSessionRequest) -> Self {
        Self {
            session: Some(request.session_id),
            cwd: request.cwd,
            directories: request.additional_directories,
            servers: request.mcp_servers,
        }
    }
}

/// A session that the host is about to make.
struct Opening<'a> {
    state: &'a State,
    method: &'static str,
    client: Arc<ClientFeatures>,
    cwd: PathBuf,
    asked: Option<SessionId>,
    /// The id is kept for it, if it is known.
    place: Option<Reservation<'a>>,
}

impl<'a> Opening<'a> {
    /// The id of the session that is taken up.
    fn host_id(&self) -> Result<acp_host::SessionId, Fault> {
        match &self.asked {
            Some(id) => host_id(self.method, id),
            None => Err(Fault::internal()),
        }
    }

    /// Takes over what the host made. With `hold`, what is told waits until the
    /// client knows the session.
    ///
    /// # Errors
    ///
    /// A host that returns another session than was asked for is wrong.
    fn frame(
        self,
        made: Arc<dyn DynLiveSession>,
        peer: &Peer,
        hold: bool,
    ) -> Result<Opened<'a>, Fault> {
        let parts = &self.state.parts;
        let view = ClientView::new(Arc::clone(&self.client), parts.compact_command, hold);
        let frame = Frame {
            peer,
            client: self.client,
            cwd: self.cwd,
            limits: Arc::clone(&parts.limits),
            has_event_ids: parts.has_event_ids,
            view,
        };
        let opened = Opened {
            state: self.state,
            method: self.method,
            place: self.place,
            session: Session::new(made, frame),
            is_registered: false,
            is_kept: false,
        };
        match self.asked {
            Some(asked) if asked != opened.session.core.id => Err(fault::internal(
                opened.method,
                "the agent took up another session",
            )),
            _ => Ok(opened),
        }
    }
}

/// A session that the host made. Unless it is kept it is shut down, and nobody
/// waits for that.
struct Opened<'a> {
    state: &'a State,
    method: &'static str,
    place: Option<Reservation<'a>>,
    session: Arc<Session>,
    is_registered: bool,
    is_kept: bool,
}

impl Opened<'_> {
    /// Registers the session, in the place that was kept for it.
    fn register(mut self) -> Result<Self, Fault> {
        let registered = match self.place.take() {
            Some(place) => place.fill(&self.session),
            None => {
                let max = self.state.parts.limits.live_sessions;
                self.state.registry.insert(&self.session, max)
            }
        };
        registered.map_err(|refused| refused.into_fault(self.method))?;
        self.is_registered = true;
        Ok(self)
    }

    /// Gives the host its way to the client, and asks for the options.
    async fn attach(&self) -> Result<Options, Fault> {
        let attached = self.session.attach().await;
        attached.map_err(|error| fault::from_host(self.method, error))?;
        self.session.core.announce_commands();
        let Some(catalog) = self.state.parts.config.catalog() else {
            return Ok((None, None));
        };
        let id = self.session.live.id();
        let options = fault::called(self.method, call_host(|| catalog.options(id)).await)?;
        let modes = wire::mode_state(&options);
        let shows_switches = self.session.core.client.boolean_options;
        Ok((Some(wire::config_options(options, shows_switches)), modes))
    }

    fn keep(mut self) -> Arc<Session> {
        self.is_kept = true;
        Arc::clone(&self.session)
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // Who closed the connection meanwhile has shut it down.
        if !self.is_registered || self.state.registry.remove(&self.session) {
            self.session.shut_down_soon();
        }
    }
}
