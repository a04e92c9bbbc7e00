//! The connection: what both sides owe each other, as a state machine.
//!
//! It is fed with what arrived ([`Connection::accept`]), with what this side
//! wants to say, and with instants. It gives events, bytes to write, and the
//! wakers to wake. Nothing in it waits, and no user code runs under it.

mod consumers;
mod driver;
mod ending;
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
    mailbox::Mailboxes,
    message::{Incoming, RawResponse},
    pace::Pace,
    serving::Serving,
    wake::Wakes,
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
    /// The requests that were open when the peer's stream ended have had their time:
    /// end the work on them, then call [`Connection::cancel_requests`].
    FinishGraceOver,
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
    /// The peer is gone: what it wrote is read to its end, within
    /// [`Limits::last_words_wait`] and [`Limits::last_words_limit`], and then the
    /// connection closes for this reason.
    pub last_words: Option<CloseCause>,
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
    /// Writing failed: nothing more is sent.
    mute: Option<CloseCause>,
    /// The peer is gone, and what it wrote is read to its end.
    last_words: Option<CloseCause>,
    ending: Option<ending::Ending>,
    close_waiters: Vec<Waker>,
    driver: DriverState,
    /// Reading is paused, and until when at the longest.
    pause: Option<Option<Instant>>,
    noise_answered: NoiseAnswered,
    /// How the newest line began that was no message at all.
    noise: Option<Arc<str>>,
    wakes: Wakes,
}

/// When a line that names no call was last answered, by the code of the answer.
#[derive(Debug, Default)]
struct NoiseAnswered {
    parse: Option<Instant>,
    invalid: Option<Instant>,
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
            mute: None,
            last_words: None,
            ending: None,
            close_waiters: Vec::new(),
            driver: DriverState::default(),
            pause: None,
            noise_answered: NoiseAnswered::default(),
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

    /// Tells that the peer is gone, as its process has ended. Pauses end, whatever the
    /// consumers do: the driver reads what is still there, and then closes.
    pub fn hear_out(&mut self, cause: CloseCause) {
        if self.closed.is_none() && self.last_words.is_none() {
            self.last_words = Some(cause);
            self.driver.paused = false;
            self.kick_for_event();
        }
    }

    /// Tells that writing failed: nothing can be sent any more, and what the peer wrote
    /// before is [read to its end](Self::hear_out).
    pub fn mute(&mut self, cause: CloseCause) {
        self.out = Vec::new();
        self.in_flight = 0;
        self.mute = Some(cause.clone());
        self.credit.wake_all(&mut self.wakes);
        if self.input_ended().is_some() {
            return self.close(cause);
        }
        self.hear_out(cause);
    }

    /// Why nothing can be sent, if so.
    fn unsendable(&self) -> Option<&CloseCause> {
        self.closed.as_ref().or(self.mute.as_ref())
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
