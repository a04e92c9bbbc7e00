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
}

async fn all_at_once(client: Client) {
    client.dial().await.unwrap();
    let mut tasks = Vec::new();
    for seed in 0..SESSIONS {
        let session = client.new_session("/work").await.unwrap();
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
