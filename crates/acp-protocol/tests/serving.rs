//! Requests of the peer: slots, cancellation, bounds, and the answer to each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Wake, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    Connection, ConnectionEvent, ConnectionRole, Intake, Limits, RequestId, frame,
};

/// A connection that is fed with lines, and what it did.
struct Fed {
    connection: Connection,
    intake: Intake,
    now: Instant,
}

impl Fed {
    fn new(role: ConnectionRole, limits: &Limits) -> Self {
        let connection = Connection::new(role, limits.clone());
        Self {
            connection,
            intake: Intake::new(role, limits),
            now: Instant::now(),
        }
    }

    fn agent(limits: &Limits) -> Self {
        Self::new(ConnectionRole::Agent, limits)
    }

    /// Feeds lines; gives the methods that start, and the lines that are answered.
    fn feed(&mut self, lines: &str) -> (Vec<String>, Vec<String>) {
        self.intake.push(lines.as_bytes());
        while let Some(inbound) = self.intake.next() {
            self.connection.accept(inbound, self.now);
        }
        self.did()
    }

    fn did(&mut self) -> (Vec<String>, Vec<String>) {
        let mut started = Vec::new();
        while let Some(event) = self.connection.poll_event() {
            match event {
                ConnectionEvent::Request(request, _) => {
                    started.push(format!("{} {}", request.method(), request.id().unwrap()))
                }
                ConnectionEvent::Notification(notification, seq) => {
                    started.push(format!("{} @{seq}", notification.method()))
                }
                _ => started.push("?".into()),
            }
        }
        let mut out = Vec::new();
        self.connection.take_output(&mut out);
        self.connection.wrote(0);
        (
            started,
            String::from_utf8(out)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect(),
        )
    }

    fn respond(&mut self, id: i64) -> (Vec<String>, Vec<String>) {
        let id = RequestId::Number(id);
        let mut line = Vec::new();
        frame::result(&mut line, &id, &()).unwrap();
        self.connection.respond(&id, &mut line);
        self.did()
    }

    fn is_cancelled(&mut self, id: i64) -> bool {
        let id = RequestId::Number(id);
        let mut watch = None;
        let polled = self
            .connection
            .poll_cancelled(&id, &mut watch, Waker::noop());
        let polled = polled.is_ready();
        self.connection.stop_watching_request(&id, watch);
        assert_eq!(polled, self.connection.is_cancelled(&id));
        polled
    }
}

fn request(id: i64, method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{}}}}\n")
}

fn cancel(id: i64) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{{\"requestId\":{id}}}}}\n"
    )
}

fn strings<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

#[test]
fn a_running_request_is_told_and_still_answers() {
    let mut agent = Fed::agent(&Limits::default());
    agent.feed(&request(1, "session/prompt"));
    assert!(!agent.is_cancelled(1));
    assert_eq!(agent.feed(&cancel(1)), (vec![], vec![]));
    assert!(agent.is_cancelled(1));
    assert_eq!(
        agent.respond(1).1,
        [r#"{"jsonrpc":"2.0","id":1,"result":null}"#]
    );
}

#[test]
fn a_parked_request_is_answered_and_never_starts() {
    let mut agent = Fed::agent(&Limits::default().with_handler_slots(1));
    let lines =
        request(1, "session/list") + &request(2, "session/list") + &request(3, "session/list");
    assert_eq!(agent.feed(&lines).0, ["session/list 1"]);
    let answer =
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"request cancelled"}}"#;
    assert_eq!(agent.feed(&cancel(2)), (vec![], strings([answer])));
    assert_eq!(agent.respond(1).0, ["session/list 3"]);
}

#[test]
fn cancels_of_nothing_are_counted_and_never_answered() {
    let mut agent = Fed::agent(&Limits::default());
    let bad = "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":[]}\n";
    let lines = cancel(7) + bad + &request(1, "session/list");
    assert_eq!(agent.feed(&lines), (strings(["session/list 1"]), vec![]));
    agent.respond(1);
    agent.feed(&cancel(1));
    assert_eq!(agent.connection.stats().cancels_unmatched, 3);
}

#[test]
fn what_ends_work_never_waits_for_a_slot() {
    let mut agent = Fed::agent(&Limits::default().with_handler_slots(0));
    for (id, method, starts) in [
        (1, "session/new", false),
        (2, "session/prompt", true),
        (3, "session/close", true),
        (4, "session/set_mode", true),
        (5, "fs/read_text_file", false),
        (6, "terminal/wait_for_exit", true),
        (7, "terminal/kill", true),
        (8, "session/request_permission", true),
    ] {
        assert_eq!(
            !agent.feed(&request(id, method)).0.is_empty(),
            starts,
            "{method}"
        );
    }
}

