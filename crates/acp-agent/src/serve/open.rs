//! Sessions begun, resumed and loaded.

use std::sync::Arc;

use acp_connection::{Context, Peer};
use acp_host::{
    Setup,
    dynamic::{DynLiveSession, DynReplay},
};
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{
        LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse,
        ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
        SessionModeState,
    },
};

use super::{
    connection::{ConnectionState, Served, host_id},
    live_sessions::{RegisterError, Reservation},
    setup,
};
use crate::{
    fault,
    host_call::call_host,
    session::{Session, SessionParts, replay},
    turn::client_view::ClientView,
    wire,
};

/// The options of a session as its client first sees them.
type FirstOptions = (Option<Vec<SessionConfigOption>>, Option<SessionModeState>);

/// A session of the host, with its journal if it is loaded.
type HostSession = (Arc<dyn DynLiveSession>, Option<Box<dyn DynReplay>>);

impl ConnectionState {
    pub(super) async fn new_session(
        self: Arc<Self>,
        params: Result<NewSessionRequest, Fault>,
        context: Context,
    ) -> Served<NewSessionResponse> {
        let params = params.map(|params| OpenRequest {
            session: None,
            cwd: params.cwd,
            directories: params.additional_directories,
            servers: params.mcp_servers,
        });
        let (session, options) = self.open(OpenMethod::New, params, context).await?;
        let mut response = NewSessionResponse::new(&session.core.id);
        (response.config_options, response.modes) = options;
        Ok((response, Some(session)))
    }

    pub(super) async fn resume_session(
        self: Arc<Self>,
        params: Result<ResumeSessionRequest, Fault>,
        context: Context,
    ) -> Served<ResumeSessionResponse> {
        let params = params.map(|params| OpenRequest {
            session: Some(params.session_id),
            cwd: params.cwd,
            directories: params.additional_directories,
            servers: params.mcp_servers,
        });
        let (session, options) = self.open(OpenMethod::Resume, params, context).await?;
        let mut response = ResumeSessionResponse::new();
        (response.config_options, response.modes) = options;
        Ok((response, Some(session)))
    }

    pub(super) async fn load_session(
        self: Arc<Self>,
        params: Result<LoadSessionRequest, Fault>,
        context: Context,
    ) -> Served<LoadSessionResponse> {
        let params = params.map(|params| OpenRequest {
            session: Some(params.session_id),
            cwd: params.cwd,
            directories: params.additional_directories,
            servers: params.mcp_servers,
        });
        let (session, options) = self.open(OpenMethod::Load, params, context).await?;
        let mut response = LoadSessionResponse::new();
        (response.config_options, response.modes) = options;
        Ok((response, Some(session)))
    }

    async fn open(
        &self,
        method: OpenMethod,
        params: Result<OpenRequest, Fault>,
        context: Context,
    ) -> Result<(Arc<Session>, FirstOptions), Fault> {
        let opening = self.open_for(method, params, context.peer());
        let opened = context.run_until_cancelled(opening).await;
        opened.unwrap_or_else(|| Err(Fault::cancelled()))
    }

    async fn open_for(
        &self,
        open: OpenMethod,
        params: Result<OpenRequest, Fault>,
        peer: &Peer,
    ) -> Result<(Arc<Session>, FirstOptions), Fault> {
        let method = open.name();
        // In the order in which a client learns of its mistakes.
        self.authorize(method).await?;
        let params = params?;
        let max = self.agent.limits.live_sessions;
        let refused = |error: RegisterError| error.into_fault(method);
        let (id, reservation) = match &params.session {
            Some(id) => {
                let host_id = host_id(method, id)?;
                let reservation = self.live_sessions.reserve(id, max).map_err(refused)?;
                (Some(host_id), Some(reservation))
            }
            None => {
                self.live_sessions.check_room(max).map_err(refused)?;
                (None, None)
            }
        };
        let client = Arc::clone(self.initialized(method)?);
        let setup_bytes = setup::length(&params.cwd, &params.directories, &params.servers);
        let setup = self.agent.setup.check(
            &params.cwd,
            &params.directories,
            params.servers,
            (*client).clone(),
        );
        let setup = setup.map_err(|refused| refused.into_fault(method))?;
        self.live_sessions
            .check_bytes(setup_bytes)
            .map_err(refused)?;
        let cwd = setup.cwd.clone();
        let (live, journal) = self.open_at_host(open, id, setup).await?;
        // The client of a loaded session knows it: events of it need not wait.
        let hold = journal.is_none();
        let parts = SessionParts {
            peer,
            cwd,
            setup_bytes,
            limits: Arc::clone(&self.agent.limits),
            has_event_ids: self.agent.has_event_ids,
            view: ClientView::new(Arc::clone(&client), self.agent.compact_command, hold),
            client,
        };
        let mut opened = OpenedSession {
            state: self,
            method,
            reservation,
            session: Session::new(live, parts),
            is_registered: false,
            is_kept: false,
        };
        if params
            .session
            .is_some_and(|asked| asked != opened.session.core.id)
        {
            return Err(fault::internal(method, "the agent took up another session"));
        }
        if let Some(journal) = journal {
            replay::send(&opened.session.core, method, journal).await?;
        }
        // A prompt finds the session once its host can take one.
        opened.reserve()?;
        let options = opened.attach().await?;
        opened.register()?;
        opened.is_kept = true;
        Ok((Arc::clone(&opened.session), options))
    }

