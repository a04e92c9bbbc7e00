//! What ends a pause wakes the driver, wherever it happens.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
    time::Instant,
};

use acp_protocol::rpc::{Connection, ConnectionRole, Intake, Limits, Reading};

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn feed(connection: &mut Connection, session: &str, bytes: usize, now: Instant) {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{\"x\":\"{}\"}}}}}}\n",
        "x".repeat(bytes)
    );
    let mut intake = Intake::new(ConnectionRole::Client, connection.limits());
    intake.push(line.as_bytes());
    while let Some(inbound) = intake.next() {
        connection.accept(inbound, now);
    }
}

#[test]
fn opening_a_mailbox_that_relieves_another_one_wakes_the_driver() {
    let limits = Limits::default()
        .with_mailbox_soft(4000)
        .with_mailbox_total(5500)
        .with_patience(None);
    let (mut connection, now) = (
        Connection::new(ConnectionRole::Client, limits),
        Instant::now(),
    );
    connection.hold();
    feed(&mut connection, "held", 1300, now);
    let (full, _) = connection.open_mailbox("full").unwrap();
    connection.set_reading(full, Reading::Live);
    for _ in 0..3 {
        feed(&mut connection, "full", 1300, now);
    }

    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert!(!connection.may_read(now), "the mailbox is full");
    assert!(connection.park(&waker, false, false, now));

    // Both together are too much, so the fullest gives way.
    connection.open_mailbox("held").unwrap();
    connection.take_wakes().wake();
    assert!(connection.may_read(now));
    assert!(woken.0.load(Ordering::Relaxed), "and nobody reads");
}
