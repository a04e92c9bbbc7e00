//! An agent that is ready to serve.

use std::{fmt, io, sync::Arc};

use acp_connection::serve;
use acp_process::stdio::protocol_stdio;
use acp_protocol::rpc::{CloseCause, ConnectionRole};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{connection::AgentConnection, registration::Registration};

/// An agent that is ready to serve; made by an
/// [`AgentBuilder`](crate::AgentBuilder).
///
/// Cheap to clone. It may serve any number of connections, one after the other
/// or at the same time; each has its own sessions.
#[derive(Clone)]
pub struct Agent(pub(super) Arc<Registration>);

impl Agent {
    /// Serves one client until the connection ends, then cancels what still
    /// runs and closes the sessions, within the bounds of
    /// [`AgentLimits`](crate::AgentLimits).
    ///
    /// Call it from a spawned task: inside of `block_on` every round trip costs
    /// two wake-ups of a thread more.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime whose time is enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection; then the sessions are closed
    /// on a task of their own.
    pub async fn serve<R, W>(&self, reader: R, writer: W) -> CloseCause
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let connection = AgentConnection::new(Arc::clone(&self.0));
        let sessions = CloseSessions(Some(connection.clone()));
        let limits = self.0.connection_limits.clone();
        let cause = serve(ConnectionRole::Agent, reader, writer, connection, limits).await;
        sessions.close().await;
        cause
    }

    /// Serves the client that started this process, over stdin and stdout.
    ///
    /// From its call on stdout belongs to the protocol: what the rest of the
    /// program prints goes to stderr. It returns when the client closes stdin;
    /// end the process then.
    ///
    /// # Errors
    ///
    /// When stdin or stdout cannot be used.
    ///
    /// # Panics
    ///
    /// As [`serve`](Self::serve).
    ///
    /// # Cancel safety
    ///
    /// As [`serve`](Self::serve).
    pub async fn serve_stdio(&self) -> io::Result<CloseCause> {
        let (stdin, stdout) = protocol_stdio()?;
        Ok(self.serve(stdin, stdout).await)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("info", &self.0.info)
            .finish_non_exhaustive()
    }
}

/// Closes the sessions of a connection, also when nobody waits for it.
struct CloseSessions(Option<AgentConnection>);

impl CloseSessions {
    async fn close(mut self) {
        if let Some(connection) = self.0.take() {
            connection.close_sessions().await;
        }
    }
}

impl Drop for CloseSessions {
    fn drop(&mut self) {
        let Some(connection) = self.0.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { connection.close_sessions().await });
        }
    }
}
