//! How a conversation comes to its session: it is gone on in, or a new one is opened.

use std::time::SystemTime;

use acp_client::{Client, ClientError, Session, SessionSetup};

use super::{Opened, TurnError};
use crate::record::{Claim, SessionRecord};

/// What a session is opened for.
pub(super) struct Ladder<'a> {
    pub(super) agent: &'a str,
    /// The folder the session works in.
    pub(super) cwd: &'a str,
    pub(super) setup: SessionSetup,
    /// The conversation, if the turn is part of one.
    pub(super) claim: Option<&'a Claim>,
}

/// Why there is no session.
pub(super) enum NoSession {
    /// The agent wants a login first.
    LoginFirst(ClientError),
    /// Something else.
    Failed(TurnError),
}

impl<E: Into<TurnError>> From<E> for NoSession {
    fn from(error: E) -> Self {
        match error.into() {
            TurnError::Client(error @ ClientError::AuthRequired { .. }) => Self::LoginFirst(error),
            error => Self::Failed(error),
        }
    }
}

impl Ladder<'_> {
    /// Resumes the session that is recorded, or else loads it, or else opens a new one and
    /// records that.
    pub(super) async fn climb(&self, client: &Client) -> Result<(Session, Opened), NoSession> {
        if let Some(claim) = self.claim
            && let Some(record) = claim.load()?
        {
            if let Some(found) = self.go_on(client, &record).await? {
                return Ok(found);
            }
            claim.forget()?;
        }
        let session = client.new_session(self.setup.clone()).await?;
        if let Some(claim) = self.claim {
            let id = session.id().clone();
            let now = SystemTime::now();
            claim.save(&SessionRecord::new(id, self.agent, self.cwd, now))?;
        }
        Ok((session, Opened::New))
    }

    /// Goes on in a session; `None` when the agent cannot, or will not.
    async fn go_on(
        &self,
        client: &Client,
        record: &SessionRecord,
    ) -> Result<Option<(Session, Opened)>, NoSession> {
        if record.agent != self.agent || record.cwd != self.cwd {
            // A session belongs to one agent and one folder.
            return Ok(None);
        }
        let id = &record.session_id;
        let agent = client.agent()?;
        let offered = &agent.agent_capabilities;
        if offered.session_capabilities.resume.is_some() {
            let resumed = client.resume_session(id.clone(), self.setup.clone()).await;
            if let Some(session) = unless_refused(resumed)? {
                return Ok(Some((session, Opened::Resumed)));
            }
        }
        if offered.load_session {
            // What is replayed is history, and none of this turn.
            let loaded = match client.load_session(id.clone(), self.setup.clone()).await {
                Ok(loading) => loading.end().await,
                Err(error) => Err(error),
            };
            if let Some(session) = unless_refused(loaded)? {
                return Ok(Some((session, Opened::Loaded)));
            }
        }
        Ok(None)
    }
}

/// An agent that answers, and not with a session, has refused; so has one that does not
/// answer in time. One that is gone, or that wants a login, has not.
fn unless_refused(result: Result<Session, ClientError>) -> Result<Option<Session>, NoSession> {
    match result {
        Ok(session) => Ok(Some(session)),
        Err(
            error @ (ClientError::Refused { .. }
            | ClientError::TimedOut { .. }
            | ClientError::LoadTimeout { .. }
            | ClientError::BadAnswer { .. }),
        ) => {
            tracing::info!(
                error = &error as &dyn std::error::Error,
                "the agent does not go on in a session"
            );
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
