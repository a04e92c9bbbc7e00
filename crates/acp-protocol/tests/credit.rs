//! Who may send when there is no room: lanes take turns, and a cancelled lane
//! waits no longer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, Wake, Waker},
};

use acp_protocol::rpc::{
    CloseCause, Connection, ConnectionRole, Lane, Limits, SendError, Ticket, frame,
};

/// A sender with one message.
struct Sender {
    name: &'static str,
    lane: Lane,
    ticket: Option<Ticket>,
    line: Vec<u8>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Sender {
    fn new(name: &'static str, lane: Lane) -> Self {
        let mut line = Vec::new();
        frame::notification(&mut line, "_test/note", &name).unwrap();
        Self {
            name,
            lane,
            ticket: None,
            line,
            woken: Arc::default(),
        }
    }

    fn poll(&mut self, connection: &mut Connection) -> Poll<Result<(), SendError>> {
        let waker = Waker::from(Arc::clone(&self.woken));
        connection.poll_notify(self.lane, &mut self.ticket, &mut self.line, &waker)
    }
}

/// A connection without any room, and two lanes.
fn full() -> (Connection, Lane, Lane) {
    let limits = Limits::default()
        .with_outgoing_credit(1)
        .with_outgoing_yield(usize::MAX);
    let mut connection = Connection::new(ConnectionRole::Agent, limits);
    let (first, second) = (connection.open_lane(), connection.open_lane());
    assert!(
        Sender::new("fill", Lane::default())
            .poll(&mut connection)
            .is_ready()
    );
    (connection, first, second)
}

/// Writes everything, and lets those go on who were woken.
fn write(connection: &mut Connection, senders: &mut Vec<Sender>, sent: &mut Vec<&'static str>) {
    connection.take_output(&mut Vec::new());
    connection.wrote(0);
    connection.take_wakes().wake();
    senders.retain_mut(|sender| {
        if sender.woken.0.swap(0, Ordering::Relaxed) == 0 {
            return true;
        }
        let waits = sender.poll(connection).is_pending();
        if !waits {
            sent.push(sender.name);
        }
        waits
    });
}

#[test]
fn lanes_take_turns() {
    let (mut connection, busy, calm) = full();
    let mut senders = vec![
        Sender::new("busy 1", busy),
        Sender::new("busy 2", busy),
        Sender::new("busy 3", busy),
        Sender::new("calm 1", calm),
    ];
    for sender in &mut senders {
        assert!(sender.poll(&mut connection).is_pending());
    }
    let mut sent = Vec::new();
    for _ in 0..4 {
        write(&mut connection, &mut senders, &mut sent);
    }
    assert_eq!(sent, ["busy 1", "calm 1", "busy 2", "busy 3"]);
}

#[test]
fn nobody_overtakes_those_who_wait() {
    let (mut connection, lane, _) = full();
    let mut senders = [Sender::new("waits", lane)];
    assert!(senders[0].poll(&mut connection).is_pending());
    connection.take_output(&mut Vec::new());
    connection.wrote(0);
    assert!(
        Sender::new("late", lane).poll(&mut connection).is_pending(),
        "room, but not its turn"
    );
}

#[test]
fn who_gives_up_lets_the_next_one_on() {
    let (mut connection, lane, _) = full();
    let (mut first, mut second) = (Sender::new("first", lane), Sender::new("second", lane));
    assert!(first.poll(&mut connection).is_pending());
    assert!(second.poll(&mut connection).is_pending());
    connection.take_output(&mut Vec::new());
    connection.wrote(0);
    connection.take_wakes().wake();
    assert_eq!(first.woken.0.load(Ordering::Relaxed), 1);
    connection.stop_waiting(first.ticket.take());
    connection.take_wakes().wake();
    assert_eq!(second.woken.0.load(Ordering::Relaxed), 1);
    assert!(second.poll(&mut connection).is_ready());
}

#[test]
fn a_cancelled_lane_waits_no_longer() {
    let (mut connection, cancelled, other) = full();
    let (mut first, mut second) = (
        Sender::new("cancelled", cancelled),
        Sender::new("other", other),
    );
    assert!(first.poll(&mut connection).is_pending());
    assert!(second.poll(&mut connection).is_pending());
    connection.cancel_lane(cancelled);
    connection.take_wakes().wake();
    assert_eq!(first.woken.0.load(Ordering::Relaxed), 1);
    assert!(matches!(
        first.poll(&mut connection),
        Poll::Ready(Err(SendError::Cancelled))
    ));
    // What finds room is still sent: pending updates come before the answer.
    connection.take_output(&mut Vec::new());
    connection.wrote(0);
    assert!(second.poll(&mut connection).is_ready());
    connection.take_output(&mut Vec::new());
    connection.wrote(0);
    assert!(matches!(
        Sender::new("last", cancelled).poll(&mut connection),
        Poll::Ready(Ok(()))
    ));
}

#[test]
fn the_end_wakes_everybody() {
    let (mut connection, lane, _) = full();
    let mut sender = Sender::new("waits", lane);
    assert!(sender.poll(&mut connection).is_pending());
    connection.close(CloseCause::PeerEof);
    connection.take_wakes().wake();
    assert_eq!(sender.woken.0.load(Ordering::Relaxed), 1);
    assert!(matches!(
        sender.poll(&mut connection),
        Poll::Ready(Err(SendError::Closed(CloseCause::PeerEof)))
    ));
}

#[test]
fn a_message_of_exactly_the_limit_is_sent() {
    let mut connection = Connection::new(
        ConnectionRole::Agent,
        Limits::default().with_max_message(100),
    );
    for (length, fits) in [(100, true), (101, false)] {
        let mut line = vec![b'x'; length];
        line.push(b'\n');
        assert_eq!(
            connection.notify_now(&mut line).is_ok(),
            fits,
            "{length} bytes"
        );
    }
}

#[test]
fn a_peer_that_never_reads_what_it_asks_for_is_cut_off() {
    let limits = Limits::default()
        .with_outgoing_hard(1000)
        .with_max_message(1000)
        .with_outgoing_credit(100);
    let mut connection = Connection::new(ConnectionRole::Agent, limits);
    for _ in 0..13 {
        let _ = connection.notify_now(&mut vec![b'x'; 100]);
    }
    assert!(matches!(connection.closed(), Some(CloseCause::Flooded)));
}

#[test]
fn what_is_written_in_place_obeys_the_same_rules() {
    let limits = Limits::default()
        .with_outgoing_credit(8)
        .with_outgoing_yield(usize::MAX)
        .with_max_message(9);
    let mut connection = Connection::new(ConnectionRole::Agent, limits);
    let write = |connection: &mut Connection, line: &'static [u8]| {
        connection.try_write(|out| out.extend_from_slice(line))
    };
    assert!(matches!(write(&mut connection, b"123\n"), Some(Ok(()))));
    let long = write(&mut connection, b"1234567890\n");
    assert!(matches!(long, Some(Err(SendError::TooLarge { limit: 9 }))));
    assert_eq!(connection.queued(), 4, "nothing of it is left");
    // Exactly this length is legal, and one message may overshoot.
    assert!(matches!(
        write(&mut connection, b"123456789\n"),
        Some(Ok(()))
    ));
    assert!(write(&mut connection, b"1\n").is_none(), "there is no room");
    assert!(!connection.has_room());

