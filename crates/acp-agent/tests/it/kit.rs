//! The kit: an agent that is a function.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use acp_agent::{
    Agent, AgentBuilder,
    host::{ClientCallError, HostError, ToolContent, ToolKind},
    kit::{Kit, Permission, Prompt, Turn, TurnEnd, TurnError, TurnHandler},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::{Client, notification, prompt};

/// Does what the prompt says.
#[derive(Default)]
struct Obedient {
    finished: Arc<AtomicUsize>,
}

struct Finished(Arc<AtomicUsize>);

impl Drop for Finished {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl TurnHandler for Obedient {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        let _finished = Finished(Arc::clone(&self.finished));
        match &*prompt.text() {
            "max tokens" => return Ok(TurnEnd::MaxTokens),
            "max steps" => return Ok(TurnEnd::MaxSteps),
            "refuse" => return Ok(TurnEnd::Refused),
            "decline" => turn.refusal("no").await?,
            "fail" => return Err(std::io::Error::other("canary").into()),
            "fail in public" => return Err(TurnError::public("the model is down")),
            "host error" => Err(HostError::public("the model is gone"))?,
            "panic" => panic!("canary"),
            "talk until cancelled" => loop {
                turn.text("blah ").await?;
                turn.run_until_cancelled(sleep(Duration::from_secs(1)))
                    .await?;
            },
            "sleep through it" => sleep(Duration::from_secs(1_000_000)).await,
            "clean up" => {
                turn.cancelled().await;
                assert!(turn.is_cancelled());
                sleep(Duration::from_secs(1)).await;
                assert!(turn.text("late").await.unwrap_err().is_cancelled());
            }
            "read" => {
                let text = turn.read_text_file("/home/ada/notes.md").await?;
                turn.text(text).await?;
            }
            "read unless refused" => match turn.read_text_file("/none").await {
                Err(ClientCallError::Refused { code, .. }) => turn.text(code.to_string()).await?,
                other => turn.text(format!("{other:?}")).await?,
            },
            "write" => turn.write_text_file("/home/ada/notes.md", "new").await?,
            "ask" => {
                let tool = turn
                    .tool("edit", "Change notes.md")
                    .kind(ToolKind::Edit)
                    .location("/home/ada/notes.md")
                    .input(&json!({"line": 1}))?
                    .announce()
                    .await?;
                match turn.ask_permission(&tool).await? {
                    Permission::Denied => tool.fail("not allowed").await?,
                    allowed => {
                        tool.start().await?;
                        tool.show(vec![ToolContent::text("half")]).await?;
                        tool.complete(vec![ToolContent::text(format!("{allowed:?}"))])
                            .await?;
                    }
                }
            }
            "ask impatiently" => {
                let tool = turn.tool("edit", "Change notes.md").start().await?;
                let asking = turn.ask_permission(&tool);
                assert!(
                    tokio::time::timeout(Duration::from_secs(1), asking)
                        .await
                        .is_err()
                );
                turn.text("never mind").await?;
            }
            "leave a tool" => {
                let _ = turn.tool("run", "Run").start().await?;
            }
            other => {
                turn.text(format!("{other} in {}", turn.setup().cwd.display()))
                    .await?
            }
        }
        Ok(TurnEnd::Done)
    }
}

fn agent() -> (Agent, Arc<AtomicUsize>) {
    let handler = Obedient::default();
    let finished = Arc::clone(&handler.finished);
    (
        AgentBuilder::new(Kit::new(handler)).build().unwrap(),
        finished,
    )
}

