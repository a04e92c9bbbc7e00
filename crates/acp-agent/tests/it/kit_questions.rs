//! The kit: questions made of types.

use acp_agent::kit::{Kit, Prompt, Turn, TurnEnd, TurnError, TurnHandler, UserAnswer};
use serde_json::{Value, json};

use crate::client::{Client, prompt};

#[derive(Debug, schemars::JsonSchema, serde::Deserialize)]
enum Database {
    Sqlite,
    /// For many machines.
    Postgres,
}

/// Where the server listens.
#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, schemars::JsonSchema, serde::Deserialize)]
struct Address {
    host: String,
    port: Option<u16>,
}

/// Takes nothing that is longer than four letters, which no schema says.
#[expect(dead_code, reason = "it is printed")]
#[derive(Debug, schemars::JsonSchema)]
struct Short(String);

impl<'de> serde::Deserialize<'de> for Short {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text.len() > 4 {
            return Err(serde::de::Error::custom("too long"));
        }
        Ok(Self(text))
    }
}

struct Asker;

impl TurnHandler for Asker {
    async fn turn(&self, turn: &mut Turn, prompt: Prompt) -> Result<TurnEnd, TurnError> {
        let told = match &*prompt.text() {
            "database" => format!("{:?}", turn.ask::<Database>("Which database?").await?),
            "database or default" => {
                let database = turn.ask("Which database?").or_default(Database::Sqlite);
                format!("{:?}", database.await?)
            }
            "database or text" => match turn.ask::<Database>("Which database?").or_text().await? {
                UserAnswer::InWords => return Ok(TurnEnd::Done),
                other => format!("{other:?}"),
            },
            "address" => {
                let tool = turn.tool("serve", "Serve").start().await?;
                let answer = turn.ask::<Address>("Where?").for_tool(&tool).await?;
                tool.complete(vec![]).await?;
                format!("{answer:?}")
            }
            "address in words" => {
                let _ = turn.ask::<Address>("Where?").or_text().await?;
                return Ok(TurnEnd::Done);
            }
            "short" => format!("{:?}", turn.ask::<Short>("A word?").await?),
            "impossible" => {
                let pairs = turn.ask::<Vec<(u8, u8)>>("Which pairs?");
                format!("{:?}", pairs.or_default(vec![]).await?)
            }
            other => panic!("{other}"),
        };
        turn.text(told).await?;
        Ok(TurnEnd::Done)
    }
}

async fn scene(capabilities: Value) -> (Client, String) {
    let agent = Kit::new(Asker).into_builder().build().unwrap();
    let mut client = Client::ready_with(&agent, capabilities).await;
    let id = client.new_session().await;
    (client, id)
}

/// Asks, answers, and gives what the agent makes of it.
async fn ask(client: &mut Client, id: &str, text: &str, answer: Value) -> String {
    let request = client.prompt(id, text).await;
    let asked = client.asked("elicitation/create").await;
    client.reply(&asked["id"], answer).await;
    let mut told = client.update().await;
    let told = told["content"]["text"].take();
    assert_eq!(client.stop_reason(request).await, "end_turn");
    told.as_str().unwrap().to_owned()
}

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

#[tokio::test(start_paused = true)]
async fn a_choice_is_asked_for() {
    let (mut client, id) = scene(forms()).await;
    let request = client.prompt(&id, "database").await;
    let asked = client.asked("elicitation/create").await;
    assert_eq!(asked["params"]["message"], "Which database?");
    let schema = &asked["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["answer"]));
    let mut options = schema["properties"]["answer"]["oneOf"].clone();
    let options = options.as_array_mut().unwrap();
    options.sort_by_key(|option| option["const"] != "Sqlite");
    assert_eq!(
        *options,
        [
            json!({"const": "Sqlite", "title": "Sqlite"}),
            json!({"const": "Postgres", "title": "Postgres", "description": "For many machines."}),
        ]
    );
    let accepted = json!({"action": "accept", "content": {"answer": "Postgres"}});
    client.reply(&asked["id"], accepted.clone()).await;
    assert_eq!(client.update().await["content"]["text"], "Given(Postgres)");
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let declined = json!({"action": "decline"});
    let dismissed = json!({"action": "cancel"});
    let foreign = json!({"action": "accept", "content": {"answer": "Oracle"}});
    for (text, answer, want) in [
        ("database", &declined, "Declined"),
        ("database", &dismissed, "Dismissed"),
        ("database", &foreign, "Dismissed"),
        ("database or text", &accepted, "Given(Postgres)"),
        ("database or default", &accepted, "Postgres"),
        ("database or default", &declined, "Sqlite"),
        ("database or default", &foreign, "Sqlite"),
    ] {
        assert_eq!(ask(&mut client, &id, text, answer.clone()).await, want);
    }
}

#[tokio::test(start_paused = true)]
async fn a_struct_is_asked_for() {
    let (mut client, id) = scene(forms()).await;
    let request = client.prompt(&id, "address").await;
    let tool = client.update().await;
    let asked = client.asked("elicitation/create").await;
    assert_eq!(asked["params"]["toolCallId"], tool["toolCallId"]);
    let schema = &asked["params"]["requestedSchema"];
    assert_eq!(schema["description"], "Where the server listens.");
    assert_eq!(schema["required"], json!(["host"]));
    assert_eq!(schema["properties"]["port"]["maximum"], 65535);
    let content = json!({"host": "localhost", "port": 80});
    let answer = json!({"action": "accept", "content": content});
    client.reply(&asked["id"], answer).await;
    client.update().await;
    assert_eq!(
        client.update().await["content"]["text"],
        r#"Given(Address { host: "localhost", port: Some(80) })"#
    );
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn what_the_type_does_not_take_is_no_answer() {
    let (mut client, id) = scene(forms()).await;
    let answer = |word: &str| json!({"action": "accept", "content": {"answer": word}});
    let short = ask(&mut client, &id, "short", answer("four")).await;
    assert_eq!(short, r#"Given(Short("four"))"#);
    let long = ask(&mut client, &id, "short", answer("fives")).await;
    assert_eq!(long, "Dismissed");
}

#[tokio::test(start_paused = true)]
async fn without_forms_the_author_has_chosen() {
    let (mut client, id) = scene(json!({})).await;
    for (text, want) in [
        ("database or default", "Sqlite"),
        (
            "database or text",
            "Which database?\n\n* Sqlite\n* Postgres: For many machines.\n",
        ),
        ("address in words", "Where?\n\n* Host\n* Port\n"),
    ] {
        let request = client.prompt(&id, text).await;
        assert_eq!(client.update().await["content"]["text"], want);
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
    let answer = client.call("session/prompt", prompt(&id, "database")).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_type_that_fits_no_form_is_never_asked_for() {
    for capabilities in [forms(), json!({})] {
        let (mut client, id) = scene(capabilities).await;
        let answer = client
            .call("session/prompt", prompt(&id, "impossible"))
            .await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_withdraws_its_question() {
    let (mut client, id) = scene(forms()).await;
    let request = client.prompt(&id, "database").await;
    let asked = client.asked("elicitation/create").await;
    client.cancel(&id).await;
    let (mut withdrawn, mut reason) = (false, Value::Null);
    while !withdrawn || reason.is_null() {
        let mut message = client.next().await;
        withdrawn |= message["params"]["requestId"] == asked["id"];
        if message["id"] == request {
            reason = message["result"]["stopReason"].take();
        }
    }
    assert_eq!(reason, "cancelled");
}
