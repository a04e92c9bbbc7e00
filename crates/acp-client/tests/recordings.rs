//! Recorded conversations of real agents, played to this client by a mock agent.
//!
//! `tests/recordings` holds them, with ids, paths and texts made neutral.

mod support;

use acp_client::{Allow, Client, ClientOptions, Policy, Session, TurnEvent};
use acp_mockpeer::{Play, PlayOutcome, Recording, Scenario, Style, transcribe};
use acp_protocol::v1::StopReason;
use support::{all, brief};
use tokio::io::{DuplexStream, duplex, split};
use tokio::task::JoinHandle;

const CWD: &str = "/home/ada/project";

/// Plays the agent of a recording; gives the client's end of the pipe.
fn recorded(name: &str) -> (DuplexStream, JoinHandle<PlayOutcome>) {
    let path = format!(
        "{}/../../tests/recordings/{name}.ndjson",
        env!("CARGO_MANIFEST_DIR")
    );
    let recording = Recording::load(path).unwrap();
    let text = transcribe(&recording, Style::Agent);
    let scenario = Scenario::parse(name, &text).unwrap_or_else(|error| panic!("{error}"));
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(theirs);
    let play = Play::agent(&scenario).over(reader, writer);
    (ours, tokio::spawn(play))
}

/// A client with a session at the agent of a recording.
async fn opened(name: &str, options: ClientOptions) -> (Client, Session, JoinHandle<PlayOutcome>) {
    let (pipe, agent) = recorded(name);
    let (reader, writer) = split(pipe);
    let client = Client::over(reader, writer, options);
    client.dial().await.unwrap();
    let session = client.new_session(CWD).await.unwrap();
    (client, session, agent)
}

/// Closes the client; the agent saw what it expected, and nothing else.
async fn close(client: Client, agent: JoinHandle<PlayOutcome>) {
    client.close().await;
    agent.await.unwrap().assert_passed();
}

#[tokio::test(start_paused = true)]
async fn a_prompt_with_news_before_and_behind_it() {
    let (client, mut session, agent) = opened("prompt", ClientOptions::new()).await;
    let mut turn = session.prompt("do something").await.unwrap();
    let seen = all(&mut turn).await;
    let end = turn.end().await.unwrap();
    assert_eq!(end.stop_reason, StopReason::EndTurn);
    assert_eq!(
        seen,
        [
            "earlier available_commands_update",
            "available_commands_update",
            "usage_update",
            "Hello ",
            "there, ",
            "this ",
            "is ",
            "usage_update",
            "a ",
            "usage_update",
        ]
    );
    // The title comes behind the end.
    let late = session.updates().next().await.unwrap();
    assert_eq!(brief(&late), "session_info_update");
    close(client, agent).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_allowed() {
    let options = ClientOptions::new().with_permissions(Policy::new(Allow::All, CWD));
    let (client, mut session, agent) = opened("tool", options).await;
    let mut turn = session.prompt("do something").await.unwrap();
    let seen = all(&mut turn).await;
    assert_eq!(turn.end().await.unwrap().stop_reason, StopReason::EndTurn);
    let kinds = seen.iter().filter(|seen| seen.contains("tool_call"));
    assert_eq!(kinds.collect::<Vec<_>>(), ["tool_call", "tool_call_update"]);
    close(client, agent).await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_rejected() {
    let options = ClientOptions::new().with_permissions_in_stream();
    let (client, mut session, agent) = opened("reject", options).await;
    let mut turn = session.prompt("do something").await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        seen.push(brief(&event));
        if let TurnEvent::Permission(pending) = event {
            pending.reject();
        }
    }
    assert_eq!(turn.end().await.unwrap().stop_reason, StopReason::EndTurn);
    assert_eq!(
        seen,
        [
            "earlier available_commands_update",
            "Hello ",
            "there, ",
            "tool_call",
            "tool_call_update",
            "asks call-1",
            "tool_call_update",
            "usage_update",
        ]
    );
    close(client, agent).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cancelled_while_it_asks() {
    let options = ClientOptions::new().with_permissions_in_stream();
    let (client, mut session, agent) = opened("cancel", options).await;
    let mut turn = session.prompt("do something").await.unwrap();
    while let Some(event) = turn.next().await {
        if let TurnEvent::Permission(pending) = event {
            turn.cancel();
            // It is answered without us.
            while pending.is_open() {
                tokio::task::yield_now().await;
            }
        }
    }
    let end = turn.end().await.unwrap();
    assert_eq!(end.stop_reason, StopReason::Cancelled);
    close(client, agent).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_listed_and_loaded() {
    let (pipe, agent) = recorded("list_load");
    let (reader, writer) = split(pipe);
    let client = Client::over(reader, writer, ClientOptions::new());
    client.dial().await.unwrap();
    let sessions = client.list_sessions().with_cwd(CWD).all().await.unwrap();
    let titles: Vec<_> = sessions.iter().map(|session| &session.title).collect();
    assert_eq!(
        titles,
        [&Some("Title 1".to_owned()), &Some("Title 2".to_owned())]
    );
    let id = sessions[0].session_id.clone();
    let mut loading = client.load_session(id.clone(), CWD).await.unwrap();
    let mut replayed = Vec::new();
    while let Some(event) = loading.next().await {
        replayed.push(brief(&event));
    }
    // The whole conversation comes before the answer, tags last as this agent writes them.
    assert_eq!(
        replayed,
        [
            "user_message_chunk",
            "there, ",
            "this ",
            "is ",
            "a ",
            "user_message_chunk",
            "answer.",
            "And ",
            "tool_call",
            "tool_call_update",
            "one ",
            "more ",
            "line.",
            "Hello ",
            "session_info_update",
            "available_commands_update",
        ]
    );
    let session = loading.end().await.unwrap();
    assert_eq!(*session.id(), id);
    close(client, agent).await;
}
