//! How a session comes to be: opened, loaded or resumed.

use std::sync::Arc;

use acp_protocol::rpc::{CallId, Flow};
use acp_protocol::v1::{NewSessionRequest, ResumeSessionRequest, SessionId, methods};
use tokio::time::timeout;

use super::served::Served;
use super::settings::Settings;
use crate::connection::Capability;
use crate::connection::Lease;
use crate::session::Reader;
use crate::session::SessionState;
use crate::{ClientError, Session, SessionFolders, SessionSetup};

/// Opens a new session.
pub(crate) async fn open(lease: Arc<Lease>, setup: SessionSetup) -> Result<Session, ClientError> {
    let connection = lease.connection();
    let folders = setup.folders();
    let flow = setup.flow(connection.options());
    let setup = setup.check(connection.offers()?)?;
    let served = Served::open(connection.options(), &folders).await;
    let request = NewSessionRequest::new(setup.cwd, setup.mcp_servers)
        .with_additional_directories(setup.additional_directories);
    let hold = connection.peer().hold_updates();
    let naming = connection.registry().begin_naming();
    let limit = connection.options().timeouts.new_session;
    let (facts, answer) = connection.call(&request, limit).await?;
    if answer.session_id.as_str().is_empty() {
        return Err(ClientError::EmptySessionId);
    }
    let duplicate = || ClientError::DuplicateSession {
        session: answer.session_id.clone(),
    };
    let mailbox = hold
        .open_mailbox(&answer.session_id)
        .map_err(|_| duplicate())?;
    drop(hold);
    mailbox.control().set_flow(flow);
    let state = SessionState::new(
        answer.session_id.clone(),
        Arc::clone(connection),
        Reader::new(mailbox, connection.options().dedup),
        Settings::new(answer.modes, answer.config_options, facts.response_seq),
        served,
    );
    if !connection.registry().insert(&state) {
        return Err(duplicate());
    }
    drop(naming);
    tracing::debug!(session.id = %state.id(), "a session was opened");
    Ok(Session::new(state, lease))
}

/// Goes on with a session that the agent remembers, without a replay.
pub(crate) async fn resume(
    lease: Arc<Lease>,
    id: SessionId,
    setup: SessionSetup,
) -> Result<Session, ClientError> {
    let connection = Arc::clone(lease.connection());
    Capability::Resume.require_in(connection.offers()?)?;
    let folders = setup.folders();
    let flow = setup.flow(connection.options());
    let setup = setup.check(connection.offers()?)?;
    let request = ResumeSessionRequest::new(id.clone(), setup.cwd)
        .with_mcp_servers(setup.mcp_servers)
        .with_additional_directories(setup.additional_directories);
    let mut opening = Opening::begin(lease, id, &folders, flow).await?;
    let call = match connection.peer().start_call(&request) {
        Ok(call) => call,
        Err(error) => return Err(connection.explain(methods::SESSION_RESUME, error).await),
    };
    opening.undo = call.id();
    let limit = connection.options().timeouts.new_session;
    let outcome = timeout(limit, call.result()).await;
    let Ok((facts, answer)) = outcome else {
        return Err(connection.timed_out(methods::SESSION_RESUME, limit));
    };
    opening.undo = None;
    match answer {
        Ok(answer) => {
            let mut settings = opening.state().settings();
            settings.opened(answer.modes, answer.config_options, facts.response_seq);
            drop(settings);
            tracing::debug!(session.id = %opening.state().id(), "a session was resumed");
            Ok(opening.finish())
        }
        Err(error) => Err(connection.explain(methods::SESSION_RESUME, error).await),
    }
}

/// A session of a known id that is being opened.
///
/// It is registered before the agent is asked, so nothing the agent says of it is
/// lost. Dropped unfinished, this very instance is forgotten again.
#[derive(Debug)]
pub(crate) struct Opening {
    state: Arc<SessionState>,
    lease: Arc<Lease>,
    finished: bool,
    /// The call that opens it, while it is not answered: should it succeed when
    /// nobody waits any more, the session is to be closed.
    pub(crate) undo: Option<CallId>,
}

impl Opening {
    /// Registers the session.
    pub(crate) async fn begin(
        lease: Arc<Lease>,
        id: SessionId,
        folders: &SessionFolders,
        flow: Flow,
    ) -> Result<Self, ClientError> {
        if id.as_str().is_empty() {
            return Err(ClientError::EmptySessionId);
        }
        let connection = lease.connection();
        let served = Served::open(connection.options(), folders).await;
        let duplicate = || ClientError::DuplicateSession {
            session: id.clone(),
        };
        // What was said to an earlier session of this name is not for this one.
        let hold = connection.peer().hold_updates();
        let mailbox = hold.open_mailbox(&id).map_err(|_| duplicate())?;
        mailbox.control().set_flow(flow);
        let state = SessionState::new(
            id.clone(),
            Arc::clone(connection),
            Reader::new(mailbox, connection.options().dedup),
            Settings::default(),
            served,
        );
        if !connection.registry().insert(&state) {
            return Err(duplicate());
        }
        Ok(Self {
            state,
            lease,
            finished: false,
            undo: None,
        })
    }

    pub(crate) fn state(&self) -> &Arc<SessionState> {
        &self.state
    }

    /// The session is open.
    pub(crate) fn finish(mut self) -> Session {
        self.finished = true;
        Session::new(Arc::clone(&self.state), Arc::clone(&self.lease))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        if let Some(call) = self.undo {
            self.lease
                .connection()
                .registry()
                .undo_when_answered(call, self.state.id().clone());
        }
        self.state.forget();
    }
}
