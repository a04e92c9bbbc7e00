//! Many sessions at once on several threads: turns that are read, dropped, cancelled and
//! left unread, with permission requests among them. Nothing hangs, nothing is lost, and
//! every session can go on.

mod support;

use std::collections::HashMap;
use std::time::Duration;

use acp_client::{Client, ClientOptions, Session, TurnEvent};
use acp_protocol::v1::StopReason;
use serde_json::{Value, json};
use support::{Agent, brief, chunk, pair};
use tokio::time::timeout;

const SESSIONS: usize = 16;
const TURNS: usize = 40;

/// Answers everything: a prompt `N` with N numbered pieces of text and a question in the
/// middle, whose turn ends when the question is answered.
async fn serve(mut agent: Agent) {
    let mut sessions = 0;
    let mut questions: HashMap<i64, (Value, i64, String)> = HashMap::new();
    let mut next_question = 0;
    while let Some(message) = agent.try_next().await {
        match message["method"].as_str() {
            Some("initialize") => agent.answer(&message, json!({"protocolVersion": 1})).await,
            Some("session/new") => {
                sessions += 1;
                agent
                    .answer(&message, json!({"sessionId": format!("s-{sessions}")}))
                    .await;
            }
            Some("session/prompt") => {
                let session = message["params"]["sessionId"].as_str().unwrap().to_owned();
                let text = message["params"]["prompt"][0]["text"].as_str().unwrap();
                let count: i64 = text.parse().unwrap();
                for n in 0..count / 2 {
                    agent.update(&session, chunk(&n.to_string())).await;
                }
                let ask = json!({"sessionId": session, "toolCall": {"toolCallId": "t", "kind": "read"}, "options": []});
                agent
                    .ask(next_question, "session/request_permission", ask)
                    .await;
                questions.insert(next_question, (message, count, session));
                next_question += 1;
            }
            Some("session/cancel") => {}
            Some(other) => panic!("{other}"),
            None => {
                let id = message["id"].as_i64().unwrap();
                let (prompt, count, session) = questions.remove(&id).unwrap();
                for n in count / 2..count {
                    agent.update(&session, chunk(&n.to_string())).await;
                }
                agent
                    .answer(&prompt, json!({"stopReason": "end_turn"}))
                    .await;
            }
        }
    }
}

async fn work(mut session: Session, seed: usize) {
    for round in 0..TURNS {
        let count = (seed * 7 + round * 13) % 60;
        let mut turn = session.prompt_when_idle(count.to_string()).await.unwrap();
        match (seed + round) % 5 {
            0 => {
                // Left unread.
                let end = turn.end().await.unwrap();
                assert_eq!(end.stop_reason, StopReason::EndTurn);
            }
            1 => drop(turn),
            2 => {
                // Dropped in the middle.
                for _ in 0..count / 4 {
                    turn.next().await.unwrap();
                }
                drop(turn);
            }
            3 => {
                turn.control().cancel();
                while turn.next().await.is_some() {}
                turn.end().await.unwrap();
            }
            _ => {
                let mut seen = Vec::new();
                while let Some(event) = turn.next().await {
                    if !matches!(event, TurnEvent::Earlier(_)) {
                        seen.push(brief(&event));
                    }
                }
                let mut expected: Vec<String> = (0..count).map(|n| n.to_string()).collect();
                expected.insert(count / 2, "asks t".to_owned());
                assert_eq!(seen, expected);
                turn.end().await.unwrap();
            }
        }
    }
    // After the end of this one the agent writes nothing more, whatever was dropped.
    let last = session.prompt_when_idle("0").await.unwrap();
    last.end().await.unwrap();
}

async fn all_at_once(client: Client) {
    client.dial().await.unwrap();
    let mut tasks = Vec::new();
    for seed in 0..SESSIONS {
        let session = client.new_session("/code").await.unwrap();
        tasks.push(tokio::spawn(work(session, seed)));
    }
    for task in tasks {
        task.await.unwrap();
    }
    client.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sessions_go_on_whatever_is_done_to_their_turns() {
    let (client, agent) = pair(ClientOptions::new().with_permissions_in_stream());
    let agent = tokio::spawn(serve(agent));
    let done = timeout(Duration::from_secs(60), all_at_once(client)).await;
    done.expect("some turn hangs");
    agent.await.unwrap();
}

/// A session each of its own, with its place in the crowd.
async fn crowd(client: &Client, size: usize) -> Vec<Session> {
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..size {
        let client = client.clone();
        opening.spawn(async move { client.new_session("/code").await.unwrap() });
    }
    opening.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_sessions_share_a_connection() {
    let (client, agent) = pair(ClientOptions::new().with_permissions_in_stream());
    let agent = tokio::spawn(serve(agent));
    let work = async {
        client.dial().await.unwrap();
        let sessions = crowd(&client, 1000).await;
        let mut turns = tokio::task::JoinSet::new();
        for mut session in sessions {
            turns.spawn(async move {
                let mut turn = session.prompt("20").await.unwrap();
                let mut seen = Vec::new();
                while let Some(event) = turn.next().await {
                    seen.push(brief(&event));
                }
                let mut expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
                expected.insert(10, "asks t".to_owned());
                assert_eq!(seen, expected);
                turn.end().await.unwrap();
                session
            });
        }
        let sessions = turns.join_all().await;
        let counters = client.counters();
        assert_eq!((counters.received, counters.delivered), (20_000, 20_000));
        assert_eq!((counters.waiting, counters.dropped), (0, 0));
        drop(sessions);
        assert_eq!(client.counters(), counters, "those that are gone count too");
        client.close().await;
    };
    timeout(Duration::from_secs(60), work)
        .await
        .expect("some turn hangs");
    agent.await.unwrap();
}

/// One consumer does not read; below its bound the others do not notice.
#[tokio::test(start_paused = true)]
async fn a_slow_consumer_holds_up_nobody_below_its_bound() {
    let (client, agent) = pair(ClientOptions::new().with_permissions_in_stream());
    let agent = tokio::spawn(serve(agent));
    client.dial().await.unwrap();
    let mut sessions = crowd(&client, 9).await;
    let mut slow = sessions.pop().unwrap();
    // Half of them come before the question. 1,000 are below the soft mark; with 20,000
    // the agent has to wait, but only until it is clear that nobody reads.
    for (count, waits) in [(2000, 0), (40_000, 5)] {
        let mut stuck = slow.prompt(count.to_string()).await.unwrap();
        let start = tokio::time::Instant::now();
        for _ in 0..5 {
            for session in &mut sessions {
                let turn = session.prompt("40").await.unwrap();
                turn.end().await.unwrap();
            }
        }
        assert_eq!(start.elapsed(), Duration::from_secs(waits), "{count}");
        let counters = client.counters();
        assert!(counters.waiting >= count / 2, "{counters:?}");
        // And it finds everything when it comes.
        let mut seen = 0;
        while let Some(event) = stuck.next().await {
            seen += u64::from(matches!(event, TurnEvent::Update(_)));
        }
        assert_eq!(seen, count);
        stuck.end().await.unwrap();
    }
    client.close().await;
    agent.await.unwrap();
}
