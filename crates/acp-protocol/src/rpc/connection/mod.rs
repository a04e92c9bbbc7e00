//! The connection: what both sides owe each other, as a state machine.
//!
//! It is fed with what arrived ([`Connection::accept`]), with what this side
//! wants to say, and with instants. It gives events, bytes to write, and the
//! wakers to wake. Nothing in it waits, and no user code runs under it.

mod incoming;
mod outgoing;

use std::{
    collections::VecDeque,
    sync::Arc,
    task::{Poll, Waker},
    time::Instant,
};

use super::{
    CloseCause, Limits, ReceiveSeq, Stats,
    calls::{CallId, Calls},
    credit::Credit,
    inbound::{Incoming, RawResponse},
    mailbox::{
        Flow, MailboxContext, MailboxCounts, MailboxEntry, MailboxId, Mailboxes, Progress, Reading,
    },
    pace::Pace,
    serving::Serving,
    wake::{Wakes, register},
};

/// Which side of the protocol a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionRole {
    /// Serves the methods of an agent.
    Agent,
    /// Serves the methods of a client, and has mailboxes for updates.
    Client,
}

/// What the owner of the connection has to act on, in wire order.
#[derive(Debug)]
pub enum ConnectionEvent {
    /// A request starts; answer it once with [`Connection::respond`].
    Request(Incoming, ReceiveSeq),
    /// A notification arrived.
    Notification(Incoming, ReceiveSeq),
    /// A call that was given up with [`OnDrop::Report`](super::OnDrop::Report)
    /// was answered after all.
    LateAnswer(CallId, RawResponse),
}

/// What the driver has to do.
#[derive(Debug)]
#[non_exhaustive]
pub struct DriverTask {
    /// Act on this first.
    pub event: Option<ConnectionEvent>,
    /// The connection is closed: write what is left, and end.
    pub closed: Option<CloseCause>,
    /// Reading is allowed.
    pub may_read: bool,
    /// When [`Connection::handle_timeout`] wants to be called.
    pub timeout: Option<Instant>,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    role: ConnectionRole,
    limits: Limits,
    /// Lines to write, whole.
    out: Vec<u8>,
    /// Bytes the driver has taken and not written yet.
    in_flight: usize,
    credit: Credit,
    pace: Pace,
    calls: Calls,
    serving: Serving,
    mailboxes: Mailboxes,
    seq: ReceiveSeq,
    events: VecDeque<ConnectionEvent>,
    stats: Stats,
    closed: Option<CloseCause>,
    close_waiters: Vec<Waker>,
    driver: DriverState,
    /// Reading is paused, and until when at the longest.
    pause: Option<Option<Instant>>,
    parse_error_told: Option<Instant>,
    /// How the newest line began that was no message at all.
    noise: Option<Arc<str>>,
    wakes: Wakes,
}

/// What the connection knows of the task that reads and writes.
#[derive(Debug, Default)]
struct DriverState {
    waker: Option<Waker>,
    /// It sleeps, and new output has to wake it.
    asleep: bool,
    /// It sleeps until its timer rings, and data that waits for that need not
    /// wake it.
    holds: bool,
    /// It does not read, and the end of the pause has to wake it.
    paused: bool,
}

impl Connection {
    /// Creates one end of a connection.
    #[must_use]
    pub fn new(role: ConnectionRole, limits: Limits) -> Self {
        Self {
            role,
            limits,
            out: Vec::new(),
            in_flight: 0,
            credit: Credit::default(),
            pace: Pace::default(),
            calls: Calls::default(),
            serving: Serving::default(),
            mailboxes: Mailboxes::default(),
            seq: ReceiveSeq::default(),
            events: VecDeque::new(),
            stats: Stats::default(),
            closed: None,
            close_waiters: Vec::new(),
            driver: DriverState::default(),
            pause: None,
            parse_error_told: None,
            noise: None,
            wakes: Wakes::default(),
        }
    }

    /// Its bounds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Its side.
    #[must_use]
    pub fn role(&self) -> ConnectionRole {
        self.role
    }

