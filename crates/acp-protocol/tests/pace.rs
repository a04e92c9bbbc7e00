//! How often data is written: what is said now and then leaves at once, a stream
//! of it in few pieces, and nothing waits longer than a window.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Wake, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    AnswerTo, CloseCause, Connection, ConnectionRole, IdSpace, Lane, Limits, frame,
};

const WINDOW: Duration = Duration::from_millis(1);

/// A connection and the driver of it, which writes all it is given.
struct Wire {
    connection: Connection,
    now: Instant,
    woken: Arc<Woken>,
    timer: Option<Instant>,
    writes: Vec<usize>,
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Wire {
    fn new() -> Self {
        Self {
            connection: Connection::new(ConnectionRole::Agent, Limits::default()),
            now: Instant::now(),
            woken: Arc::default(),
            timer: None,
            writes: Vec::new(),
        }
    }

    /// Says something of so many bytes.
    fn tell(&mut self, bytes: usize) {
        let mut line = line_of(bytes);
        let sent =
            self.connection
                .poll_notify(Lane::default(), &mut None, &mut line, Waker::noop());
        assert!(sent.is_ready());
        self.connection.take_wakes().wake();
    }

    /// Runs the driver until it sleeps, and gives how often it wrote.
    fn drive(&mut self) -> usize {
        let before = self.writes.len();
        loop {
            let mut taken = Vec::new();
            let look = self.connection.look(Some(&mut taken), self.now);
            self.timer = look.timeout;
            if !taken.is_empty() {
                self.writes.push(taken.len());
                self.connection.wrote(0);
            }
            let waker = Waker::from(Arc::clone(&self.woken));
            if self.connection.park(&waker, false, true, self.now) {
                self.woken.0.store(0, Ordering::Relaxed);
                return self.writes.len() - before;
            }
        }
    }

    fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::Relaxed) > 0
    }

    /// Tells updates until the driver sleeps over one that waits.
    fn stream(&mut self) {
        for _ in 0..4 {
            self.tell(10);
            assert_eq!(self.drive(), 1, "the first ones leave at once");
        }
        self.tell(10);
        assert!(!self.is_woken());
        assert_eq!(self.connection.queued(), line_of(10).len());
    }
}

fn line_of(bytes: usize) -> Vec<u8> {
    let mut line = Vec::new();
    frame::notification(&mut line, "_test/note", &"x".repeat(bytes)).unwrap();
    line
}

#[test]
fn what_is_said_now_and_then_leaves_at_once() {
    let mut wire = Wire::new();
    for _ in 0..20 {
        wire.tell(10);
        assert_eq!(wire.drive(), 1);
        wire.now += WINDOW / 3;
    }
}

#[test]
fn a_stream_waits_for_the_end_of_its_window() {
    let mut wire = Wire::new();
    let began = wire.now;
    wire.stream();
    for _ in 0..100 {
        wire.now += WINDOW / 200;
        wire.tell(10);
        assert!(!wire.is_woken());
    }
    assert_eq!(wire.drive(), 0, "whatever woke it");
    assert_eq!(wire.timer, Some(began + WINDOW));
    wire.now = began + WINDOW;
    wire.connection.handle_timeout(wire.now);
    assert_eq!(wire.drive(), 1);
    assert_eq!(wire.writes.last(), Some(&(101 * line_of(10).len())));
    // The next window has begun.
    wire.tell(10);
    assert_eq!(wire.drive(), 1);
}

#[test]
fn what_is_worth_a_write_waits_no_longer() {
    let mut wire = Wire::new();
    wire.stream();
    wire.tell(64 << 10);
    assert!(wire.is_woken());
    assert_eq!(wire.drive(), 1);
    assert_eq!(wire.connection.queued(), 0);
}

#[test]
fn a_call_waits_for_nothing_and_takes_along_what_does() {
    let mut wire = Wire::new();
    wire.stream();
    let mut tail = Vec::new();
    frame::call_tail(&mut tail, "_test/call", &()).unwrap();
    let call = wire
        .connection
        .call(IdSpace::Extension, AnswerTo::Caller, &tail);
    assert!(call.is_ok());
    wire.connection.take_wakes().wake();
    assert!(wire.is_woken());
    assert_eq!(wire.drive(), 1);
    assert_eq!(wire.connection.queued(), 0);
    // The window is not over for what is said behind it.
    wire.tell(10);
    assert!(!wire.is_woken());
    assert_eq!(wire.drive(), 0);
}

#[test]
fn what_waits_is_written_at_the_end() {
    let mut wire = Wire::new();
    wire.stream();
    wire.connection.close(CloseCause::Local);
    wire.connection.take_wakes().wake();
    assert!(wire.is_woken());
    let mut taken = Vec::new();
    assert!(wire.connection.take_due(&mut taken, wire.now));
    assert_eq!(taken, line_of(10));
}
