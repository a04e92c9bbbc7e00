//! A client that reads slowly.

use std::{sync::Arc, time::Duration};

use acp_agent::host::{
    Block, Delta, EmitError, EventBody, Gate, HostEvent, Offer, SessionInfo, SlashCommand,
    ToolCall, ToolEnd,
};
use serde_json::json;
use tokio::time::timeout;

use crate::{client::Client, host::agent};

#[tokio::test(start_paused = true)]
async fn a_slow_client_slows_the_host_down() {
    let (agent, mut strings) = agent();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = Arc::new(session.start().await);
    let text = "x".repeat(32 << 10);
    let mut told = 0;
    loop {
        // Nobody reads, so at some point the host has to wait.
        let event = turn.event(EventBody::Delta(Delta::Text(text.clone())));
        match timeout(Duration::from_millis(10), session.link().emit(event)).await {
            Ok(result) => result.unwrap(),
            Err(_) => break,
        }
        told += 1;
        assert!(told < 1000, "the host never has to wait");
    }
    assert!(
        told * text.len() > 256 << 10,
        "only {told} updates in half a mebibyte of credit"
    );
    let rest = {
        let turn = Arc::clone(&turn);
        let text = text.clone();
        tokio::spawn(async move {
            turn.text(&text).await;
            turn.done().await;
        })
    };
    for _ in 0..=told {
        assert_eq!(client.update().await["content"]["text"], text);
    }
    assert_eq!(client.stop_reason(request).await, "end_turn");
    rest.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_event_that_waits_when_its_turn_ends_is_not_told_behind_it() {
    let (agent, mut strings) = agent();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = Arc::new(session.start().await);
    let mut told = 0;
    let blocked = loop {
        let turn = Arc::clone(&turn);
        let mut telling = tokio::spawn(async move {
            turn.tell(EventBody::Delta(Delta::Text("x".repeat(32 << 10))))
                .await
        });
        match timeout(Duration::from_millis(10), &mut telling).await {
            Ok(result) => result.unwrap().unwrap(),
            Err(_) => break telling,
        }
        told += 1;
    };
    turn.done().await;
    assert_eq!(blocked.await.unwrap(), Err(EmitError::Ended));
    for _ in 0..told {
        client.update().await;
    }
    assert_eq!(client.stop_reason(request).await, "end_turn");
    client.assert_quiet().await;
}

/// Fills the connection with text of a turn, until the host would have to wait.
async fn fill(session: &crate::host::Session, turn: &crate::host::Turn) -> usize {
    let mut told = 0;
    loop {
        let text = Delta::Text("x".repeat(32 << 10));
        let event = turn.event(EventBody::Delta(text));
        match timeout(Duration::from_millis(10), session.link().emit(event)).await {
            Ok(result) => result.unwrap(),
            Err(_) => return told,
        }
        told += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_its_host_gave_up_was_not_told() {
    let (agent, mut strings) = agent();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let told = fill(&session, &turn).await;
    let give_up = async |event: HostEvent| {
        let telling = session.link().emit(event);
        let given_up = timeout(Duration::from_millis(10), telling).await;
        assert!(given_up.is_err(), "there is no room");
    };
    let tool = || Box::new(ToolCall::new("t1", "edit", "Change notes.md"));
    let title = || EventBody::InfoChanged(SessionInfo::new().with_title("Notes"));
    let gate = || {
        let asking = Gate::permission("g1", ToolCall::new("t2", "edit", "Change more"));
        EventBody::GateOpened(Box::new(asking))
    };
    give_up(turn.event(EventBody::ToolRequested(tool()))).await;
    give_up(turn.event(title())).await;
    give_up(HostEvent::of_session(0, title())).await;
    give_up(turn.event(gate())).await;
    for _ in 0..told {
        client.update().await;
    }
    client.assert_quiet().await;

    // Of all that the client heard nothing, and it hears of it now: of the text
    // that was given up by the step that it was part of.
    let all = "x".repeat((told + 1) * (32 << 10));
    let step = vec![Block::text(all + "!")];
    let telling = tokio::spawn({
        let session = Arc::clone(&session);
        let events = [
            turn.event(EventBody::StepDone(step)),
            turn.event(EventBody::ToolStarted(tool())),
            turn.event(EventBody::ToolCompleted(Box::new(ToolEnd::completed("t1")))),
            turn.event(title()),
            turn.event(gate()),
        ];
        async move {
            for event in events {
                session.link().emit(event).await.unwrap();
            }
        }
    });
    let rest = client.update().await;
    let text = rest["content"]["text"].as_str().unwrap();
    assert_eq!(text.len(), (32 << 10) + 1);
    assert!(text.ends_with("x!"));
    let announced = client.update().await;
    assert_eq!(announced["sessionUpdate"], "tool_call", "{announced}");
    assert_eq!(announced["title"], "Change notes.md");
    assert_eq!(client.update().await["status"], "completed");
    assert_eq!(client.update().await["title"], "Notes");
    assert_eq!(client.update().await["toolCallId"], "t2");
    let asked = client.asked("session/request_permission").await;
    client
        .reply(&asked["id"], json!({"outcome": {"outcome": "cancelled"}}))
        .await;
    session.response().await;
    telling.await.unwrap();
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn what_was_told_last_arrives_last() {
    let (agent, mut strings) = agent();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    client.new_session().await;
    let session = strings.session().await;
    // So much that the connection wants to write before it takes more.
    let used = EventBody::CommandsChanged(vec![SlashCommand::new("a", "x".repeat(80 << 10))]);
    session.tell(0, used).await;
    let offer = |number, title: &str| {
        let info = SessionInfo::new().with_title(title);
        let event = HostEvent::of_session(number, EventBody::InfoChanged(info));
        session.link().offer(event)
    };
    let Offer::Wait(first) = offer(1, "first") else {
        panic!("the first title need not wait")
    };
    let Offer::Wait(second) = offer(2, "second") else {
        panic!("the second title overtakes the first")
    };
    let telling = tokio::spawn(async move { tokio::join!(first, second) });
    assert!(client.update().await["availableCommands"].is_array());
    assert_eq!(client.update().await["title"], "first");
    assert_eq!(client.update().await["title"], "second");
    assert_eq!(telling.await.unwrap(), (Ok(()), Ok(())));
}

#[tokio::test(start_paused = true)]
async fn a_stream_lets_the_connection_write_in_between() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let mut told = 0;
    // Long before there is no room, so that who shares a thread with the connection
    // does not keep the first words back.
    let waits = loop {
        let event = turn.event(EventBody::Delta(Delta::Text("x".repeat(1 << 10))));
        match session.link().offer(event) {
            Offer::Done(result) => result.unwrap(),
            Offer::Wait(waits) => break waits,
        }
        told += 1;
        assert!(told < 64, "it never steps back");
    };
    waits.await.unwrap();
    for _ in 0..=told {
        client.update().await;
    }
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn events_of_a_turn_are_sent_in_the_order_in_which_they_were_reported() {
    let (agent, mut strings) = agent();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let offer = |body| session.link().offer(turn.event(body));
    let tool = || Box::new(ToolCall::new("t1", "edit", "Edit"));
    let text = |text: &str| EventBody::Delta(Delta::Text(text.into()));
    turn.text("one").await;
    // So much that the connection wants to write before it takes more.
    let mut waiting = vec![
        offer(text(&"x".repeat(80 << 10))),
        offer(EventBody::ToolStarted(tool())),
        offer(text("two")),
        offer(EventBody::ToolCompleted(Box::new(ToolEnd::completed("t1")))),
    ];
    if let Offer::Done(sent) = &waiting[0] {
        sent.unwrap();
        let _: Offer = waiting.remove(0);
    }
    // The last one is polled first.
    let mut telling = Vec::new();
    for offer in waiting.into_iter().rev() {
        let Offer::Wait(rest) = offer else {
            panic!("it overtakes those before it")
        };
        telling.push(tokio::spawn(rest));
        client.pause().await;
    }
    assert_eq!(client.update().await["content"]["text"], "one");
    let long = client.update().await;
    assert_eq!(long["content"]["text"].as_str().unwrap().len(), 80 << 10);
    assert_eq!(client.update().await["status"], "in_progress");
    assert_eq!(client.update().await["content"]["text"], "two");
    assert_eq!(client.update().await["status"], "completed");
    for told in telling {
        assert_eq!(told.await.unwrap(), Ok(()));
    }
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}
