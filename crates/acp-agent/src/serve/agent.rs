//! An agent that is ready to serve.

use std::{fmt, future::pending, io, sync::Arc};

use acp_connection::serve_until;
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
    /// When the client closes its end, nothing more is read. Requests that are open
    /// then have [`Limits::finish_grace`](acp_protocol::rpc::Limits::finish_grace) to finish, turns included; questions to the
    /// client end at once, because nothing can answer them. A turn that still runs
    /// behind the grace is cancelled and answered so. Everything queued is written,
    /// and the connection ends.
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
        self.serve_until(reader, writer, pending()).await
    }

    /// Serves until the connection ends, or nobody can read what is written.
    async fn serve_until<R, W>(
        &self,
        reader: R,
        writer: W,
        unread: impl Future<Output = io::Error>,
    ) -> CloseCause
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let connection = AgentConnection::new(Arc::clone(&self.0));
        let sessions = CloseSessions(Some(connection.clone()));
        let (role, limits) = (ConnectionRole::Agent, self.0.connection_limits.clone());
        let cause = serve_until(role, reader, writer, connection, limits, unread).await;
        sessions.close().await;
        cause
    }

    /// Serves the client that started this process, over stdin and stdout.
    ///
    /// From its call on stdout belongs to the protocol: what the rest of the
    /// program prints goes to stderr. It returns when the client has closed stdin and
    /// has its answers, or reads no more of them; end the process then.
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
        let unread = stdout.unread();
        Ok(self.serve_until(stdin, stdout, unread).await)
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
