//! From bytes to what arrived: runs of updates, messages, faults.
//!
//! The [`Intake`] belongs to whoever reads. It works without the connection's
//! lock; only what it gives is handed to the [`Connection`](super::Connection).

use std::{borrow::Cow, sync::Arc};

use bytes::{Bytes, BytesMut};

use crate::json::{self, Text};

use super::{
    ConnectionRole, Issue, Limits,
    head::{self, Body, Head, Method, Refused, Shape},
    lines::{FoundLines, Line, LineBlock, LineDecoder, LineFault},
    mailbox::ENTRY_OVERHEAD,
    message::{Incoming, text},
    setting,
};

/// Method of the notifications that go to mailboxes.
const SESSION_UPDATE: &str = "session/update";

/// What arrived.
#[derive(Debug)]
pub enum Inbound {
    /// Adjacent updates of one session.
    Updates(Run),
    /// A request, response or other notification.
    Message(Incoming),
    /// A line that is no message.
    Refused(Refused),
    /// A line that was lost.
    Lost(LineFault),
}

/// Adjacent `session/update` lines of one session, kept raw until they are
/// consumed.
#[derive(Clone, Debug)]
pub struct Run {
    /// The session.
    pub session: Arc<str>,
    /// The lines, with their terminators.
    pub bytes: Bytes,
    /// How many lines, blank ones not counted.
    pub lines: u32,
    /// Bytes of memory the run keeps alive.
    pub charge: usize,
    /// Whether some update of it sets something of the session: its mode, options,
    /// commands or title.
    pub sets: bool,
}

impl Run {
    /// Drops the oldest updates of it, which are fewer than all.
    pub(super) fn drop_first(&mut self, count: u64) {
        for _ in 0..count {
            self.split_first();
        }
    }

    /// Takes the oldest update, of more than one. The memory stays charged to the
    /// rest.
    pub(super) fn take_first(&mut self) -> Self {
        Self {
            session: Arc::clone(&self.session),
            bytes: self.split_first(),
            lines: 1,
            charge: 0,
            sets: self.sets,
        }
    }

    fn split_first(&mut self) -> Bytes {
        let mut line = Bytes::new();
        while line.trim_ascii().is_empty() && !self.bytes.is_empty() {
            let end = memchr::memchr(b'\n', &self.bytes).map_or(self.bytes.len(), |at| at + 1);
            line = self.bytes.split_to(end);
        }
        self.lines -= 1;
        line
    }
}

/// Turns a byte stream into what arrived.
#[derive(Debug)]
pub struct Intake {
    decoder: LineDecoder,
    limits: Limits,
    /// Whether updates go to mailboxes: only a client has any.
    routes_updates: bool,
    block: Option<LineBlock>,
    /// The run being gathered.
    run: Option<Gathering>,
    /// What came right behind the run.
    next: Option<Inbound>,
    session: Arc<str>,
    /// How an update of that session begins, up to its id: a line that begins alike is
    /// one too. Empty where that was not told by its beginning.
    beginning: Vec<u8>,
    ended: bool,
}

#[derive(Debug)]
struct Gathering {
    start: usize,
    end: usize,
    lines: u32,
    sets: bool,
}

/// Longest beginning that is kept. Whoever writes a longer one is read all the same.
const MAX_BEGINNING: usize = 256;

impl Intake {
    /// Creates an intake at the start of a stream.
    #[must_use]
    pub fn new(role: ConnectionRole, limits: &Limits) -> Self {
        Self {
            decoder: LineDecoder::new(limits),
            limits: limits.clone(),
            routes_updates: role == ConnectionRole::Client,
            block: None,
            run: None,
            next: None,
            session: Arc::from(""),
            beginning: Vec::new(),
            ended: false,
        }
    }

    /// The buffer to read into; it has room for a chunk.
    pub fn buffer(&mut self) -> &mut BytesMut {
        self.decoder.buffer()
    }

