//! Who waits until updates were consumed is woken, however they went.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Wake, Waker},
    time::Instant,
};

use acp_protocol::rpc::{Connection, Intake, Limits, MailboxId, Reading, ReceiveSeq, Role};

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
    fn new() -> Self {
        Self {
            connection: Connection::new(Role::Client, Limits::default()),
            intake: Intake::new(Role::Client, &Limits::default()),
            bell: Arc::default(),
        }
    }

    fn open(&mut self, session: &str) -> MailboxId {
        let (mailbox, _) = self.connection.open_mailbox(session).unwrap();
        self.connection.set_reading(mailbox, Reading::Live);
        mailbox
    }

    fn receive_update(&mut self, session: &str) {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{}}}}}}\n"
        );
        self.intake.push(line.as_bytes());
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
    let mut client = Client::new();
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
    let mut client = Client::new();
    let mailbox = client.open("mine");
    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.connection.close_mailbox(mailbox);
    client.assert_woken(mailbox, seq);
}

#[test]
fn updates_that_nobody_will_read_are_not_waited_for() {
    let mut client = Client::new();
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