    async fn open_at_host(
        &self,
        open: OpenMethod,
        id: Option<acp_host::SessionId>,
        setup: Setup,
    ) -> Result<HostSession, Fault> {
        let (agent, method) = (&self.agent, open.name());
        match (open, id, &agent.resumer, &agent.loader) {
            (OpenMethod::New, ..) => {
                let session = call_host(|| agent.host.new_session(setup)).await;
                Ok((fault::called(method, session)?, None))
            }
            (OpenMethod::Resume, Some(id), Some(resumer), _) => {
                let session = call_host(|| resumer.resume_session(id, setup)).await;
                Ok((fault::called(method, session)?, None))
            }
            (OpenMethod::Load, Some(id), _, Some(loader)) => {
                let loaded = call_host(|| loader.load_session(id, setup)).await;
                let loaded = fault::called(method, loaded)?;
                Ok((loaded.session, Some(loaded.journal)))
            }
            _ => Err(Fault::method_not_found(method)),
        }
    }
}

/// The three ways to open a session.
#[derive(Clone, Copy)]
enum OpenMethod {
    New,
    Resume,
    Load,
}

impl OpenMethod {
    fn name(self) -> &'static str {
        match self {
            Self::New => NewSessionRequest::METHOD,
            Self::Resume => ResumeSessionRequest::METHOD,
            Self::Load => LoadSessionRequest::METHOD,
        }
    }
}

/// The members that their requests share.
struct OpenRequest {
    /// The session to take up; none for a new one.
    session: Option<SessionId>,
    cwd: String,
    directories: Vec<String>,
    servers: Vec<McpServer>,
}

/// A session that the host has made. Unless it is kept it is shut down, and nothing
/// waits for that.
struct OpenedSession<'a> {
    state: &'a ConnectionState,
    method: &'static str,
    reservation: Option<Reservation<'a>>,
    session: Arc<Session>,
    is_registered: bool,
    is_kept: bool,
}

impl OpenedSession<'_> {
    /// Reserves the id of a new session.
    fn reserve(&mut self) -> Result<(), Fault> {
        if self.reservation.is_none() {
            let max = self.state.agent.limits.live_sessions;
            let reserved = self.state.live_sessions.reserve(&self.session.core.id, max);
            self.reservation = Some(reserved.map_err(|error| error.into_fault(self.method))?);
        }
        Ok(())
    }

    fn register(&mut self) -> Result<(), Fault> {
        if let Some(reservation) = self.reservation.take() {
            let registered = reservation.fill(&self.session);
            registered.map_err(|error| error.into_fault(self.method))?;
            self.is_registered = true;
        }
        Ok(())
    }

    /// Gives the host its link to the client, and asks for the options.
    async fn attach(&self) -> Result<FirstOptions, Fault> {
        let attached = self.session.attach().await;
        attached.map_err(|error| fault::from_host(self.method, error))?;
        self.session.core.announce_commands();
        let Some(catalog) = self.state.agent.config.catalog() else {
            return Ok((None, None));
        };
        let id = self.session.live.id();
        let options = fault::called(self.method, call_host(|| catalog.options(id)).await)?;
        let modes = wire::mode_state(&options);
        let shows_switches = self.session.core.client.boolean_options;
        Ok((Some(wire::config_options(options, shows_switches)), modes))
    }
}

impl Drop for OpenedSession<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // A connection that closed meanwhile has shut it down.
        if !self.is_registered || self.state.live_sessions.remove(&self.session) {
            self.session.shut_down_soon();
        }
    }
}