    /// Appends bytes that were read elsewhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.decoder.push(bytes);
    }

    /// Appends a whole message that was read elsewhere, without its line ending.
    pub fn push_message(&mut self, message: &[u8]) {
        self.decoder.push_message(message);
    }

    /// Tells that the stream ended. Call [`next`](Self::next) until it has no more.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// Takes the next thing that arrived, or `None` until more bytes come.
    #[expect(
        clippy::should_implement_trait,
        reason = "more may follow after `None`"
    )]
    pub fn next(&mut self) -> Option<Inbound> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        loop {
            if self.block.is_none() {
                match self.decoder.next_block() {
                    Some(FoundLines::Block(block)) => self.block = Some(block),
                    Some(FoundLines::Fault(fault)) => return Some(Inbound::Lost(fault)),
                    None if self.ended => return self.last(),
                    None => return None,
                }
            }
            if let Some(found) = self.next_in_block() {
                return Some(found);
            }
        }
    }

    /// Reads on in the current block, and drops it at its end.
    fn next_in_block(&mut self) -> Option<Inbound> {
        let mut block = self.block.take()?;
        while let Some(line) = block.next_line() {
            let line = match line {
                Ok(line) => line,
                Err(fault) => return Some(self.interrupt(block, Inbound::Lost(fault))),
            };
            let bytes = block.bytes(line.start, line.end);
            let checked = head::check(bytes, &self.limits);
            if checked.is_ok() && self.begins_alike(bytes) {
                self.gather(bytes, line);
                continue;
            }
            let head = match checked.and_then(|()| head::read(bytes)) {
                Ok(head) => head,
                Err(refused) => {
                    let refused = self.refuse(refused, bytes);
                    return Some(self.interrupt(block, refused));
                }
            };
            if !(self.routes_updates
                && head.shape == Shape::Notification
                && is_update(&head, bytes))
            {
                let line = block.share(line.start, line.end);
                return Some(self.interrupt(block, Inbound::Message(Incoming { line, head })));
            }
            let Some((session, beginning)) = session_of(bytes, &head.body) else {
                let refused = self.refuse(Refused::new(Issue::UndecodableUpdate), bytes);
                return Some(self.interrupt(block, refused));
            };
            if *session == *self.session {
                self.begin_with(bytes, beginning);
                self.gather(bytes, line);
                continue;
            }
            let before = self.run.take();
            let done = before.map(|run| Inbound::Updates(seal(&block, &run, &self.session)));
            self.session = Arc::from(&*session);
            self.begin_with(bytes, beginning);
            self.gather(bytes, line);
            if done.is_some() {
                self.block = Some(block);
                return done;
            }
        }
        let run = self.run.take()?;
        Some(Inbound::Updates(seal(&block, &run, &self.session)))
    }

    /// Notes what is known of a line that is refused.
    fn refuse(&self, refused: Refused, line: &[u8]) -> Inbound {
        let refused = refused.of_line(line);
        Inbound::Refused(match self.routes_updates {
            true => refused.of_update(line),
            false => refused,
        })
    }

    /// Whether a line is plainly another update of the same session.
    fn begins_alike(&self, line: &[u8]) -> bool {
        !self.beginning.is_empty() && line.starts_with(&self.beginning) && head::closes_update(line)
    }

    /// Keeps how an update of the session begins.
    fn begin_with(&mut self, line: &[u8], length: Option<usize>) {
        self.beginning.clear();
        if let Some(length) = length.filter(|length| *length <= MAX_BEGINNING) {
            self.beginning.extend_from_slice(&line[..length]);
        }
    }

    /// Adds an update of the session to the run, or begins one with it.
    fn gather(&mut self, bytes: &[u8], line: Line) {
        let sets = setting::kind_of(bytes, self.beginning.len()).is_some();
        let run = self.run.get_or_insert(Gathering {
            start: line.start,
            end: line.next,
            lines: 0,
            sets: false,
        });
        run.end = line.next;
        run.lines += 1;
        run.sets |= sets;
    }

    /// Gives the run before `found` first, if there is one.
    fn interrupt(&mut self, block: LineBlock, found: Inbound) -> Inbound {
        let run = self
            .run
            .take()
            .map(|run| Inbound::Updates(seal(&block, &run, &self.session)));
        self.block = Some(block);
        match run {
            Some(run) => {
                self.next = Some(found);
                run
            }
            None => found,
        }
    }

    /// What stands behind the last line feed: a whole message, or the rest of one.
    fn last(&mut self) -> Option<Inbound> {
        let mut block = self.decoder.finish()?;
        let line = match block.next_line()? {
            Ok(line) => line,
            Err(fault) => return Some(Inbound::Lost(fault)),
        };
        let read = line.end - line.start;
        let whole =
            serde_json::from_slice::<serde::de::IgnoredAny>(block.bytes(line.start, line.end))
                .is_ok();
        if !whole {
            let head = block.head(line.start, line.end);
            return Some(Inbound::Lost(LineFault::Truncated { read, head }));
        }
        self.block = Some(block.single(line));
        self.next_in_block()
    }
}

fn is_update(head: &Head, line: &[u8]) -> bool {
    match &head.method {
        Some(Method::Span(span)) => &line[span.clone()] == SESSION_UPDATE.as_bytes(),
        Some(Method::Text(method)) => &**method == SESSION_UPDATE,
        None => false,
    }
}

/// The session of an update, without decoding the rest of it, and how much of the
/// line told so, if that was all from its beginning.
fn session_of<'a>(line: &'a [u8], body: &Body) -> Option<(Cow<'a, str>, Option<usize>)> {
    const FIRST: &[u8] = b"{\"sessionId\":\"";
    let (start, end) = match body {
        Body::From(start) => (*start, line.len()),
        Body::Exact(span) => (span.start, span.end),
        Body::Absent => return None,
    };
    let params = &line[start..end];
    if let Some(rest) = params.strip_prefix(FIRST) {
        let id = &rest[..memchr::memchr2(b'"', b'\\', rest)?];
        if rest.get(id.len()) == Some(&b'"') {
            let told = start + FIRST.len() + id.len() + 1;
            let beginning = matches!(body, Body::From(_)).then_some(told);
            return Some((Cow::Borrowed(text(id)), beginning));
        }
    }
    let mut session = None;
    let mut members = json::members(std::str::from_utf8(params).ok()?)?;
    while let Some((name, value)) = members.next().ok()? {
        if name == "sessionId" {
            let (Text(id), _) = json::read(value).ok()?;
            // Of two nobody knows which is meant.
            session = Some(id).filter(|_| session.is_none());
            session.as_ref()?;
        }
    }
    Some((session?, None))
}

/// Cuts a run out of its block: a large one shares the block's memory, a small
/// one is copied, so that a queued update never keeps a whole chunk alive.
fn seal(block: &LineBlock, run: &Gathering, session: &Arc<str>) -> Run {
    let length = run.end - run.start;
    let shares = length >= block.allocation / 4;
    let bytes = if shares {
        block.share(run.start, run.end)
    } else {
        Bytes::copy_from_slice(block.bytes(run.start, run.end))
    };
    let charge = if shares { block.allocation } else { length } + ENTRY_OVERHEAD;
    Run {
        session: Arc::clone(session),
        bytes,
        lines: run.lines,
        charge,
        sets: run.sets,
    }
}
