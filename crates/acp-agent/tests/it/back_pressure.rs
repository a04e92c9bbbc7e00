//! A client that reads slowly.

use std::{sync::Arc, time::Duration};

use acp_agent::host::{Delta, EmitError, EventBody};
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
        told * text.len() > 512 << 10,
        "only {told} updates in a mebibyte of credit"
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
