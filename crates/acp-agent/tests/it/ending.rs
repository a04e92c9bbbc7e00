//! Sessions closed and deleted.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::{
    client::{Client, prompt},
    host::{Does, agent, full_agent, scene},
};

#[tokio::test(start_paused = true)]
async fn a_closed_session_is_gone() {
    let (_strings, mut client, id, session) = scene().await;
    let answer = client.call("session/close", json!({"sessionId": id})).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!((session.interrupts(), session.shutdowns()), (1, 1));
    for method in ["session/close", "session/prompt"] {
        let answer = client.call(method, prompt(&id, "hi")).await;
        assert_eq!(answer["error"]["code"], -32002, "{method}: {answer}");
    }
    for (id, code) in [("nobody", -32002), ("", -32602), ("a\nb", -32602)] {
        let answer = client.call("session/close", json!({"sessionId": id})).await;
        assert_eq!(answer["error"]["code"], code, "{id:?}: {answer}");
    }
    let answer = client.call("session/close", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // It is shut down once, also when the connection ends.
    client.hang_up().await;
    assert_eq!(session.shutdowns(), 1);
}

#[tokio::test(start_paused = true)]
async fn closing_cancels_the_prompt_and_its_question() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    let close = client
        .start_call("session/close", json!({"sessionId": id}))
        .await;
    // No prompt begins while it is closed, and the session can still be found.
    let refused = client
        .start_call("session/prompt", prompt(&id, "again"))
        .await;

    let response = session.response().await;
    assert!(format!("{response:?}").contains("Deny"), "{response:?}");
    turn.interrupted().await;
    let (mut withdrawn, mut answers) = (false, Vec::new());
    while answers.len() < 3 {
        let message = client.next().await;
        withdrawn |= message["params"]["requestId"] == asked["id"];
        if let Some(answered) = message["id"].as_i64() {
            answers.push((answered, message));
        }
    }
    assert!(withdrawn);
    assert_eq!(answers[0].0, refused, "{answers:?}");
    assert_eq!(answers[0].1["error"]["code"], -32600);
    assert_eq!(answers[1].0, request, "the prompt ends before its session");
    assert_eq!(answers[1].1["result"]["stopReason"], "cancelled");
    assert_eq!(answers[2].0, close);
    // What the client answers now changes nothing.
    let late = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
    client.reply(&asked["id"], late).await;
    client.assert_quiet().await;
    assert!(session.has_no_response().await);
}

#[tokio::test(start_paused = true)]
async fn all_who_close_share_one_budget() {
    let (strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    session.start().await;
    let hang = [Does::Hang, Does::Hang, Does::Hang];
    strings.script.interrupt.lock().extend(hang);
    strings.script.shutdown.lock().extend(hang);
    let began = Instant::now();
    let first = client
        .start_call("session/close", json!({"sessionId": id}))
        .await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let second = client
        .start_call("session/close", json!({"sessionId": id}))
        .await;
    let third = client
        .start_call("session/close", json!({"sessionId": id}))
        .await;
    client
        .notify("$/cancel_request", json!({"requestId": third}))
        .await;
    let answer = client.answer(third).await;
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    assert_eq!(began.elapsed().as_secs(), 20);

    let cancelled = client.next().await;
    assert_eq!(cancelled["result"]["stopReason"], "cancelled");
    let mut closed = Vec::new();
    for _ in 0..2 {
        let answer = client.next().await;
        assert_eq!(answer["result"], json!({}), "{answer}");
        closed.push(answer["id"].as_i64().unwrap());
        // 30 s for the turn and its interruption, 5 s for the rest.
        assert_eq!(began.elapsed().as_secs(), 35);
    }
    closed.sort_unstable();
    assert_eq!(closed, [first, second]);
    assert_eq!(session.shutdowns(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_does_not_end_is_answered_before_its_session_is_gone() {
    for _ in 0..20 {
        let (_strings, mut client, id, session) = scene().await;
        let request = client.prompt(&id, "hi").await;
        session.start().await;
        let close = client
            .start_call("session/close", json!({"sessionId": id}))
            .await;
        assert_eq!(client.stop_reason(request).await, "cancelled");
        client.answer(close).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_hangs_while_it_is_closed_delays_nobody() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let (one, two) = (client.new_session().await, client.new_session().await);
    let (first, second) = (strings.session().await, strings.session().await);
    strings.script.interrupt.lock().push_back(Does::Hang);
    let close = client
        .start_call("session/close", json!({"sessionId": one}))
        .await;
    client.pause().await;
    assert_eq!(first.interrupts(), 1);
    let request = client.prompt(&two, "hi").await;
    let turn = second.start().await;
    client.cancel(&two).await;
    client.pause().await;
    assert_eq!(second.interrupts(), 1);
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    let began = Instant::now();
    client.answer(close).await;
    assert!(began.elapsed() < Duration::from_secs(31));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_being_closed_takes_no_prompt() {
    let (strings, mut client, id, session) = scene().await;
    let shutdown = &strings.script.shutdown;
    shutdown.lock().push_back(Does::Rest(1000));
    let close = client
        .start_call("session/close", json!({"sessionId": id}))
        .await;
    client.pause().await;
    let answer = client.call("session/prompt", prompt(&id, "hi")).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    client.answer(close).await;
    assert!(session.try_submission().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn only_sessions_that_are_not_live_are_deleted() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    client.update().await;
    strings.session().await;
    let answer = client
        .call("session/delete", json!({"sessionId": id}))
        .await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(answer["error"]["data"]["reason"], "already_live");
    assert!(strings.script.deleted.lock().is_empty());

    client.call("session/close", json!({"sessionId": id})).await;
    for gone in [&*id, "other", "unknown"] {
        let answer = client
            .call("session/delete", json!({"sessionId": gone}))
            .await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    assert_eq!(*strings.script.deleted.lock(), [&*id, "other"]);
    let answer = client
        .call("session/delete", json!({"sessionId": ""}))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let scripted = [
        (Does::FailInPublic, "session/delete: no room left in here"),
        (Does::FailInPrivate, "session/delete: the agent failed"),
        (Does::Panic, "session/delete: the agent failed"),
    ];
    for (does, message) in scripted {
        strings.script.delete.lock().push_back(does);
        let answer = client
            .call("session/delete", json!({"sessionId": "s"}))
            .await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["message"], message);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_takes_up_a_session_that_is_being_deleted() {
    let (agent, strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    strings.script.delete.lock().push_back(Does::Rest(1000));
    let delete = client
        .start_call("session/delete", json!({"sessionId": "s"}))
        .await;
    let params = json!({"sessionId": "s", "cwd": "/home/ada", "mcpServers": []});
    for method in ["session/load", "session/resume", "session/delete"] {
        let answer = client.call(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32600, "{method}: {answer}");
        assert_eq!(answer["error"]["data"]["reason"], "in_use");
    }
    client.answer(delete).await;
    let answer = client.call("session/delete", params).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
}
