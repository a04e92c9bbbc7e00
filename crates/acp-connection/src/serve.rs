//! Starts a connection over a stream of bytes or of messages.

use std::{future::poll_fn, io, pin::pin, sync::Arc, task::Poll};

use acp_protocol::rpc::{CloseCause, ConnectionRole, Limits};
use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinHandle,
};
use tracing::Instrument as _;

use crate::{
    driver::Driver,
    handler::Handler,
    link::{ByteLink, Link, MessageLink},
    peer::Peer,
};

/// Starts a connection over bytes, one message a line, on a worker of the current
/// runtime, and returns the other side of it.
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
    role: ConnectionRole,
    reader: R,
    writer: W,
    handler: impl Handler,
    limits: Limits,
) -> Peer
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    start(role, ByteLink { reader, writer }, handler, limits).0
}

/// Starts a connection over messages, as [`connect`] does over bytes.
///
/// Each item is one JSON-RPC message without a line ending, as a WebSocket has it. The
/// limits, the order and the flow control are those of [`connect`]: no item is taken
/// from the stream while reading pauses, and a sink that is not ready makes senders wait.
///
/// # Panics
///
/// Outside of a tokio runtime.
pub fn connect_messages<R, W, M>(
    role: ConnectionRole,
    stream: R,
    sink: W,
    handler: impl Handler,
    limits: Limits,
) -> Peer
where
    R: Stream<Item = io::Result<M>> + Send + Unpin + 'static,
    W: Sink<Bytes, Error = io::Error> + Send + Unpin + 'static,
    M: AsRef<[u8]>,
{
    start(role, MessageLink::new(stream, sink), handler, limits).0
}

/// Serves over bytes until the connection ends, and what is queued then was written.
///
/// # Cancel safety
///
/// Dropping the future closes the connection.
pub async fn serve<R, W>(
    role: ConnectionRole,
    reader: R,
    writer: W,
    handler: impl Handler,
    limits: Limits,
) -> CloseCause
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    end(start(role, ByteLink { reader, writer }, handler, limits)).await
}

/// Serves as [`serve`] does, until the connection ends or `unread` is ready: when
/// nobody can read what is written any more.
///
/// A writer that has something to write learns that by itself; work that writes
/// nothing would go on for nobody.
///
/// # Cancel safety
///
/// Dropping the future closes the connection.
pub async fn serve_until<R, W>(
    role: ConnectionRole,
    reader: R,
    writer: W,
    handler: impl Handler,
    limits: Limits,
    unread: impl Future<Output = io::Error>,
) -> CloseCause
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (peer, driver) = start(role, ByteLink { reader, writer }, handler, limits);
    let (mut end, mut unread) = (pin!(end((peer.clone(), driver))), pin!(unread));
    let ended = poll_fn(|cx| match end.as_mut().poll(cx) {
        Poll::Ready(cause) => Poll::Ready(Ok(cause)),
        Poll::Pending => unread.as_mut().poll(cx).map(Err),
    });
    match ended.await {
        Ok(cause) => cause,
        Err(error) => {
            let cause = CloseCause::Io(Arc::new(error));
            peer.with(|connection| connection.close(cause));
            end.await
        }
    }
}

/// Serves over messages, as [`serve`] does over bytes.
///
/// # Cancel safety
///
/// Dropping the future closes the connection.
pub async fn serve_messages<R, W, M>(
    role: ConnectionRole,
    stream: R,
    sink: W,
    handler: impl Handler,
    limits: Limits,
) -> CloseCause
where
    R: Stream<Item = io::Result<M>> + Send + Unpin + 'static,
    W: Sink<Bytes, Error = io::Error> + Send + Unpin + 'static,
    M: AsRef<[u8]>,
{
    end(start(role, MessageLink::new(stream, sink), handler, limits)).await
}

fn start(
    role: ConnectionRole,
    link: impl Link + Send + Unpin + 'static,
    handler: impl Handler,
    limits: Limits,
) -> (Peer, JoinHandle<()>) {
    let driver = Driver::new(role, link, Box::new(handler), limits);
    let peer = driver.peer().clone();
    let span = tracing::debug_span!("acp.connection", ?role);
    (peer, tokio::spawn(driver.instrument(span)))
}

async fn end((peer, driver): (Peer, JoinHandle<()>)) -> CloseCause {
    let guard = CloseOnDrop(peer);
    // The driver catches the panics of handlers; should it end by one of its
    // own, dropping it closes the connection.
    let _ = driver.await;
    guard.0.closed().await
}

struct CloseOnDrop(Peer);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}
