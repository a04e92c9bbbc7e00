//! When nobody waits any more: cancels, drops, ends and bounds.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_cancel_answers_what_is_open_and_what_comes_after_it() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::BOTH, silent.clone());
    let (client, mut session, mut agent) = opened(options).await;
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    agent.question(2, link("a")).await;
    // The prompt it belongs to is cancelled too.
    agent.question(3, bound_to(form(), &prompt)).await;
    agent.hears_nothing_for(60 * SECOND).await;
    assert_eq!(silent.asked.load(Ordering::SeqCst), 3);
    turn.cancel();
    agent.notification("session/cancel").await;
    let mut answered = [agent.next().await, agent.next().await, agent.next().await];
    answered.sort_by_key(|answer| answer["id"].as_i64());
    for (answer, id) in answered.iter().zip([1, 2, 3]) {
        assert_eq!((&answer["id"], &answer["result"]), (&json!(id), &cancel()));
    }
    assert_eq!(silent.dropped.load(Ordering::SeqCst), 3);
    agent.question(4, form()).await;
    assert_eq!(agent.result(4).await, cancel());
    assert_eq!(silent.asked.load(Ordering::SeqCst), 3, "nobody is asked");
    // The end of a link that was cancelled is no news.
    agent.complete("a").await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    assert_eq!(client.link_stats().unwrap().ignored, 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_cancel_goes_nowhere() {
    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    let mut pending = next_question(&mut turn).await;
    assert!(pending.is_open());
    turn.cancel();
    agent.notification("session/cancel").await;
    assert_eq!(agent.result(1).await, cancel());
    pending.closed().await;
    assert!(!pending.is_open());
    pending
        .answer(ElicitationAnswer::accept().with("name", "late"))
        .unwrap();
    agent.hears_nothing_for(SECOND / 2).await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_cancels_its_questions() {
    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.question(1, form()).await;
    agent.hears_nothing_for(SECOND).await;
    drop(turn);
    let mut heard = [agent.next().await, agent.next().await];
    heard.sort_by_key(|message| message.get("method").is_none());
    assert_eq!(heard[0]["method"], "session/cancel");
    assert_eq!(heard[1]["result"], cancel());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_gone_answers_cancel() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::FORM, silent.clone());
    let (_client, session, mut agent) = opened(options).await;
    agent.question(1, form()).await;
    agent.hears_nothing_for(SECOND).await;
    drop(session);
    assert_eq!(agent.result(1).await, cancel());
}

#[tokio::test(start_paused = true)]
async fn a_question_the_agent_takes_back_is_answered_as_cancelled() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::BOTH, silent.clone());
    let (client, _session, mut agent) = opened(options).await;
    agent.question(1, link("a")).await;
    agent.take_back(1).await;
    assert_eq!(agent.refusal(1).await, -32800);
    assert_eq!(silent.dropped.load(Ordering::SeqCst), 1);
    // The id is free again, and its end is none.
    agent.complete("a").await;
    agent.question(2, link("a")).await;
    agent.hears_nothing_for(SECOND).await;
    assert_eq!(silent.asked.load(Ordering::SeqCst), 2);
    assert_eq!(client.link_stats().unwrap().ignored, 1);

    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    agent.question(2, form()).await;
    let pending = next_question(&mut turn).await;
    agent.take_back(1).await;
    assert_eq!(agent.refusal(1).await, -32800);
    assert!(!pending.is_open());
    // One that was taken back before it was read is not shown at all.
    agent.take_back(2).await;
    assert_eq!(agent.refusal(2).await, -32800);
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_request_end_with_it() {
    let silent = Silent::default();
    let options =
        ClientOptions::new().with_elicitation_in_stream(ElicitationModes::FORM, silent.clone());
    let (client, mut agent) = dialed(options, json!({})).await;
    let serve = async {
        let opening = agent.request("session/new").await;
        agent.question(1, bound_to(form(), &opening)).await;
        agent.hears_nothing_for(60 * SECOND).await;
        assert_eq!(silent.asked.load(Ordering::SeqCst), 1, "nobody reads here");
        agent.answer(&opening, json!({"sessionId": SESSION})).await;
        assert_eq!(agent.result(1).await, cancel());
        // The request was answered, and is none of those that are open.
        agent.question(2, bound_to(form(), &opening)).await;
        assert_eq!(agent.refusal(2).await, -32602);
        agent
            .question(3, bound_to(form(), &json!({"id": "what"})))
            .await;
        assert_eq!(agent.refusal(3).await, -32602);
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    let mut session = session.unwrap();
    // One that belongs to a prompt stands in the stream of its turn.
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(4, bound_to(form(), &prompt)).await;
    let pending = next_question(&mut turn).await;
    assert!(pending.request().request_id().is_some());
    pending.decline();
    assert_eq!(agent.result(4).await, decline());
}

#[tokio::test(start_paused = true)]
async fn too_many_open_questions_are_cancelled() {
    let options = in_stream(ElicitationModes::FORM).with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    for id in 0..65 {
        agent.question(id, form()).await;
    }
    assert_eq!(agent.result(64).await, cancel());
    // Permissions have places of their own.
    agent.ask_permission(65, json!({"toolCallId": "t"})).await;
    agent.hears_nothing_for(SECOND).await;
    next_question(&mut turn).await.decline();
    assert_eq!(agent.result(0).await, decline());
}

#[tokio::test(start_paused = true)]
async fn the_death_of_the_agent_ends_the_wait() {
    let silent = Silent::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::FORM, silent.clone());
    let (client, _session, mut agent) = opened(options).await;
    agent.question(1, form()).await;
    agent.hears_nothing_for(SECOND).await;
    agent.hang_up();
    client.done().await;
    assert_eq!(silent.dropped.load(Ordering::SeqCst), 1);
}
