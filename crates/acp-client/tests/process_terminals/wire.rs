//! Terminals as an agent sees them, and what ends them from outside.

use acp_client::{Client, ClientOptions, Session};
use serde_json::{Value, json};

use crate::agent::{Agent, SESSION, dialed};
use crate::support::{Place, within};

async fn opened(place: &Place) -> (Client, Session, Agent) {
    let options = ClientOptions::new().with_terminals(place.options());
    let (client, mut agent) = dialed(options, json!({})).await;
    let serve = async {
        let request = agent.request("session/new").await;
        agent.answer(&request, json!({"sessionId": SESSION})).await;
    };
    let (session, ()) = tokio::join!(client.new_session(place.path()), serve);
    (client, session.unwrap(), agent)
}

async fn create(agent: &mut Agent, script: &str) -> Value {
    let params = json!({"sessionId": SESSION, "command": "sh", "args": ["-c", script]});
    agent.ask(1, "terminal/create", params).await;
    agent.result(1).await["terminalId"].clone()
}

/// A command that is running for certain.
async fn started(agent: &mut Agent, place: &Place) -> Value {
    let id = create(
        agent,
        "trap '' INT TERM; echo on; while :; do sleep 1000; done",
    )
    .await;
    let of = json!({"sessionId": SESSION, "terminalId": id});
    let on = async {
        loop {
            agent.ask(2, "terminal/output", of.clone()).await;
            if agent.result(2).await["output"] == "on\n" {
                return;
            }
        }
    };
    within("the command", on).await;
    assert!(!place.running().is_empty());
    of
}

#[tokio::test]
async fn a_command_from_its_start_to_its_release() {
    let place = Place::new();
    let (_client, _session, mut agent) = opened(&place).await;
    let id = create(&mut agent, "echo hello; exit 3").await;
    let of = json!({"sessionId": SESSION, "terminalId": id});
    agent.ask(2, "terminal/wait_for_exit", of.clone()).await;
    assert_eq!(agent.result(2).await, json!({"exitCode": 3}));
    agent.ask(3, "terminal/output", of.clone()).await;
    let output = json!({"output": "hello\n", "truncated": false, "exitStatus": {"exitCode": 3}});
    assert_eq!(agent.result(3).await, output);
    agent.ask(4, "terminal/kill", of.clone()).await;
    assert_eq!(agent.result(4).await, json!({}));
    agent.ask(5, "terminal/release", of.clone()).await;
    assert_eq!(agent.result(5).await, json!({}));
    agent.ask(6, "terminal/output", of).await;
    assert_eq!(agent.refusal(6).await, -32002);
    for (command, code) in [
        ("ls && pwd", -32602),
        ("no-such-tool", -32002),
        ("a\0b", -32002),
    ] {
        let params = json!({"sessionId": SESSION, "command": command});
        agent.ask(7, "terminal/create", params).await;
        assert_eq!(agent.refusal(7).await, code, "{command:?}");
    }
    let params = json!({"sessionId": SESSION, "command": "sh", "args": ["\0"]});
    agent.ask(8, "terminal/create", params).await;
    assert_eq!(agent.refusal(8).await, -32602);
}

/// B103.
#[tokio::test]
async fn the_end_of_a_session_ends_its_commands() {
    let place = Place::new();
    let (_client, session, mut agent) = opened(&place).await;
    let of = started(&mut agent, &place).await;
    agent.ask(3, "terminal/wait_for_exit", of.clone()).await;
    // Requests start in their order: when this is answered, the other one waits.
    agent.ask(4, "terminal/output", of).await;
    agent.result(4).await;
    // The agent does not offer to close it.
    session.close().await.unwrap_err();
    assert_eq!(agent.refusal(3).await, -32800, "who waits is answered");
    place.wait_until_none_runs().await;
}

#[tokio::test]
async fn the_end_of_the_connection_ends_the_commands() {
    let place = Place::new();
    let (client, session, mut agent) = opened(&place).await;
    let of = started(&mut agent, &place).await;
    agent.ask(3, "terminal/wait_for_exit", of).await;
    agent.hang_up();
    client.done().await;
    place.wait_until_none_runs().await;
    drop(session);
}

#[tokio::test]
async fn commands_end_when_everything_is_dropped() {
    let place = Place::new();
    let (client, session, mut agent) = opened(&place).await;
    started(&mut agent, &place).await;
    drop((client, session));
    place.wait_until_none_runs().await;
    agent.hears_the_end().await;
}

#[test]
fn commands_end_when_the_runtime_does() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let held = runtime.block_on(async {
        let (client, session, mut agent) = opened(&place).await;
        started(&mut agent, &place).await;
        (client, session, agent)
    });
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(place.wait_until_none_runs());
    drop(held);
}
