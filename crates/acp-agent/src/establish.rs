//! Sessions begun, resumed and loaded.

use std::sync::Arc;

use acp_host::{ClientFeatures, Setup, dynamic::DynLiveSession};
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{
        LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse,
        ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
        SessionModeState,
    },
};
use acp_transport_stdio::{Context, Peer};

use crate::{
    connection::{Served, State, host_id},
    fault,
    guard::guard,
    registry::{Refused, Reservation},
    replay,
    session::{Frame, Session},
    shown::Shown,
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
        let work = async {
            self.authorize(method).await?;
            let params = params?;
            let max = self.parts.limits.live_sessions;
            let refused = |refused: Refused| refused.into_fault(method);
            self.registry.check_room(max).map_err(refused)?;
            let client = self.initialized(method)?;
            let setup = self.parts.setup.check(
                method,
                &params.cwd,
                &params.additional_directories,
                params.mcp_servers,
                client.clone(),
            )?;
            let opening = Opening::new(&self, method, client, &setup);
            let made = fault::called(method, guard(|| self.parts.host.new_session(setup)).await)?;
            let mut opened = opening.frame(made, context.peer(), true);
            opened.insert(max)?;
            let (config_options, modes) = opened.attach().await?;
            let mut response = NewSessionResponse::new(&opened.session.core.id);
            (response.config_options, response.modes) = (config_options, modes);
            Ok((response, Some(opened.keep())))
        };
        context
            .run_until_cancelled(work)
            .await
            .unwrap_or_else(|| Err(Fault::cancelled()))
    }

    pub(crate) async fn resume_session(
        self: Arc<Self>,
        params: Result<ResumeSessionRequest, Fault>,
        context: Context,
    ) -> Served<ResumeSessionResponse> {
        let method = ResumeSessionRequest::METHOD;
        let work = async {
            self.authorize(method).await?;
            let params = params?;
            let id = host_id(method, &params.session_id)?;
            let place = self.reserve(method, &params.session_id)?;
            let client = self.initialized(method)?;
            let setup = self.parts.setup.check(
                method,
                &params.cwd,
                &params.additional_directories,
                params.mcp_servers,
                client.clone(),
            )?;
            let opening = Opening::new(&self, method, client, &setup);
            let Some(resumer) = &self.parts.resumer else {
                return Err(Fault::method_not_found(method));
            };
            let made = fault::called(method, guard(|| resumer.resume_session(id, setup)).await)?;
            let mut opened = opening.frame(made, context.peer(), true);
            opened.fill(place, &params.session_id)?;
            let (config_options, modes) = opened.attach().await?;
            let mut response = ResumeSessionResponse::new();
            (response.config_options, response.modes) = (config_options, modes);
            Ok((response, Some(opened.keep())))
        };
        context
            .run_until_cancelled(work)
            .await
            .unwrap_or_else(|| Err(Fault::cancelled()))
    }

    pub(crate) async fn load_session(
        self: Arc<Self>,
        params: Result<LoadSessionRequest, Fault>,
        context: Context,
    ) -> Served<LoadSessionResponse> {
        let method = LoadSessionRequest::METHOD;
        let work = async {
            self.authorize(method).await?;
            let params = params?;
            let id = host_id(method, &params.session_id)?;
            let place = self.reserve(method, &params.session_id)?;
            let client = self.initialized(method)?;
            let setup = self.parts.setup.check(
                method,
                &params.cwd,
                &params.additional_directories,
                params.mcp_servers,
                client.clone(),
            )?;
            let opening = Opening::new(&self, method, client, &setup);
            let Some(loader) = &self.parts.loader else {
                return Err(Fault::method_not_found(method));
            };
            let loaded = fault::called(method, guard(|| loader.load_session(id, setup)).await)?;
            // The client knows the session: what concerns it need not wait.
            let mut opened = opening.frame(loaded.session, context.peer(), false);
            opened.check_id(&params.session_id)?;
            replay::tell(&opened.session.core, method, loaded.journal).await?;
            opened.fill(place, &params.session_id)?;
            let (config_options, modes) = opened.attach().await?;
            let mut response = LoadSessionResponse::new();
            (response.config_options, response.modes) = (config_options, modes);
            Ok((response, Some(opened.keep())))
        };
        context
            .run_until_cancelled(work)
            .await
            .unwrap_or_else(|| Err(Fault::cancelled()))
    }

    fn reserve(&self, method: &str, id: &SessionId) -> Result<Reservation<'_>, Fault> {
        let max = self.parts.limits.live_sessions;
        self.registry
            .reserve(id, max)
            .map_err(|refused| refused.into_fault(method))
    }
}

/// A session that the host is about to make.
struct Opening<'a> {
    state: &'a State,
    method: &'static str,
    client: ClientFeatures,
    cwd: std::path::PathBuf,
}

impl<'a> Opening<'a> {
    fn new(state: &'a State, method: &'static str, client: &ClientFeatures, setup: &Setup) -> Self {
        Self {
            state,
            method,
            client: client.clone(),
            cwd: setup.cwd.clone(),
        }
    }

    /// Takes over what the host made. With `hold`, what is told waits until the
    /// client knows the session.
    fn frame(self, made: Arc<dyn DynLiveSession>, peer: &Peer, hold: bool) -> Opened<'a> {
        let parts = &self.state.parts;
        let shown = Shown::new(&self.client, parts.compact_command);
        let frame = Frame {
            peer,
            client: self.client,
            cwd: self.cwd,
            limits: Arc::clone(&parts.limits),
            stamps: parts.stamps,
            shown: if hold { shown.hold() } else { shown },
        };
        Opened {
            state: self.state,
            method: self.method,
            session: Session::new(made, frame),
            is_registered: false,
            is_kept: false,
        }
    }
}

/// A session that the host made. Unless it is kept it is shut down, and nobody
/// waits for that.
struct Opened<'a> {
    state: &'a State,
    method: &'static str,
    session: Arc<Session>,
    is_registered: bool,
    is_kept: bool,
}

impl Opened<'_> {
    /// A host that returns another session than was asked for is wrong.
    fn check_id(&self, asked: &SessionId) -> Result<(), Fault> {
        if self.session.core.id == *asked {
            Ok(())
        } else {
            Err(fault::internal(
                self.method,
                "the agent took up another session",
            ))
        }
    }

    fn insert(&mut self, max: usize) -> Result<(), Fault> {
        let inserted = self.state.registry.insert(&self.session, max);
        self.registered(inserted)
    }

    fn fill(&mut self, place: Reservation<'_>, asked: &SessionId) -> Result<(), Fault> {
        self.check_id(asked)?;
        let filled = place.fill(&self.session);
        self.registered(filled)
    }

    fn registered(&mut self, result: Result<(), Refused>) -> Result<(), Fault> {
        self.is_registered = result.is_ok();
        result.map_err(|refused| refused.into_fault(self.method))
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
        let options = fault::called(self.method, guard(|| catalog.options(id)).await)?;
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
