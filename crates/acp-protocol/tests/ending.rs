//! The end of the peer's stream while its requests are still open.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Poll, Wake, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    AnswerTo, CallError, CallId, CloseCause, Connection, ConnectionEvent, ConnectionRole, IdSpace,
    Intake, Limits, RequestId, SendError, frame,
};

const FINISH: Duration = Duration::from_secs(10);
const CANCEL: Duration = Duration::from_secs(35);

/// A connection whose requests are started and never answered by themselves.
struct Peerless {
    connection: Connection,
    now: Instant,
}

impl Peerless {
    fn new(role: ConnectionRole, lines: &str) -> Self {
        let limits = Limits::default()
            .with_finish_grace(FINISH)
            .with_cancel_grace(CANCEL);
        let mut peerless = Self {
            connection: Connection::new(role, limits.clone()),
            now: Instant::now(),
        };
        let mut intake = Intake::new(role, &limits);
        intake.push(lines.as_bytes());
        intake.finish();
        while let Some(inbound) = intake.next() {
            peerless.connection.accept(inbound, peerless.now);
        }
        while peerless.connection.poll_event().is_some() {}
        peerless
    }

    fn end(&mut self) {
        self.connection.end_input(CloseCause::PeerEof, self.now);
    }

    /// Does what the driver does until it sleeps; gives what is written.
    fn drive(&mut self) -> String {
        let mut out = Vec::new();
        self.connection.look(Some(&mut out), self.now);
        self.connection.wrote(0);
        self.connection.look(None, self.now);
        String::from_utf8(out).unwrap()
    }

    /// Lets time pass up to the next timer, and gives how long that took.
    fn wait(&mut self) -> Duration {
        let until = self
            .connection
            .next_timeout()
            .expect("nothing is waited for");
        let passed = until - self.now;
        self.now = until;
        self.connection.handle_timeout(until);
        passed
    }

    fn answer(&mut self, id: i64) {
        let id = RequestId::Number(id);
        let mut line = Vec::new();
        frame::result(&mut line, &id, &()).unwrap();
        self.connection.respond(&id, &mut line);
    }

    fn call(&mut self) -> Result<CallId, CallError> {
        let mut tail = Vec::new();
        frame::call_tail(&mut tail, "session/request_permission", &()).unwrap();
        self.connection
            .call(IdSpace::Protocol, AnswerTo::Caller, &tail)
    }

    fn is_cancelled(&self, id: i64) -> bool {
        self.connection.is_cancelled(&RequestId::Number(id))
    }
}

fn request(id: i64) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/new\",\"params\":{{}}}}\n")
}

#[test]
fn an_agent_without_open_requests_closes_at_once() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &request(1));
    agent.answer(1);
    agent.end();
    assert!(agent.drive().contains("\"id\":1"), "it is written first");
    assert!(matches!(
        agent.connection.closed(),
        Some(CloseCause::PeerEof)
    ));
}

#[test]
fn an_agent_finishes_what_it_accepted() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &(request(1) + &request(2)));
    agent.end();
    assert!(!agent.connection.may_read(agent.now));
    agent.answer(2);
    assert!(agent.drive().contains("\"id\":2"));
    assert!(agent.connection.closed().is_none() && !agent.is_cancelled(1));
    // Updates of the turn go on, too.
    let mut update = Vec::new();
    frame::notification(&mut update, "session/update", &()).unwrap();
    assert!(matches!(
        agent.connection.try_notify(&mut update),
        Some(Ok(()))
    ));
    agent.answer(1);
    let written = agent.drive();
    assert!(written.contains("session/update") && written.contains("\"id\":1"));
    assert!(matches!(
        agent.connection.closed(),
        Some(CloseCause::PeerEof)
    ));
    let late = agent.connection.try_notify(&mut update);
    assert!(matches!(late, Some(Err(SendError::Closed(_)))));
}

#[test]
fn parked_requests_are_accepted_too() {
    let limits = Limits::default();
    let lines: String = (0..100).map(request).collect();
    let mut agent = Peerless::new(ConnectionRole::Agent, &lines);
    agent.end();
    for id in 0..100 {
        agent.answer(id);
    }
    let started = std::iter::from_fn(|| agent.connection.poll_event()).count();
    assert_eq!(started, 100 - limits.handler_slots);
    assert_eq!(agent.drive().lines().count(), 100);
    assert!(agent.connection.closed().is_some());
}

#[test]
fn a_client_closes_at_once() {
    let mut client = Peerless::new(ConnectionRole::Client, &request(1));
    client.end();
    assert!(matches!(
        client.connection.closed(),
        Some(CloseCause::PeerEof)
    ));
    assert!(client.is_cancelled(1));
}

#[test]
fn questions_that_nobody_can_answer_end_at_once() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &request(1));
    let call = agent.call().unwrap();
    agent.end();
    let outcome = agent.connection.poll_outcome(call, Waker::noop());
    let Poll::Ready(outcome) = outcome else {
        panic!("it waits for an answer")
    };
    assert!(matches!(
        outcome.result,
        Err(CallError::Closed(CloseCause::PeerEof))
    ));
    agent.drive();
    assert!(matches!(
        agent.call(),
        Err(CallError::Closed(CloseCause::PeerEof))
    ));
    assert_eq!(agent.drive(), "", "nobody is asked");
}

#[test]
fn requests_that_do_not_finish_are_cancelled_and_then_left() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &(request(1) + &request(2)));
    agent.end();
    agent.drive();
    assert_eq!(agent.wait(), FINISH);
    assert!(!agent.is_cancelled(1), "whoever acts on it does so first");
    let event = agent.connection.poll_event();
    assert!(matches!(event, Some(ConnectionEvent::FinishGraceOver)));
    agent.connection.cancel_requests();
    assert!(agent.is_cancelled(1) && agent.is_cancelled(2));
    agent.answer(1);
    assert!(agent.drive().contains("\"id\":1"));
    assert!(agent.connection.closed().is_none());
    assert_eq!(agent.wait(), CANCEL);
    assert!(matches!(
        agent.connection.closed(),
        Some(CloseCause::PeerEof)
    ));
}

#[test]
fn a_peer_that_does_not_read_is_left_behind_the_grace() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &request(1));
    agent.end();
    agent.answer(1);
    let mut out = Vec::new();
    agent.connection.look(Some(&mut out), agent.now);
    let sleeps = agent.connection.park(Waker::noop(), true, false, agent.now);
    assert!(sleeps, "what is queued is written first");
    assert_eq!(agent.wait(), FINISH);
    agent.connection.poll_event();
    agent.connection.look(None, agent.now);
    assert!(agent.connection.closed().is_some());
}

#[test]
fn half_a_message_at_the_end_is_the_cause_and_drops_nothing_else() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &(request(1) + "{\"jsonrpc\""));
    agent.end();
    assert!(agent.connection.closed().is_none());
    agent.answer(1);
    assert!(agent.drive().contains("\"id\":1"));
    assert!(matches!(
        agent.connection.closed(),
        Some(CloseCause::Truncated { read: 10 })
    ));
}

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn the_last_answer_wakes_the_driver() {
    let mut agent = Peerless::new(ConnectionRole::Agent, &request(1));
    agent.end();
    agent.drive();
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    assert!(agent.connection.park(&waker, false, false, agent.now));
    agent.answer(1);
    agent.connection.take_wakes().wake();
    assert_eq!(bell.0.load(Ordering::Relaxed), 1);
}
