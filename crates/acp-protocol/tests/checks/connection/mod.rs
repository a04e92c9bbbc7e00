//! A connection under any script of bytes from the peer and of what this side
//! does: it never panics, nobody is forgotten, and the numbers add up.
//!
//! A script is text. A line that starts with `!` is something this side does: a
//! letter says what, the byte behind it to which of several. Any other line is
//! what the peer sends.

mod bell;
mod ledger;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    AnswerTo, CallId, CancelWatch, CloseCause, Connection, ConnectionEvent, ConnectionRole, Flow,
    IdSpace, Intake, Lane, Limits, MailboxEntry, MailboxId, OnDrop, Reading, ReceiveSeq, RequestId,
    Ticket, frame,
};
use bell::Waiter;
use ledger::Ledger;
use serde_json::json;

/// Checks any script, on both sides.
///
/// # Panics
///
/// When the connection breaks a promise.
pub(crate) fn check(script: &[u8]) {
    for role in [ConnectionRole::Client, ConnectionRole::Agent] {
        let mut play = Play::new(role);
        for line in script.split_inclusive(|byte| *byte == b'\n') {
            match line {
                [b'!', act, rest @ ..] => {
                    play.act(*act, rest.first().copied().unwrap_or(b'0').into());
                }
                line => play.receive(line),
            }
            play.check();
        }
        play.end();
    }
}

/// Bounds so low that a short script meets them all.
fn limits() -> Limits {
    Limits::default()
        .with_read_chunk(64)
        .with_max_message(400)
        .with_max_depth(8)
        .with_outgoing_credit(300)
        .with_outgoing_yield(150)
        .with_outgoing_hard(3000)
        .with_mailbox_soft(1000)
        .with_mailbox_hard(3000)
        .with_mailbox_total(5000)
        .with_mailbox_batch(700)
        .with_idle_updates(3)
        .with_held_bytes(1500)
        .with_held_sessions(2)
        .with_handler_slots(2)
        .with_parked_requests(3)
        .with_open_requests(8)
        .with_open_calls(6)
        .with_zombie_calls(2)
}

struct Play {
    connection: Connection,
    intake: Intake,
    now: Instant,
    ledger: Ledger,
    /// Bytes of the peer that are taken in at once.
    piece: usize,
    /// Calls that have not ended, and the mailbox their end comes out of.
    calls: BTreeMap<CallId, (Option<MailboxId>, Waiter)>,
    /// Calls into a mailbox that were given up.
    given_up: BTreeSet<CallId>,
    mailboxes: Vec<Consumer>,
    requests: Vec<(RequestId, Waiter, Option<CancelWatch>)>,
    lanes: [Lane; 2],
    senders: Vec<Sender>,
    holds: usize,
    writing: Vec<u8>,
    driver: Waiter,
    /// How the driver sleeps: whether the writer is blocked, and whether it
    /// reads.
    sleeps: Option<(bool, bool)>,
}

struct Consumer {
    mailbox: MailboxId,
    taker: Waiter,
    barrier: Option<(ReceiveSeq, Waiter)>,
    closed: bool,
}

struct Sender {
    lane: Lane,
    ticket: Option<Ticket>,
    frame: Vec<u8>,
    waiter: Waiter,
}

impl Play {
    fn new(role: ConnectionRole) -> Self {
        let limits = limits();
        let mut connection = Connection::new(role, limits.clone());
        let lanes = [connection.open_lane(), connection.open_lane()];
        Self {
            connection,
            intake: Intake::new(role, &limits),
            now: Instant::now(),
            ledger: Ledger::default(),
            piece: usize::MAX,
            calls: BTreeMap::new(),
            given_up: BTreeSet::new(),
            mailboxes: Vec::new(),
            requests: Vec::new(),
            lanes,
            senders: Vec::new(),
            holds: 0,
            writing: Vec::new(),
            driver: Waiter::default(),
            sleeps: None,
        }
    }

    /// Takes in what the peer sent.
    fn receive(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(self.piece.clamp(1, bytes.len().max(1))) {
            self.intake.push(piece);
            self.take_in();
        }
    }

    fn take_in(&mut self) {
        while let Some(inbound) = self.intake.next() {
            self.ledger.arrives(&inbound);
            self.connection.accept(inbound, self.now);
            self.take_events();
        }
    }

