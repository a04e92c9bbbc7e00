//! The kit: sessions that are remembered, options, questions.

use acp_agent::{
    Agent,
    host::{
        ConfigChoice, ConfigOption, ContextUse, CreateTerminal, FormField, Notice, NoticeSeverity,
        OpenUrl, SlashCommand, ToolContent, UserForm,
    },
    kit::{
        Kit, MemoryHistory, Prompt, RecordBody, Turn, TurnEnd, TurnError, TurnHandler, UserAnswer,
    },
};
use serde_json::{Value, json};

use crate::client::{Client, prompt};

/// Does what the prompt says.
struct Obedient;

impl TurnHandler for Obedient {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        match &*prompt.text() {
            "work" => {
                turn.thought("hm, ").await?;
                turn.thought("yes").await?;
                turn.text("I ").await?;
                turn.text("work.").await?;
                let tool = turn.tool("run", "Run").announce().await?;
                tool.start().await?;
                tool.complete(vec![ToolContent::text("done")]).await?;
                turn.text("Done.").await?;
                turn.usage(ContextUse::new(10, 100)).await?;
                turn.text(" Really.").await?;
                turn.title("Working").await?;
            }
            "wait" => turn.cancelled().await,
            "remember" => {
                let earlier = turn.earlier().all().await?;
                let asked = earlier
                    .iter()
                    .filter(|record| matches!(record.body, RecordBody::Asked(_)));
                turn.text(asked.count().to_string()).await?;
            }
            "mode" => turn.text(format!("{:?}", turn.mode())).await?,
            "ask" => {
                let form = UserForm::new().with_field(FormField::text("name", "Name"));
                let answer = match turn.ask_form("Who are you?", form).await? {
                    answer @ UserAnswer::Given(_) => answer.text("name").unwrap().to_owned(),
                    other => format!("{other:?}"),
                };
                turn.text(answer).await?;
            }
            "send" => {
                let url = OpenUrl::new("https://example.com/");
                match turn.send_to("Log in.", url).await? {
                    Some(visit) => visit.done().await?,
                    None => turn.text("no").await?,
                }
            }
            "run" => {
                let terminal = turn.terminal(CreateTerminal::new("ls")).await?;
                turn.text(terminal.id()).await?;
            }
            "notice" => {
                turn.notice(Notice::new(NoticeSeverity::Info, "hey"))
                    .await?
            }
            _ => {}
        }
        Ok(TurnEnd::Done)
    }
}

fn agent() -> Agent {
    let modes = vec![
        ConfigChoice::new("ask", "Ask"),
        ConfigChoice::new("act", "Act"),
    ];
    Kit::new(Obedient)
        .with_history(MemoryHistory::default())
        .with_options(vec![ConfigOption::mode("ask", modes)])
        .with_commands(vec![SlashCommand::new("work", "Works")])
        .into_builder()
        .build()
        .unwrap()
}

fn params(id: &str) -> Value {
    json!({"sessionId": id, "cwd": "/home/ada/project", "mcpServers": []})
}

/// RecordBody a client makes of updates: adjacent pieces of one message joined.
fn transcript(updates: &[Value]) -> Vec<Value> {
    let mut folded: Vec<Value> = Vec::new();
    for update in updates {
        let id = &update["messageId"];
        match folded.last_mut() {
            Some(last) if !id.is_null() && last["messageId"] == *id => {
                let text = [&*last, update].map(|u| u["content"]["text"].as_str().unwrap());
                last["content"]["text"] = text.concat().into();
            }
            _ => folded.push(update.clone()),
        }
    }
    folded
}

