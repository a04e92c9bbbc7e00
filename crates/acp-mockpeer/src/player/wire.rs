//! Bytes in and out, while a play goes on.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};

use super::transcript::Tape;
use acp_recording::Side;
use acp_recording::What;

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
pub(super) enum Arrival {
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
pub(super) struct Inlet<R> {
    reader: Option<R>,
    from: Side,
    chunk: Vec<u8>,
    line: Vec<u8>,
    waiting: VecDeque<Arrival>,
    waiting_bytes: usize,
    pace: Pace,
    pub(super) tape: Tape,
}

/// How fast is read.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Free,
    Stopped,
    Slow {
        bytes: usize,
        every: Duration,
        next: Instant,
    },
}

impl<R: AsyncRead + Unpin> Inlet<R> {
    pub(super) fn new(reader: R, from: Side, tape: Tape) -> Self {
        Self {
            reader: Some(reader),
            from,
            chunk: vec![0; CHUNK],
            line: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            pace: Pace::Free,
            tape,
        }
    }

    pub(super) fn stop(&mut self) {
        self.pace = Pace::Stopped;
    }

    pub(super) fn read_on(&mut self) {
        self.pace = Pace::Free;
    }

    pub(super) fn slow_down(&mut self, bytes: usize, every: Duration) {
        self.pace = Pace::Slow {
            bytes: bytes.min(CHUNK),
            every,
            next: Instant::now(),
        };
    }

    /// Tells whether the other side has closed.
    pub(super) fn is_over(&self) -> bool {
        self.reader.is_none()
    }

    /// Tells whether the other side has closed and everything was taken.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_over() && self.waiting.is_empty()
    }

    /// Returns how much came that was not taken yet.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes what came first.
    pub(super) fn take(&mut self) -> Option<Arrival> {
        let arrival = self.waiting.pop_front()?;
        if let Arrival::Line { bytes, .. } = &arrival {
            self.waiting_bytes -= EACH + bytes.len();
        }
        Some(arrival)
    }

    /// Reads once; never returns when there is nothing to read any more.
    ///
    /// Cancel-safe: what was read is kept.
    pub(super) async fn fill(&mut self) {
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
        let mut rest = &self.chunk[..length];
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            let bytes = std::mem::take(&mut self.line);
            let entry = self.tape.push(self.from, What::Line(bytes.clone()));
            self.waiting_bytes += EACH + bytes.len();
            self.waiting.push_back(Arrival::Line { bytes, entry });
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > LONGEST_LINE || self.waiting_bytes > MOST_WAITING {
            self.end(Arrival::TooMuch);
        }
    }

    fn end(&mut self, why: Arrival) {
        self.reader = None;
        if !self.line.is_empty() {
            let bytes = std::mem::take(&mut self.line);
            let entry = self.tape.push(self.from, What::Unfinished(bytes));
            self.waiting.push_back(Arrival::Unfinished { entry });
        }
        self.tape.push(self.from, What::Close);
        self.waiting.push_back(why);
    }
}

/// Why something could not be written.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// The other side did not read for so long.
    Blocked,
    Failed(io::Error),
    /// We closed before.
    Closed,
}

/// Writes everything and reads meanwhile, so that nobody waits for each other.
pub(super) async fn write<R, W>(
    inlet: &mut Inlet<R>,
    outlet: &mut Option<W>,
    mut bytes: &[u8],
    patience: Duration,
) -> Result<(), Unwritten>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let writer = outlet.as_mut().ok_or(Unwritten::Closed)?;
    while !bytes.is_empty() {
        let deadline = Instant::now() + patience;
        let written = loop {
            tokio::select! {
                biased;
                written = writer.write(bytes) => break written.map_err(Unwritten::Failed)?,
                () = inlet.fill() => {}
                () = sleep_until(deadline) => return Err(Unwritten::Blocked),
            }
        };
        if written == 0 {
            return Err(Unwritten::Failed(io::ErrorKind::WriteZero.into()));
        }
        bytes = &bytes[written..];
    }
    let deadline = Instant::now() + patience;
    loop {
        tokio::select! {
            biased;
            flushed = writer.flush() => return flushed.map_err(Unwritten::Failed),
            () = inlet.fill() => {}
            () = sleep_until(deadline) => return Err(Unwritten::Blocked),
        }
    }
}

/// Waits and reads meanwhile.
pub(super) async fn wait<R: AsyncRead + Unpin>(inlet: &mut Inlet<R>, time: Duration) {
    let until = Instant::now() + time;
    loop {
        tokio::select! {
            biased;
            () = sleep_until(until) => return,
            () = inlet.fill() => {}
        }
    }
}
