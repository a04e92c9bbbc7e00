//! Starts a connection over a reader and a writer.

use acp_protocol::rpc::{CloseCause, Limits, Role};
use tokio::io::{AsyncRead, AsyncWrite};
use tracing::Instrument as _;

use crate::{driver::Driver, handler::Handler, peer::Peer};

/// Starts a connection on a worker of the current runtime, and gives the other
/// side of it.
///
/// The connection ends when the reader does, when writing fails, by
/// [`Peer::close`], or with the runtime. Spawn the rest of your program too:
/// what runs inside `block_on` shares no worker with the connection, and each
/// round trip then costs two wake-ups of a thread.
///
/// # Panics
///
/// Outside of a tokio runtime.
pub fn connect<R, W>(
    role: Role,
    reader: R,
    writer: W,
    handler: impl Handler,
    limits: Limits,
) -> Peer
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let driver = Driver::new(role, reader, writer, Box::new(handler), limits);
    let peer = driver.peer().clone();
    tokio::spawn(driver.instrument(tracing::debug_span!("acp.connection", ?role)));
    peer
}

/// Serves until the connection ends, and what is queued then was written.
///
/// # Cancel safety
///
/// Dropping the future closes the connection.
pub async fn serve<R, W>(
    role: Role,
    reader: R,
    writer: W,
    handler: impl Handler,
    limits: Limits,
) -> CloseCause
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let driver = Driver::new(role, reader, writer, Box::new(handler), limits);
    let peer = driver.peer().clone();
    let guard = CloseOnDrop(peer.clone());
    let task = tokio::spawn(driver.instrument(tracing::debug_span!("acp.connection", ?role)));
    // The driver catches the panics of handlers; should it end by one of its
    // own, dropping it closes the connection.
    let _ = task.await;
    let cause = peer.closed().await;
    drop(guard);
    cause
}

struct CloseOnDrop(Peer);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
