//! Bytes in and out, while a play goes on.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

use super::transcript::Transcript;
use acp_recording::{PeerSide, RecordedEvent};

/// A line longer than this is not read to its end: memory has one too.
const LONGEST_LINE: usize = 256 << 20;

/// Lines that no step has looked at yet may take this much; who sends more
/// floods a script that waits.
const MOST_WAITING: usize = 256 << 20;

/// What a line counts for beside its bytes.
const EACH: usize = 64;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// What came from the other side.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// A line without its line feed, and its number on the tape.
    Line {
        bytes: Vec<u8>,
        entry: usize,
    },
    /// What stood behind the last line feed at the end.
    Unfinished {
        entry: usize,
    },
    Eof,
    Failed(io::Error),
    TooMuch,
}

/// Reads lines, and keeps those that nobody has asked for yet.
pub(crate) struct Inlet<R> {
    reader: Option<R>,
    from: PeerSide,
    chunk: Vec<u8>,
    line: Vec<u8>,
    waiting: VecDeque<Arrival>,
    waiting_bytes: usize,
    /// How many more bytes may come at all; then the reading ends.
    pub(crate) most_read: usize,
    pub(crate) pace: Pace,
    pub(crate) transcript: Transcript,
}

/// How fast is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    Free,
    Stopped,
    Slow {
        bytes: usize,
        every: Duration,
        next: Instant,
    },
}

impl<R: AsyncRead + Unpin> Inlet<R> {
    pub(crate) fn new(reader: R, from: PeerSide, transcript: Transcript) -> Self {
        Self {
            reader: Some(reader),
            from,
            chunk: vec![0; CHUNK],
            line: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            most_read: usize::MAX,
            pace: Pace::Free,
            transcript,
        }
    }

    pub(crate) fn slow_down(&mut self, bytes: usize, every: Duration) {
        self.pace = Pace::Slow {
            bytes: bytes.min(CHUNK),
            every,
            next: Instant::now(),
        };
    }

    /// Tells whether the other side has closed.
    pub(crate) fn is_over(&self) -> bool {
        self.reader.is_none()
    }

    /// Tells whether the other side has closed and everything was taken.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_over() && self.waiting.is_empty()
    }

    /// Returns how much came that was not taken yet.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes what came first.
    pub(crate) fn take(&mut self) -> Option<Arrival> {
        let arrival = self.waiting.pop_front()?;
        if let Arrival::Line { bytes, .. } = &arrival {
            self.waiting_bytes -= EACH + bytes.len();
        }
        Some(arrival)
    }

    /// Reads once; never returns when there is nothing to read any more.
    ///
    /// Cancel-safe: what was read is kept.
    pub(crate) async fn fill(&mut self) {
        let Some(reader) = &mut self.reader else {
            return pending().await;
        };
        let most = match self.pace {
            Pace::Free => CHUNK,
            Pace::Stopped => return pending().await,
            Pace::Slow { bytes, next, .. } => {
                sleep_until(next).await;
                bytes
            }
        };
        let read = reader.read(&mut self.chunk[..most]).await;
        if let Pace::Slow { every, next, .. } = &mut self.pace {
            *next = Instant::now() + *every;
        }
        match read {
            Ok(0) => self.end(Arrival::Eof),
            Ok(length) => self.split(length),
            // What a process leaves behind when it dies.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.end(Arrival::Eof),
            Err(error) => self.end(Arrival::Failed(error)),
        }
    }

    fn split(&mut self, length: usize) {
        let (from, transcript) = (self.from, &mut self.transcript);
        let (waiting, waiting_bytes) = (&mut self.waiting, &mut self.waiting_bytes);
        split_lines(&mut self.line, &self.chunk[..length], |bytes| {
            let entry = transcript.push(from, RecordedEvent::Line(bytes.clone()));
            *waiting_bytes += EACH + bytes.len();
            waiting.push_back(Arrival::Line { bytes, entry });
        });
        self.most_read = self.most_read.saturating_sub(length);
        let flood = self.most_read == 0 || self.waiting_bytes > MOST_WAITING;
        if flood || self.line.len() > LONGEST_LINE {
            self.end(Arrival::TooMuch);
        }
    }

    fn end(&mut self, why: Arrival) {
        self.reader = None;
        if !self.line.is_empty() {
            let bytes = std::mem::take(&mut self.line);
            let entry = self
                .transcript
                .push(self.from, RecordedEvent::Unfinished(bytes));
            self.waiting.push_back(Arrival::Unfinished { entry });
        }
        self.transcript.push(self.from, RecordedEvent::Close);
        self.waiting.push_back(why);
    }
}

