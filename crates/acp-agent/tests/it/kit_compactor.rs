//! A kit that shortens conversations when the user asks for it, or does not offer to.

use acp_agent::{
    AgentBuilder, BuildError,
    demo::DemoAgent,
    kit::{
        Compactor, Kit, MemoryHistory, Prompt, RecordBody, Turn, TurnEnd, TurnError, TurnHandler,
    },
};
use serde_json::json;

use crate::client::Client;

/// Says what it remembers.
struct Scribe;

impl TurnHandler for Scribe {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        match &*prompt.text() {
            "remember" => {
                let mut summaries = Vec::new();
                let mut earlier = turn.earlier();
                while let Some(record) = earlier.next().await? {
                    if let RecordBody::Compacted(summary) = record.body {
                        summaries.extend(
                            summary
                                .iter()
                                .filter_map(|block| block.as_text().map(str::to_owned)),
                        );
                    }
                }
                turn.text(summaries.join("\n")).await?;
            }
            other => turn.text(format!("You said {other}.")).await?,
        }
        Ok(TurnEnd::Done)
    }
}

impl Compactor for Scribe {
    async fn summary(&self, turn: &mut Turn) -> Result<String, TurnError> {
        let mut prompts = 0;
        let mut earlier = turn.earlier();
        while let Some(record) = earlier.next().await? {
            prompts += u32::from(matches!(record.body, RecordBody::Asked(_)));
        }
        match prompts {
            0 => Err(TurnError::public("there is nothing to shorten")),
            7 => {
                turn.cancelled().await;
                Err(TurnError::cancelled())
            }
            _ => Ok(format!("{prompts} prompts")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_kit_compacts_as_its_author_wants() {
    let kit = Kit::new(Scribe)
        .with_history(MemoryHistory::new())
        .with_compactor(Scribe);
    let agent = kit.into_builder().build().unwrap();
    let shows = json!({"session": {"compaction": {}}});
    let mut client = Client::ready_with(&agent, shows).await;
    let id = client.new_session().await;
    let commands = client.update().await;
    assert_eq!(commands["availableCommands"][0]["name"], "compact");

    let status = |update: &serde_json::Value| update["status"].as_str().unwrap().to_owned();
    let prompt = |text: &str| crate::client::prompt(&id, text);
    let (updates, answer) = client.told("session/prompt", prompt("/compact")).await;
    let all: Vec<_> = updates.iter().map(status).collect();
    assert_eq!(all, ["in_progress", "failed"]);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("there is nothing to shorten"), "{answer}");

    client.told("session/prompt", prompt("one")).await;
    let (updates, answer) = client.told("session/prompt", prompt("/compact")).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(status(&updates[0]), "in_progress");
    assert_eq!(status(&updates[1]), "completed");
    assert_eq!(updates[1]["summary"][0]["text"], "2 prompts");
    assert_eq!(updates[0]["compactionId"], updates[1]["compactionId"]);
    let (updates, _) = client.told("session/prompt", prompt("remember")).await;
    assert_eq!(updates[0]["content"]["text"], "2 prompts");

    // The history has it too, and a cancel ends it.
    for text in ["four", "five", "six"] {
        client.told("session/prompt", prompt(text)).await;
    }
    let request = client.prompt(&id, "/compact").await;
    assert_eq!(status(&client.update().await), "in_progress");
    client.cancel(&id).await;
    assert_eq!(status(&client.update().await), "cancelled");
    assert_eq!(client.stop_reason(request).await, "cancelled");
    client.hang_up().await;

    let mut client = Client::ready(&agent).await;
    let params = json!({"sessionId": id, "cwd": "/home", "mcpServers": []});
    let (_, answer) = client.told("session/load", params).await;
    assert!(answer["result"].is_object(), "{answer}");
    client.told("session/prompt", prompt("seven")).await;
}

#[test]
fn a_kit_does_not_offer_what_it_cannot_do() {
    let built = Kit::new(DemoAgent::default())
        .into_builder()
        .compact_command()
        .build();
    assert!(matches!(built, Err(BuildError::NoCompaction)));
    let kit = Kit::new(Scribe).with_compactor(Scribe);
    assert!(AgentBuilder::new(kit).compact_command().build().is_ok());
}
