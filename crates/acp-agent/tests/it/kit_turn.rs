//! The kit: what a turn can show and do besides.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use acp_agent::{
    Agent,
    host::{
        Block, ConfigChoice, ConfigOption, ConfigValue, ContextUse, Cost, CreateTerminal, Media,
        ResourceLink,
    },
    kit::{Kit, MemoryHistory, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};
use serde_json::{Value, json};

use crate::client::{Client, prompt};

struct Obedient;

impl TurnHandler for Obedient {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        match &*prompt.text() {
            "fast" => {
                let mut waits = 0;
                for number in 0..100 {
                    let mut telling = pin!(turn.text(format!("{number} ")));
                    match poll_once(telling.as_mut()) {
                        Some(told) => told?,
                        None => {
                            waits += 1;
                            telling.await?;
                        }
                    }
                }
                turn.text(format!("{waits} waits")).await?;
            }
            "image" => {
                turn.text("Look: ").await?;
                turn.image(Media::new("image/png", "AAAA")).await?;
                turn.show(Block::Link(ResourceLink::new("file:///a", "a")))
                    .await?;
                turn.show(Block::text("done")).await?;
            }
            "usage" => {
                let usage = ContextUse::new(5, 10).with_cost(Cost::new(0.25, "EUR"));
                turn.usage(usage).await?;
            }
            "act" => {
                let was = turn.mode().unwrap();
                turn.set_mode("act").await?;
                turn.set_option("web", ConfigValue::Switch(true)).await?;
                assert!(turn.is_on("web"));
                turn.text(format!("{was} {}", turn.mode().unwrap())).await?;
            }
            "dance" => turn.set_mode("dance").await?,
            "compact" => turn.compact().await?.complete("We spoke.").await?,
            "compact badly" => turn.compact().await?.fail("no model").await?,
            "compact not" => drop(turn.compact().await?),
            "delegate" => {
                let helper = turn.sub_agent("helper");
                helper.text("I look around.").await?;
                let look = helper.tool("look", "Look").start().await?;
                look.complete(vec![]).await?;
                let edit = helper.tool("edit", "Edit").announce().await?;
                let may = helper.ask_permission(&edit).await?;
                if may.is_allowed() {
                    edit.start().await?;
                    edit.complete(vec![]).await?;
                }
                turn.text(format!("{may:?}")).await?;
            }
            "wait for a command" => {
                let command = turn.terminal(CreateTerminal::new("sleep")).await?;
                command.wait().await?;
            }
            "cancelled" => return Ok(TurnEnd::Cancelled),
            other => panic!("{other}"),
        }
        Ok(TurnEnd::Done)
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn agent() -> Agent {
    let modes = vec![
        ConfigChoice::new("ask", "Ask"),
        ConfigChoice::new("act", "Act"),
    ];
    Kit::new(Obedient)
        .with_history(MemoryHistory::new())
        .with_options(vec![
            ConfigOption::mode("ask", modes),
            ConfigOption::switch("web", "Web search", false),
        ])
        .into_builder()
        .build()
        .unwrap()
}

async fn scene() -> (Client, String) {
    let capabilities = json!({"terminal": true, "session": {"compaction": {},
        "configOptions": {"boolean": {}}}});
    let mut client = Client::ready_with(&agent(), capabilities).await;
    let id = client.new_session().await;
    (client, id)
}

/// The updates of a turn that asks nothing.
async fn run(client: &mut Client, id: &str, text: &str) -> Vec<Value> {
    let (updates, end) = client.told("session/prompt", prompt(id, text)).await;
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    updates
}

/// The updates that a load tells.
async fn load(client: &mut Client, id: &str) -> Vec<Value> {
    client.call("session/close", json!({"sessionId": id})).await;
    let params = json!({"sessionId": id, "cwd": "/home/ada/project", "mcpServers": []});
    client.told("session/load", params).await.0
}

#[tokio::test(start_paused = true)]
async fn a_text_is_written_where_it_is_told() {
    let agent = Kit::new(Obedient).into_builder().build().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let updates = run(&mut client, &id, "fast").await;
    assert_eq!(updates.last().unwrap()["content"]["text"], "0 waits");
    assert_eq!(updates.len(), 101);
}

#[tokio::test(start_paused = true)]
async fn pictures_and_links_are_part_of_the_answer() {
    let (mut client, id) = scene().await;
    let live = run(&mut client, &id, "image").await;
    let contents: Vec<_> = live.iter().map(|update| &update["content"]).collect();
    assert_eq!(contents[0]["text"], "Look: ");
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    assert_eq!(*contents[1], image);
    assert_eq!(contents[2]["type"], "resource_link");
    assert_eq!(contents[3]["text"], "done");
    assert_eq!(load(&mut client, &id).await[1..], live[..]);
}

#[tokio::test(start_paused = true)]
async fn usage_and_its_cost() {
    let (mut client, id) = scene().await;
    let updates = run(&mut client, &id, "usage").await;
    assert_eq!(
        updates,
        [
            json!({"sessionUpdate": "usage_update", "used": 5, "size": 10,
            "cost": {"amount": 0.25, "currency": "EUR"}})
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_sets_mode_and_options_itself() {
    let (mut client, id) = scene().await;
    let updates = run(&mut client, &id, "act").await;
    assert_eq!(updates[1]["currentModeId"], "act");
    let options = updates[2]["configOptions"].as_array().unwrap();
    assert_eq!(options[1]["currentValue"], true, "{options:?}");
    assert_eq!(updates.last().unwrap()["content"]["text"], "ask act");

    let request = client.prompt(&id, "dance").await;
    let answer = client.answer(request).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_shortened() {
    let (mut client, id) = scene().await;
    let live = run(&mut client, &id, "compact").await;
    assert_eq!(live[0]["status"], "in_progress");
    assert_eq!(live[1]["status"], "completed");
    assert_eq!(live[1]["summary"][0]["text"], "We spoke.");
    assert_eq!(live[0]["compactionId"], live[1]["compactionId"]);
    let replayed = load(&mut client, &id).await;
    assert_eq!(replayed[1]["summary"][0]["text"], "We spoke.");
    for (text, want) in [("compact badly", "failed"), ("compact not", "cancelled")] {
        let updates = run(&mut client, &id, text).await;
        assert_eq!(updates[1]["status"], want);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_asks_through_its_turn() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "delegate").await;
    // Of the sub-agent the client sees what it is asked about.
    let announced = client.update().await;
    assert_eq!(announced["title"], "Edit");
    let asked = client.asked("session/request_permission").await;
    assert_eq!(
        asked["params"]["toolCall"]["toolCallId"],
        announced["toolCallId"]
    );
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
    client.reply(&asked["id"], outcome).await;
    let started = client.update().await;
    assert_eq!(started["status"], "in_progress");
    let completed = client.update().await;
    assert_eq!(completed["status"], "completed");
    assert_eq!(client.update().await["content"]["text"], "Allowed");
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let replayed = load(&mut client, &id).await;
    let told: Vec<_> = replayed[1..]
        .iter()
        .map(|update| &update["sessionUpdate"])
        .collect();
    let want = [
        "tool_call",
        "tool_call_update",
        "tool_call_update",
        "agent_message_chunk",
    ];
    assert_eq!(told, want, "{replayed:?}");
    assert_eq!(replayed[1]["toolCallId"], announced["toolCallId"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_waits_for_no_command() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "wait for a command").await;
    let asked = client.asked("terminal/create").await;
    client
        .reply(&asked["id"], json!({"terminalId": "t1"}))
        .await;
    let waits = client.asked("terminal/wait_for_exit").await;
    client.cancel(&id).await;
    let (mut withdrawn, mut released) = (false, false);
    loop {
        let message = client.next().await;
        withdrawn |= message["params"]["requestId"] == waits["id"];
        released |= message["method"] == "terminal/release";
        if message["id"] == request && message["result"].is_object() {
            assert_eq!(message["result"]["stopReason"], "cancelled");
            break;
        }
    }
    assert!(withdrawn && released);
}

#[tokio::test(start_paused = true)]
async fn a_turn_may_find_out_that_nobody_wants_it() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "cancelled").await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}
