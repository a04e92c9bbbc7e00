//! Two plays against each other, over a pipe in memory and with a virtual clock.
#![allow(dead_code, reason = "each test program uses its part")]

use acp_mockpeer::{Play, PlayOutcome, Scenario};

/// Reads a scenario that is meant to be right.
#[track_caller]
pub(crate) fn scenario(name: &str, text: &str) -> Scenario {
    Scenario::parse(name, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Plays an agent and a client against each other.
pub(crate) async fn meet(agent: Play, client: Play) -> (PlayOutcome, PlayOutcome) {
    let (a, b) = tokio::io::duplex(4096);
    let (agent_reads, agent_writes) = tokio::io::split(a);
    let (client_reads, client_writes) = tokio::io::split(b);
    tokio::join!(
        agent.over(agent_reads, agent_writes),
        client.over(client_reads, client_writes),
    )
}

/// Runs a future on a runtime whose clock goes on when nothing else does.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}
