//! Writes what passes into a recording, on a thread of its own.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::entry::{RecordedEvent, RecordingEntry};
use crate::side::PeerSide;
use acp_text::{RedactStream, Redactor};

/// How many pieces wait to be written: with pieces of 64 KiB at most, 16 MiB. Whoever
/// comes then waits for the disk, and nothing is lost.
const WAITING: usize = 256;

/// The longest line that is kept. Longer ones are passed on and left out of the recording.
const LONGEST_LINE: usize = 64 << 20;

/// Something that passed.
pub(super) enum Seen {
    Bytes(PeerSide, Box<[u8]>),
    Stderr(Box<[u8]>),
    Event(PeerSide, RecordedEvent),
    /// Nothing that is worth keeping comes any more.
    End,
}

/// Tells the recorder what passes; cheap to clone.
#[derive(Clone)]
pub(super) struct Source {
    sender: Sender<(Instant, Seen)>,
}

impl Source {
    pub(super) async fn tell(&self, seen: Seen) {
        // A recorder that has ended has told why.
        let _ = self.sender.send((Instant::now(), seen)).await;
    }

    pub(super) fn tell_blocking(&self, seen: Seen) {
        let _ = self.sender.blocking_send((Instant::now(), seen));
    }
}

/// The thread that writes.
pub(super) struct Recorder {
    source: Source,
    thread: JoinHandle<io::Result<()>>,
}

impl Recorder {
    pub(super) fn start(file: File, redactor: Option<Redactor>) -> io::Result<Self> {
        let (sender, receiver) = channel(WAITING);
        let tape = Tape {
            stderr: redactor.as_ref().map(Redactor::stream),
            file: BufWriter::new(file),
            redactor,
            began: Instant::now(),
            lines: [Line::default(), Line::default()],
        };
        let thread = thread::Builder::new()
            .name("acp-tap-recorder".to_owned())
            .spawn(move || tape.keep(receiver))?;
        Ok(Self {
            source: Source { sender },
            thread,
        })
    }

    pub(super) fn source(&self) -> Source {
        self.source.clone()
    }

    /// Waits until everything that was told is written.
    pub(super) fn finish(self) -> io::Result<()> {
        self.source.tell_blocking(Seen::End);
        match self.thread.join() {
            Ok(written) => written,
            Err(_) => Err(io::Error::other("its writer panicked")),
        }
    }
}