#[tokio::test(start_paused = true)]
async fn a_remembered_session_is_listed_loaded_resumed_and_deleted() {
    let agent = agent();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let commands = client.update().await;
    assert_eq!(commands["availableCommands"][0]["name"], "work");
    let (live, answer) = client.told("session/prompt", prompt(&id, "work")).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let title = live.last().unwrap();
    assert_eq!(title["title"], "Working");
    let request = client.prompt(&id, "wait").await;
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    client.hang_up().await;

    // On another connection of the same agent.
    let mut client = Client::ready(&agent).await;
    let answer = client
        .call("session/list", json!({"cwd": "/home/ada/project"}))
        .await;
    let listed = &answer["result"]["sessions"][0];
    assert_eq!(listed["sessionId"], *id);
    assert_eq!(listed["title"], "Working");
    assert!(listed["updatedAt"].is_string());

    let (replayed, answer) = client.told("session/load", params(&id)).await;
    assert_eq!(
        answer["result"]["modes"]["currentModeId"], "ask",
        "{answer}"
    );
    let (asked, said): (Vec<_>, Vec<_>) = replayed
        .into_iter()
        .partition(|update| update["sessionUpdate"] == "user_message_chunk");
    let texts: Vec<_> = asked
        .iter()
        .map(|update| &update["content"]["text"])
        .collect();
    assert_eq!(texts, ["work", "wait"]);
    // The title and the commands are told when the session begins again.
    let (news, said): (Vec<_>, Vec<_>) = said.into_iter().partition(|update| {
        let kind = update["sessionUpdate"].as_str().unwrap();
        matches!(kind, "session_info_update" | "available_commands_update")
    });
    assert_eq!(news.len(), 2);
    let live = transcript(&live[..live.len() - 1]);
    assert_eq!(transcript(&said), live);
    assert!(live.len() >= 5, "{live:?}");

    client.call("session/close", json!({"sessionId": id})).await;
    let answer = client.call("session/resume", params(&id)).await;
    assert!(answer["result"].is_object(), "{answer}");
    client.update().await;
    client.update().await;
    let (updates, _) = client.told("session/prompt", prompt(&id, "remember")).await;
    assert_eq!(updates[0]["content"]["text"], "2");

    client.call("session/close", json!({"sessionId": id})).await;
    client
        .call("session/delete", json!({"sessionId": id}))
        .await;
    let answer = client.call("session/list", json!({})).await;
    assert_eq!(answer["result"]["sessions"], json!([]));
    for method in ["session/load", "session/resume"] {
        let answer = client.call(method, params(&id)).await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kit_advertises_what_it_was_given() {
    for (kit, want) in [
        (Kit::new(Obedient), false),
        (
            Kit::new(Obedient).with_history(MemoryHistory::default()),
            true,
        ),
    ] {
        let mut client = Client::start(&kit.into_builder().build().unwrap());
        let answer = client
            .call("initialize", json!({"protocolVersion": 1}))
            .await;
        let capabilities = &answer["result"]["agentCapabilities"];
        let sessions = &capabilities["sessionCapabilities"];
        for capability in ["list", "resume", "delete"] {
            assert_eq!(sessions[capability].is_object(), want, "{answer}");
        }
        assert_eq!(capabilities["loadSession"] == true, want);
        let answer = client.call("session/set_mode", json!([])).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_session_has_its_own_options() {
    let mut client = Client::ready(&agent()).await;
    let one = client.new_session().await;
    client.update().await;
    let two = client.new_session().await;
    client.update().await;
    let params = json!({"sessionId": one, "modeId": "act"});
    let (updates, answer) = client.told("session/set_mode", params).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(updates[1]["currentModeId"], "act");
    for (session, want) in [(&one, r#"Some("act")"#), (&two, r#"Some("ask")"#)] {
        let (updates, _) = client.told("session/prompt", prompt(session, "mode")).await;
        assert_eq!(updates[0]["content"]["text"], want);
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_asks_its_client() {
    let capabilities = json!({"terminal": true, "elicitation": {"form": {}, "url": {}},
        "session": {"notices": {}}});
    let agent = Kit::new(Obedient).into_builder().build().unwrap();
    let mut client = Client::ready_with(&agent, capabilities).await;
    let id = client.new_session().await;
    for (result, want) in [
        (
            json!({"action": "accept", "content": {"name": "Ada"}}),
            "Ada",
        ),
        (
            json!({"action": "accept", "content": {"name": 7}}),
            "Dismissed",
        ),
        (json!({"action": "decline"}), "Declined"),
    ] {
        let request = client.prompt(&id, "ask").await;
        let asked = client.asked("elicitation/create").await;
        client.reply(&asked["id"], result).await;
        assert_eq!(client.update().await["content"]["text"], want);
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
    let request = client.prompt(&id, "send").await;
    let asked = client.asked("elicitation/create").await;
    client
        .reply(&asked["id"], json!({"action": "accept"}))
        .await;
    let done = client.next().await;
    assert_eq!(done["method"], "elicitation/complete");
    assert_eq!(
        done["params"]["elicitationId"],
        asked["params"]["elicitationId"]
    );
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let request = client.prompt(&id, "run").await;
    let asked = client.asked("terminal/create").await;
    client
        .reply(&asked["id"], json!({"terminalId": "term-1"}))
        .await;
    assert_eq!(client.update().await["content"]["text"], "term-1");
    // The handle was dropped.
    client.asked("terminal/release").await;
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let request = client.prompt(&id, "notice").await;
    assert_eq!(client.update().await["sessionUpdate"], "notice");
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_told_what_its_client_cannot() {
    let agent = Kit::new(Obedient).into_builder().build().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    for text in ["ask", "send", "run"] {
        let answer = client.call("session/prompt", prompt(&id, text)).await;
        assert_eq!(answer["error"]["code"], -32603, "{text}: {answer}");
    }
}
