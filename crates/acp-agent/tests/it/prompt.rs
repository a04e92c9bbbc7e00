//! `session/prompt`: how prompts end.

use std::{sync::Arc, time::Duration};

use acp_agent::host::{
    Block, CommandId, Delta, EmitError, EventBody, HostError, InputCancelReason, TurnFailure,
    TurnRejectReason, Visibility,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Client, prompt},
    host::{Does, Session, agent, scene},
};

#[tokio::test(start_paused = true)]
async fn the_answer_comes_behind_all_updates() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let submission = session.submission().await;
    assert_eq!(submission.content, [Block::text("hi")]);
    let turn = session.turn("main", "t");
    turn.start(&submission.command).await;
    for word in ["one ", "two ", "three"] {
        turn.text(word).await;
    }
    turn.done().await;
    for word in ["one ", "two ", "three"] {
        let update = client.update().await;
        assert_eq!(update["sessionUpdate"], "agent_message_chunk");
        assert_eq!(update["content"], json!({"type": "text", "text": word}));
    }
    assert_eq!(client.stop_reason(request).await, "end_turn");
    // What comes behind the end is not told.
    let late = turn
        .tell(EventBody::Delta(Delta::Text("late".into())))
        .await;
    assert_eq!(late, Err(EmitError::Ended));
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn one_prompt_at_a_time() {
    let (_strings, mut client, id, session) = scene().await;
    let (first, one) = client.request("session/prompt", prompt(&id, "one"));
    let (second, two) = client.request("session/prompt", prompt(&id, "two"));
    client.send_all(&[one, two]).await;
    let answer = client.answer(second).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    session.start().await.done().await;
    assert_eq!(client.stop_reason(first).await, "end_turn");
    // The slot is free before the answer leaves.
    let third = client.prompt(&id, "three").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(third).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn prompts_that_cannot_be_used() {
    let (_strings, mut client, id, session) = scene().await;
    for (params, code) in [
        (json!({}), -32602),
        (json!({"sessionId": id}), -32602),
        (json!({"sessionId": id, "prompt": []}), -32602),
        (json!({"sessionId": id, "prompt": "hi"}), -32602),
        (prompt("nobody", "hi"), -32002),
        (prompt("", "hi"), -32602),
        (prompt("two\nlines", "hi"), -32602),
        (prompt(&"x".repeat(257), "hi"), -32602),
    ] {
        let answer = client.call("session/prompt", params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{params}: {answer}");
    }
    // None of them has kept the slot.
    let request = client.prompt(&id, "hi").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

/// Lets the host reply to a prompt and gives the answer.
async fn answer_to(
    client: &mut Client,
    session: &Arc<Session>,
    reply: impl FnOnce(CommandId) -> Vec<EventBody>,
) -> Value {
    let request = client.prompt(session_id(session), "hi").await;
    let command = session.submission().await.command;
    let turn = session.turn("main", &format!("turn-of-{command}"));
    for body in reply(command) {
        turn.tell(body).await.unwrap();
    }
    client.answer(request).await
}

fn session_id(session: &Arc<Session>) -> &str {
    acp_agent::host::LiveSession::id(session).as_str()
}

#[tokio::test(start_paused = true)]
async fn every_reply_and_every_end_answers() {
    let (_strings, mut client, _id, session) = scene().await;
    let started = |command| EventBody::TurnStarted {
        command: Some(command),
        index: 0,
    };
    let ends = |end: EventBody| move |command| vec![started(command), end];
    let mut check = async |reply: Box<dyn FnOnce(CommandId) -> Vec<EventBody>>, want: &str| {
        let answer = answer_to(&mut client, &session, reply).await;
        assert!(
            answer.to_string().contains(want),
            "{answer} does not hold {want}"
        );
    };
    check(
        Box::new(ends(EventBody::TurnDone)),
        r#""stopReason":"end_turn""#,
    )
    .await;
    check(
        Box::new(ends(EventBody::TurnInterrupted)),
        r#""stopReason":"cancelled""#,
    )
    .await;
    let failed = |failure| EventBody::TurnFailed(failure);
    check(
        Box::new(ends(failed(TurnFailure::MaxTokens))),
        r#""max_tokens""#,
    )
    .await;
    check(
        Box::new(ends(failed(TurnFailure::ToolLimit))),
        r#""max_turn_requests""#,
    )
    .await;
    check(Box::new(ends(failed(TurnFailure::Refused))), r#""refusal""#).await;
    check(Box::new(ends(failed(TurnFailure::AuthRequired))), "-32000").await;
    check(Box::new(ends(failed(TurnFailure::Panicked))), "-32603").await;
    let public = TurnFailure::Other(HostError::public("the model is down"));
    check(
        Box::new(ends(failed(public))),
        "session/prompt: the model is down",
    )
    .await;
    let private = TurnFailure::Other(HostError::internal("canary"));
    check(
        Box::new(ends(failed(private))),
        "session/prompt: the agent failed",
    )
    .await;
    for (reason, want) in [
        (TurnRejectReason::QueueFull, r#""retryable":true"#),
        (TurnRejectReason::ShuttingDown, "shutting_down"),
        (TurnRejectReason::Internal, "-32603"),
    ] {
        let reply = move |command| vec![EventBody::TurnRejected { command, reason }];
        check(Box::new(reply), want).await;
    }
    for (reason, want) in [
        (InputCancelReason::Retracted, r#""cancelled""#),
        (InputCancelReason::TurnInterrupted, r#""cancelled""#),
        (InputCancelReason::TurnFailed, "-32603"),
    ] {
        let reply = move |command: CommandId| {
            vec![
                EventBody::InputQueued {
                    command: command.clone(),
                },
                EventBody::InputCancelled { command, reason },
            ]
        };
        check(Box::new(reply), want).await;
    }
    let folded = |command| vec![EventBody::TurnFoldedInto { command }, EventBody::TurnDone];
    check(Box::new(folded), r#""end_turn""#).await;
}

#[tokio::test(start_paused = true)]
async fn other_turns_are_not_mistaken_for_the_prompts() {
    let (_strings, mut client, id, session) = scene().await;
    let own_work = session.turn("main", "own-work");
    let nobodys = EventBody::TurnStarted {
        command: None,
        index: 0,
    };
    own_work.tell(nobodys).await.unwrap();
    own_work.text("nobody asked").await;

    let request = client.prompt(&id, "hi").await;
    let submission = session.submission().await;
    let decoy = session.turn("main", "decoy");
    decoy.start(&CommandId::from("another-command")).await;
    decoy.text("decoy").await;
    own_work.text("still nobody asked").await;
    own_work.done().await;
    decoy
        .tell(EventBody::TurnFailed(TurnFailure::Panicked))
        .await
        .unwrap();
    client.assert_quiet().await;

    let turn = session.turn("main", "t");
    turn.start(&submission.command).await;
    let same_turn_of_another_loop = session.turn("side", "t");
    let side = EventBody::Delta(Delta::Text("side".into()));
    let told = same_turn_of_another_loop.tell(side).await;
    assert_eq!(told, Err(EmitError::NoTurn));
    same_turn_of_another_loop.done().await;
    turn.text("mine").await;
    turn.done().await;
    assert_eq!(client.update().await["content"]["text"], "mine");
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn what_is_internal_stays_inside_and_its_end_still_counts() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let inside = |body| turn.event(body).with_visibility(Visibility::Internal);
    let text = inside(EventBody::Delta(Delta::Text("canary".into())));
    session.link().emit(text).await.unwrap();
    let failure = TurnFailure::Other(HostError::public("canary"));
    session
        .link()
        .emit(inside(EventBody::TurnFailed(failure)))
        .await
        .unwrap();
    let answer = client.answer(request).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!answer.to_string().contains("canary"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_take_the_prompt() {
    let (strings, mut client, id, session) = scene().await;
    for (does, words) in [
        (Does::FailInPublic, "session/prompt: no room left in here"),
        (Does::FailInPrivate, "session/prompt: the agent failed"),
        (Does::Panic, "session/prompt: the agent failed"),
    ] {
        strings.script.submit.lock().push_back(does);
        let request = client.prompt(&id, "hi").await;
        session.submission().await;
        let answer = client.answer(request).await;
        assert_eq!(answer["error"]["message"], words, "{answer}");
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
    let request = client.prompt(&id, "hi").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_never_begins_is_given_up() {
    // A host that has not even taken the prompt may be at work on it.
    for (does, interruption) in [(Does::Work, 5), (Does::Hang, 30)] {
        let (strings, mut client, id, session) = scene().await;
        strings.script.submit.lock().push_back(does);
        let began = Instant::now();
        let request = client.prompt(&id, "hi").await;
        let answer = client.answer(request).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(
            began.elapsed().as_secs(),
            60 + interruption,
            "the start, then the interruption"
        );
        assert!(session.interrupts() > 0);
        let command = session.submission().await.command;
        let second = client.prompt(&id, "again").await;
        if does == Does::Work {
            // The host may still run it: until it says otherwise, nothing else runs.
            assert_eq!(client.answer(second).await["error"]["code"], -32600);
            let turn = session.turn("main", "late");
            turn.start(&command).await;
            assert!(
                turn.tell(EventBody::Delta(Delta::Text("late".into())))
                    .await
                    .is_err()
            );
            turn.interrupted().await;
            let third = client.prompt(&id, "and again").await;
            session.start().await.done().await;
            assert_eq!(client.stop_reason(third).await, "end_turn");
        } else {
            // It ran inside of the call that was dropped.
            session.start().await.done().await;
            assert_eq!(client.stop_reason(second).await, "end_turn");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_waits_for_its_turn_within_a_bound() {
    let (_strings, mut client, id, session) = scene().await;
    let queue = async |client: &mut Client| {
        let request = client.prompt(&id, "hi").await;
        let command = session.submission().await.command;
        let turn = session.turn("main", &format!("turn-of-{command}"));
        // However often it says so, it has one time to begin.
        for _ in 0..2 {
            tokio::time::sleep(Duration::from_secs(29)).await;
            let command = command.clone();
            turn.tell(EventBody::InputQueued { command }).await.unwrap();
        }
        (request, command, turn)
    };
    let began = Instant::now();
    let (request, command, turn) = queue(&mut client).await;
    turn.start(&command).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(session.interrupts(), 0, "a turn takes as long as it takes");
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
    assert_eq!(began.elapsed().as_secs(), 58 + 600);

    let began = Instant::now();
    let (request, command, turn) = queue(&mut client).await;
    client.assert_quiet().await;
    assert_eq!(session.interrupts(), 0);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(session.interrupts(), 1, "interrupted after 60 s");
    let reason = InputCancelReason::TurnInterrupted;
    let withdrawn = EventBody::InputCancelled { command, reason };
    turn.tell(withdrawn).await.unwrap();
    let error = client.answer(request).await["error"].take();
    assert_eq!(began.elapsed().as_secs(), 61);
    assert_eq!(error["code"], -32603, "{error}");
    assert_eq!(
        error["data"],
        json!({"reason": "not_begun", "retryable": true})
    );
    // The slot is free again.
    let request = client.prompt(&id, "hi").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_loses_its_events_says_so() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    session.start().await;
    session
        .link()
        .lose_events(HostError::public("the hub is gone"));
    let answer = client.answer(request).await;
    assert_eq!(
        answer["error"]["message"],
        "session/prompt: the hub is gone"
    );
}

#[tokio::test(start_paused = true)]
async fn sessions_do_not_wait_for_each_other() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let mut scenes = Vec::new();
    for _ in 0..200 {
        let id = client.new_session().await;
        scenes.push((id, strings.session().await));
    }
    let mut requests = std::collections::HashMap::new();
    for (id, _) in &scenes {
        let request = client.prompt(id, "hi").await;
        requests.insert(request, id.clone());
    }
    // The last prompts end first.
    for (id, session) in scenes.iter().rev() {
        let turn = session.start().await;
        turn.text(id).await;
        turn.done().await;
    }
    let mut told = std::collections::HashSet::new();
    while !requests.is_empty() {
        let message = client.next().await;
        if message["method"] == "session/update" {
            let id = message["params"]["sessionId"].as_str().unwrap().to_owned();
            assert_eq!(
                message["params"]["update"]["content"]["text"], *id,
                "{message}"
            );
            assert!(told.insert(id), "{message}");
        } else {
            let id = requests.remove(&message["id"].as_i64().unwrap()).unwrap();
            assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
            assert!(
                told.contains(&id),
                "the answer came before the update: {message}"
            );
        }
    }
}
