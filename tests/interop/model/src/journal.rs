//! What was asked and answered: one JSON object a line, on stdout.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::json;

/// Tests answer requests too, and keep no journal.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Begins the journal with the address of the model.
pub(crate) fn begin(address: &str) {
    KEPT.store(true, Ordering::Relaxed);
    write(address);
}

/// Writes a mark, if it is a number: whoever reads it has read what was written before.
pub(crate) fn mark(number: &str) {
    if let Ok(number) = number.parse::<u64>() {
        write(&json!({"mark": number}).to_string());
    }
}

/// Writes one line; a reader that has gone is no reason to stop.
fn write(line: &str) {
    if KEPT.load(Ordering::Relaxed) {
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
}

/// The entry of one answer: opened when its request is read, closed when it is sent.
///
/// Dropped before [`Entry::close`], it says that the agent hung up.
#[derive(Debug)]
pub(crate) struct Entry {
    number: u64,
    closed: bool,
}

impl Entry {
    /// Writes that a request came, by which dialect, and by what script it is answered.
    pub(crate) fn open(dialect: &str, script: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let line = json!({"request": number, "dialect": dialect, "script": script});
        write(&line.to_string());
        let closed = false;
        Self { number, closed }
    }

    /// Writes that the answer was sent to its end.
    pub(crate) fn close(mut self) {
        self.closed = true;
        write(&json!({"request": self.number, "end": "sent"}).to_string());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if !self.closed {
            write(&json!({"request": self.number, "end": "hung up"}).to_string());
        }
    }
}
