//! The wire to a peer in chaos: everything is read, and little is asked of it.

use std::collections::VecDeque;
use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use acp_recording::{Entry, What};
use acp_recording::{Recording, Side};

/// A peer that says more than this in a round is out of its mind.
const MOST_HEARD: usize = 64 << 20;

/// So many lines of the conversation are kept.
const MOST_KEPT: usize = 2000;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Both ends of the wire, and what went over it.
pub(super) struct Pipe<R, W> {
    us: Side,
    reader: Option<R>,
    writer: Option<W>,
    chunk: Vec<u8>,
    line: Vec<u8>,
    heard: usize,
    waiting: VecDeque<Vec<u8>>,
    own_line: Vec<u8>,
    began: Instant,
    pub(super) talk: Recording,
    left: u64,
    /// What must not be heard.
    canary: Vec<u8>,
    /// Where in the conversation it was heard all the same.
    pub(super) sang: Option<Option<usize>>,
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

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Pipe<R, W> {
    pub(super) fn new(us: Side, reader: R, writer: W, canary: &str) -> Self {
        Self {
            us,
            reader: Some(reader),
            writer: Some(writer),
            chunk: vec![0; CHUNK],
            line: Vec::new(),
            heard: 0,
            waiting: VecDeque::new(),
            own_line: Vec::new(),
            began: Instant::now(),
            talk: Recording::default(),
            left: 0,
            canary: canary.as_bytes().to_vec(),
            sang: None,
        }
    }

    /// Writes, and reads meanwhile. A peer that closed loses what it is sent.
    pub(super) async fn say(&mut self, bytes: &[u8], until: Instant) -> Result<(), Over> {
        self.enter_own(bytes);
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(writer) = &mut self.writer else {
                return Ok(());
            };
            let written = match &mut self.reader {
                Some(reader) => tokio::select! {
                    biased;
                    written = writer.write(rest) => Some(written),
                    read = reader.read(&mut self.chunk) => { self.take(&read)?; None }
                    () = tokio::time::sleep_until(until) => return Err(Over::Late),
                },
                None => match timeout_at(until, writer.write(rest)).await {
                    Ok(written) => Some(written),
                    Err(_) => return Err(Over::Late),
                },
            };
            match written {
                Some(Ok(written)) if written > 0 => rest = &rest[written..],
                // It reads no more; whether it may is seen elsewhere.
                Some(_) => self.writer = None,
                None => {}
            }
        }
        if let Some(writer) = &mut self.writer
            && !matches!(timeout_at(until, writer.flush()).await, Ok(Ok(())))
        {
            self.writer = None;
        }
        Ok(())
    }

    /// Hears the next line.
    pub(super) async fn hear(&mut self, until: Instant) -> Result<Vec<u8>, Over> {
        loop {
            if let Some(line) = self.waiting.pop_front() {
                return Ok(line);
            }
            let Some(reader) = &mut self.reader else {
                return Err(Over::Closed);
            };
            match timeout_at(until, reader.read(&mut self.chunk)).await {
                Ok(read) => self.take(&read)?,
                Err(_) => return Err(Over::Late),
            }
        }
    }

    /// Closes our side.
    pub(super) async fn close(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            let _ = writer.shutdown().await;
            if !self.own_line.is_empty() {
                let line = std::mem::take(&mut self.own_line);
                self.enter(self.us, What::Unfinished(line));
            }
            self.enter(self.us, What::Close);
        }
    }

    /// Hears the peer out, at most until then.
    pub(super) async fn hear_out(&mut self, until: Instant) -> Over {
        loop {
            self.waiting.clear();
            match self.hear(until).await {
                Ok(_) => {}
                Err(over) => return over,
            }
        }
    }

    /// Returns the place of the next entry in the conversation.
    pub(super) fn place(&self) -> usize {
        self.talk.entries().len()
    }

    /// Notes how much of the conversation was not kept.
    pub(super) fn finish(mut self) -> (Recording, Option<Option<usize>>) {
        if self.left > 0 {
            let left = std::mem::take(&mut self.left);
            let at = self.began.elapsed();
            self.talk.push(Entry {
                at,
                from: self.us,
                what: What::Left(left),
            });
        }
        (self.talk, self.sang)
    }

    fn take(&mut self, read: &io::Result<usize>) -> Result<(), Over> {
        let length = match read {
            Ok(length) if *length > 0 => *length,
            Ok(_) | Err(_) => {
                self.reader = None;
                let rest = std::mem::take(&mut self.line);
                if !rest.is_empty() {
                    self.listen(&rest);
                    self.enter(self.us.other(), What::Unfinished(rest));
                }
                self.enter(self.us.other(), What::Close);
                return Ok(());
            }
        };
        self.heard += length;
        if self.heard > MOST_HEARD {
            self.reader = None;
            return Err(Over::Flood);
        }
        let chunk = self.chunk[..length].to_vec();
        let mut rest = &chunk[..];
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            let line = std::mem::take(&mut self.line);
            self.listen(&line);
            self.enter(self.us.other(), What::Line(line.clone()));
            self.waiting.push_back(line);
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    fn listen(&mut self, line: &[u8]) {
        if self.sang.is_none() && super::plan::find(line, &self.canary).is_some() {
            let place = self.place();
            self.sang = Some((place < MOST_KEPT).then_some(place));
        }
    }

    fn enter_own(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.own_line.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            let line = std::mem::take(&mut self.own_line);
            self.enter(self.us, What::Line(line));
        }
        self.own_line.extend_from_slice(rest);
    }

    fn enter(&mut self, from: Side, what: What) {
        if self.talk.entries().len() >= MOST_KEPT {
            self.left += 1;
            return;
        }
        let at = self.began.elapsed();
        self.talk.push(Entry { at, from, what });
    }
}

/// What a line of a peer is, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Heard {
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

pub(super) fn heard(line: &[u8]) -> Heard {
    let Ok(Value::Object(mut message)) = serde_json::from_slice(line) else {
        return Heard::Other;
    };
    let id = message.remove("id");
    let method = message.remove("method");
    match (id, method) {
        (Some(id), Some(Value::String(method))) => Heard::Request {
            id,
            method,
            params: message.remove("params").unwrap_or_default(),
        },
        (Some(id), None) => Heard::Answer {
            id,
            result: message.remove("result"),
        },
        _ => Heard::Other,
    }
}
