//! The example with everything, used.

#[path = "../../examples/everything/desk.rs"]
mod desk;
#[path = "../../examples/everything/errands.rs"]
mod errands;
#[path = "../../examples/everything/library.rs"]
mod library;

use serde_json::{Value, json};

use crate::client::{Client, prompt};

/// Sends a request, answers permissions with an option, and gives what is told
/// until its answer, and the answer.
async fn told(
    client: &mut Client,
    method: &str,
    params: Value,
    option: &str,
) -> (Vec<Value>, Value) {
    let request = client.start_call(method, params).await;
    let mut told = Vec::new();
    loop {
        let mut message = client.next().await;
        if message["id"] == request {
            return (told, message);
        }
        if message["method"] == "session/request_permission" {
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
            client.reply(&message["id"], outcome).await;
        } else {
            told.push(message["params"]["update"].take());
        }
    }
}

fn texts(updates: &[Value]) -> Vec<&str> {
    let texts = updates
        .iter()
        .filter_map(|update| update["content"]["text"].as_str());
    texts.collect()
}

#[tokio::test(start_paused = true)]
async fn a_book_is_written_read_listed_and_loaded() {
    let agent = library::agent(&library::Library::default()).unwrap();
    let mut client = Client::ready(&agent).await;
    let params = json!({"cwd": "/home/ada/project", "mcpServers": []});
    let answer = client.call("session/new", params.clone()).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    client
        .call("authenticate", json!({"methodId": "card"}))
        .await;
    let id = client.new_session().await;
    let commands = client.update().await;
    let names = commands["availableCommands"].as_array().unwrap();
    assert_eq!(names.len(), 1 + errands::COMMANDS.len(), "{commands}");

    let write = |text: &str| ("session/prompt", prompt(&id, text));
    let (method, params) = write("secret");
    let (updates, _) = told(&mut client, method, params, "deny").await;
    assert_eq!(texts(&updates), ["Then I do not write it."]);
    let (method, params) = write("one");
    let (updates, answer) = told(&mut client, method, params, "approve_always_workspace").await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(texts(&updates), ["I wrote: one"]);
    assert!(
        updates
            .iter()
            .any(|update| update["currentModeId"] == "write")
    );
    assert!(updates.iter().any(|update| update["title"] == "one"));
    for text in ["two", "three"] {
        let (method, params) = write(text);
        let (updates, _) = told(&mut client, method, params, "deny").await;
        assert_eq!(texts(&updates), [format!("I wrote: {text}")]);
    }
    let request = client.prompt(&id, "/compact").await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
    let (updates, _) = told(&mut client, "session/prompt", prompt(&id, "/read"), "deny").await;
    assert_eq!(texts(&updates), ["one\nthree"]);

    // It asks again, and is cancelled meanwhile.
    let mode = json!({"sessionId": id, "modeId": "ask"});
    told(&mut client, "session/set_mode", mode, "").await;
    let request = client.prompt(&id, "four").await;
    client.update().await;
    client.asked("session/request_permission").await;
    client.cancel(&id).await;
    let stopped = loop {
        let message = client.next().await;
        if message["id"] == request {
            break message;
        }
    };
    assert_eq!(stopped["result"]["stopReason"], "cancelled");

    told(&mut client, "session/close", json!({"sessionId": id}), "").await;
    let answer = client
        .call("session/list", json!({"cwd": "/home/ada/project"}))
        .await;
    assert_eq!(answer["result"]["sessions"][0]["title"], "one");
    let load = json!({"sessionId": id, "cwd": "/home/ada/project", "mcpServers": []});
    let (updates, answer) = told(&mut client, "session/load", load, "").await;
    assert!(answer["result"]["modes"].is_object(), "{answer}");
    assert_eq!(
        texts(&updates),
        ["one", "I wrote: one", "three", "I wrote: three"]
    );
    client.call("session/close", json!({"sessionId": id})).await;
    client
        .call("session/delete", json!({"sessionId": id}))
        .await;
    let answer = client.call("session/list", json!({})).await;
    assert_eq!(answer["result"]["sessions"], json!([]));
    client.call("logout", json!({})).await;
    let answer = client
        .call("session/new", json!({"cwd": "/", "mcpServers": []}))
        .await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
}
