//! Cancelling: the turn by `session/cancel`, the request by `$/cancel_request`.

use std::time::Duration;

use acp_agent::host::{Delta, EmitError, EventBody, HostError, TurnFailure};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::{
    client::{Client, notification, prompt},
    host::{Does, agent, scene},
};

#[tokio::test(start_paused = true)]
async fn a_cancel_right_behind_its_prompt_finds_the_turn() {
    let (_strings, mut client, id, session) = scene().await;
    let (request, message) = client.request("session/prompt", prompt(&id, "hi"));
    let cancel = notification("session/cancel", json!({"sessionId": id}));
    client.send_all(&[message, cancel]).await;
    let submission = session.submission().await;
    submission.cancel.cancelled().await;
    // It was interrupted before it began, so it is interrupted again.
    let before = session.interrupts();
    let turn = session.turn("main", "t");
    turn.start(&submission.command).await;
    client.assert_quiet().await;
    assert!(before > 0 && session.interrupts() > before);
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_while_the_host_takes_the_prompt_is_not_lost() {
    let (strings, mut client, id, session) = scene().await;
    strings.script.submit.lock().push_back(Does::Rest(50));
    let request = client.prompt(&id, "hi").await;
    let submission = session.submission().await;
    client.cancel(&id).await;
    submission.cancel.cancelled().await;
    client.assert_quiet().await;
    assert_eq!(session.interrupts(), 1);
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(
        session.interrupts(),
        2,
        "once more when the prompt is taken"
    );
    let turn = session.turn("main", "t");
    turn.start(&submission.command).await;
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_before_a_prompt_is_none_of_its() {
    let (_strings, mut client, id, session) = scene().await;
    let cancel = notification("session/cancel", json!({"sessionId": id}));
    let (request, message) = client.request("session/prompt", prompt(&id, "hi"));
    client.send_all(&[cancel.clone(), cancel, message]).await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
    // An idle session is interrupted all the same, once at a time.
    assert_eq!(session.interrupts(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_cancel_the_answer_is_cancelled_whatever_the_host_says() {
    let failed = || EventBody::TurnFailed(TurnFailure::Other(HostError::public("aborted")));
    let ends: [fn() -> EventBody; 3] = [
        || EventBody::TurnDone,
        || EventBody::TurnInterrupted,
        failed,
    ];
    let (strings, mut client, id, session) = scene().await;
    for end in ends {
        let request = client.prompt(&id, "hi").await;
        let turn = session.start().await;
        client.cancel(&id).await;
        session_was_interrupted(&turn, &mut client).await;
        // What it still has to say comes before the answer.
        turn.text("bye").await;
        turn.tell(end()).await.unwrap();
        assert_eq!(client.update().await["content"]["text"], "bye");
        assert_eq!(client.stop_reason(request).await, "cancelled");
    }
    strings.script.submit.lock().push_back(Does::Hang);
    let request = client.prompt(&id, "hi").await;
    session.submission().await;
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

/// Lets everybody run until they wait.
async fn session_was_interrupted(_turn: &crate::host::Turn, client: &mut Client) {
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_stop_is_answered_for_and_keeps_its_slot() {
    let (strings, mut client, id, session) = scene().await;
    strings.script.interrupt.lock().push_back(Does::Hang);
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let cancelled_at = Instant::now();
    client.cancel(&id).await;
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    assert_eq!(cancelled_at.elapsed().as_secs(), 30);
    assert_eq!(session.interrupts(), 1, "one interruption at a time");
    // Behind the answer nothing is told, and no second turn begins beside it.
    let late = turn
        .tell(EventBody::Delta(Delta::Text("late".into())))
        .await;
    assert_eq!(late, Err(EmitError::Ended));
    let second = client.prompt(&id, "again").await;
    assert_eq!(client.answer(second).await["error"]["code"], -32600);
    turn.interrupted().await;
    let third = client.prompt(&id, "and again").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(third).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn hung_interruptions_delay_no_other_session() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let (one, two) = (client.new_session().await, client.new_session().await);
    let (first, second) = (strings.session().await, strings.session().await);
    strings.script.interrupt.lock().push_back(Does::Hang);
    let stuck = client.prompt(&one, "hi").await;
    let stopped = client.prompt(&two, "hi").await;
    let _turn = first.start().await;
    let turn = second.start().await;
    client.cancel(&one).await;
    client.cancel(&two).await;
    client.assert_quiet().await;
    assert_eq!((first.interrupts(), second.interrupts()), (1, 1));
    turn.interrupted().await;
    assert_eq!(client.stop_reason(stopped).await, "cancelled");
    assert_eq!(client.stop_reason(stuck).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_for_one_session_only() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let (one, two) = (client.new_session().await, client.new_session().await);
    let (first, second) = (strings.session().await, strings.session().await);
    let stopped = client.prompt(&one, "hi").await;
    let goes_on = client.prompt(&two, "hi").await;
    let (turn, other) = (first.start().await, second.start().await);
    client.cancel(&one).await;
    client.assert_quiet().await;
    assert_eq!((first.interrupts(), second.interrupts()), (1, 0));
    other.done().await;
    assert_eq!(client.stop_reason(goes_on).await, "end_turn");
    turn.interrupted().await;
    assert_eq!(client.stop_reason(stopped).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_interrupting_harms_nobody() {
    let (strings, mut client, id, session) = scene().await;
    strings.script.interrupt.lock().push_back(Does::Panic);
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    client.cancel(&id).await;
    client.assert_quiet().await;
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_waits_for_its_turn_to_end() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    client
        .notify("$/cancel_request", json!({"requestId": request}))
        .await;
    client.assert_quiet().await;
    assert_eq!(session.interrupts(), 1);
    let second = client.prompt(&id, "again").await;
    assert_eq!(client.answer(second).await["error"]["code"], -32600);
    turn.interrupted().await;
    assert_eq!(client.answer(request).await["error"]["code"], -32800);

    // Cancelled both ways, it is the turn that counts.
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    client
        .notify("$/cancel_request", json!({"requestId": request}))
        .await;
    client.cancel(&id).await;
    client.assert_quiet().await;
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_waits_is_let_go() {
    let (agent, mut strings) = agent();
    let mut client = Client::with_pipe(&agent, 64);
    client
        .call("initialize", json!({"protocolVersion": 1}))
        .await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let mut told = 0;
    let text = || turn.event(EventBody::Delta(Delta::Text("x".repeat(32 << 10))));
    let blocked = loop {
        let mut telling = Box::pin(session.link().emit(text()));
        match timeout(Duration::from_millis(10), &mut telling).await {
            Ok(result) => result.unwrap(),
            Err(_) => break telling,
        }
        told += 1;
    };
    client.cancel(&id).await;
    assert_eq!(blocked.await, Err(EmitError::Cancelled));
    // There is no room, so nothing more is told, and nothing waits.
    assert_eq!(session.link().emit(text()).await, Err(EmitError::Cancelled));
    turn.interrupted().await;
    for _ in 0..told {
        client.update().await;
    }
    assert_eq!(client.stop_reason(request).await, "cancelled");
}
