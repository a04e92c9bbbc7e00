//! The wire to a peer in chaos: everything is read, and little is asked of it.

use std::sync::{Arc, OnceLock};

use acp_recording::{PeerSide, RecordedEvent, Recording, RecordingEntry};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};

use crate::player::transcript::{Places, Transcript};
use crate::player::wire::{Arrival, Unwritten, Wire};

/// A peer that says more than this in a round is out of its mind.
const MOST_HEARD: usize = 64 << 20;

/// Both ends of the wire, and what went over it.
pub(super) struct ChaosWire<R, W> {
    wire: Wire<R, W>,
    /// The number of the first line in which the canary was heard.
    canary_heard: Arc<OnceLock<usize>>,
}

/// Why a wait is over without what was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The peer closed.
    Closed,
    /// The time is over.
    Late,
    /// The peer says more than can be heard.
    Flood,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> ChaosWire<R, W> {
    /// Joins both ends; `canary` is what must not be heard from the peer.
    pub(super) fn new(us: PeerSide, reader: R, writer: W, canary: &str) -> Self {
        let canary_heard = Arc::new(OnceLock::new());
        let (heard, canary) = (canary_heard.clone(), canary.as_bytes().to_vec());
        let mut numbers = 0..;
        let listen = move |entry: &RecordingEntry| {
            let number = numbers.next().unwrap_or(usize::MAX);
            if let (true, RecordedEvent::Line(line) | RecordedEvent::Unfinished(line)) =
                (entry.from != us, &entry.what)
                && super::plan::find(line, &canary).is_some()
            {
                let _ = heard.set(number);
            }
        };
        let transcript = Transcript::new(Some(Box::new(listen)));
        let mut wire = Wire::new(us, reader, writer, transcript);
        wire.inlet.most_read = MOST_HEARD;
        Self { wire, canary_heard }
    }

    /// Writes, and reads meanwhile. A peer that closed loses what it is sent; whether it
    /// may close is seen elsewhere.
    pub(super) async fn say(&mut self, bytes: &[u8], until: Instant) -> Result<(), Over> {
        self.wire.enter(bytes);
        let time = until.saturating_duration_since(Instant::now());
        match self.wire.write(bytes, time).await {
            Err(Unwritten::Blocked) => Err(Over::Late),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Hears the next line.
    pub(super) async fn hear(&mut self, until: Instant) -> Result<Vec<u8>, Over> {
        loop {
            match self.wire.inlet.take() {
                Some(Arrival::Line { bytes, .. }) => return Ok(bytes),
                Some(Arrival::TooMuch) => return Err(Over::Flood),
                Some(Arrival::Eof | Arrival::Failed(_)) => return Err(Over::Closed),
                Some(Arrival::Unfinished { .. }) => continue,
                None if self.wire.inlet.is_over() => return Err(Over::Closed),
                None => {}
            }
            if timeout_at(until, self.wire.inlet.fill()).await.is_err() {
                return Err(Over::Late);
            }
        }
    }

    /// Closes our side.
    pub(super) async fn close(&mut self) {
        self.wire.close().await;
    }

    /// Hears the peer out, at most until then.
    pub(super) async fn hear_out(&mut self, until: Instant) -> Over {
        loop {
            if let Err(over) = self.hear(until).await {
                return over;
            }
        }
    }

    /// Returns the number of the next line of the conversation.
    pub(super) fn next_entry(&self) -> usize {
        self.wire.inlet.transcript.next_number()
    }

    /// Returns the conversation, where its lines stand in it, and the number of the line in
    /// which the canary was heard.
    pub(super) fn finish(self) -> (Recording, Places, Option<usize>) {
        let (talk, places) = self.wire.inlet.transcript.finish();
        (talk, places, self.canary_heard.get().copied())
    }
}

/// What a line of a peer is, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PeerLine {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Answer {
        id: Value,
        result: Option<Value>,
    },
    Other,
}

pub(super) fn heard(line: &[u8]) -> PeerLine {
    let Ok(Value::Object(mut message)) = serde_json::from_slice(line) else {
        return PeerLine::Other;
    };
    let id = message.remove("id");
    let method = message.remove("method");
    match (id, method) {
        (Some(id), Some(Value::String(method))) => PeerLine::Request {
            id,
            method,
            params: message.remove("params").unwrap_or_default(),
        },
        (Some(id), None) => PeerLine::Answer {
            id,
            result: message.remove("result"),
        },
        _ => PeerLine::Other,
    }
}