#[test]
fn an_open_id_is_not_served_twice() {
    let mut agent = Fed::agent(&Limits::default());
    agent.feed(&request(1, "session/list"));
    let (started, answers) = agent.feed(&request(1, "session/list"));
    assert_eq!(started, [] as [&str; 0]);
    assert!(answers[0].contains("-32600"), "{answers:?}");
    agent.respond(1);
    assert_eq!(
        agent.feed(&request(1, "session/list")).0,
        ["session/list 1"]
    );
}

#[test]
fn beyond_the_bound_the_peer_gets_an_error_at_once() {
    let mut agent = Fed::agent(&Limits::default().with_open_requests(2));
    agent.feed(&(request(1, "session/prompt") + &request(2, "session/prompt")));
    let (started, answers) = agent.feed(&request(3, "session/prompt"));
    assert_eq!(started, [] as [&str; 0]);
    assert!(
        answers[0].contains("-32603") && answers[0].contains("overloaded"),
        "{answers:?}"
    );
    assert_eq!(agent.connection.stats().requests_overloaded, 1);
}

#[test]
fn a_result_that_is_too_long_becomes_an_error() {
    let mut agent = Fed::agent(&Limits::default().with_max_message(200));
    agent.feed(&request(1, "session/list"));
    let mut line = Vec::new();
    frame::result(&mut line, &RequestId::Number(1), &"x".repeat(300)).unwrap();
    agent.connection.respond(&RequestId::Number(1), &mut line);
    let expected =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"response too large"}}"#;
    assert_eq!(agent.did().1, [expected]);
}

#[test]
fn requests_do_not_advance_the_clock_and_notifications_do() {
    let mut agent = Fed::agent(&Limits::default());
    let note = "{\"jsonrpc\":\"2.0\",\"method\":\"_x/note\"}\n";
    let lines = note.to_owned() + &request(1, "session/list") + note;
    assert_eq!(
        agent.feed(&lines).0,
        ["_x/note @1", "session/list 1", "_x/note @2"]
    );
}

#[test]
fn lines_that_name_no_call_are_answered_once_a_second_by_an_agent_alone() {
    let mut agent = Fed::agent(&Limits::default());
    let codes = |answers: &[String]| -> Vec<i64> {
        let code = |answer: &String| {
            let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
            assert_eq!(answer["id"], serde_json::Value::Null);
            answer["error"]["code"].as_i64().unwrap()
        };
        answers.iter().map(code).collect()
    };
    let first = agent
        .feed("noise\n{} {}\n[]\n[{\"jsonrpc\":\"2.0\"}]\n{}\n")
        .1;
    assert_eq!(codes(&first), [-32700, -32600]);
    agent.now += Duration::from_millis(999);
    assert_eq!(codes(&agent.feed("noise\n7\n").1), [0; 0]);
    assert_eq!(agent.connection.stats().errors_withheld, 5);
    agent.now += Duration::from_millis(1);
    assert_eq!(codes(&agent.feed("{}\nnoise\n").1), [-32600, -32700]);
    assert_eq!(agent.connection.stats().ignored_total(), 9);

    let mut client = Fed::new(ConnectionRole::Client, &Limits::default());
    assert_eq!(client.feed("noise\n[]\n{}\n"), (vec![], vec![]));
    assert_eq!(client.connection.stats().errors_withheld, 0);
}

#[test]
fn a_request_whose_id_cannot_be_kept_is_always_answered() {
    let expected = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: InvalidIdType"}}"#;
    for role in [ConnectionRole::Agent, ConnectionRole::Client] {
        for id in ["1.5", "1.0", "1e2", "18446744073709551615", "true", "[1]"] {
            let mut served = Fed::new(role, &Limits::default());
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}\n");
            let (started, answers) = served.feed(&line.repeat(2));
            assert_eq!(started, [""; 0], "{id}");
            assert_eq!(answers, [expected; 2], "{id}");
        }
    }
}

#[test]
fn an_id_alone_is_answered_and_a_notification_never() {
    let mut agent = Fed::agent(&Limits::default());
    let (_, answers) = agent.feed("{\"jsonrpc\":\"2.0\",\"id\":7}\n");
    assert!(
        answers[0].starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600"#),
        "{answers:?}"
    );
    for line in [
        r#"{"method":"session/cancel","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":""}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":1,"error":1}"#,
    ] {
        assert_eq!(agent.feed(&format!("{line}\n")).1, [""; 0], "{line}");
    }
}

#[test]
fn a_long_request_whose_id_is_out_of_sight_is_answered_and_a_notification_never() {
    let limits = Limits::default().with_max_message(100);
    let long = |method: &str| {
        let padding = "x".repeat(2000);
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":\"{padding}\",\"id\":1}}\n"
        )
    };
    let (_, answers) = Fed::agent(&limits).feed(&long("session/prompt"));
    let expected = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: message too large"}}"#;
    assert_eq!(answers, [expected]);
    for method in ["session/cancel", "_x/note", "$/cancel_request"] {
        assert_eq!(Fed::agent(&limits).feed(&long(method)).1, [""; 0]);
    }
}

