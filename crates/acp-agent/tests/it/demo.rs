//! The demo agent.

use acp_agent::demo::{DemoAgent, WORDS};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::client::Client;

/// Runs a prompt and answers permission requests; gives the updates.
async fn run(client: &mut Client, id: &str, text: &str, option: &str) -> Vec<Value> {
    let request = client.prompt(id, text).await;
    let mut updates = Vec::new();
    loop {
        let mut message = client.next().await;
        if message["method"] == "session/request_permission" {
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
            client.reply(&message["id"], outcome).await;
        } else if message["id"] == request {
            assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
            return updates;
        } else {
            updates.push(message["params"]["update"].take());
        }
    }
}

async fn scene() -> (Client, String) {
    let agent = DemoAgent::default().into_agent().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    (client, id)
}

fn of_kind<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    updates
        .iter()
        .filter(|update| update["sessionUpdate"] == kind)
        .collect()
}

fn text(updates: &[Value]) -> String {
    let chunks = of_kind(updates, "agent_message_chunk");
    chunks
        .iter()
        .map(|chunk| chunk["content"]["text"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn any_prompt_shows_everything_and_always_the_same() {
    let (mut client, id) = scene().await;
    let began = Instant::now();
    let first = run(&mut client, &id, "tidy up my notes", "approve").await;
    assert!(began.elapsed().as_secs() < 3, "{:?}", began.elapsed());
    assert!(of_kind(&first, "agent_message_chunk").len() > 20);
    assert!(!of_kind(&first, "agent_thought_chunk").is_empty());
    let plans = of_kind(&first, "plan");
    assert_eq!(plans[0]["entries"][0]["status"], "in_progress");
    let last = plans.last().unwrap();
    assert!(
        last["entries"]
            .as_array()
            .unwrap()
            .iter()
            .all(|e| e["status"] == "completed")
    );
    assert_eq!(of_kind(&first, "tool_call")[0]["status"], "pending");
    assert_eq!(of_kind(&first, "tool_call").len(), 1);
    assert_eq!(
        of_kind(&first, "tool_call_update").last().unwrap()["status"],
        "completed"
    );

    let again = run(&mut client, &id, "tidy up my notes", "approve").await;
    assert_eq!(text(&first), text(&again));
    assert_eq!(first.len(), again.len());

    let denied = run(&mut client, &id, "tidy up my notes", "deny").await;
    assert_eq!(
        of_kind(&denied, "tool_call_update").last().unwrap()["status"],
        "failed"
    );
    assert!(text(&denied).contains("You did not allow it"));
}

#[tokio::test(start_paused = true)]
async fn words_show_one_thing() {
    let (mut client, id) = scene().await;
    let ask = run(&mut client, &id, "ask me", "approve").await;
    assert_eq!(
        (
            of_kind(&ask, "tool_call").len(),
            of_kind(&ask, "plan").len()
        ),
        (1, 0)
    );
    let plan = run(&mut client, &id, "plan", "approve").await;
    assert_eq!(
        (
            of_kind(&plan, "tool_call").len(),
            of_kind(&plan, "plan").len()
        ),
        (0, 4)
    );
    let everything = text(&run(&mut client, &id, "hello", "approve").await);
    for (word, _) in WORDS {
        assert!(everything.contains(&format!("\"{word}\"")), "{everything}");
    }
}

#[tokio::test(start_paused = true)]
async fn slow_is_cancelled() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "slow").await;
    for number in 1..=3 {
        assert_eq!(
            client.update().await["content"]["text"],
            format!("{number} ")
        );
    }
    let cancelled_at = Instant::now();
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    assert!(cancelled_at.elapsed().as_millis() < 10);
}
