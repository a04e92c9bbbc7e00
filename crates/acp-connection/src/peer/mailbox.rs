//! The updates of one session, and the ends of its streamed calls.

use std::{collections::VecDeque, future::poll_fn};

use acp_protocol::{
    Request,
    rpc::{
        CallError, CallFacts, CallId, Connection, Flow, MailboxCounts, MailboxEntry, MailboxId,
        NewestSetting, OnDrop, Progress, RawResponse, Reading, ReceiveSeq, UpdateDecoder,
    },
    v1::{Meta, SessionId, SessionUpdate},
};
use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};

use super::{Peer, decode, now};

/// What a mailbox gives, in wire order.
#[derive(Debug)]
#[non_exhaustive]
pub enum Item {
    /// An update of the session.
    Update(Update),
    /// An update that could not be understood. Nothing else is lost.
    Unreadable {
        /// The line as it arrived.
        line: RawLine,
        /// Why.
        error: serde_json::Error,
        /// Its place in what was received.
        receive_seq: ReceiveSeq,
    },
    /// Updates were dropped here, or came in a line that could not be read.
    Gap {
        /// How many.
        dropped: u64,
        /// Place of the first in what was received.
        receive_seq: ReceiveSeq,
    },
    /// A streamed call ended; all updates before its answer were given.
    End(StreamEnd),
}

impl Item {
    /// Its place in what was received; of an end, what had been received then.
    #[must_use]
    pub fn receive_seq(&self) -> ReceiveSeq {
        match self {
            Self::Update(update) => update.receive_seq,
            Self::Unreadable { receive_seq, .. } | Self::Gap { receive_seq, .. } => *receive_seq,
            Self::End(end) => end.at,
        }
    }
}

/// One update of a session.
#[derive(Debug)]
pub struct Update {
    /// The update.
    pub update: SessionUpdate,
    /// The `_meta` of the notification.
    pub meta: Option<Box<Meta>>,
    /// Its place in what was received.
    pub receive_seq: ReceiveSeq,
    /// The line as it arrived.
    pub line: RawLine,
}

/// A line as it arrived, without its terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLine(Bytes);

impl RawLine {
    /// The text of the line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// How a streamed call ended.
#[derive(Debug)]
pub struct StreamEnd {
    /// Which call.
    pub call: CallId,
    /// What is known of it.
    pub facts: CallFacts,
    at: ReceiveSeq,
    result: Result<RawResponse, CallError>,
}

impl StreamEnd {
    /// Decodes the result of the call.
    ///
    /// # Errors
    ///
    /// [`CallError`], as for any call.
    pub fn result<R: Request>(self) -> Result<R::Response, CallError>
    where
        R::Response: DeserializeOwned,
    {
        decode(&self.result?, R::METHOD)
    }
}

/// The session has a mailbox already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("open the mailbox: the session has one")]
pub struct DuplicateSession;

/// The consumer's end of a session's updates.
///
/// Updates are kept raw and decoded one by one as they are taken. Nobody reads
/// at first: tell by [`set_reading`](Self::set_reading) when somebody does.
/// Dropping it closes the mailbox.
#[derive(Debug)]
pub struct Mailbox {
    control: MailboxControl,
    progress: Progress,
    batch: VecDeque<MailboxEntry>,
    /// What is left of the run being read, and of how many updates.
    rest: Bytes,
    lines: u32,
    next_seq: ReceiveSeq,
    decoder: UpdateDecoder,
    /// Place of the last item that was given.
    given: ReceiveSeq,
    /// An item that was given and put back.
    back: Option<Item>,
}

/// What may be done to a mailbox from elsewhere.
#[derive(Clone, Debug)]
pub struct MailboxControl {
    peer: Peer,
    id: MailboxId,
}

impl Mailbox {
    pub(crate) fn open(
        peer: Peer,
        session: &SessionId,
        since: ReceiveSeq,
    ) -> Result<Self, DuplicateSession> {
        let opened = peer.with(|connection| connection.open_mailbox_since(session.as_ref(), since));
        let (id, progress) = opened.ok_or(DuplicateSession)?;
        Ok(Self {
            control: MailboxControl { peer, id },
            progress,
            batch: VecDeque::new(),
            rest: Bytes::new(),
            lines: 0,
            next_seq: ReceiveSeq::default(),
            decoder: UpdateDecoder::default(),
            given: ReceiveSeq::default(),
            back: None,
        })
    }