    // Who waits for room gets it in turn, and may write only then.
    let mut waiting = Sender::new("first", Lane::default());
    let waker = Waker::from(Arc::clone(&waiting.woken));
    let room = |connection: &mut Connection, ticket: &mut Option<Ticket>| {
        connection.poll_room(Lane::default(), ticket, &waker)
    };
    assert!(room(&mut connection, &mut waiting.ticket).is_pending());
    connection.take_output(&mut Vec::new());
    connection.wrote(0);
    connection.take_wakes().wake();
    assert_eq!(waiting.woken.0.load(Ordering::Relaxed), 1);
    assert!(
        write(&mut connection, b"1\n").is_none(),
        "it is not its turn"
    );
    let ready = room(&mut connection, &mut waiting.ticket);
    assert!(matches!(ready, Poll::Ready(Ok(()))));
    connection.stop_waiting(waiting.ticket.take());
    assert!(matches!(write(&mut connection, b"1\n"), Some(Ok(()))));

    connection.close(CloseCause::Local);
    let closed = write(&mut connection, b"1\n");
    assert!(matches!(closed, Some(Err(SendError::Closed(_)))));
    let closed = room(&mut connection, &mut None);
    assert!(matches!(closed, Poll::Ready(Err(SendError::Closed(_)))));
}
