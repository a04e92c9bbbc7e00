//! The control of a session: it cancels turns and nothing else, and keeps nothing open.

mod support;

use std::sync::Arc;
use std::time::Duration;

use acp_client::{ClientError, ClientOptions, SessionControl};
use serde_json::json;
use support::{SESSION, all, dialed, end_turn, open, opened};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_cancel_between_turns_is_not_sent() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    control.cancel();
    agent.hears_nothing_for(60 * SECOND).await;
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    // Pressed a moment too late.
    control.cancel();
    agent.hears_nothing_for(60 * SECOND).await;
    let mut turn = session.prompt("two").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("not cancelled").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, ["not cancelled"]);
    assert_eq!(turn.end().await.unwrap().stop_reason.as_str(), "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_a_history_is_loaded_is_not_sent() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({"loadSession": true})).await;
    let loading = client.load_session(SESSION, "/code").await.unwrap();
    let load = agent.request("session/load").await;
    client.close_session(SESSION).await.unwrap_err();
    agent.hears_nothing_for(60 * SECOND).await;
    agent.answer(&load, json!({})).await;
    drop(loading);
}

/// A prompt that is large takes long to be written down, and the cancel comes meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_cancel_that_meets_its_prompt_on_the_way_reaches_the_agent() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let text: Arc<str> = "x".repeat(1 << 20).into();
    for round in 0..200_u32 {
        let control = session.control();
        let cancelling = tokio::task::spawn_blocking(move || {
            // Hits the write of the prompt now here, now there.
            std::thread::sleep(Duration::from_micros(u64::from(round * 13 % 900)));
            control.cancel();
        });
        let turn = session.prompt(&*text).await.unwrap();
        cancelling.await.unwrap();
        let prompt = agent.request("session/prompt").await;
        // Whether the cancel was before the turn, which it does not end then.
        if turn.is_cancelling() {
            agent.notification("session/cancel").await;
        }
        agent.answer(&prompt, end_turn()).await;
        turn.end().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_does_not_keep_a_session_open() {
    let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let control: SessionControl = session.control();
    let turn = session.prompt("one").await.unwrap();
    let of_turn = turn.control();
    let prompt = agent.request("session/prompt").await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    drop(session);
    for control in [control, of_turn] {
        assert_eq!(*control.session_id(), *SESSION);
        assert!(control.modes().is_none() && control.config_options().is_none());
        assert_eq!(control.counters().received, 0);
        control.cancel();
        for error in [
            control.set_mode("ask").await.unwrap_err(),
            control.set_config_option("model", "x").await.unwrap_err(),
            control.wait_updates().await.unwrap_err(),
        ] {
            assert!(matches!(error, ClientError::SessionClosed), "{error}");
        }
        assert!(!control.steer("more").admission());
        // Its id is free.
        drop(open(&client, &mut agent, json!({})).await);
    }
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_of_a_control_does_not_keep_a_session_open() {
    let (client, session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    let setting = tokio::spawn(async move { control.set_config_option("model", "x").await });
    let request = agent.request("session/set_config_option").await;
    drop(session);
    let session = open(&client, &mut agent, json!({})).await;
    agent
        .answer(
            &request,
            json!({"configOptions": [
        {"id": "model", "name": "Model", "type": "boolean", "currentValue": true}]}),
        )
        .await;
    setting.await.unwrap().unwrap();
    assert!(
        session.config_options().is_none(),
        "it was of the session before"
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_never_ends_a_turn_keeps_no_dropped_session_open() {
    let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
    drop(session.prompt("one").await.unwrap());
    agent.request("session/prompt").await;
    agent.notification("session/cancel").await;
    drop(session);
    let dropped = Instant::now();
    // Its questions within the grace are answered, as R117 wants it.
    agent.ask_permission(1, json!({"toolCallId": "t"})).await;
    assert_eq!(agent.result(1).await, support::cancelled());
    for _ in 0..3 {
        agent.notification("session/cancel").await;
    }
    assert!(dropped.elapsed() < acp_client::limits::CANCEL_GRACE);
    tokio::time::sleep(acp_client::limits::CANCEL_GRACE).await;
    agent.ask_permission(2, json!({"toolCallId": "t"})).await;
    assert_eq!(agent.refusal(2).await, -32002);
    let mut session = open(&client, &mut agent, json!({})).await;
    let turn = session.prompt("two").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_failed_says_what_is_known_of_its_prompt() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("before").await;
    agent.refuse(&prompt, 400).await;
    let (facts, end) = turn.end_with_facts().await;
    assert!(facts.write_admitted && facts.response_seq.get() > 0);
    assert_eq!(end.unwrap_err().facts(), Some(facts));

    let turn = session.prompt("two").await.unwrap();
    agent.request("session/prompt").await;
    agent.hang_up();
    let (facts, end) = turn.end_with_facts().await;
    assert!(matches!(end, Err(ClientError::Died(_))), "{end:?}");
    assert!(facts.write_admitted, "it may have acted on it");
    assert_eq!(facts.response_seq.get(), 0, "it has not answered");
}
