//! How a conversation comes to its session: it is gone on in, or a new one is opened.

use std::time::SystemTime;

use acp_client::{Client, ClientError, Session, SessionSetup};
use acp_protocol::v1::SessionId;
use tokio::time::timeout;

use super::error::client_error_for_log;
use super::{HarnessError, Opened, Ready};
use crate::limits::{LATE_REPLAY_LIMIT, LATE_REPLAY_QUIET};
use crate::record::{Claim, RecordError, SessionRecord};

/// What a session is opened for.
pub(super) struct Ladder<'a> {
    pub(super) agent: &'a str,
    /// The folder the session works in.
    pub(super) cwd: &'a str,
    pub(super) setup: SessionSetup,
    /// The conversation, if the turn is part of one.
    pub(super) claim: Option<&'a Claim>,
    /// The session to go on in, whatever is recorded.
    pub(super) known: Option<&'a SessionId>,
    /// Whether no other one will do.
    pub(super) no_other: bool,
}

/// Why there is no session.
pub(super) enum NoSession {
    /// The agent wants a login first.
    LoginFirst(ClientError),
    /// Something else.
    Failed(HarnessError),
}

impl<E: Into<HarnessError>> From<E> for NoSession {
    fn from(error: E) -> Self {
        match error.into() {
            HarnessError::Client(error @ ClientError::AuthRequired { .. }) => {
                Self::LoginFirst(error)
            }
            error => Self::Failed(error),
        }
    }
}

impl Ladder<'_> {
    /// Resumes the session that is known or recorded, or else loads it, or else opens a new
    /// one; where there is a record, records that.
    pub(super) async fn climb(&self, client: &Client) -> Result<Ready, NoSession> {
        let mut refusal = None;
        if let Some(known) = self.known()? {
            match reopen(client, &known, &self.setup).await? {
                Reopened::Open(session, opened) => {
                    return Ok(Ready {
                        session,
                        opened,
                        refusal: None,
                    });
                }
                Reopened::Refused(said) if self.no_other => {
                    let capability = "sessionCapabilities.resume";
                    let cannot = ClientError::Unsupported { capability };
                    return Err(said.unwrap_or(cannot).into());
                }
                Reopened::Refused(said) => refusal = said,
            }
        }
        if let Some(claim) = self.claim {
            claim.forget()?;
        }
        let session = client.new_session(self.setup.clone()).await?;
        if let Some(claim) = self.claim {
            let id = session.id().clone();
            let now = SystemTime::now();
            claim.save(&SessionRecord::new(id, self.agent, self.cwd, now))?;
        }
        Ok(Ready {
            session,
            opened: Opened::New,
            refusal,
        })
    }

    /// The session to go on in.
    fn known(&self) -> Result<Option<SessionId>, RecordError> {
        if let Some(known) = self.known {
            return Ok(Some(known.clone()));
        }
        let Some(claim) = self.claim else {
            return Ok(None);
        };
        let record = claim.load()?;
        // A session belongs to one agent and one folder.
        let ours = record.filter(|record| record.agent == self.agent && record.cwd == self.cwd);
        Ok(ours.map(|record| record.session_id))
    }
}

/// What came of going on in a session.
#[derive(Debug)]
pub enum Reopened {
    /// It is open, and this is how.
    Open(Session, Opened),
    /// The agent cannot go on in it, or will not, and this is what it said last; nothing
    /// when it cannot go on in any.
    Refused(Option<ClientError>),
}

/// Goes on in a session that the agent may remember: resumes it, or else loads it, without
/// its history.
///
/// An agent that does not answer in time has refused. One that is gone, or that wants a
/// login, has not.
///
/// # Errors
///
/// [`ClientError`] of an agent that did not refuse.
///
/// # Cancel safety
///
/// As [`Client::resume_session`] and [`Client::load_session`].
pub async fn reopen(
    client: &Client,
    id: &SessionId,
    setup: &SessionSetup,
) -> Result<Reopened, ClientError> {
    let agent = client.agent()?;
    let offered = &agent.agent_capabilities;
    let mut refusal = None;
    if offered.session_capabilities.resume.is_some() {
        match client.resume_session(id.clone(), setup.clone()).await {
            Ok(session) => return Ok(Reopened::Open(session, Opened::Resumed)),
            Err(error) => refusal = Some(if_refused(error)?),
        }
    }
    if offered.load_session {
        // What is replayed is history, and none of this turn.
        let loaded = match client.load_session(id.clone(), setup.clone()).await {
            Ok(loading) => loading.end().await,
            Err(error) => Err(error),
        };
        match loaded {
            Ok(mut session) => {
                skip_late_replay(&mut session).await;
                return Ok(Reopened::Open(session, Opened::Loaded));
            }
            Err(error) => refusal = Some(if_refused(error)?),
        }
    }
    Ok(Reopened::Refused(refusal))
}

/// Skips the rest of a history that the agent still writes after it answered
/// `session/load`, as Gemini CLI 0.61 does: nothing in those updates tells them from the
/// answer to a prompt.
async fn skip_late_replay(session: &mut Session) {
    let mut updates = session.updates();
    let skip =
        async { while let Ok(Some(_)) = timeout(LATE_REPLAY_QUIET, updates.next()).await {} };
    if timeout(LATE_REPLAY_LIMIT, skip).await.is_err() {
        tracing::info!("the agent still talks long after it loaded a session");
    }
}

/// An agent that answers, and not with a session, has refused; so has one that does not
/// answer in time.
fn if_refused(error: ClientError) -> Result<ClientError, ClientError> {
    match error {
        ClientError::Refused { .. }
        | ClientError::TimedOut { .. }
        | ClientError::LoadTimeout { .. }
        | ClientError::BadAnswer { .. } => {
            let cause = client_error_for_log(&error);
            tracing::info!(error = cause, "the agent does not go on in a session");
            Ok(error)
        }
        error => Err(error),
    }
}
