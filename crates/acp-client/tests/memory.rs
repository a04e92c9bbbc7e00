//! A consumer that never reads costs what the bounds say, however much is said to it.

mod support;

use std::time::Duration;

use acp_client::{ClientOptions, Flow, TurnEvent};
use acp_protocol::rpc::Limits;
use allocation_counter::measure;
use serde_json::json;
use support::{SESSION, chunk, end_turn, opened};

/// What is said: twice what may be kept.
const OFFERED: usize = 128 << 20;
/// Length of a line: a page of text.
const LINE: usize = 16 << 10;

/// Says so much to a turn that nobody reads; gives the highest number of bytes that were
/// allocated at once.
fn peak(options: ClientOptions, offered: usize) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let used = measure(|| {
        runtime.block_on(async {
            let (client, mut session, mut agent) = opened(options).await;
            let turn = session.prompt("x").await.unwrap();
            let prompt = agent.request("session/prompt").await;
            let params = json!({"sessionId": SESSION, "update": chunk(&"x".repeat(LINE))});
            let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
            let line = update.to_string();
            let lines = u64::try_from(offered / line.len()).unwrap();
            for _ in 0..lines {
                agent.raw(&line).await;
            }
            agent.answer(&prompt, end_turn()).await;
            agent.ask(7, "unknown/method", json!({})).await;
            agent.refusal(7).await;
            let counters = client.counters();
            assert_eq!(counters.received, lines);
            assert_eq!(counters.received, counters.dropped + counters.waiting);
            assert!(counters.waiting > 0);
            // The end has its place all the same.
            turn.end().await.unwrap();
            client.close().await;
        });
    });
    used.bytes_max
}

#[test]
fn a_stuck_consumer_costs_its_hard_mark() {
    check_stuck(OFFERED);
}

/// Takes most of a minute in a debug build.
#[test]
#[ignore = "slow: run it with --run-ignored all"]
fn a_stuck_consumer_costs_its_hard_mark_when_it_is_told_a_gibibyte() {
    check_stuck(1 << 30);
}

fn check_stuck(offered: usize) {
    // Reading goes on without it after a while, which is made short.
    let patience = Some(Duration::from_millis(1));
    let limits = Limits::default().with_patience(patience);
    let hard = u64::try_from(limits.mailbox_hard).unwrap();
    let peak = peak(ClientOptions::new().with_limits(limits), offered);
    assert!(peak > hard / 2, "{peak} bytes: the mark was not met");
    // Buffers on the way, and the batch that is read at the end.
    assert!(peak < hard + (4 << 20), "{peak} bytes");
}

#[test]
fn who_wants_the_newest_alone_pays_for_them_alone() {
    let flow = Flow::DropOldest { depth: 64 };
    let peak = peak(ClientOptions::new().with_flow(flow), OFFERED);
    let depth = u64::try_from(64 * LINE).unwrap();
    assert!(peak > depth, "{peak} bytes: the mark was not met");
    assert!(peak < 3 * depth + (2 << 20), "{peak} bytes");
}

/// Reads a turn of so many updates; gives how often memory was allocated for all of it.
fn allocations(updates: usize, update: &serde_json::Value) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let params = json!({"sessionId": SESSION, "update": update});
    let line = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let lines = vec![line.to_string(); updates].join("\n");
    let used = measure(|| {
        runtime.block_on(async {
            let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
            let mut turn = session.prompt("x").await.unwrap();
            let prompt = agent.request("session/prompt").await;
            let say = async {
                agent.raw(&lines).await;
                agent.answer(&prompt, end_turn()).await;
            };
            let read = async {
                let mut read = 0;
                while let Some(event) = turn.next().await {
                    assert!(matches!(event, TurnEvent::Update(_)), "{event:?}");
                    read += 1;
                }
                read
            };
            let ((), read) = tokio::join!(say, read);
            assert_eq!(read, updates);
            turn.end().await.unwrap();
            client.close().await;
        });
    });
    used.count_total
}

/// An update costs what its values cost, and a place for each member that stands before
/// the one that tells its kind.
#[test]
fn an_update_is_read_with_few_allocations() {
    let each = |update: &serde_json::Value| {
        (allocations(3000, update) - allocations(1000, update)).div_ceil(2000)
    };
    let mut update = chunk("A line of the answer,\nwith \"escapes\" in it.");
    let plain = each(&update);
    assert!(
        plain <= 4,
        "{plain}: the text, two members, and what is taken at once"
    );
    update["messageId"] = json!("message-1");
    let with_id = each(&update);
    assert!(with_id <= 5, "{with_id}");
}
