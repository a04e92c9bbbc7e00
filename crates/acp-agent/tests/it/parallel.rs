//! Many sessions at once, on many threads, with a clock that runs.

use std::collections::HashMap;

use acp_agent::{
    AgentBuilder,
    kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};
use serde_json::{Value, json};

use crate::client::{Client, notification, prompt};

const SESSIONS: usize = 24;
const PROMPTS: usize = 12;
const UPDATES: usize = 150;

/// Talks for a while, asks for permission, and talks on.
struct Talker;

impl TurnHandler for Talker {
    async fn turn(&self, turn: &mut Turn, _prompt: Prompt) -> Result<TurnEnd, TurnError> {
        for number in 0..UPDATES {
            turn.text(format!("{number} ")).await?;
        }
        let tool = turn.tool("edit", "Edit").announce().await?;
        if turn.ask_permission(&tool).await?.is_allowed() {
            tool.complete(Vec::new()).await?;
        } else {
            tool.fail("no").await?;
        }
        for number in UPDATES..2 * UPDATES {
            turn.text(format!("{number} ")).await?;
        }
        Ok(TurnEnd::Done)
    }
}

/// What the client knows of a session.
#[derive(Default)]
struct Seen {
    prompts: usize,
    request: i64,
    texts: usize,
    is_cancelled: bool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn turns_answers_cancels_and_questions_of_many_sessions() {
    let agent = AgentBuilder::new(Kit::new(Talker)).build().unwrap();
    let mut client = Client::with_pipe(&agent, 4096);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let mut sessions = HashMap::new();
    let mut waiting = HashMap::new();
    for _ in 0..SESSIONS {
        sessions.insert(client.new_session().await, Seen::default());
    }
    for (id, seen) in &mut sessions {
        start(&mut client, id, seen, &mut waiting).await;
    }
    let (mut ended, mut cancelled) = (0, 0);
    while !waiting.is_empty() {
        let message = client.next().await;
        if let Some(id) = waiting
            .get(&message["id"].as_i64().unwrap_or_default())
            .cloned()
            && message.get("method").is_none()
        {
            let seen = sessions.get_mut(&id).unwrap();
            match message["result"]["stopReason"].as_str() {
                Some("cancelled") if seen.is_cancelled => cancelled += 1,
                Some("end_turn") => {
                    assert_eq!(seen.texts, 2 * UPDATES, "an update is missing: {message}");
                    ended += 1;
                }
                _ => panic!("{message}"),
            }
            waiting.remove(&seen.request);
            // From here to the next prompt nothing may come.
            seen.request = 0;
            if seen.prompts < PROMPTS {
                start(&mut client, &id, seen, &mut waiting).await;
            }
            continue;
        }
        take(&mut client, &mut sessions, &message).await;
    }
    assert_eq!(ended + cancelled, SESSIONS * PROMPTS);
    assert!(
        ended > 0 && cancelled > 0,
        "{ended} ended, {cancelled} cancelled"
    );
    client.hang_up().await;
}

async fn start(client: &mut Client, id: &str, seen: &mut Seen, waiting: &mut HashMap<i64, String>) {
    let (request, message) = client.request("session/prompt", prompt(id, "talk"));
    *seen = Seen {
        prompts: seen.prompts + 1,
        request,
        ..Seen::default()
    };
    waiting.insert(request, id.to_owned());
    let mut messages = vec![message];
    if request % 11 == 0 {
        seen.is_cancelled = true;
        messages.push(cancel(id));
    }
    client.send_all(&messages).await;
}

async fn take(client: &mut Client, sessions: &mut HashMap<String, Seen>, message: &Value) {
    let Some(id) = message["params"]["sessionId"].as_str() else {
        assert_eq!(message["method"], "$/cancel_request", "{message}");
        return;
    };
    let seen = sessions.get_mut(id).unwrap();
    match message["method"].as_str() {
        Some("session/update") => {
            assert_ne!(seen.request, 0, "behind the answer: {message}");
            let text = &message["params"]["update"]["content"]["text"];
            if let Some(text) = text.as_str() {
                assert_eq!(text, format!("{} ", seen.texts), "out of order: {message}");
                seen.texts += 1;
            }
            if seen.request % 5 == 0 && seen.texts == UPDATES / 2 && !seen.is_cancelled {
                seen.is_cancelled = true;
                client.send(cancel(id)).await;
            }
        }
        Some("session/request_permission") => {
            if seen.request % 7 == 0 && !seen.is_cancelled {
                seen.is_cancelled = true;
                client.send(cancel(id)).await;
            }
            let option = if seen.request % 2 == 0 {
                "approve"
            } else {
                "deny"
            };
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
            client.reply(&message["id"], outcome).await;
        }
        _ => panic!("{message}"),
    }
}

fn cancel(id: &str) -> Value {
    notification("session/cancel", json!({"sessionId": id}))
}