/// Why something could not be written.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// The other side did not read for so long.
    Blocked,
    Failed(io::Error),
    /// We closed before.
    Closed,
}

/// Both directions of a conversation, and what was seen of it.
pub(crate) struct Wire<R, W> {
    us: PeerSide,
    pub(crate) inlet: Inlet<R>,
    outlet: Option<W>,
    /// What we wrote behind the last line feed.
    own_line: Vec<u8>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Wire<R, W> {
    pub(crate) fn new(us: PeerSide, reader: R, writer: W, transcript: Transcript) -> Self {
        Self {
            us,
            inlet: Inlet::new(reader, us.other(), transcript),
            outlet: Some(writer),
            own_line: Vec::new(),
        }
    }

    /// Tells whether what we write next begins a line.
    pub(crate) fn begins_line(&self) -> bool {
        self.own_line.is_empty()
    }

    /// Enters what we write; returns the lines that end in it, with their numbers.
    pub(crate) fn enter(&mut self, bytes: &[u8]) -> Vec<(Vec<u8>, usize)> {
        let (us, transcript) = (self.us, &mut self.inlet.transcript);
        let mut lines = Vec::new();
        split_lines(&mut self.own_line, bytes, |line| {
            let entry = transcript.push(us, RecordedEvent::Line(line.clone()));
            lines.push((line, entry));
        });
        lines
    }

    /// Writes everything and reads meanwhile, so that nobody waits for each other.
    pub(crate) async fn write(
        &mut self,
        bytes: &[u8],
        patience: Duration,
    ) -> Result<(), Unwritten> {
        let Self { inlet, outlet, .. } = self;
        let writer = outlet.as_mut().ok_or(Unwritten::Closed)?;
        let mut rest = bytes;
        loop {
            let deadline = Instant::now() + patience;
            let written = async {
                match rest {
                    [] => writer.flush().await.map(|()| None),
                    _ => writer.write(rest).await.map(Some),
                }
            };
            tokio::pin!(written);
            let written = loop {
                tokio::select! {
                    biased;
                    written = &mut written => break written.map_err(Unwritten::Failed)?,
                    () = inlet.fill() => {}
                    () = sleep_until(deadline) => return Err(Unwritten::Blocked),
                }
            };
            match written {
                None => return Ok(()),
                Some(0) => return Err(Unwritten::Failed(io::ErrorKind::WriteZero.into())),
                Some(written) => rest = &rest[written..],
            }
        }
    }

    /// Waits and reads meanwhile.
    pub(crate) async fn wait(&mut self, time: Duration) {
        let until = Instant::now() + time;
        loop {
            tokio::select! {
                biased;
                () = sleep_until(until) => return,
                () = self.inlet.fill() => {}
            }
        }
    }

    /// Closes our direction, once.
    pub(crate) async fn close(&mut self) {
        let Some(mut writer) = self.outlet.take() else {
            return;
        };
        let transcript = &mut self.inlet.transcript;
        if !self.own_line.is_empty() {
            let line = std::mem::take(&mut self.own_line);
            transcript.push(self.us, RecordedEvent::Unfinished(line));
        }
        // A peer that does not read any more does not see the end either.
        let _ = writer.shutdown().await;
        transcript.push(self.us, RecordedEvent::Close);
    }
}

/// Calls `each` with every line that ends in these bytes; `line` keeps the beginning of the
/// one that does not.
fn split_lines(line: &mut Vec<u8>, mut bytes: &[u8], mut each: impl FnMut(Vec<u8>)) {
    while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
        line.extend_from_slice(&bytes[..at]);
        bytes = &bytes[at + 1..];
        each(std::mem::take(line));
    }
    line.extend_from_slice(bytes);
}