/// A line of which the end has not come yet.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Line {
    fn add(&mut self, bytes: &[u8]) {
        if self.too_long || self.bytes.len() + bytes.len() > LONGEST_LINE {
            self.too_long = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn take(&mut self) -> Result<Vec<u8>, TooLong> {
        let bytes = std::mem::take(&mut self.bytes);
        match std::mem::take(&mut self.too_long) {
            true => Err(TooLong),
            false => Ok(bytes),
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.too_long
    }
}

struct TooLong;

struct Tape {
    file: BufWriter<File>,
    redactor: Option<Redactor>,
    stderr: Option<RedactStream>,
    began: Instant,
    /// Of the client and of the agent.
    lines: [Line; 2],
}

impl Tape {
    fn keep(mut self, mut receiver: Receiver<(Instant, Seen)>) -> io::Result<()> {
        while let Some((at, seen)) = receiver.blocking_recv() {
            let at = at.saturating_duration_since(self.began);
            match seen {
                Seen::Bytes(from, bytes) => self.bytes(at, from, &bytes)?,
                Seen::Stderr(bytes) => self.stderr(at, bytes)?,
                Seen::End => {
                    let rest = self.stderr.as_mut().map(RedactStream::finish);
                    self.write_stderr(at, rest.unwrap_or_default().into_bytes())?;
                    break;
                }
                Seen::Event(from, what) => {
                    self.unfinished(at, from)?;
                    self.write(at, from, what)?;
                }
            }
            // Whoever is killed leaves behind what it has written.
            if receiver.is_empty() {
                self.file.flush()?;
            }
        }
        self.file.flush()
    }

    fn line(&mut self, of: PeerSide) -> &mut Line {
        &mut self.lines[match of {
            PeerSide::Client => 0,
            PeerSide::Agent => 1,
        }]
    }

    fn bytes(&mut self, at: Duration, from: PeerSide, mut bytes: &[u8]) -> io::Result<()> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let line = self.line(from);
            line.add(&bytes[..end]);
            let what = line
                .take()
                .map_or(RecordedEvent::Left(1), RecordedEvent::Line);
            self.write(at, from, what)?;
            bytes = &bytes[end + 1..];
        }
        self.line(from).add(bytes);
        Ok(())
    }

    /// Writes lines of stderr that are whole, so that no secret lies across two entries.
    fn stderr(&mut self, at: Duration, bytes: Box<[u8]>) -> io::Result<()> {
        let bytes = match &mut self.stderr {
            Some(stream) => stream.push(&bytes).into_bytes(),
            None => bytes.into(),
        };
        self.write_stderr(at, bytes)
    }

    fn write_stderr(&mut self, at: Duration, bytes: Vec<u8>) -> io::Result<()> {
        match bytes.is_empty() {
            true => Ok(()),
            false => self.write(at, PeerSide::Agent, RecordedEvent::Stderr(bytes)),
        }
    }

    fn unfinished(&mut self, at: Duration, from: PeerSide) -> io::Result<()> {
        if self.line(from).is_empty() {
            return Ok(());
        }
        let line = self.line(from).take();
        self.write(
            at,
            from,
            line.map_or(RecordedEvent::Left(1), RecordedEvent::Unfinished),
        )
    }

    fn write(&mut self, at: Duration, from: PeerSide, what: RecordedEvent) -> io::Result<()> {
        let entry = RecordingEntry { at, from, what };
        let json = match &self.redactor {
            Some(redactor) => entry.redacted(redactor).to_json(),
            None => entry.to_json(),
        };
        writeln!(self.file, "{json}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recording;

    /// Records these, and reads what was kept.
    fn kept(redactor: Option<Redactor>, seen: Vec<Seen>) -> Vec<(PeerSide, RecordedEvent)> {
        let mut file = tempfile::tempfile().unwrap();
        let recorder = Recorder::start(file.try_clone().unwrap(), redactor).unwrap();
        let source = recorder.source();
        for seen in seen {
            source.tell_blocking(seen);
        }
        drop(source);
        recorder.finish().unwrap();
        io::Seek::rewind(&mut file).unwrap();
        let recording = Recording::read("kept", io::BufReader::new(file)).unwrap();
        let entries = recording.entries().iter();
        entries
            .map(|entry| (entry.from, entry.what.clone()))
            .collect()
    }

    fn bytes(from: PeerSide, bytes: &[u8]) -> Seen {
        Seen::Bytes(from, bytes.into())
    }

    #[test]
    fn lines_are_put_together_from_pieces_of_either_side() {
        let seen = vec![
            bytes(PeerSide::Client, b"{\"a\""),
            bytes(PeerSide::Agent, b"x\r\n\ny"),
            bytes(PeerSide::Client, b": 1}\n"),
            Seen::Stderr(b"half a war".as_slice().into()),
            bytes(PeerSide::Agent, b"\xff\nrest"),
            Seen::Event(PeerSide::Agent, RecordedEvent::Close),
            Seen::Event(PeerSide::Agent, RecordedEvent::Exit(3)),
        ];
        let line = |bytes: &[u8]| RecordedEvent::Line(bytes.to_vec());
        assert_eq!(
            kept(None, seen),
            [
                (PeerSide::Agent, line(b"x\r")),
                (PeerSide::Agent, line(b"")),
                (PeerSide::Client, line(b"{\"a\": 1}")),
                (
                    PeerSide::Agent,
                    RecordedEvent::Stderr(b"half a war".to_vec())
                ),
                (PeerSide::Agent, line(b"y\xff")),
                (PeerSide::Agent, RecordedEvent::Unfinished(b"rest".to_vec())),
                (PeerSide::Agent, RecordedEvent::Close),
                (PeerSide::Agent, RecordedEvent::Exit(3)),
            ]
        );
    }

    #[test]
    fn what_is_too_long_is_counted_and_the_next_line_is_kept() {
        let mebibyte = vec![b'x'; 1 << 20];
        let mut seen: Vec<Seen> = (0..65).map(|_| bytes(PeerSide::Agent, &mebibyte)).collect();
        seen.push(bytes(PeerSide::Agent, b"\nnext\n"));
        let expected = [
            RecordedEvent::Left(1),
            RecordedEvent::Line(b"next".to_vec()),
        ];
        assert_eq!(
            kept(None, seen),
            expected.map(|what| (PeerSide::Agent, what))
        );
    }

    #[test]
    fn secrets_are_not_written() {
        let redactor = Redactor::new().with_secret("hunter2-swordfish");
        let seen = vec![
            bytes(PeerSide::Client, b"{\"text\":\"hunter2-"),
            bytes(PeerSide::Client, b"swordfish\"}\n"),
        ];
        let expected = RecordedEvent::Line(b"{\"text\":\"[redacted]\"}".to_vec());
        assert_eq!(kept(Some(redactor), seen), [(PeerSide::Client, expected)]);
    }

    #[test]
    fn lines_that_cannot_be_read_are_counted_and_not_kept() {
        let seen = vec![
            bytes(
                PeerSide::Agent,
                b"listening with hunter3\n{\"a\":1}\n{\"a\":\n\xff\n{\"b",
            ),
            Seen::Event(PeerSide::Agent, RecordedEvent::Close),
        ];
        let expected = [
            RecordedEvent::Unreadable(22),
            RecordedEvent::Line(b"{\"a\":1}".to_vec()),
            RecordedEvent::Unreadable(5),
            RecordedEvent::Unreadable(1),
            RecordedEvent::Unreadable(3),
            RecordedEvent::Close,
        ];
        let expected = expected.map(|what| (PeerSide::Agent, what));
        assert_eq!(kept(Some(Redactor::new()), seen), expected);
    }

    #[test]
    fn secrets_of_stderr_are_found_across_its_pieces() {
        let redactor = Redactor::new().with_secret("hunter2-swordfish");
        let piece = |text: &str| Seen::Stderr(text.as_bytes().into());
        let seen = vec![
            piece("hunter2-"),
            piece("swordfish\nghp_a1B2a1B2"),
            piece("a1B2a1B2"),
        ];
        let expected = ["[redacted]\n", "[redacted]"];
        let expected = expected.map(|text| (PeerSide::Agent, RecordedEvent::Stderr(text.into())));
        assert_eq!(kept(Some(redactor), seen), expected);
    }
}
