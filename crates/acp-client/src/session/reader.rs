//! Reads a session: its updates and what is asked among them, in wire order.

use acp_connection::{Item, Mailbox, StreamEnd, Update};
use acp_protocol::rpc::{CallError, CallId, OnDrop, Reading, ReceiveSeq};
use acp_protocol::v1::{LoadSessionRequest, PromptRequest};

use super::dedup::SeenEvents;
use super::waiting::IsRead;
use super::{SessionState, TurnEvent, merge};

/// The one reader of a session's mailbox. Turns take it, and give it back.
#[derive(Debug)]
pub(crate) struct Reader {
    mailbox: Mailbox,
    /// What was received up to here came before the turn that is read.
    turn_after: ReceiveSeq,
    /// `None` when events that are told of twice are read twice.
    events: Option<SeenEvents>,
    /// What is read is history.
    loading: bool,
    /// Told whether somebody reads.
    is_read: IsRead,
}

/// What the reader found.
#[derive(Debug)]
pub(crate) enum Read {
    /// Something for the consumer.
    Event(TurnEvent),
    /// The answer to the prompt or the loading, behind everything that came before it.
    End(StreamEnd),
    /// The connection ended, and everything is read.
    Closed,
}

impl Reader {
    pub(super) fn new(mailbox: Mailbox, dedup: bool, is_read: IsRead) -> Self {
        Self {
            mailbox,
            turn_after: ReceiveSeq::default(),
            events: dedup.then(SeenEvents::default),
            loading: false,
            is_read,
        }
    }

    /// Sends a prompt, whose answer is to come out of this reader.
    pub(crate) fn start_turn(
        &mut self,
        request: &PromptRequest,
        received: ReceiveSeq,
    ) -> Result<CallId, CallError> {
        let call = self.mailbox.start_streamed(request)?;
        self.is_read.set(true);
        self.turn_after = received;
        Ok(call)
    }

    /// Loads the session; the history comes out of this reader, and then the answer.
    pub(crate) fn start_loading(
        &mut self,
        request: &LoadSessionRequest,
    ) -> Result<CallId, CallError> {
        self.loading = true;
        let call = self.mailbox.start_streamed(request)?;
        self.is_read.set(true);
        Ok(call)
    }

    /// Gives a call up, and throws away what is unread. Gives its answer if that came
    /// already.
    pub(crate) fn abandon(&mut self, call: CallId, on_drop: OnDrop) -> Option<StreamEnd> {
        self.mailbox.abandon(call, on_drop);
        self.mailbox.set_reading(Reading::Discard);
        loop {
            if let Item::End(end) = self.mailbox.next_now()? {
                return Some(end);
            }
        }
    }

    /// Starts reading what comes between turns.
    pub(crate) fn listen(&mut self) {
        self.turn_after = ReceiveSeq::default();
        self.mailbox.set_reading(Reading::Live);
        self.is_read.set(true);
    }

    /// Stops reading: the newest updates are kept for whoever reads next.
    pub(crate) fn pause(&mut self) {
        self.mailbox.set_reading(Reading::Idle);
        self.is_read.set(false);
    }

    /// Throws away what comes up to the end of the turn.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub(crate) async fn discard_turn(&mut self) {
        self.mailbox.set_reading(Reading::Discard);
        while !matches!(self.mailbox.next().await, None | Some(Item::End(_))) {}
        self.pause();
    }

    /// Waits for what happens next; `merged`, it joins to a piece of text what follows
    /// and is there already.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub(crate) async fn next(&mut self, session: &SessionState, merged: bool) -> Read {
        loop {
            if let Some(read) = self.try_next(session, merged) {
                return read;
            }
            tokio::select! {
                biased;
                item = self.mailbox.next() => match item {
                    Some(item) => self.mailbox.put_back(item),
                    None => return Read::Closed,
                },
                () = session.waiting.arrival() => {}
            }
        }
    }

    /// Takes what is there already, as [`next`](Self::next) does, without waiting.
    ///
    /// Readers call it before they wait: a future within a future moves what it found once
    /// more, which a flood of small updates would pay for each.
    pub(crate) fn try_next(&mut self, session: &SessionState, merged: bool) -> Option<Read> {
        loop {
            // Looked at before the mailbox: what came before a question is in there by
            // the time the question is seen.
            let asked_after = session.waiting.first_after();
            let Some(item) = self.mailbox.next_now() else {
                let event = asked_after.and_then(|_| session.waiting.take(session));
                return event.map(Read::Event);
            };
            let asked_before = asked_after.is_some_and(|after| item.receive_seq() > after);
            if asked_before && let Some(event) = session.waiting.take(session) {
                self.mailbox.put_back(item);
                return Some(Read::Event(event));
            }
            if let Some(mut read) = self.understand(item, session) {
                if merged {
                    self.join_following(&mut read, session);
                }
                return Some(read);
            }
        }
    }

    fn join_following(&mut self, read: &mut Read, session: &SessionState) {
        if let Read::Event(TurnEvent::Update(update) | TurnEvent::Earlier(update)) = read {
            while let Some(next) = self.next_piece_of(update, session) {
                merge::join(update, next);
            }
        }
    }

    /// Takes what is there, if it is another piece of the same message.
    fn next_piece_of(&mut self, update: &Update, session: &SessionState) -> Option<Update> {
        loop {
            let asked_after = session.waiting.first_after();
            // The update in hand was not given yet, and does not count as consumed.
            let item = self.mailbox.next_ahead()?;
            let Item::Update(next) = item else {
                self.mailbox.put_back(item);
                return None;
            };
            let asked_before = asked_after.is_some_and(|after| next.receive_seq > after);
            let same_turn =
                (update.receive_seq > self.turn_after) == (next.receive_seq > self.turn_after);
            if asked_before || !same_turn || !merge::can_join(update, &next) {
                self.mailbox.put_back(Item::Update(next));
                return None;
            }
            if !self.is_repeated(&next, session) {
                session.counts.deliver();
                return Some(next);
            }
        }
    }

    fn is_repeated(&mut self, update: &Update, session: &SessionState) -> bool {
        let repeated = !self.loading
            && self
                .events
                .as_mut()
                .is_some_and(|events| events.is_repeated(update));
        if repeated {
            session.counts.dedupe();
        }
        repeated
    }

    fn understand(&mut self, item: Item, session: &SessionState) -> Option<Read> {
        Some(Read::Event(match item {
            Item::Update(update) => {
                if self.is_repeated(&update, session) {
                    return None;
                }
                session.counts.deliver();
                session.learn_tool(&update.update);
                if update.receive_seq > self.turn_after {
                    TurnEvent::Update(update)
                } else {
                    TurnEvent::Earlier(update)
                }
            }
            Item::Unreadable { line, error, .. } => {
                session.counts.deliver();
                TurnEvent::Unreadable { line, error }
            }
            Item::Gap { dropped, .. } => TurnEvent::Gap { dropped },
            Item::End(end) => {
                self.loading = false;
                self.pause();
                return Some(Read::End(end));
            }
            _ => return None,
        }))
    }
}
