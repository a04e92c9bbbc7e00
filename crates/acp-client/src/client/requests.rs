//! What a client asks of the agent besides sessions to work in.

use acp_protocol::v1::{
    AuthMethod, AuthMethodId, AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest,
    LogoutRequest, SessionId,
};

use super::{Client, SessionList};
use crate::connection::Capability;
use crate::error::ClientError;
use crate::session::check_id;

impl Client {
    /// Logs in, by one of the methods the agent told of in
    /// [`auth_methods`](acp_protocol::v1::InitializeResponse::auth_methods).
    ///
    /// The agent may lead its user through a browser meanwhile. A method of the kind
    /// `terminal` is no matter of the connection: run the agent with its arguments
    /// on a terminal instead, and dial anew.
    ///
    /// # Errors
    ///
    /// [`ClientError::UnknownLogin`] when the agent takes no such method, else as any
    /// request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent is told that nobody waits for its answer; it
    /// may have logged in by then.
    pub async fn authenticate(&self, method: impl Into<AuthMethodId>) -> Result<(), ClientError> {
        let method = method.into();
        let lease = self.lease()?;
        let agent = self.agent()?;
        let offered = agent.auth_methods.iter().filter_map(|known| match known {
            AuthMethod::Agent(known) => Some(&known.id),
            _ => None,
        });
        if !offered.clone().any(|known| *known == method) {
            return Err(ClientError::UnknownLogin {
                method,
                offered: offered.cloned().collect(),
            });
        }
        let limit = self.limit.unwrap_or(lease.options.timeouts.authenticate);
        let request = AuthenticateRequest::new(method);
        lease.connection.call(&request, limit).await?;
        Ok(())
    }

    /// Logs out.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] when the agent does not offer that, else as any
    /// request.
    ///
    /// # Cancel safety
    ///
    /// As [`authenticate`](Self::authenticate).
    pub async fn logout(&self) -> Result<(), ClientError> {
        let lease = self.lease()?;
        lease.connection.require(Capability::Logout)?;
        lease.request(&LogoutRequest::new(), self.limit).await?;
        Ok(())
    }

    /// Lists the sessions the agent remembers; nothing is asked until it is read.
    pub fn list_sessions(&self) -> SessionList {
        SessionList::new(self.clone())
    }

    /// Tells the agent to close a session, whether or not it is open here.
    ///
    /// A turn that runs in it is cancelled, and ends with the session at the latest.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] when the agent does not offer that (R069); a
    /// session that is open here is forgotten all the same. Else as any request.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent may have closed the session; it is forgotten
    /// here.
    pub async fn close_session(&self, session: impl Into<SessionId>) -> Result<(), ClientError> {
        let session = named(session.into())?;
        let lease = self.lease()?;
        if let Some(open) = lease.find(&session) {
            return open.close(self.limit).await;
        }
        lease.connection.require(Capability::Close)?;
        lease
            .request(&CloseSessionRequest::new(session), self.limit)
            .await?;
        Ok(())
    }

    /// Tells the agent to delete a session and its history.
    ///
    /// One that is open here ends with that, and its id may be used again. Agents may
    /// refuse to delete a session that is open: close it first.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] when the agent does not offer that, else as any
    /// request. The session stays as it is then.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the agent may have deleted the session.
    pub async fn delete_session(&self, session: impl Into<SessionId>) -> Result<(), ClientError> {
        let session = named(session.into())?;
        let lease = self.lease()?;
        lease.connection.require(Capability::Delete)?;
        let open = lease.find(&session);
        lease
            .request(&DeleteSessionRequest::new(session), self.limit)
            .await?;
        if let Some(open) = open {
            open.forget();
        }
        Ok(())
    }
}

fn named(session: SessionId) -> Result<SessionId, ClientError> {
    check_id(&session)?;
    Ok(session)
}
