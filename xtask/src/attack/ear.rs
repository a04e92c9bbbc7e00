//! The lines that a hostile peer hears of its victim, for as long as it listens.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use serde::Deserialize;
use serde_json::Value;

/// A longer line of the victim is passed over: nothing that a rule waits for is so long.
const MAX_LINE: u64 = 1 << 20;

/// A message of the victim, without its content.
pub(super) struct Message {
    pub(super) method: Option<String>,
    pub(super) id: Option<String>,
    pub(super) session: Option<String>,
}

/// Reads what the victim says. Clones are the same ear.
#[derive(Clone, Default)]
pub(super) struct Ear {
    deaf: Arc<AtomicBool>,
}

impl Ear {
    /// Reads messages on a thread of its own, so that a victim is never held up by a peer
    /// that writes. Of an ear that was closed the pipe fills up, and stays open.
    pub(super) fn listen(&self, input: Option<Box<dyn Read + Send>>, events: Sender<Message>) {
        let Some(input) = input else { return };
        let ear = self.clone();
        thread::spawn(move || {
            let mut input = BufReader::new(input);
            while let Some(message) = ear.next(&mut input) {
                if events.send(message).is_err() {
                    return;
                }
            }
        });
    }

    /// Reads nothing more from now on.
    pub(super) fn close(&self) {
        self.deaf.store(true, Ordering::Relaxed);
    }

    /// Reads the next message that can be understood.
    fn next(&self, input: &mut impl BufRead) -> Option<Message> {
        loop {
            while self.deaf.load(Ordering::Relaxed) {
                thread::park();
            }
            let mut line = Vec::new();
            match input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            if let Ok(envelope) = serde_json::from_slice::<Envelope>(&line) {
                return Some(envelope.into());
            }
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    method: Option<String>,
    id: Option<Value>,
    result: Option<Value>,
}

impl From<Envelope> for Message {
    fn from(envelope: Envelope) -> Self {
        let session = envelope.result.as_ref().and_then(|result| {
            let id = result.get("sessionId")?.as_str()?;
            Some(id.to_owned())
        });
        Self {
            method: envelope.method,
            id: envelope.id.map(|id| id.to_string()),
            session,
        }
    }
}
