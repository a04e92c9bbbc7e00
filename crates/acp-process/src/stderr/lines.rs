//! Hands a child's stderr to a callback, line by line.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use acp_text::Redactor;

use super::tail::clean;

/// Gets each line of stderr, without its end.
pub(crate) type LineCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// Longer lines come in pieces of this size.
const MAX_LINE: usize = 4 * 1024;
/// How many lines may wait for the callback. With [`MAX_LINE`] this bounds
/// the memory at 1 MiB a child.
const MAX_WAITING: usize = 256;

/// Splits stderr into lines and passes them to a thread that calls the
/// callback. Never waits: a callback that cannot keep up loses lines, so that
/// neither the child nor its supervision waits for user code.
pub(crate) struct LineFeed {
    lines: SyncSender<Vec<u8>>,
    partial: Vec<u8>,
    dropped: u64,
}

impl LineFeed {
    pub(crate) fn start(callback: LineCallback, redactor: Option<Redactor>) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(MAX_WAITING);
        thread::Builder::new()
            .name("acp-stderr".to_owned())
            .spawn(move || deliver(&waiting, &callback, redactor.as_ref()))?;
        Ok(Self {
            lines,
            partial: Vec::new(),
            dropped: 0,
        })
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(at);
            self.append(line);
            self.finish_line();
            bytes = &rest[1..];
        }
        self.append(bytes);
    }

    /// Passes on what has no line end yet; called when stderr has ended.
    pub(crate) fn finish(&mut self) {
        if !self.partial.is_empty() {
            self.finish_line();
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn append(&mut self, mut bytes: &[u8]) {
        while self.partial.len() + bytes.len() > MAX_LINE {
            let (piece, rest) = bytes.split_at(MAX_LINE - self.partial.len());
            self.partial.extend_from_slice(piece);
            self.finish_line();
            bytes = rest;
        }
        self.partial.extend_from_slice(bytes);
    }

    fn finish_line(&mut self) {
        match self.lines.try_send(std::mem::take(&mut self.partial)) {
            Ok(()) => {}
            Err(TrySendError::Full(mut line) | TrySendError::Disconnected(mut line)) => {
                self.dropped += 1;
                line.clear();
                self.partial = line;
            }
        }
    }
}

fn deliver(waiting: &Receiver<Vec<u8>>, callback: &LineCallback, redactor: Option<&Redactor>) {
    for line in waiting {
        let line = clean(line.strip_suffix(b"\r").unwrap_or(&line), redactor);
        // Carriage returns inside of it end lines too, as those of a progress bar do.
        for line in line.split('\n') {
            // A panicking callback loses its line, not the lines after it.
            let _ = catch_unwind(AssertUnwindSafe(|| callback(line)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn lines_of(pushes: &[&[u8]]) -> Vec<String> {
        let (sender, receiver) = mpsc::channel();
        let callback: LineCallback = Arc::new(move |line| sender.send(line.to_owned()).unwrap());
        let mut feed = LineFeed::start(callback, None).unwrap();
        for bytes in pushes {
            feed.push(bytes);
        }
        feed.finish();
        assert_eq!(feed.dropped(), 0);
        drop(feed);
        receiver.iter().collect()
    }

    #[test]
    fn lines() {
        assert_eq!(
            lines_of(&[b"a\nb", b"c\r\n\nrest"]),
            ["a", "bc", "", "rest"]
        );
        assert_eq!(lines_of(&[]), [""; 0]);
        let long = vec![b'x'; MAX_LINE + 10];
        let lines = lines_of(&[&long, b"\n"]);
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [MAX_LINE, 10]);
    }

    #[test]
    fn a_slow_callback_loses_lines_and_holds_nothing_up() {
        let (hold, held) = mpsc::channel::<()>();
        let held = parking_lot::Mutex::new(held);
        let (sender, receiver) = mpsc::channel();
        let callback: LineCallback = Arc::new(move |line| {
            let _ = held.lock().recv();
            sender.send(line.to_owned()).unwrap();
        });
        let mut feed = LineFeed::start(callback, None).unwrap();
        for n in 0..1000 {
            feed.push(format!("{n}\n").as_bytes());
        }
        let dropped = feed.dropped();
        assert!(dropped >= (1000 - MAX_WAITING - 1) as u64, "{dropped}");
        drop(hold);
        drop(feed);
        let delivered: Vec<String> = receiver.iter().collect();
        assert_eq!(delivered.len() as u64 + dropped, 1000);
        assert_eq!(delivered[0], "0");
    }

    #[test]
    fn a_panicking_callback_goes_on() {
        let (sender, receiver) = mpsc::channel();
        let callback: LineCallback = Arc::new(move |line| {
            assert_ne!(line, "bad");
            sender.send(line.to_owned()).unwrap();
        });
        let mut feed = LineFeed::start(callback, None).unwrap();
        feed.push(b"bad\ngood\n");
        drop(feed);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["good"]);
    }
}