    fn take_events(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            if let ConnectionEvent::Request(request, _) = event {
                let id = request.id().expect("a request has an id").clone();
                let known = self.requests.iter().any(|(open, ..)| *open == id);
                assert!(!known, "{id} is served twice at once");
                self.requests.push((id, Waiter::default(), None));
            }
        }
    }

    /// Does one thing on this side.
    fn act(&mut self, act: u8, which: usize) {
        match act {
            b'c' => self.call(which, AnswerTo::Caller),
            b's' => {
                if let Some(consumer) = pick(&mut self.mailboxes, which) {
                    let to = AnswerTo::Mailbox(consumer.mailbox);
                    self.call(which, to);
                }
            }
            b'p' => self.collect(),
            b'g' => self.give_up(which),
            b'm' => self.open_mailbox(which),
            b'x' => self.close_mailbox(which),
            b't' => self.take(which),
            b'j' => self.wait_for_consumer(which),
            b'r' => {
                let reading = [Reading::Live, Reading::Idle, Reading::Discard][which / 4 % 3];
                if let Some(consumer) = pick(&mut self.mailboxes, which) {
                    self.connection.set_reading(consumer.mailbox, reading);
                }
            }
            b'k' => {
                if let Some(consumer) = pick(&mut self.mailboxes, which) {
                    self.connection.set_cancelled(consumer.mailbox);
                }
            }
            b'R' => {
                if let Some(consumer) = pick(&mut self.mailboxes, which) {
                    let mailbox = consumer.mailbox;
                    self.connection.retire_mailbox(mailbox);
                    // The ends that did not come before go nowhere.
                    let given_up = &mut self.given_up;
                    self.calls.retain(|call, (of, _)| {
                        let ends_there = *of == Some(mailbox);
                        if ends_there {
                            given_up.insert(*call);
                        }
                        !ends_there
                    });
                }
            }
            b'F' => {
                let depth = u64::try_from(which % 7).expect("it is small");
                let flow = [Flow::Lossless, Flow::DropOldest { depth }][which % 2];
                if let Some(consumer) = pick(&mut self.mailboxes, which / 2) {
                    self.connection.set_flow(consumer.mailbox, flow);
                }
            }
            b'h' => {
                self.connection.hold();
                self.holds += 1;
            }
            b'H' if self.holds > 0 => {
                self.connection.release();
                self.holds -= 1;
            }
            b'a' => self.answer(which),
            b'z' => self.look_for_cancelled(),
            b'n' => self.notify(which),
            b'w' => self.poll_senders(),
            b'q' if !self.senders.is_empty() => {
                let sender = self.senders.swap_remove(which % self.senders.len());
                self.connection.stop_waiting(sender.ticket);
            }
            b'N' => _ = self.connection.notify_now(&mut note(which)),
            b'L' => self.connection.cancel_lane(self.lanes[which % 2]),
            b'O' => self.lanes[which % 2] = self.connection.open_lane(),
            b'o' => self.write(which),
            b'T' => self.pass_time(which),
            b'b' => self.sleep(which),
            b'P' => self.piece = which,
            b'f' => {
                self.intake.finish();
                self.take_in();
                self.connection.close(CloseCause::PeerEof);
            }
            b'C' => self.connection.close(CloseCause::Local),
            _ => {}
        }
    }

    fn call(&mut self, which: usize, to: AnswerTo) {
        let mut tail = Vec::new();
        let padding = "c".repeat(which);
        frame::call_tail(&mut tail, "session/list", &json!([padding])).expect("it is JSON");
        let space = [IdSpace::Protocol, IdSpace::Extension][which % 2];
        if let Ok(call) = self.connection.call(space, to, &tail) {
            let mailbox = match to {
                AnswerTo::Mailbox(mailbox) => Some(mailbox),
                AnswerTo::Caller => None,
            };
            let new = self.calls.insert(call, (mailbox, Waiter::default()));
            assert!(new.is_none(), "an id was given out twice");
        }
    }

    /// Takes the outcomes of calls that have ended.
    fn collect(&mut self) {
        let connection = &mut self.connection;
        self.calls.retain(|call, (mailbox, waiter)| {
            mailbox.is_some()
                || waiter
                    .poll(|waker| connection.poll_outcome(*call, waker))
                    .is_pending()
        });
    }

    fn give_up(&mut self, which: usize) {
        let call = self.calls.keys().nth(which % self.calls.len().max(1));
        if let Some(call) = call.copied() {
            let on_drop = [OnDrop::Cancel, OnDrop::Forget, OnDrop::Report][which / 4 % 3];
            self.connection.abandon(call, on_drop, self.now);
            if let Some((Some(_), _)) = self.calls.remove(&call) {
                self.given_up.insert(call);
            }
        }
    }

    fn open_mailbox(&mut self, which: usize) {
        let session = ["a", "b", "c"][which % 3];
        if let Some((mailbox, _)) = self.connection.open_mailbox(session) {
            self.connection.set_reading(mailbox, Reading::Live);
            self.mailboxes.push(Consumer {
                mailbox,
                taker: Waiter::default(),
                barrier: None,
                closed: false,
            });
        }
    }

    fn close_mailbox(&mut self, which: usize) {
        if self.mailboxes.is_empty() {
            return;
        }
        let mut consumer = self.mailboxes.swap_remove(which % self.mailboxes.len());
        self.connection.close_mailbox(consumer.mailbox);
        self.connection.take_wakes().wake();
        assert!(consumer.reached(&mut self.connection), "a barrier is left");
        // The ends of its calls go nowhere.
        self.calls
            .retain(|_, (mailbox, _)| *mailbox != Some(consumer.mailbox));
    }

    /// A consumer takes what there is.
    fn take(&mut self, which: usize) {
        let Some(consumer) = pick(&mut self.mailboxes, which) else {
            return;
        };
        if consumer.closed {
            return;
        }
        let mut batch = VecDeque::new();
        let mailbox = consumer.mailbox;
        let connection = &mut self.connection;
        let taken = consumer
            .taker
            .poll(|waker| connection.poll_take(mailbox, &mut batch, waker));
        assert_eq!(taken.is_ready(), !batch.is_empty());
        for entry in batch {
            assert!(!consumer.closed, "something behind the end");
            match entry {
                MailboxEntry::Run { run, .. } => assert!(run.lines > 0),
                MailboxEntry::Gap { dropped, .. } => assert!(dropped > 0),
                MailboxEntry::End { call, .. } => {
                    // One that was given up may have ended just before.
                    if !self.given_up.remove(&call) {
                        let (of, _) = self.calls.remove(&call).expect("a call ends once");
                        assert_eq!(of, Some(mailbox), "it ends elsewhere");
                    }
                }
                MailboxEntry::Closed => consumer.closed = true,
            }
        }
    }

    fn wait_for_consumer(&mut self, which: usize) {
        let seq = self.connection.received();
        if let Some(consumer) = pick(&mut self.mailboxes, which) {
            consumer
                .barrier
                .get_or_insert_with(|| (seq, Waiter::default()));
            consumer.reached(&mut self.connection);
        }
    }

    fn answer(&mut self, which: usize) {
        if self.requests.is_empty() {
            return;
        }
        let (id, ..) = self.requests.swap_remove(which % self.requests.len());
        for answer in ["a".repeat(which * 3), "twice".to_owned()] {
            let mut line = Vec::new();
            frame::result(&mut line, &id, &answer).expect("it is JSON");
            self.connection.respond(&id, &mut line);
        }
        self.take_events();
    }

    fn look_for_cancelled(&mut self) {
        for (id, waiter, watch) in &mut self.requests {
            let cancelled = self.connection.is_cancelled(id);
            let polled = waiter.poll(|waker| self.connection.poll_cancelled(id, watch, waker));
            assert_eq!(polled.is_ready(), cancelled);
        }
    }

    fn notify(&mut self, which: usize) {
        if self.senders.len() < 6 {
            self.senders.push(Sender {
                lane: self.lanes[which % 2],
                ticket: None,
                frame: note(which),
                waiter: Waiter::default(),
            });
            self.poll_senders();
        }
    }

    fn poll_senders(&mut self) {
        let connection = &mut self.connection;
        self.senders.retain_mut(|sender| {
            let Sender {
                lane,
                ticket,
                frame,
                waiter,
            } = sender;
            let sent = waiter.poll(|waker| connection.poll_notify(*lane, ticket, frame, waker));
            connection.take_wakes().wake();
            sent.is_pending()
        });
    }

    /// The writer takes some bytes.
    fn write(&mut self, which: usize) {
        if self.writing.is_empty() {
            self.connection.take_output(&mut self.writing);
        }
        let count = (which * 4).min(self.writing.len());
        let written: Vec<u8> = self.writing.drain(..count).collect();
        self.connection.wrote(self.writing.len());
        self.ledger.writes(&written, limits().max_message);
    }

    fn pass_time(&mut self, which: usize) {
        self.now += Duration::from_secs(which as u64 % 16);
        self.connection.may_read(self.now);
        if self
            .connection
            .next_timeout()
            .is_some_and(|due| due <= self.now)
        {
            self.connection.handle_timeout(self.now);
            // It is the driver whose timer ran out.
            self.sleeps = None;
        }
    }

    /// The driver has nothing to do.
    fn sleep(&mut self, which: usize) {
        let blocked = which % 2 == 1 && !self.writing.is_empty();
        let reads = self.connection.may_read(self.now);
        let (connection, now) = (&mut self.connection, self.now);
        self.driver = Waiter::default();
        let slept = self.driver.poll(|waker| {
            if connection.park(waker, blocked, reads, now) {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        });
        self.sleeps = slept.is_pending().then_some((blocked, reads));
    }

    /// What holds at any time.
    fn check(&mut self) {
        self.connection.take_wakes().wake();
        let stats = self.connection.stats();
        assert_eq!(
            stats.updates_received,
            stats.updates_delivered
                + stats.updates_dropped
                + stats.updates_unknown_session
                + self.connection.queued_updates(),
            "{stats:?}"
        );
        let limits = limits();
        // One message over the hard mark, and one over the credit.
        let most = limits.outgoing_hard + limits.outgoing_credit + 2 * limits.max_message;
        assert!(self.connection.unwritten() <= most);
        assert!(self.connection.open_requests() <= limits.open_requests);
        if self.driver.rang() {
            self.sleeps = None;
        }
        if let Some((blocked, reads)) = self.sleeps {
            assert!(self.connection.closed().is_none(), "it sleeps on");
            assert!(blocked || self.connection.queued() == 0, "output is left");
            assert!(
                reads || !self.connection.may_read(self.now),
                "it could read"
            );
        }
    }

    /// The end of everything: whoever waits is told.
    fn end(mut self) {
        self.connection.close(CloseCause::PeerEof);
        self.check();
        self.collect();
        for which in 0..self.mailboxes.len() {
            while !self.mailboxes[which].closed {
                self.take(which);
            }
            let consumer = &mut self.mailboxes[which];
            assert!(consumer.reached(&mut self.connection), "a barrier is left");
        }
        assert!(self.calls.is_empty(), "calls are left: {:?}", self.calls);
        self.look_for_cancelled();
        assert!(
            self.requests
                .iter()
                .all(|(id, ..)| self.connection.is_cancelled(id))
        );
        self.poll_senders();
        assert!(self.senders.is_empty(), "a sender waits on");
        assert!(self.connection.poll_closed(Waker::noop()).is_ready());
        while !self.writing.is_empty() || self.connection.queued() > 0 {
            self.write(usize::from(u8::MAX));
        }
        self.check();
    }
}

impl Consumer {
    /// Whether nobody waits for it any more.
    fn reached(&mut self, connection: &mut Connection) -> bool {
        let Some((seq, waiter)) = &mut self.barrier else {
            return true;
        };
        let polled = waiter.poll(|waker| connection.poll_handed(self.mailbox, *seq, waker));
        if polled.is_ready() {
            self.barrier = None;
        }
        polled.is_ready()
    }
}

/// One of several, whatever the number.
fn pick<T>(of: &mut [T], which: usize) -> Option<&mut T> {
    let length = of.len().max(1);
    of.get_mut(which % length)
}

fn note(which: usize) -> Vec<u8> {
    let mut line = Vec::new();
    let padding = "n".repeat(which * 2);
    frame::notification(&mut line, "_x/note", &json!([padding])).expect("it is JSON");
    line
}