    /// Waits for the next item; `None` when the connection ended and nothing is
    /// left.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: nothing is lost when another branch of `select!` wins.
    pub async fn next(&mut self) -> Option<Item> {
        self.come_back();
        loop {
            if let Some(found) = self.next_taken() {
                return found;
            }
            let Self { control, batch, .. } = &mut *self;
            poll_fn(|cx| {
                control.with(|connection, id| connection.poll_take(id, batch, cx.waker()))
            })
            .await;
        }
    }

    /// The next item that is there already; `None` when there is none.
    pub fn next_now(&mut self) -> Option<Item> {
        self.come_back();
        if let Some(found) = self.next_taken() {
            return found;
        }
        let Self { control, batch, .. } = &mut *self;
        control.with(|connection, id| connection.take_now(id, batch));
        self.next_taken().flatten()
    }

    /// The next item that is there already, for who looks ahead and still has in hand
    /// what it took before: that counts as consumed only when [`next`](Self::next) or
    /// [`next_now`](Self::next_now) is called.
    pub fn next_ahead(&mut self) -> Option<Item> {
        if let Some(found) = self.next_taken() {
            return found;
        }
        let Self { control, batch, .. } = &mut *self;
        control.with(|connection, id| connection.take_ahead(id, batch));
        self.next_taken().flatten()
    }

    /// Puts back the item that was given last: it is the next one again.
    pub fn put_back(&mut self, item: Item) {
        self.given = item.receive_seq().before();
        self.back = Some(item);
    }

    /// Queues a call whose answer comes out of this mailbox, behind the updates
    /// that were sent before it. From then on the mailbox is
    /// [`Reading::Live`]; while the call is open, reading may pause.
    ///
    /// # Errors
    ///
    /// [`CallError`] when it was not queued.
    pub fn start_streamed<R: Request>(&mut self, params: &R) -> Result<CallId, CallError> {
        self.control.peer.queue_streamed(params, self.control.id)
    }

    /// Gives a streamed call up.
    pub fn abandon(&mut self, call: CallId, on_drop: OnDrop) {
        self.control
            .peer
            .with(|connection| connection.abandon(call, on_drop, now()));
    }

    /// Tells how the mailbox is read from now on.
    pub fn set_reading(&mut self, reading: Reading) {
        if reading == Reading::Discard {
            self.leave();
        }
        self.control.set_reading(reading);
    }

    /// A handle to the mailbox for those who do not read it.
    #[must_use]
    pub fn control(&self) -> MailboxControl {
        self.control.clone()
    }

    /// Everything that was given is consumed: its consumer comes back for more.
    #[inline]
    fn come_back(&mut self) {
        if self.progress.consume(self.given) {
            self.control
                .with(|connection, id| connection.note_progress(id));
        }
    }

    /// Leaves unread what was taken already; ends of calls stay.
    fn leave(&mut self) {
        let mut left = u64::try_from(lines_of(&self.rest)).unwrap_or_default();
        self.rest = Bytes::new();
        if let Some(Item::Update(_) | Item::Unreadable { .. }) = &self.back {
            self.back = None;
            left += 1;
        }
        self.batch.retain(|entry| match entry {
            MailboxEntry::Run { run, .. } => {
                left += u64::from(run.lines);
                false
            }
            _ => true,
        });
        if left > 0 {
            self.control
                .with(|connection, id| connection.leave_updates(id, left));
        }
    }

