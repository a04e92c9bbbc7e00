//! Two connections and a link between them, driven by random operations: what
//! a connection promises holds whatever happens in whatever order.

#[path = "pair/mod.rs"]
mod pair;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use std::task::{Wake, Waker};
use std::time::Duration;

use acp_protocol::rpc::{AnswerTo, CallError, Limits, Reading, RequestId};
use pair::Pair;
use proptest::prelude::*;

/// What can happen.
#[derive(Clone, Debug)]
enum Step {
    ClientCalls,
    AgentCalls,
    Prompt,
    Update { padding: usize },
    ClientGivesUp(usize),
    AgentGivesUp(usize),
    ClientAnswers(usize),
    AgentAnswers(usize),
    Write { room: usize },
    ClientReads(usize),
    AgentReads(usize),
    Take,
    Collect,
    Read(Reading),
    Cancel,
    Time(u64),
    Noise(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::ClientCalls),
        2 => Just(Step::AgentCalls),
        1 => Just(Step::Prompt),
        8 => (0..600_usize).prop_map(|padding| Step::Update { padding }),
        1 => any::<usize>().prop_map(Step::ClientGivesUp),
        1 => any::<usize>().prop_map(Step::AgentGivesUp),
        3 => any::<usize>().prop_map(Step::ClientAnswers),
        3 => any::<usize>().prop_map(Step::AgentAnswers),
        6 => (0..2000_usize).prop_map(|room| Step::Write { room }),
        6 => (0..900_usize).prop_map(Step::ClientReads),
        6 => (0..900_usize).prop_map(Step::AgentReads),
        3 => Just(Step::Take),
        2 => Just(Step::Collect),
        1 => prop_oneof![Just(Reading::Live), Just(Reading::Idle), Just(Reading::Live)].prop_map(Step::Read),
        1 => Just(Step::Cancel),
        1 => (0..8_u64).prop_map(Step::Time),
        1 => prop_oneof![
            Just("noise\n"),
            Just("{}\n"),
            Just("[1]\n"),
            Just("{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n"),
            Just("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":7}}\n"),
        ].prop_map(Step::Noise),
    ]
}

/// Marks so low that every rule is met within a few steps.
fn tight() -> Limits {
    Limits::default()
        .with_outgoing_credit(2000)
        .with_outgoing_yield(500)
        .with_mailbox_soft(3000)
        .with_mailbox_batch(700)
        .with_handler_slots(2)
        .with_read_chunk(256)
}

fn run(pair: &mut Pair, step: &Step) {
    match *step {
        Step::ClientCalls => _ = pair.client.call("session/list"),
        Step::AgentCalls => _ = pair.agent.call("fs/read_text_file"),
        Step::Prompt => pair.prompt(),
        Step::Update { padding } => pair.update(padding),
        Step::ClientGivesUp(nth) => pair.client.abandon(nth, pair.now),
        Step::AgentGivesUp(nth) => pair.agent.abandon(nth, pair.now),
        Step::ClientAnswers(nth) => pair.client.answer(nth),
        Step::AgentAnswers(nth) => pair.agent.answer(nth),
        Step::Write { room } => {
            pair.client.write(room);
            pair.agent.write(room);
        }
        Step::ClientReads(count) => pair.client_reads(count),
        Step::AgentReads(count) => pair.agent_reads(count),
        Step::Take => pair.take(),
        Step::Collect => {
            pair.client.collect();
            pair.agent.collect();
        }
        Step::Read(reading) => pair.client.connection.set_reading(pair.mailbox, reading),
        Step::Cancel => pair.client.connection.set_cancelled(pair.mailbox),
        Step::Time(seconds) => pair.advance(Duration::from_secs(seconds)),
        // Between two lines only: what stands inside one would break it.
        Step::Noise(line) => {
            if pair.agent.wire.is_empty() || pair.agent.wire.back() == Some(&b'\n') {
                pair.agent.wire.extend(line.as_bytes());
            }
        }
    }
}

