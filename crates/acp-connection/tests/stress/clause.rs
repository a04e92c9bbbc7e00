//! The clauses of the flow control, and ways round them.

use std::{
    future::{Future, poll_fn},
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use acp_connection::{Item, Peer};
use acp_protocol::rpc::SendError;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::sleep,
};

use crate::wire::{Echo, Note};

/// A reason to read although a mailbox is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clause {
    /// A call of ours waits for its answer.
    WhileCalling,
    /// A sender of ours waits for room.
    WhileSending,
    /// The turn was cancelled.
    WhenCancelled,
    /// The consumer has left.
    WhenLeft,
    /// A write is blocked.
    WhileBlocked,
}

/// Calls the agent in a way the connection takes for a stream, so that it may pause.
pub(crate) async fn call_as_a_stream(peer: &Peer, name: String, echo: &Echo) -> Echo {
    let mut mailbox = peer.open_mailbox(&name.into()).expect("the name is new");
    mailbox.start_streamed(echo).expect("the call is sent");
    match mailbox.next().await {
        Some(Item::End(end)) => end.result::<Echo>().expect("the call is answered"),
        other => panic!("{other:?}"),
    }
}

/// Asks again and again for room, and never waits in line for it.
pub(crate) async fn notify_without_waiting(peer: &Peer, note: &Note) -> Result<(), SendError> {
    loop {
        let mut sent = pin!(peer.notify(note));
        let once = poll_fn(|cx| Poll::Ready(sent.as_mut().poll(cx))).await;
        if let Poll::Ready(sent) = once {
            return sent;
        }
        sleep(Duration::from_secs(60)).await;
    }
}

/// A stream that gives nothing to read while a write is blocked.
pub(crate) struct OneWay<S> {
    stream: S,
    blocked: Option<Arc<AtomicBool>>,
}

impl<S> OneWay<S> {
    /// Two halves of a connection; `is_one_way` says whether they wait for each other.
    pub(crate) fn pair<W>(reader: S, writer: W, is_one_way: bool) -> (Self, OneWay<W>) {
        let blocked = is_one_way.then(Arc::<AtomicBool>::default);
        let reader = Self {
            stream: reader,
            blocked: blocked.clone(),
        };
        let stream = writer;
        (reader, OneWay { stream, blocked })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for OneWay<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let blocked = self.blocked.as_ref();
        if blocked.is_some_and(|blocked| blocked.load(Ordering::Relaxed)) {
            // The driver comes back when the writer wakes it.
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for OneWay<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Some(blocked) = &self.blocked {
            blocked.store(written.is_pending(), Ordering::Relaxed);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