    /// The next item of the batch; the inner `None` is the end of everything.
    #[expect(
        clippy::option_option,
        reason = "the outer says whether anything was there"
    )]
    fn next_taken(&mut self) -> Option<Option<Item>> {
        if let Some(item) = self.back.take() {
            self.given = item.receive_seq();
            return Some(Some(item));
        }
        loop {
            if let Some(item) = self.next_line() {
                return Some(Some(item));
            }
            let item = match self.batch.front()? {
                // Stays: the end is the end for every later caller.
                MailboxEntry::Closed => return Some(None),
                _ => match self.batch.pop_front()? {
                    MailboxEntry::Run { run, first } => {
                        self.rest = run.bytes;
                        self.lines = run.lines;
                        self.next_seq = first;
                        continue;
                    }
                    MailboxEntry::Gap { dropped, first } => Item::Gap {
                        dropped,
                        receive_seq: first,
                    },
                    MailboxEntry::End {
                        call,
                        facts,
                        at,
                        result,
                    } => Item::End(StreamEnd {
                        call,
                        facts,
                        at,
                        result,
                    }),
                    MailboxEntry::Closed => return Some(None),
                },
            };
            self.given = item.receive_seq();
            return Some(Some(item));
        }
    }

    /// The next update of the run being read.
    fn next_line(&mut self) -> Option<Item> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let mut line = if self.lines == 1 && self.rest.starts_with(b"{") {
                // A long one comes alone: its end need not be looked for.
                let mut line = std::mem::take(&mut self.rest);
                line.truncate(line.len() - usize::from(line.ends_with(b"\n")));
                line
            } else {
                let end = memchr::memchr(b'\n', &self.rest).unwrap_or(self.rest.len());
                let line = self.rest.split_to(end);
                let _ = self.rest.split_to(usize::from(!self.rest.is_empty()));
                line
            };
            if line.ends_with(b"\r") {
                line.truncate(line.len() - 1);
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            self.lines = self.lines.saturating_sub(1);
            let receive_seq = self.next_seq;
            self.next_seq = receive_seq.plus(1);
            self.given = receive_seq;
            let decoded = self.decoder.decode::<UpdateParams>(&line);
            let line = RawLine(line);
            return Some(match decoded {
                Ok(UpdateParams { update, meta }) => Item::Update(Update {
                    update,
                    meta,
                    receive_seq,
                    line,
                }),
                Err(error) => {
                    self.control
                        .with(|connection, id| connection.count_unreadable(id));
                    Item::Unreadable {
                        line,
                        error,
                        receive_seq,
                    }
                }
            });
        }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.leave();
        self.control
            .with(|connection, id| connection.close_mailbox(id));
    }
}

impl MailboxControl {
    /// Acts on the mailbox, behind the lock of its connection.
    fn with<T>(&self, act: impl FnOnce(&mut Connection, MailboxId) -> T) -> T {
        self.peer.with(|connection| act(connection, self.id))
    }

    /// Returns the name of the mailbox on its connection.
    #[must_use]
    pub fn id(&self) -> MailboxId {
        self.id
    }

    /// Tells that the turn was cancelled: until its end, its updates never
    /// pause reading.
    pub fn set_cancelled(&self) {
        self.with(|connection, id| connection.set_cancelled(id));
    }

    /// Whether a streamed call is open: the peer has not answered it, read or unread.
    #[must_use]
    pub fn is_streaming(&self) -> bool {
        self.with(|connection, id| connection.is_streaming(id))
    }

    /// Whether the turn was cancelled and the agent has not answered it yet,
    /// read or unread.
    #[must_use]
    pub fn is_cancelling(&self) -> bool {
        self.with(|connection, id| connection.is_cancelling(id))
    }

    /// Ends the mailbox: the session may get another one, and the consumer of this
    /// one comes to its end behind what has arrived.
    pub fn retire(&self) {
        self.with(|connection, id| connection.retire_mailbox(id));
    }

