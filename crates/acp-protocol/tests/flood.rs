//! A peer that asks without end and never reads is cut off, whatever it asks.

use std::time::Instant;

use acp_protocol::rpc::{CloseCause, Connection, ConnectionRole, Intake, Limits};

const HARD: usize = 20_000;

/// Feeds an agent with numbered lines until it has closed, and nobody reads what
/// it answers.
#[track_caller]
fn check(line: impl Fn(u32) -> String) {
    let limits = Limits::default()
        .with_outgoing_credit(1000)
        .with_outgoing_hard(HARD)
        .with_max_message(1000)
        .with_handler_slots(1)
        .with_parked_requests(10);
    let mut agent = Connection::new(ConnectionRole::Agent, limits);
    let mut intake = Intake::new(ConnectionRole::Agent, agent.limits());
    for number in 0..2000 {
        intake.push(line(number).as_bytes());
        intake.push(b"\n");
        while let Some(inbound) = intake.next() {
            agent.accept(inbound, Instant::now());
        }
        assert!(agent.unwritten() < 2 * HARD, "{} bytes", agent.unwritten());
    }
    assert!(
        matches!(agent.closed(), Some(CloseCause::Flooded)),
        "{:?}",
        agent.closed()
    );
}

#[test]
fn requests_that_are_none() {
    check(|number| format!(r#"{{"jsonrpc":"2.0","id":{number},"method":""}}"#));
}

#[test]
fn requests_beyond_what_may_be_open() {
    check(|number| format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"session/list"}}"#));
}

#[test]
fn requests_with_the_id_of_another() {
    check(|_| r#"{"jsonrpc":"2.0","id":1,"method":"session/list"}"#.to_owned());
}

#[test]
fn requests_that_are_too_long() {
    let padding = "x".repeat(2000);
    check(|number| {
        format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"m","params":"{padding}"}}"#)
    });
}
