//! The flow control under stress: eight sessions on one connection, consumers
//! that are slow, stuck, wait for each other or leave, agents that do not read
//! while they write, pipes of 64 bytes, and every update counted.
//!
//! With all rules in force nothing hangs and nothing is lost. Each rule can be
//! [got round](clause::Clause), and then something hangs: no rule is there for nothing.
//!
//! `ACP_STRESS_SEEDS` sets how many runs each test makes, `ACP_STRESS_FIRST_SEED`
//! where they start; a failure names its seed.

mod clause;
mod client;
mod consumer;
mod draw;
mod dumb_agent;
mod library_agent;
mod run;
mod script;
mod turn;
mod wire;
mod world;

use std::ops::Range;

use clause::Clause;
use consumer::Kind;
use run::{Agent, Clock, Outcome, Setup};

/// What many runs came to.
#[derive(Debug, Default)]
struct Sum {
    runs: u64,
    hung: u64,
    dropped: u64,
    pauses: u64,
    exemptions: u64,
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

/// The seeds the environment asks for; `default` many if it says nothing.
fn seeds(default: u64) -> Range<u64> {
    let first = number_from("ACP_STRESS_FIRST_SEED").unwrap_or(1);
    first..first + number_from("ACP_STRESS_SEEDS").unwrap_or(default)
}

/// Runs a setup once with each seed.
#[expect(clippy::print_stderr, reason = "figures for whoever runs many seeds")]
fn run(setup: &Setup, seeds: Range<u64>) -> Sum {
    let mut sum = Sum::default();
    for seed in seeds {
        sum.runs += 1;
        match setup.run(seed) {
            Outcome::Finished {
                dropped,
                pauses,
                exemptions,
            } => {
                sum.dropped += dropped;
                sum.pauses += pauses;
                sum.exemptions += exemptions;
            }
            Outcome::Hung(kinds) => {
                sum.hung += 1;
                eprintln!("seed {seed} hangs; unfinished: {kinds:?}");
            }
        }
    }
    eprintln!("{:?}: {sum:?}", setup.agent);
    sum
}

/// All rules in force: nothing hangs and nothing is lost.
#[track_caller]
fn check(setup: &Setup, default: u64) {
    let sum = run(setup, seeds(default));
    assert_eq!((sum.hung, sum.dropped), (0, 0), "{sum:?}");
    assert!(sum.pauses > sum.runs, "hardly any pause: {sum:?}");
}

/// Patience is a second chance for whatever else is wrong: without it, a rule
/// shows whether it holds by itself. Only consumers that need none take part.
#[track_caller]
fn check_rule(agent: Agent, kinds: &'static [Kind], clause: Clause) {
    let with = Setup::new(agent, Clock::Virtual)
        .with_kinds(kinds)
        .with_limits(|limits| limits.with_patience(None));
    let without = with.clone().without(clause);
    let with = run(&with, seeds(20));
    assert_eq!((with.hung, with.dropped), (0, 0), "{with:?}");
    let without = run(&without, 1..41);
    assert!(without.hung > 0, "nothing hangs without the rule");
}

#[test]
fn every_consumer_gets_every_update_of_a_library_agent() {
    check(&Setup::new(Agent::Library, Clock::Virtual), 40);
}

#[test]
fn every_consumer_gets_every_update_of_a_dumb_agent() {
    check(&Setup::new(Agent::Dumb, Clock::Virtual), 40);
}

#[test]
fn every_consumer_gets_every_update_over_messages() {
    check(
        &Setup::new(Agent::Library, Clock::Virtual).over_messages(),
        40,
    );
}

#[test]
fn a_consumer_that_never_moves_stops_nobody_else() {
    for agent in [Agent::Library, Agent::Dumb] {
        check(&Setup::new(agent, Clock::Virtual).with_one_stuck(), 20);
    }
}

#[test]
fn mailboxes_that_spill_hang_nobody_and_lose_nothing() {
    for agent in [Agent::Library, Agent::Dumb] {
        // A mark of its own for each, and one for all together that is met too.
        for spill in [16 << 10, 24 << 10] {
            let setup = Setup::new(agent, Clock::Virtual)
                .spilling()
                .with_limits(|limits| limits.with_mailbox_spill(spill));
            check(&setup, 15);
            check(&setup.with_one_stuck(), 10);
        }
    }
}

#[test]
fn what_a_consumer_lost_at_the_hard_mark_is_counted() {
    for agent in [Agent::Library, Agent::Dumb] {
        let setup = Setup::new(agent, Clock::Virtual)
            .with_one_stuck()
            .with_limits(|limits| limits.with_mailbox_hard(16 << 10));
        let sum = run(&setup, seeds(10));
        assert_eq!(sum.hung, 0, "{sum:?}");
        assert!(sum.dropped > 0, "{sum:?}");
    }
}

#[test]
fn threads_that_run_side_by_side_hang_no_more_than_one() {
    const KINDS: [Kind; 10] = [
        Kind::Fast,
        Kind::Slow,
        Kind::Calls,
        Kind::Notifies,
        Kind::Nests,
        Kind::WaitsForAsk,
        Kind::Grants,
        Kind::GrantsInOrder,
        Kind::CancelsStuck,
        Kind::Leaves,
    ];
    for agent in [Agent::Library, Agent::Dumb] {
        let setup = Setup::new(agent, Clock::Real).with_kinds(&KINDS);
        let sum = run(&setup, seeds(6));
        assert_eq!((sum.hung, sum.dropped), (0, 0), "{sum:?}");
    }
}

#[test]
fn without_reading_while_a_call_is_open_something_hangs() {
    check_rule(
        Agent::Library,
        &[Kind::Calls, Kind::Fast],
        Clause::WhileCalling,
    );
    check_rule(
        Agent::Dumb,
        &[Kind::Calls, Kind::Fast],
        Clause::WhileCalling,
    );
}

#[test]
fn without_reading_while_a_sender_waits_something_hangs() {
    check_rule(
        Agent::Dumb,
        &[Kind::Notifies, Kind::Fast],
        Clause::WhileSending,
    );
}

#[test]
fn without_reading_when_a_turn_is_cancelled_something_hangs() {
    check_rule(
        Agent::Dumb,
        &[Kind::CancelsStuck, Kind::Fast],
        Clause::WhenCancelled,
    );
}

#[test]
fn without_discarding_what_nobody_will_read_something_hangs() {
    check_rule(
        Agent::Library,
        &[Kind::Leaves, Kind::Fast],
        Clause::WhenLeft,
    );
}

#[test]
fn without_reading_while_a_write_is_blocked_something_hangs() {
    check_rule(
        Agent::Dumb,
        &[Kind::Calls, Kind::Notifies],
        Clause::WhileBlocked,
    );
}

#[test]
fn without_patience_something_hangs() {
    for agent in [Agent::Library, Agent::Dumb] {
        let setup =
            Setup::new(agent, Clock::Virtual).with_limits(|limits| limits.with_patience(None));
        let sum = run(&setup, 1..13);
        assert!(sum.hung > 0, "nothing hangs without patience");
    }
}