    /// Tells how the mailbox is read from now on.
    pub fn set_reading(&self, reading: Reading) {
        self.with(|connection, id| connection.set_reading(id, reading));
    }

    /// Waits until everything up to `seq` was received, and what arrived for the session
    /// up to there was consumed: taken, and its consumer came back for more. False when
    /// it will not be, because the mailbox or the connection ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn consumed_through(&self, seq: ReceiveSeq) -> bool {
        poll_fn(|cx| self.with(|connection, id| connection.poll_handed(id, seq, cx.waker()))).await
    }

    /// Tells what happens to updates that come faster than they are read.
    pub fn set_flow(&self, flow: Flow) {
        self.with(|connection, id| connection.set_flow(id, flow));
    }

    /// Takes the newest update of each kind that sets something of the session (its mode,
    /// options, commands or title), as it was received: at most one of each since this was
    /// called last, in wire order, and whether or not they are read in their place. Nothing
    /// once the mailbox is closed.
    #[must_use]
    pub fn take_settings(&self) -> Vec<NewestSetting> {
        self.with(|connection, id| connection.take_settings(id))
    }

    /// What became of the updates of the mailbox; nothing once it is closed.
    #[must_use]
    pub fn counts(&self) -> MailboxCounts {
        self.with(|connection, id| connection.mailbox_counts(id))
    }
}

impl Update {
    /// Decodes an update that came in this line.
    ///
    /// # Errors
    ///
    /// The error of `serde_json` for the line.
    pub fn decode(line: Bytes, receive_seq: ReceiveSeq) -> serde_json::Result<Self> {
        let UpdateParams { update, meta } = UpdateDecoder::default().decode(&line)?;
        let line = RawLine(line);
        Ok(Self {
            update,
            meta,
            receive_seq,
            line,
        })
    }

    /// The name of the event it tells of, where the agent gave one (`eventId` of its
    /// `_meta`).
    #[must_use]
    pub fn event_id(&self) -> Option<&str> {
        self.meta.as_ref()?.get("eventId")?.as_str()
    }

    /// The name of the prompt it belongs to, where the agent gave one (`promptId` of
    /// its `_meta`).
    #[must_use]
    pub fn prompt_id(&self) -> Option<&str> {
        self.meta.as_ref()?.get("promptId")?.as_str()
    }

    /// Whether the agent says that it is history (`isReplay` of its `_meta`).
    #[must_use]
    pub fn is_replay(&self) -> bool {
        let replay = self.meta.as_ref().and_then(|meta| meta.get("isReplay"));
        replay.and_then(serde_json::Value::as_bool).unwrap_or(false)
    }
}

/// Counts lines that are not blank.
fn lines_of(bytes: &[u8]) -> usize {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .count()
}

/// The parameters of a `session/update` whose session is known.
#[derive(Deserialize)]
struct UpdateParams {
    update: SessionUpdate,
    #[serde(rename = "_meta", default)]
    meta: Option<Box<Meta>>,
}

/// Keeps updates of unknown sessions while it lives.
#[derive(Debug)]
pub struct UpdateHold {
    peer: Peer,
    since: ReceiveSeq,
}

impl UpdateHold {
    pub(crate) fn new(peer: Peer) -> Self {
        let since = peer.with(|connection| {
            connection.hold();
            connection.received()
        });
        Self { peer, since }
    }

    /// Opens the mailbox of a session, with the updates that came since the hold
    /// began.
    ///
    /// # Errors
    ///
    /// [`DuplicateSession`] when the session has one.
    pub fn open_mailbox(&self, session: &SessionId) -> Result<Mailbox, DuplicateSession> {
        Mailbox::open(self.peer.clone(), session, self.since)
    }
}

impl Drop for UpdateHold {
    fn drop(&mut self) {
        self.peer.with(Connection::release);
    }
}