fn assert_each_call_ended_once(pair: &Pair) {
    for end in [&pair.client, &pair.agent] {
        assert_eq!(end.open_calls, [], "a call never ended");
        for (call, ends) in &end.ends {
            assert_eq!(ends.len(), 1, "{call:?} ended as {ends:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn all_comes_to_rest_and_nothing_is_lost(steps in prop::collection::vec(step(), 1..400)) {
        let limits = tight();
        let mut pair = Pair::new(&limits);
        for step in &steps {
            run(&mut pair, step);
            // The credit may be overshot by one message, and passed by calls
            // and answers only.
            prop_assert!(pair.agent.connection.unwritten() < 2000 + 800 + 120 * steps.len());
        }
        pair.client.connection.set_reading(pair.mailbox, Reading::Live);
        pair.settle();
        assert_each_call_ended_once(&pair);
        prop_assert_eq!(pair.reader.prompt, None, "the prompt never ended");
        prop_assert_eq!(pair.reader.next, pair.updates, "updates are missing");
        let stats = pair.client.connection.stats();
        prop_assert_eq!(stats.updates_received, pair.updates);
        prop_assert_eq!(
            stats.updates_received,
            stats.updates_delivered + stats.updates_dropped + stats.updates_unknown_session
        );
    }

    #[test]
    fn death_ends_every_call_once(steps in prop::collection::vec(step(), 1..200)) {
        let mut pair = Pair::new(&tight());
        for step in &steps {
            run(&mut pair, step);
        }
        pair.cut();
        pair.client.collect();
        pair.agent.collect();
        while !pair.reader.closed {
            pair.take();
        }
        assert_each_call_ended_once(&pair);
        prop_assert_eq!(pair.reader.prompt, None, "the prompt never ended");
        prop_assert!(pair.client.call("session/list").is_none(), "a call after the end");
    }
}

#[test]
fn every_call_ends_exactly_once() {
    let mut pair = Pair::new(&Limits::default());
    let call = pair.client.call("session/list").unwrap();
    pair.cut(); // the agent dies
    pair.advance(Duration::from_secs(60)); // and time passes too
    pair.client.collect();
    assert_eq!(pair.client.ends[&call], ["closed"]);
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn the_end_of_a_call_reaches_those_who_watch_it() {
    type End = fn(&mut Pair);
    let ends: [(&str, End); 3] = [
        ("answered", |pair| {
            pair.agent.answer(0);
            pair.agent.write(usize::MAX);
            pair.client_reads(usize::MAX);
        }),
        ("abandoned", |pair| pair.client.abandon(0, pair.now)),
        ("closed", Pair::cut),
    ];
    for (how, end) in ends {
        let mut pair = Pair::new(&Limits::default());
        pair.client.call("session/list").unwrap();
        pair.client.write(usize::MAX);
        pair.agent_reads(usize::MAX);
        let id = pair.agent.serving[0].clone();
        let client = &mut pair.client.connection;
        assert_eq!(client.open_call(&id), Some(AnswerTo::Caller));
        let _ = client.take_wakes();

        let [first, second, gone] = [(); 3].map(|()| Arc::new(Woken::default()));
        let mut watches = [None, None, None];
        let wakers = [&first, &second, &gone].map(|woken| Waker::from(Arc::clone(woken)));
        for (watch, waker) in watches.iter_mut().zip(&wakers) {
            // Asking again takes no second place.
            for _ in 0..2 {
                assert!(client.poll_call_ended(&id, watch, waker).is_pending());
            }
        }
        client.stop_watching(watches[2].take());

        end(&mut pair);
        let client = &mut pair.client.connection;
        client.take_wakes().wake();
        let woken = [&first, &second, &gone].map(|woken| woken.0.load(Ordering::Relaxed));
        assert_eq!(woken, [1, 1, 0], "{how}");
        assert_eq!(client.open_call(&id), None, "{how}");
        assert!(
            client
                .poll_call_ended(&id, &mut watches[0], &wakers[0])
                .is_ready()
        );
    }
}

#[test]
fn a_call_that_ends_a_stream_tells_whose() {
    let mut pair = Pair::new(&Limits::default());
    pair.prompt();
    pair.client.write(usize::MAX);
    pair.agent_reads(usize::MAX);
    let id = pair.agent.serving[0].clone();
    let to = pair.client.connection.open_call(&id);
    assert_eq!(to, Some(AnswerTo::Mailbox(pair.mailbox)));
    for strange in [RequestId::Null, RequestId::from(id.to_string()), 7.into()] {
        let client = &mut pair.client.connection;
        assert_eq!(client.open_call(&strange), None);
        assert!(
            client
                .poll_call_ended(&strange, &mut None, Waker::noop())
                .is_ready()
        );
    }
}

#[test]
fn requests_beyond_the_slots_wait_and_start_in_order() {
    let mut pair = Pair::new(&Limits::default().with_handler_slots(2));
    for _ in 0..5 {
        pair.client.call("session/list");
    }
    pair.client.write(usize::MAX);
    pair.agent_reads(usize::MAX);
    assert_eq!(pair.agent.serving.len(), 2);
    assert_eq!(pair.agent.connection.open_requests(), 5);
    // A prompt takes no slot.
    pair.prompt();
    pair.client.write(usize::MAX);
    pair.agent_reads(usize::MAX);
    assert_eq!(pair.agent.serving.len(), 3);
    let first = pair.agent.serving[0].clone();
    pair.agent.answer(0);
    assert_eq!(pair.agent.serving.len(), 3, "the next in line started");
    assert!(!pair.agent.serving.contains(&first));
    pair.settle();
    assert_each_call_ended_once(&pair);
}

#[test]
fn a_full_mailbox_pauses_reading_until_half_of_it_is_taken() {
    let mut pair = Pair::new(&tight());
    fill(&mut pair);
    assert!(
        !pair.client.connection.may_read(pair.now),
        "reading goes on"
    );
    assert_eq!(pair.client.connection.stats().pauses, 1);
    while !pair.client.connection.may_read(pair.now) {
        pair.take();
    }
    assert_eq!(pair.client.connection.stats().updates_dropped, 0);
}

#[test]
fn what_this_side_waits_for_keeps_it_reading() {
    let mut pair = Pair::new(&tight());
    fill(&mut pair);
    let call = pair.client.call("session/list").unwrap();
    assert!(pair.client.connection.may_read(pair.now), "a call is open");
    pair.client.abandon(0, pair.now);
    assert_eq!(pair.client.ends[&call], ["abandoned"]);
    assert!(!pair.client.connection.may_read(pair.now));
    pair.client.connection.set_cancelled(pair.mailbox);
    assert!(
        pair.client.connection.may_read(pair.now),
        "the turn was cancelled"
    );
}

#[test]
fn a_consumer_that_stands_still_is_exempted_until_it_takes() {
    let mut pair = Pair::new(&tight());
    fill(&mut pair);
    assert!(!pair.client.connection.may_read(pair.now));
    pair.advance(Duration::from_secs(4));
    assert!(!pair.client.connection.may_read(pair.now));
    pair.advance(Duration::from_secs(1));
    assert!(
        pair.client.connection.may_read(pair.now),
        "still waiting for the consumer"
    );
    assert_eq!(pair.client.connection.stats().exemptions, 1);
    pair.take();
    assert!(
        !pair.client.connection.may_read(pair.now),
        "it takes again, so it counts again"
    );
}

#[test]
fn at_the_hard_mark_the_oldest_give_way_to_a_gap() {
    let mut pair = Pair::new(&tight().with_mailbox_hard(4000).with_patience(None));
    pair.client.call("session/list"); // so that reading goes on
    for _ in 0..100 {
        pair.update(100);
        pair.agent.write(usize::MAX);
        pair.client_reads(usize::MAX);
    }
    let stats = pair.client.connection.stats();
    assert!(stats.updates_dropped > 50, "{stats:?}");
    pair.settle();
    assert_eq!(pair.reader.next, 100);
}

#[test]
fn a_prompt_finds_its_mailbox_read_from_its_first_update_on() {
    let mut pair = Pair::new(&Limits::default());
    pair.client
        .connection
        .set_reading(pair.mailbox, Reading::Idle);
    pair.prompt();
    for _ in 0..1000 {
        pair.update(0);
        pair.agent.write(usize::MAX);
        pair.client_reads(usize::MAX);
    }
    assert_eq!(pair.client.connection.stats().updates_dropped, 0);
}

#[test]
fn malformed_answers_never_leave_a_caller_waiting() {
    for (answer, expected) in [
        (
            r#"{"jsonrpc":"2.0","id":"4294967296","result":{}}"#,
            "changed the type of the id",
        ),
        (
            r#"{"jsonrpc":"2.0","id":4294967296,"error":{}}"#,
            "MalformedErrorObject",
        ),
        (r#"{"jsonrpc":"2.0","id":4294967296}"#, "AmbiguousShape"),
        (r#"{"id":4294967296,"result":{}}"#, "WrongVersion"),
    ] {
        let mut pair = Pair::new(&Limits::default());
        let call = pair.client.call("session/list").unwrap();
        pair.client.feed(format!("{answer}\n").as_bytes(), pair.now);
        pair.client.collect();
        assert!(
            pair.client.ends[&call][0].contains(expected),
            "{answer}: {:?}",
            pair.client.ends
        );
    }
}

#[test]
fn a_lost_answer_fails_its_call_and_an_unknown_one_all() {
    let limits = Limits::default().with_max_message(2000);
    let padding = "x".repeat(3000);
    let too_large = CallError::AnswerTooLarge { limit: 2000 }.to_string();

    let mut pair = Pair::new(&limits);
    let (first, second) = (
        pair.client.call("session/list").unwrap(),
        pair.client.call("session/list").unwrap(),
    );
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":4294967297,\"result\":\"{padding}\"}}\n");
    pair.client.feed(line.as_bytes(), pair.now);
    pair.client.collect();
    assert_eq!(pair.client.ends[&second], [too_large.as_str()]);
    assert!(!pair.client.ends.contains_key(&first));

    pair.client.feed(
        format!("{{\"result\":\"{padding}\"}}\n").as_bytes(),
        pair.now,
    );
    pair.client.collect();
    assert_eq!(pair.client.ends[&first], [too_large.as_str()]);
}

/// Sends updates until the client's mailbox is over its mark.
fn fill(pair: &mut Pair) {
    for _ in 0..40 {
        pair.update(100);
        pair.agent.write(usize::MAX);
        pair.client_reads(usize::MAX);
    }
}
