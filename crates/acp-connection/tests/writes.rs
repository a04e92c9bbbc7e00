//! How often a stream of updates is written, over an in-memory pipe.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use acp_connection::{NoHandler, Peer, connect};
use acp_protocol::{
    Notification,
    method::Side,
    rpc::{ConnectionRole, Limits},
};
use serde::{Deserialize, Serialize};
use tokio::io::{
    AsyncBufReadExt, AsyncWrite, BufReader, DuplexStream, Lines, ReadHalf, duplex, split,
};

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    text: String,
}

impl Notification for Note {
    const METHOD: &'static str = "_test/note";
    const SERVED_BY: Side = Side::Both;
}

/// Counts how often something is written.
struct Counts<W> {
    writer: W,
    writes: Arc<AtomicUsize>,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Counts<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.writer).poll_write(cx, bytes);
        if written.is_ready() {
            self.writes.fetch_add(1, Ordering::Relaxed);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_shutdown(cx)
    }
}

/// An agent, what it writes as lines, and how often it writes.
fn agent() -> (
    Peer,
    Lines<BufReader<ReadHalf<DuplexStream>>>,
    Arc<AtomicUsize>,
) {
    let (near, far) = duplex(4 << 20);
    let (reader, writer) = split(near);
    let writes = Arc::new(AtomicUsize::new(0));
    let writer = Counts {
        writer,
        writes: Arc::clone(&writes),
    };
    let peer = connect(
        ConnectionRole::Agent,
        reader,
        writer,
        NoHandler,
        Limits::default(),
    );
    let (far, kept_open) = split(far);
    // The agent ends when its input does.
    std::mem::forget(kept_open);
    (peer, BufReader::new(far).lines(), writes)
}

fn note(number: usize) -> Note {
    Note {
        text: format!("{number:0100}"),
    }
}

/// On a clock that stands still while there is work: all of it is one moment.
#[tokio::test(start_paused = true)]
async fn a_stream_is_written_in_few_pieces() {
    let (peer, mut lines, writes) = agent();
    const COUNT: usize = 10_000;
    let sender = tokio::spawn(async move {
        for number in 0..COUNT {
            peer.notify(&note(number)).await.unwrap();
            // The connection may write whenever it wants.
            tokio::task::yield_now().await;
        }
        peer
    });
    let mut bytes = 0;
    for number in 0..COUNT {
        let line = lines.next_line().await.unwrap().unwrap();
        bytes += line.len() + 1;
        assert!(line.ends_with(&format!("{number:05}\"}}}}")), "{line}");
    }
    sender.await.unwrap();
    let writes = writes.load(Ordering::Relaxed);
    // Four at once, the rest by 60 KiB, and what is left.
    assert!(writes <= 4 + bytes / (60 << 10) + 1, "{writes} writes");
}

/// Nothing follows that would take the last ones along.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_stream_leaves_by_itself() {
    let (peer, mut lines, writes) = agent();
    let began = tokio::time::Instant::now();
    for number in 0..10 {
        peer.notify(&note(number)).await.unwrap();
        tokio::task::yield_now().await;
    }
    for _ in 0..10 {
        lines.next_line().await.unwrap().unwrap();
    }
    assert_eq!(writes.load(Ordering::Relaxed), 5);
    assert!(began.elapsed() <= 2 * Limits::default().outgoing_window);
}

#[tokio::test(start_paused = true)]
async fn what_is_said_now_and_then_is_not_kept_back() {
    let (peer, mut lines, writes) = agent();
    for number in 0..50 {
        let said = tokio::time::Instant::now();
        peer.notify(&note(number)).await.unwrap();
        lines.next_line().await.unwrap().unwrap();
        assert_eq!(said.elapsed(), std::time::Duration::ZERO);
        tokio::time::sleep(Limits::default().outgoing_window / 2).await;
    }
    assert_eq!(writes.load(Ordering::Relaxed), 50);
}