#[test]
fn a_request_that_is_too_long_is_refused_under_its_id() {
    let mut agent = Fed::agent(&Limits::default().with_max_message(100));
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":\"{}\"}}\n",
        "x".repeat(200)
    );
    let (started, answers) = agent.feed(&(long + &request(2, "session/list")));
    assert_eq!(started, ["session/list 2"]);
    assert!(
        answers[0].starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600"#),
        "{answers:?}"
    );
}

#[test]
fn too_deep_a_request_is_refused_under_its_id() {
    let mut agent = Fed::agent(&Limits::default());
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{}{}}}\n",
        "[".repeat(200),
        "]".repeat(200)
    );
    let (_, answers) = agent.feed(&deep);
    assert!(answers[0].contains("ExcessiveNesting"), "{answers:?}");
}

/// A request that takes a slot, with this many bytes of text.
fn large(id: i64, method: &str, bytes: usize) -> String {
    let text = "x".repeat(bytes);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{\"t\":\"{text}\"}}}}\n"
    )
}

#[test]
fn open_requests_have_a_budget_in_bytes() {
    let limits = Limits::default().with_open_request_bytes(20_000);
    let mut client = Fed::new(ConnectionRole::Client, &limits);
    let ask = "session/request_permission";
    // Alone, one of any size is taken.
    let (started, answers) = client.feed(&large(1, ask, 50_000));
    assert_eq!((started.len(), answers.len()), (1, 0));
    let (started, answers) = client.feed(&large(2, ask, 8_000));
    assert!(started.is_empty());
    assert!(answers[0].contains("-32603"), "{answers:?}");
    assert!(
        answers[0].contains("no room for one of this size"),
        "{answers:?}"
    );
    assert_eq!(client.connection.stats().requests_overloaded, 1);
    // Small ones are bounded by their number.
    let (started, _) = client.feed(&(large(3, ask, 100) + &large(4, "session/close", 3_000)));
    assert_eq!(started.len(), 2);
    client.respond(1);
    let (started, answers) = client.feed(&(large(5, ask, 8_000) + &large(6, ask, 8_000)));
    assert_eq!((started.len(), answers.len()), (2, 0));
    let (_, answers) = client.feed(&large(7, ask, 8_000));
    assert_eq!(answers.len(), 1);
    client.respond(5);
    client.respond(6);
    let (started, _) = client.feed(&large(8, ask, 19_000));
    assert_eq!(started.len(), 1, "everything is given back");
}

#[test]
fn parked_requests_have_a_budget_in_bytes() {
    let limits = Limits::default()
        .with_open_request_bytes(20_000)
        .with_handler_slots(1);
    let mut agent = Fed::agent(&limits);
    let list = "session/list";
    agent.feed(&large(1, list, 10));
    let mut lines = String::new();
    for id in 2..100 {
        lines += &large(id, list, 8_000);
    }
    let (started, answers) = agent.feed(&lines);
    assert!(started.is_empty());
    assert_eq!(answers.len(), 96, "two are parked");
    // A parked one that is cancelled, and one that starts and is answered.
    let (_, answers) = agent.feed(&cancel(3));
    assert_eq!(answers.len(), 1);
    let (started, _) = agent.respond(1);
    assert_eq!(started, ["session/list 2"]);
    agent.respond(2);
    let (started, _) = agent.feed(&large(200, list, 19_000));
    assert_eq!(started.len(), 1, "everything is given back");
}

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn all_who_wait_for_a_cancel_are_woken() {
    let start = || {
        let mut agent = Fed::agent(&Limits::default());
        agent.feed("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/prompt\"}\n");
        let bells: [Arc<Bell>; 3] = Default::default();
        let mut watches = [None, None, None];
        for (bell, watch) in bells.iter().zip(&mut watches) {
            // Twice, as a task that is woken for another reason does.
            for _ in 0..2 {
                let waker = Waker::from(Arc::clone(bell));
                let polled = agent.connection.poll_cancelled(&1.into(), watch, &waker);
                assert!(polled.is_pending());
            }
        }
        // One of them gives up.
        let [_, _, last] = watches;
        agent.connection.stop_watching_request(&1.into(), last);
        (agent, bells)
    };
    let rung = |agent: &mut Fed, bells: &[Arc<Bell>; 3]| {
        agent.connection.take_wakes().wake();
        bells.each_ref().map(|bell| bell.0.load(Ordering::Relaxed))
    };
    let (mut agent, bells) = start();
    agent.feed(
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}\n",
    );
    assert_eq!(rung(&mut agent, &bells), [1, 1, 0]);
    // An answer ends the wait as well.
    let (mut agent, bells) = start();
    agent.respond(1);
    assert_eq!(rung(&mut agent, &bells), [1, 1, 0]);
}