    /// Its counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// How the newest line began that was no message at all, for people who look
    /// for the reason: a banner, a log, a message behind something else. It may
    /// hold what was meant for nobody.
    #[must_use]
    pub fn noise(&self) -> Option<Arc<str>> {
        self.noise.clone()
    }

    /// Updates that are queued, or held for sessions not known yet.
    #[must_use]
    pub fn queued_updates(&self) -> u64 {
        self.mailboxes.queued_updates()
    }

    /// Requests of the peer that were not answered yet.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.serving.len()
    }

    /// Bytes that were queued and are not written yet.
    #[must_use]
    pub fn unwritten(&self) -> usize {
        self.out.len() + self.in_flight
    }

    /// Newest place of the receive clock.
    #[must_use]
    pub fn received(&self) -> ReceiveSeq {
        self.seq
    }

    /// Why the connection is closed, if it is.
    #[must_use]
    pub fn closed(&self) -> Option<&CloseCause> {
        self.closed.as_ref()
    }

    /// The wakers to wake, after the lock around the connection was let go.
    pub fn take_wakes(&mut self) -> Wakes {
        std::mem::take(&mut self.wakes)
    }

    /// Counts a handler that panicked.
    pub fn count_panic(&mut self) {
        self.stats.handler_panics += 1;
    }

    /// Waits for the end of the connection.
    pub fn poll_closed(&mut self, waker: &Waker) -> Poll<CloseCause> {
        if let Some(cause) = &self.closed {
            return Poll::Ready(cause.clone());
        }
        self.close_waiters.retain(|known| !known.will_wake(waker));
        self.close_waiters.push(waker.clone());
        Poll::Pending
    }

    /// Ends the connection: every call fails with the cause, every request is
    /// cancelled, every waiting sender and consumer is told. Only the first
    /// cause counts.
    pub fn close(&mut self, cause: CloseCause) {
        if self.closed.is_some() {
            return;
        }
        self.fail_calls(&super::CallError::Closed(cause.clone()));
        self.with_mailboxes(Mailboxes::close_all);
        self.serving.cancel_all(&mut self.wakes);
        self.credit.wake_all(&mut self.wakes);
        for waker in self.close_waiters.drain(..) {
            self.wakes.push(waker);
        }
        self.closed = Some(cause);
        self.pause = None;
        self.driver.paused = false;
        self.kick_for_event();
    }
}

/// The side of the driver: the task that reads and writes.
impl Connection {
    /// Tells that the driver is awake, and what it has to do. Output is taken
    /// into `buffer`, which has to be empty, where one is given.
    pub fn look(&mut self, buffer: Option<&mut Vec<u8>>, now: Instant) -> DriverTask {
        self.driver.asleep = false;
        self.driver.paused = false;
        if let Some(buffer) = buffer {
            self.take_due(buffer, now);
        }
        self.pace.pass(now);
        self.pace.tell(&self.limits);
        DriverTask {
            event: self.events.pop_front(),
            closed: self.closed.clone(),
            may_read: self.may_read(now),
            timeout: self.next_timeout(),
        }
    }

    /// Lets the driver sleep until there is something to do. `blocked` says
    /// that it waits for the writer, so output need not wake it; `was_reading`,
    /// that it waits for the reader.
    ///
    /// Gives false when there is something to do already: look again.
    pub fn park(&mut self, waker: &Waker, blocked: bool, was_reading: bool, now: Instant) -> bool {
        let may_read = self.may_read(now);
        if self.closed.is_some()
            || !self.events.is_empty()
            || (!blocked && self.is_due())
            || (may_read && !was_reading)
        {
            return false;
        }
        self.driver.asleep = !blocked;
        self.driver.holds = self.pace.waits();
        self.driver.paused = !may_read;
        register(&mut self.driver.waker, waker);
        true
    }

