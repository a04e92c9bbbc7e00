//! What a mailbox owes its consumer, and who waits until updates were consumed.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Wake, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    AnswerTo, Connection, Entry, IdSpace, Intake, Limits, MailboxId, Progress, Reading, ReceiveSeq,
    Role, frame,
};

/// Remembers whether it was woken.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Client {
    connection: Connection,
    intake: Intake,
    bell: Arc<Bell>,
}

impl Client {
    fn new(limits: Limits) -> Self {
        Self {
            intake: Intake::new(Role::Client, &limits),
            connection: Connection::new(Role::Client, limits),
            bell: Arc::default(),
        }
    }

    fn open(&mut self, session: &str) -> MailboxId {
        self.open_watched(session).0
    }

    fn open_watched(&mut self, session: &str) -> (MailboxId, Progress) {
        let (mailbox, progress) = self.connection.open_mailbox(session).unwrap();
        self.connection.set_reading(mailbox, Reading::Live);
        (mailbox, progress)
    }

    fn receive_update(&mut self, session: &str) {
        self.receive_updates(session, 1);
    }

    /// Receives updates that arrive together.
    fn receive_updates(&mut self, session: &str, count: usize) {
        for number in 0..count {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{\"n\":{number}}}}}}}\n"
            );
            self.intake.push(line.as_bytes());
        }
        self.take_in();
    }

    fn take_in(&mut self) {
        while let Some(inbound) = self.intake.next() {
            self.connection.accept(inbound, Instant::now());
        }
    }

    fn take(&mut self, mailbox: MailboxId) {
        self.connection.take_now(mailbox, &mut VecDeque::new());
    }

    fn wait(&mut self, mailbox: MailboxId, seq: ReceiveSeq) -> Poll<()> {
        let waker = Waker::from(Arc::clone(&self.bell));
        self.connection.poll_handed(mailbox, seq, &waker)
    }

    #[track_caller]
    fn assert_woken(&mut self, mailbox: MailboxId, seq: ReceiveSeq) {
        self.connection.take_wakes().wake();
        assert!(self.bell.0.load(Ordering::Relaxed), "nobody woke it");
        assert!(self.wait(mailbox, seq).is_ready());
    }
}

#[test]
fn updates_of_other_sessions_are_not_waited_for() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    client.receive_update("other");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.take(mailbox);
    client.take(mailbox); // the first batch is consumed
    client.assert_woken(mailbox, seq);
}

#[test]
fn a_mailbox_that_closes_lets_everybody_go() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.connection.close_mailbox(mailbox);
    client.assert_woken(mailbox, seq);
}

#[test]
fn updates_that_nobody_will_read_are_not_waited_for() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.connection.set_reading(mailbox, Reading::Discard);
    client.assert_woken(mailbox, seq);

    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_ready(), "discarded at once");
}

#[test]
fn between_turns_exactly_the_newest_are_kept() {
    let mut client = Client::new(Limits::default().with_idle_updates(5));
    let mailbox = client.open("mine");
    client.connection.set_reading(mailbox, Reading::Idle);
    client.receive_updates("mine", 3);
    client.receive_updates("mine", 9);
    let mut batch = VecDeque::new();
    client.connection.take_now(mailbox, &mut batch);
    let [Entry::Gap { dropped: 7 }, Entry::Run { run, first }] = batch.make_contiguous() else {
        panic!("{batch:?}")
    };
    assert_eq!((run.lines, first.get()), (5, 8));
    let text = std::str::from_utf8(&run.bytes).unwrap();
    assert!(text.lines().next().unwrap().contains("{\"n\":4}"), "{text}");
    assert_eq!(text.lines().count(), 5);
    assert_eq!(client.connection.stats().updates_dropped, 7);
}

#[test]
fn a_consumer_that_moves_again_counts_again_at_once() {
    let limits = Limits::default().with_mailbox_soft(1000);
    let patience = limits.patience.unwrap();
    let mut client = Client::new(limits);
    let (mailbox, progress) = client.open_watched("mine");
    client.receive_updates("mine", 20);
    client.take(mailbox);
    let now = Instant::now();
    assert!(!client.connection.may_read(now));
    client.connection.handle_timeout(now + patience);
    assert!(
        client.connection.may_read(now + patience),
        "it stands still"
    );
    client.receive_update("mine");
    assert!(
        client.connection.may_read(now + patience),
        "it stands still"
    );
    // It takes an item of what it has in hand.
    progress.advance();
    client.receive_update("mine");
    let later = now + patience + Duration::from_secs(1);
    assert!(!client.connection.may_read(later), "it is slow, not stuck");
}

#[test]
fn a_cancelled_turn_pauses_nothing_until_its_end() {
    let mut client = Client::new(Limits::default().with_mailbox_soft(1000));
    let mailbox = client.open("mine");
    let mut prompt = Vec::new();
    frame::call_tail(&mut prompt, "session/prompt", &()).unwrap();
    let to = AnswerTo::Mailbox(mailbox);
    client
        .connection
        .call(IdSpace::Protocol, to, &prompt)
        .unwrap();
    client.connection.set_cancelled(mailbox);
    client.receive_updates("mine", 20);
    let now = Instant::now();
    assert!(client.connection.may_read(now));
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"result\":{}}\n";
    client.intake.push(answer);
    client.take_in();
    assert!(!client.connection.may_read(now), "the turn has ended");
}
