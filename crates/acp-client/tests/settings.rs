//! Mode, options, commands and title are known as soon as they are received.

mod support;

use std::time::Duration;

use acp_client::{ClientOptions, Flow, Session};
use serde_json::{Value, json};
use support::{Agent, SESSION, all, chunk, dialed, end_turn, open};

const SECOND: Duration = Duration::from_secs(1);

fn option(current: &str) -> Value {
    json!([{"id": "model", "name": "Model", "type": "select", "currentValue": current,
        "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}]}])
}

fn modes(current: &str) -> Value {
    json!({"currentModeId": current, "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}, {"id": "plan", "name": "Plan"}]})
}

/// A session with modes and an option.
async fn session(options: ClientOptions) -> (acp_client::Client, Session, Agent) {
    let (client, mut agent) = dialed(options, json!({})).await;
    let offered = json!({"modes": modes("ask"), "configOptions": option("small")});
    let session = open(&client, &mut agent, offered).await;
    (client, session, agent)
}

/// Sets all there is, in one of the ways in which agents write updates.
async fn set_all(agent: &mut Agent, mode: &str, model: &str, command: &str, title: &str) {
    for update in [
        json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}),
        json!({"sessionUpdate": "config_option_update", "configOptions": option(model)}),
        json!({"sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": command, "description": "x"}]}),
        json!({"sessionUpdate": "session_info_update", "title": title}),
        json!({"sessionUpdate": "session_info_update", "updatedAt": "2026-01-01T00:00:00Z"}),
    ] {
        agent.update(SESSION, update).await;
    }
    // The answer to a request behind them: they are in.
    agent.ask(9, "unknown/method", json!({})).await;
    while agent.next().await["id"] != 9 {}
}

#[track_caller]
fn check(session: &Session, mode: &str, model: &str, command: &str, title: &str) {
    assert_eq!(*session.modes().unwrap().current_mode_id.as_str(), *mode);
    let options = serde_json::to_value(session.config_options()).unwrap();
    assert_eq!(options[0]["currentValue"], model);
    assert_eq!(session.commands().unwrap()[0].name, command);
    assert_eq!(session.title().as_deref(), Some(title));
}

#[tokio::test(start_paused = true)]
async fn what_is_set_between_turns_is_known_though_nobody_reads_it() {
    let (_client, mut session, mut agent) = session(ClientOptions::new()).await;
    assert!(session.commands().is_none() && session.title().is_none());
    set_all(&mut agent, "code", "large", "test", "First").await;
    check(&session, "code", "large", "test", "First");
    set_all(&mut agent, "plan", "small", "lint", "Second").await;
    check(&session, "plan", "small", "lint", "Second");
    // It is read in its place all the same.
    let mut turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await.len(), 10);
    drop(turn);
    check(&session, "plan", "small", "lint", "Second");
}

#[tokio::test(start_paused = true)]
async fn what_is_set_in_a_dropped_turn_is_known() {
    let (_client, mut session, mut agent) = session(ClientOptions::new()).await;
    drop(session.prompt("x").await.unwrap());
    let prompt = agent.request("session/prompt").await;
    set_all(&mut agent, "code", "large", "test", "Title").await;
    agent.answer(&prompt, end_turn()).await;
    check(&session, "code", "large", "test", "Title");
    agent.hears_nothing_for(SECOND).await;
    check(&session, "code", "large", "test", "Title");
}

#[tokio::test(start_paused = true)]
async fn what_is_set_in_a_gap_is_known() {
    let flow = Flow::DropOldest { depth: 3 };
    let (_client, mut session, mut agent) = session(ClientOptions::new().with_flow(flow)).await;
    let mut turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    set_all(&mut agent, "code", "large", "test", "Title").await;
    for _ in 0..10 {
        agent.update(SESSION, chunk("x")).await;
    }
    agent.answer(&prompt, end_turn()).await;
    let seen = all(&mut turn).await;
    assert_eq!(seen[0], "gap 2", "the mode and the option: {seen:?}");
    check(&session, "code", "large", "test", "Title");
}

#[tokio::test(start_paused = true)]
async fn what_is_set_before_the_session_has_a_name_is_known() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let serve = async {
        let request = agent.request("session/new").await;
        set_all(&mut agent, "code", "large", "test", "Title").await;
        let offered =
            json!({"sessionId": SESSION, "modes": modes("ask"), "configOptions": option("small")});
        agent.answer(&request, offered).await;
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    // The answer came last, and says nothing of commands and titles.
    check(&session.unwrap(), "ask", "small", "test", "Title");
}

#[tokio::test(start_paused = true)]
async fn an_answer_and_an_update_count_in_the_order_of_the_wire() {
    let (_client, session, mut agent) = session(ClientOptions::new()).await;
    let control = session.control();
    let setting = tokio::spawn(async move { control.set_mode("code").await });
    let request = agent.request("session/set_mode").await;
    agent.answer(&request, json!({})).await;
    // Behind its answer, and before anybody has looked at that.
    let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"});
    agent.update(SESSION, update).await;
    agent.ask(1, "unknown/method", json!({})).await;
    agent.refusal(1).await;
    setting.await.unwrap().unwrap();
    assert_eq!(session.modes().unwrap().current_mode_id.as_str(), "plan");

    let control = session.control();
    let setting = tokio::spawn(async move { control.set_mode("code").await });
    let request = agent.request("session/set_mode").await;
    let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"});
    agent.update(SESSION, update).await;
    agent.answer(&request, json!({})).await;
    setting.await.unwrap().unwrap();
    assert_eq!(session.modes().unwrap().current_mode_id.as_str(), "code");
}

#[tokio::test(start_paused = true)]
async fn tags_may_stand_anywhere() {
    let (_client, session, mut agent) = session(ClientOptions::new()).await;
    for (mode, line) in [
        (
            "code",
            r#"{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s-1", "update": {"currentModeId": "code", "sessionUpdate": "current_mode_update"}}}"#,
        ),
        (
            "plan",
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"x":1,"sessionUpdate":"current_mode_update","currentModeId":"plan"},"sessionId":"s-1"}}"#,
        ),
        (
            "ask",
            r#"{"params":{"sessionId":"s-1","update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}},"method":"session/update","jsonrpc":"2.0"}"#,
        ),
    ] {
        agent.text("between").await;
        agent.raw(line).await;
        agent.ask(1, "unknown/method", json!({})).await;
        agent.refusal(1).await;
        assert_eq!(*session.modes().unwrap().current_mode_id.as_str(), *mode);
    }
}

#[tokio::test(start_paused = true)]
async fn a_title_can_be_taken_away_and_has_a_bound() {
    let (_client, session, mut agent) = session(ClientOptions::new()).await;
    let long = "x".repeat(acp_client::limits::MAX_SETTINGS + 1);
    for (title, expected) in [
        (json!("a"), Some("a")),
        (Value::Null, None),
        (json!("b"), Some("b")),
        (json!(long), None),
    ] {
        let update = json!({"sessionUpdate": "session_info_update", "title": title});
        agent.update(SESSION, update).await;
        agent.ask(1, "unknown/method", json!({})).await;
        agent.refusal(1).await;
        assert_eq!(session.title().as_deref(), expected);
    }
}