    /// Tells whether the driver may read. It stops while a consumer is full,
    /// unless this side waits for something that only reading can bring.
    pub fn may_read(&mut self, now: Instant) -> bool {
        let paused = self.mailboxes.over() > 0
            && self.closed.is_none()
            && !self.calls.any_plain()
            && !self.credit.anyone_waits();
        match (paused, &self.pause) {
            (true, None) => {
                self.stats.pauses += 1;
                self.mailboxes.mark_progress();
                self.pause = Some(self.limits.patience.map(|patience| now + patience));
            }
            (false, Some(_)) => self.pause = None,
            _ => {}
        }
        !paused
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let pause = self.pause.flatten();
        pause.into_iter().chain(self.pace.timeout()).min()
    }

    /// Exempts consumers that have not moved since the pause began, and lets
    /// data go that waited for more of it.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.pace.pass(now);
        let (Some(Some(until)), Some(patience)) = (self.pause, self.limits.patience) else {
            return;
        };
        if until <= now {
            self.pause = Some(Some(now + patience));
            self.with_mailboxes(Mailboxes::exempt_idle);
        }
    }

    /// Takes all bytes that wait to be written, in exchange for an empty
    /// buffer. False when there are none.
    pub fn take_output(&mut self, buffer: &mut Vec<u8>) -> bool {
        debug_assert!(buffer.is_empty(), "only an empty buffer is taken");
        self.credit.yielded = false;
        if self.out.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.out, buffer);
        self.in_flight = buffer.len();
        true
    }

    /// Takes the bytes that are to be written now, as
    /// [`take_output`](Self::take_output). Data may have to wait for more of it.
    pub fn take_due(&mut self, buffer: &mut Vec<u8>, now: Instant) -> bool {
        self.pace.pass(now);
        let takes = self.is_due() && self.take_output(buffer);
        if takes {
            self.pace.wrote(now, &self.limits);
        }
        takes
    }

    /// Whether there is output that is to be written now.
    fn is_due(&self) -> bool {
        !self.out.is_empty()
            && (!self.pace.waits() || self.is_worth_a_write() || self.closed.is_some())
    }

    /// Whether data waits no longer for more of it.
    fn is_worth_a_write(&self) -> bool {
        let limits = &self.limits;
        self.out.len() >= limits.outgoing_yield.min(limits.outgoing_credit)
    }

    /// Bytes that wait to be taken.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.out.len()
    }

    /// Tells how many of the taken bytes are still to be written.
    pub fn wrote(&mut self, left: usize) {
        self.in_flight = left;
        if self.unwritten() < self.limits.outgoing_credit {
            self.credit.wake_next(&mut self.wakes);
        }
    }

    /// The next thing to act on.
    pub fn poll_event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    /// Wakes the driver if it sleeps: there is data, which may wait for more.
    fn kick_for_data(&mut self) {
        if !self.driver.holds || self.is_due() {
            self.kick();
        }
    }

    /// Wakes the driver if it sleeps: there is output that waits for nothing.
    fn hurry(&mut self) {
        self.pace.hurry();
        self.kick();
    }

    /// Wakes the driver if it sleeps.
    fn kick(&mut self) {
        if self.driver.asleep {
            self.kick_for_event();
        }
    }

    /// Wakes the driver even where it waits for the writer alone: there is an
    /// event.
    fn kick_for_event(&mut self) {
        self.driver.asleep = false;
        if let Some(waker) = &self.driver.waker {
            self.wakes.push(waker.clone());
        }
    }

    /// Wakes the driver if it does not read: a pause may have ended.
    fn kick_paused(&mut self) {
        if std::mem::take(&mut self.driver.paused) {
            self.kick_for_event();
        }
    }
}

/// The side of the consumers of updates.
impl Connection {
    /// Opens the mailbox of a session, with the updates that came before it was
    /// known. `None` when it has one.
    pub fn open_mailbox(&mut self, session: &str) -> Option<(MailboxId, Progress)> {
        self.open_mailbox_since(session, ReceiveSeq::default())
    }

