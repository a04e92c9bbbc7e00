//! The driver with a writer that never takes a byte: what it still has to do.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use acp_connection::{BoxFuture, Handler, IncomingRequest, Item, NoHandler, connect};
use acp_protocol::{
    Request,
    method::Side,
    rpc::{ConnectionRole, Limits, Reading},
};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt, duplex},
    sync::{Notify, mpsc, oneshot},
    time::{Instant, timeout},
};

/// Takes nothing. Dropping it tells that the driver has ended.
struct Stuck(#[expect(dead_code, reason = "only its end counts")] oneshot::Sender<()>);

impl AsyncWrite for Stuck {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[derive(Serialize, Deserialize)]
struct Short {
    number: u64,
}

impl Request for Short {
    const METHOD: &'static str = "_test/short";
    const SERVED_BY: Side = Side::Both;
    type Response = ();
}

/// Tells which requests have started, and answers once it may.
struct Serves {
    started: mpsc::UnboundedSender<u64>,
    release: Arc<Notify>,
}

impl Handler for Serves {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let release = Arc::clone(&self.release);
        request.serve(|short: Short, _| {
            self.started.send(short.number).unwrap();
            async move {
                release.notified().await;
                Ok(())
            }
        })
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// The notification that fills a mailbox.
fn update(padding: usize) -> String {
    let text = "x".repeat(padding);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}}}}}"
    )
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waited_for_a_slot_starts() {
    let (mut raw, reader) = duplex(4096);
    let (started, mut starts) = mpsc::unbounded_channel();
    let release = Arc::new(Notify::new());
    let serves = Serves {
        started,
        release: Arc::clone(&release),
    };
    let (writer, _driver_end) = oneshot::channel();
    let limits = Limits::default().with_handler_slots(1);
    let _peer = connect(ConnectionRole::Agent, reader, Stuck(writer), serves, limits);
    for number in 1..=3 {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"_test/short\",\"params\":{{\"number\":{number}}}}}\n"
        );
        raw.write_all(line.as_bytes()).await.unwrap();
    }
    for number in 1..=3 {
        let start = timeout(MINUTE, starts.recv()).await;
        assert_eq!(start, Ok(Some(number)), "the slot is free");
        // From the first answer on, the writer is blocked.
        release.notify_one();
    }
}

#[tokio::test(start_paused = true)]
async fn closing_in_a_pause_takes_no_longer_than_the_grace() {
    let (mut raw, reader) = duplex(64 << 10);
    let (writer, driver_end) = oneshot::channel();
    let limits = Limits::default()
        .with_mailbox_soft(1000)
        .with_patience(Some(MINUTE))
        .with_close_grace(Duration::from_secs(1));
    let peer = connect(
        ConnectionRole::Client,
        reader,
        Stuck(writer),
        NoHandler,
        limits,
    );
    let mut mailbox = peer.open_mailbox(&"s".into()).unwrap();
    mailbox.set_reading(Reading::Live);
    peer.notify_raw("_test/note", &()).await.unwrap();
    raw.write_all(format!("{}\n", update(3000)).as_bytes())
        .await
        .unwrap();
    // With the clock stopped, this returns when nothing else can move.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(peer.stats().pauses, 1);
    let closed = Instant::now();
    peer.close();
    assert!(driver_end.await.is_err());
    assert!(
        closed.elapsed() < Duration::from_secs(2),
        "{:?}",
        closed.elapsed()
    );
}

#[tokio::test]
async fn the_raw_line_of_an_update_has_no_terminator() {
    let (mut raw, reader) = duplex(64 << 10);
    let (writer, _driver_end) = oneshot::channel();
    let peer = connect(
        ConnectionRole::Client,
        reader,
        Stuck(writer),
        NoHandler,
        Limits::default(),
    );
    let mut mailbox = peer.open_mailbox(&"s".into()).unwrap();
    let lines = [update(1), update(2), update(3)];
    let [first, second, third] = &lines;
    raw.write_all(format!("{first}\r\n{second}\n{third}\r\n").as_bytes())
        .await
        .unwrap();
    for line in &lines {
        match mailbox.next().await {
            Some(Item::Update(update)) => assert_eq!(update.line.as_str(), line),
            other => panic!("{other:?}"),
        }
    }
}