async fn scene() -> (Client, String) {
    let capabilities = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut client = Client::ready_with(&agent().0, capabilities).await;
    let id = client.new_session().await;
    (client, id)
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_what_the_function_does() {
    let (mut client, id) = scene().await;
    assert_eq!(uuid::Uuid::parse_str(&id).unwrap().get_version_num(), 7);
    let request = client.prompt(&id, "hello").await;
    assert_eq!(
        client.update().await["content"]["text"],
        "hello in /home/ada/project"
    );
    assert_eq!(client.stop_reason(request).await, "end_turn");
    for (text, want) in [
        ("max tokens", "max_tokens"),
        ("max steps", "max_turn_requests"),
        ("refuse", "refusal"),
    ] {
        let request = client.prompt(&id, text).await;
        assert_eq!(client.stop_reason(request).await, want);
    }
    let request = client.prompt(&id, "decline").await;
    client.update().await;
    assert_eq!(client.stop_reason(request).await, "refusal");
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_in_public_words_only() {
    let (mut client, id) = scene().await;
    for (text, want) in [
        ("fail", "session/prompt: the agent failed"),
        ("fail in public", "session/prompt: the model is down"),
        ("host error", "session/prompt: the model is gone"),
        ("panic", "session/prompt: the turn failed"),
    ] {
        let answer = client.call("session/prompt", prompt(&id, text)).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["message"], want);
    }
    let request = client.prompt(&id, "hello").await;
    client.update().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_function_ends_by_itself_or_is_dropped() {
    let (agent, finished) = agent();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;

    let request = client.prompt(&id, "talk until cancelled").await;
    client.update().await;
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    assert_eq!(finished.load(Ordering::Relaxed), 1);

    for (text, seconds) in [("sleep through it", 5), ("clean up", 1)] {
        let began = Instant::now();
        let request = client.prompt(&id, text).await;
        client.cancel(&id).await;
        assert_eq!(client.stop_reason(request).await, "cancelled");
        assert_eq!(began.elapsed().as_secs(), seconds, "{text}");
    }
    assert_eq!(finished.load(Ordering::Relaxed), 3);

    // Right behind its prompt.
    let (request, message) = client.request("session/prompt", prompt(&id, "sleep through it"));
    let cancel = notification("session/cancel", json!({"sessionId": id}));
    client.send_all(&[message, cancel]).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    assert_eq!(finished.load(Ordering::Relaxed), 4);

    let began = Instant::now();
    client.prompt(&id, "sleep through it").await;
    client.hang_up().await;
    assert_eq!(finished.load(Ordering::Relaxed), 5);
    // The turn has ten seconds to end by itself, and then five.
    assert_eq!(began.elapsed().as_secs(), 15);
}

#[tokio::test(start_paused = true)]
async fn permission() {
    let (mut client, id) = scene().await;
    for (option, want) in [
        ("approve", "Allowed"),
        ("approve_always_workspace", "AllowedAlways"),
        ("deny", "not allowed"),
        ("else", "not allowed"),
    ] {
        let request = client.prompt(&id, "ask").await;
        assert_eq!(client.update().await["status"], "pending");
        let asked = client.asked("session/request_permission").await;
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        client.reply(&asked["id"], outcome).await;
        if want.starts_with("Allowed") {
            assert_eq!(client.update().await["status"], "in_progress");
            client.update().await;
        }
        let end = client.update().await;
        assert_eq!(end["content"][0]["content"]["text"], want, "{end}");
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_permission_is_asked() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "ask").await;
    let announced = client.update().await;
    let asked = client.asked("session/request_permission").await;
    client.cancel(&id).await;
    client
        .reply(&asked["id"], json!({"outcome": {"outcome": "cancelled"}}))
        .await;
    // The question is withdrawn, and the tool that was announced has failed.
    let mut failed = Value::Null;
    loop {
        let message = client.next().await;
        if message["id"] == request {
            assert_eq!(message["result"]["stopReason"], "cancelled");
            break;
        }
        if message["method"] == "session/update" {
            failed = message["params"]["update"].clone();
        }
    }
    assert_eq!(failed["toolCallId"], announced["toolCallId"]);
    assert_eq!(failed["status"], "failed");
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_is_withdrawn() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "ask impatiently").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    let (mut answered, mut withdrawn, mut went_on) = (false, false, false);
    while !(answered && withdrawn) {
        let message = client.next().await;
        answered |= message["id"] == request;
        withdrawn |= message["params"]["requestId"] == asked["id"];
        went_on |= message["params"]["update"]["content"]["text"] == "never mind";
    }
    assert!(went_on);
}

#[tokio::test(start_paused = true)]
async fn tools_without_an_end_have_failed() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "leave a tool").await;
    let started = client.update().await;
    let failed = client.update().await;
    assert_eq!(failed["toolCallId"], started["toolCallId"]);
    assert_eq!(failed["status"], "failed");
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn files_of_the_client() {
    let (mut client, id) = scene().await;
    let request = client.prompt(&id, "read").await;
    let asked = client.asked("fs/read_text_file").await;
    assert_eq!(asked["params"]["path"], "/home/ada/notes.md");
    assert_eq!(asked["params"]["sessionId"], *id);
    client
        .reply(&asked["id"], json!({"content": "water the plants"}))
        .await;
    assert_eq!(client.update().await["content"]["text"], "water the plants");
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let request = client.prompt(&id, "read unless refused").await;
    let asked = client.asked("fs/read_text_file").await;
    client.reply_error(&asked["id"], -32002).await;
    assert_eq!(client.update().await["content"]["text"], "-32002");
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let request = client.prompt(&id, "write").await;
    let asked = client.asked("fs/write_text_file").await;
    assert_eq!(asked["params"]["content"], "new");
    assert_eq!(asked["params"]["path"], "/home/ada/notes.md");
    client.reply(&asked["id"], json!({})).await;
    assert_eq!(client.stop_reason(request).await, "end_turn");

    // A cancelled turn withdraws what it asked.
    let request = client.prompt(&id, "read").await;
    let asked = client.asked("fs/read_text_file").await;
    client.cancel(&id).await;
    assert_eq!(client.next().await["params"]["requestId"], asked["id"]);
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_is_not_asked() {
    let mut client = Client::ready(&agent().0).await;
    let id = client.new_session().await;
    let request = client.prompt(&id, "read unless refused").await;
    assert_eq!(client.update().await["content"]["text"], "Err(Unsupported)");
    assert_eq!(client.stop_reason(request).await, "end_turn");
}