    /// Opens the mailbox of a session as [`open_mailbox`](Self::open_mailbox),
    /// without what came up to `since`: that was said to an earlier session of
    /// the same name.
    pub fn open_mailbox_since(
        &mut self,
        session: &str,
        since: ReceiveSeq,
    ) -> Option<(MailboxId, Progress)> {
        self.with_mailboxes(|mailboxes, cx| mailboxes.open(session, since, cx))
    }

    /// Closes a mailbox; what is queued is dropped.
    pub fn close_mailbox(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.close(mailbox, cx));
    }

    /// Ends a mailbox: its session may get another one, and its consumer comes to
    /// the end behind what is queued. It has to be closed all the same.
    pub fn retire_mailbox(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.retire(mailbox, cx));
    }

    /// Starts to keep updates of sessions that are not known yet. Each call
    /// needs its [`release`](Self::release).
    pub fn hold(&mut self) {
        self.mailboxes.hold();
    }

    /// Ends a [`hold`](Self::hold).
    pub fn release(&mut self) {
        self.with_mailboxes(Mailboxes::release);
    }

    /// Takes a batch from a mailbox. What was taken before counts as consumed.
    pub fn poll_take(
        &mut self,
        mailbox: MailboxId,
        batch: &mut VecDeque<MailboxEntry>,
        waker: &Waker,
    ) -> Poll<()> {
        self.with_mailboxes(|mailboxes, cx| mailboxes.poll_take(mailbox, batch, Some(waker), cx))
    }

    /// Takes what is there, and does not wait.
    pub fn take_now(&mut self, mailbox: MailboxId, batch: &mut VecDeque<MailboxEntry>) {
        let _ = self.with_mailboxes(|mailboxes, cx| mailboxes.poll_take(mailbox, batch, None, cx));
    }

    /// Waits until everything that arrived for a mailbox up to `seq` was
    /// consumed; false when it will not be, because the mailbox came to its end.
    pub fn poll_handed(
        &mut self,
        mailbox: MailboxId,
        seq: ReceiveSeq,
        waker: &Waker,
    ) -> Poll<bool> {
        self.mailboxes.poll_handed(mailbox, seq, waker)
    }

    /// Tells what happens to updates that come faster than they are read.
    pub fn set_flow(&mut self, mailbox: MailboxId, flow: Flow) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.set_flow(mailbox, flow, cx));
    }

    /// What became of the updates of a mailbox; nothing once it is closed.
    #[must_use]
    pub fn mailbox_counts(&self, mailbox: MailboxId) -> MailboxCounts {
        self.mailboxes.counts(mailbox)
    }

    /// Tells that a consumer left updates unread that it had taken: they count as
    /// dropped.
    pub fn leave_updates(&mut self, mailbox: MailboxId, updates: u64) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.leave(mailbox, updates, cx));
    }

    /// Tells how a mailbox is read from now on.
    pub fn set_reading(&mut self, mailbox: MailboxId, reading: Reading) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.set_reading(mailbox, reading, cx));
    }

    /// Whether the turn of a mailbox was cancelled and is not answered yet.
    #[must_use]
    pub fn is_cancelling(&self, mailbox: MailboxId) -> bool {
        self.mailboxes.is_cancelled(mailbox)
    }

    /// Whether a call is open that is answered into the mailbox.
    #[must_use]
    pub fn is_streaming(&self, mailbox: MailboxId) -> bool {
        self.calls.any_streamed(mailbox)
    }

    /// Tells that the turn of a mailbox was cancelled: until its end it never
    /// pauses reading.
    pub fn set_cancelled(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.set_cancelled(mailbox, cx));
    }

    /// Acts on the mailboxes, and wakes the driver where that may end a pause.
    fn with_mailboxes<T>(
        &mut self,
        act: impl FnOnce(&mut Mailboxes, &mut MailboxContext<'_>) -> T,
    ) -> T {
        let before = self.mailboxes.over();
        let mut cx = MailboxContext {
            limits: &self.limits,
            stats: &mut self.stats,
            wakes: &mut self.wakes,
        };
        let value = act(&mut self.mailboxes, &mut cx);
        if self.mailboxes.over() < before {
            self.kick_paused();
        }
        value
    }
}
