//! Questions that stand in the stream of a turn.

use super::*;

#[tokio::test(start_paused = true)]
async fn in_the_stream_questions_stand_in_their_place() {
    let options = in_stream(ElicitationModes::BOTH).with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("before").await;
    agent.question(1, form()).await;
    agent.text("between").await;
    agent.ask_permission(2, json!({"toolCallId": "t"})).await;
    agent.question(3, link("a")).await;
    agent.text("after").await;
    // Everything is in before anything is read.
    agent.hears_nothing_for(SECOND).await;
    let mut seen = Vec::new();
    for _ in 0..5 {
        match turn.next().await.unwrap() {
            TurnEvent::Question(pending) => {
                seen.push(format!("asks {}", pending.request().message()));
                let answer = match pending.request().form() {
                    Some(form) => form.defaults(),
                    None => ElicitationAnswer::accept(),
                };
                pending.answer(answer).unwrap();
            }
            TurnEvent::Permission(pending) => {
                seen.push("asks for permission".to_owned());
                pending.select(&PermissionOptionId::from("yes")).unwrap();
            }
            other => seen.push(brief(&other)),
        }
    }
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(agent.next().await);
    }
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!(
        answers[0]["result"],
        json!({"action": "accept", "content": {"name": "postgres"}})
    );
    assert_eq!(answers[1]["result"], selected("yes"));
    assert_eq!(answers[2]["result"], json!({"action": "accept"}));
    agent.complete("a").await;
    agent.text("the end").await;
    agent.answer(&prompt, end_turn()).await;
    while let Some(event) = turn.next().await {
        seen.push(match event {
            TurnEvent::LinkCompleted { link } => format!("done {link}"),
            other => brief(&other),
        });
    }
    assert_eq!(
        seen,
        [
            "before",
            "asks Which database?",
            "between",
            "asks for permission",
            "asks Log in",
            "after",
            "done a",
            "the end",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_an_unfit_answer_can_be_given_again() {
    let options = in_stream(ElicitationModes::FORM);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.question(1, form()).await;
    let pending = next_question(&mut turn).await;
    let answer = ElicitationAnswer::accept()
        .with("name", "hunter2")
        .with("secret", "hunter3");
    let invalid = pending.answer(answer).unwrap_err();
    assert_eq!(
        invalid.to_string(),
        r#"answer the question: "secret" is no field of the form"#
    );
    assert!(!format!("{invalid:?}").contains("hunter"));
    assert_eq!(invalid.faults[0].misfit, FieldError::NoSuchField);
    agent.hears_nothing_for(SECOND).await;
    invalid
        .question
        .answer(ElicitationAnswer::accept().with("name", "sqlite"))
        .unwrap();
    let accepted = json!({"action": "accept", "content": {"name": "sqlite"}});
    assert_eq!(agent.result(1).await, accepted);
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_what_is_dropped_is_refused() {
    let options = in_stream(ElicitationModes::BOTH);
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, form()).await;
    drop(next_question(&mut turn).await);
    assert_eq!(agent.result(1).await, decline());
    agent.question(2, link("a")).await;
    drop(next_question(&mut turn).await);
    assert_eq!(agent.result(2).await, cancel());
    agent.question(3, form()).await;
    next_question(&mut turn).await.cancel();
    assert_eq!(agent.result(3).await, cancel());
    agent.question(4, link("b")).await;
    next_question(&mut turn).await.decline();
    assert_eq!(agent.result(4).await, decline());
    // Draining a turn reads its questions too.
    agent.question(5, form()).await;
    let serve = async {
        assert_eq!(agent.result(5).await, decline());
        agent.answer(&prompt, end_turn()).await;
    };
    let (end, ()) = tokio::join!(turn.end(), serve);
    end.unwrap();
}

#[tokio::test(start_paused = true)]
async fn joining_pieces_of_text_holds_no_question_back() {
    let options = in_stream(ElicitationModes::FORM).with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    let serve = async {
        agent.text("be").await;
        agent.text("fore").await;
        // Goes on only when it has the answer.
        agent.question(1, form()).await;
        assert_eq!(agent.result(1).await, decline());
        agent.ask_permission(2, json!({"toolCallId": "t"})).await;
        assert_eq!(agent.result(2).await, selected("no"));
        agent.answer(&prompt, end_turn()).await;
    };
    let read = async {
        let mut seen = Vec::new();
        while let Some(event) = turn.next_merged().await {
            // What is dropped is refused.
            seen.push(match event {
                TurnEvent::Question(_) => " asks ".to_owned(),
                other => brief(&other),
            });
        }
        seen
    };
    let (seen, ()) = tokio::join!(read, serve);
    assert_eq!(seen.concat(), "before asks asks t");
}
