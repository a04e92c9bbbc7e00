//! How a session comes to be: opened, or taken up again under its id.

use std::sync::Arc;

use acp_protocol::rpc::{CallFacts, CallId};
use acp_protocol::v1::{NewSessionRequest, ResumeSessionRequest, SessionId, methods};
use tokio::time::timeout;

use super::opens::{Opened, Opens};
use super::session_setup::OpeningParts;
use super::{Lease, Session, SessionSetup, SessionState};
use crate::connection::Capability;
use crate::error::ClientError;

/// Opens a new session.
pub(crate) async fn open(lease: Arc<Lease>, setup: SessionSetup) -> Result<Session, ClientError> {
    let connection = &lease.connection;
    let setup = setup.prepare(&lease).await?;
    let request = NewSessionRequest::new(setup.cwd, setup.mcp_servers)
        .with_additional_directories(setup.additional_directories);
    let hold = connection.peer.hold_updates();
    let naming = lease.begin_naming();
    let limit = setup.limit.unwrap_or(lease.options.timeouts.new_session);
    let (facts, opened) = connection.call(&Opens(request), limit).await?;
    let (answer, models) = (opened.answer, opened.models);
    let session = lease.add(&answer.session_id, hold, setup.opening)?;
    let mut settings = session.settings();
    let at = facts.response_seq;
    settings.opened(answer.modes, answer.config_options, models, at);
    drop(settings);
    drop(naming);
    tracing::debug!(session.id = %session.id, "a session was opened");
    Ok(Session::new(session, lease))
}

/// Goes on with a session that the agent remembers, without a replay.
pub(crate) async fn resume(
    lease: Arc<Lease>,
    id: SessionId,
    setup: SessionSetup,
) -> Result<Session, ClientError> {
    let sessions = Arc::clone(&lease);
    let connection = &sessions.connection;
    connection.require(Capability::Resume)?;
    let setup = setup.prepare(&lease).await?;
    let request = ResumeSessionRequest::new(id.clone(), setup.cwd)
        .with_mcp_servers(setup.mcp_servers)
        .with_additional_directories(setup.additional_directories);
    let mut opening = Opening::begin(lease, &id, setup.opening)?;
    let call = match connection.peer.start_call(&Opens(request)) {
        Ok(call) => call,
        Err(error) => {
            let facts = CallFacts::default();
            return Err(connection
                .explain(methods::SESSION_RESUME, error, facts)
                .await);
        }
    };
    opening.undo = call.id();
    let limit = setup.limit.unwrap_or(sessions.options.timeouts.new_session);
    let Ok((facts, answer)) = timeout(limit, call.result()).await else {
        return Err(connection.timed_out(methods::SESSION_RESUME, limit));
    };
    opening.undo = None;
    match answer {
        Ok(Opened { answer, models }) => {
            let mut settings = opening.session.settings();
            let at = facts.response_seq;
            settings.opened(answer.modes, answer.config_options, models, at);
            drop(settings);
            tracing::debug!(session.id = %id, "a session was resumed");
            Ok(opening.finish())
        }
        Err(error) => Err(connection
            .explain(methods::SESSION_RESUME, error, facts)
            .await),
    }
}

/// A session of a known id that is being opened.
///
/// It is added before the agent is asked, so nothing the agent says of it is lost.
/// Dropped unfinished, this very instance is forgotten again.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) session: Arc<SessionState>,
    lease: Arc<Lease>,
    finished: bool,
    /// The call that opens it, while it is not answered: should it succeed when
    /// nobody waits any more, the session is to be closed.
    pub(super) undo: Option<CallId>,
}

impl Opening {
    /// Adds the session.
    pub(super) fn begin(
        lease: Arc<Lease>,
        id: &SessionId,
        parts: OpeningParts,
    ) -> Result<Self, ClientError> {
        // What was said to an earlier session of this name is not for this one.
        let hold = lease.connection.peer.hold_updates();
        Ok(Self {
            session: lease.add(id, hold, parts)?,
            lease,
            finished: false,
            undo: None,
        })
    }

    /// The session is open.
    pub(super) fn finish(mut self) -> Session {
        self.finished = true;
        Session::new(Arc::clone(&self.session), Arc::clone(&self.lease))
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        if let Some(call) = self.undo {
            self.lease.undo_when_answered(call, self.session.id.clone());
        }
        self.session.forget();
    }
}
