//! Links, and what is told of their end.

use super::*;

#[tokio::test(start_paused = true)]
async fn the_end_of_a_link_is_told_once() {
    let agreeing = Agreeing::default();
    let options = ClientOptions::new().with_elicitation(ElicitationModes::URL, agreeing.clone());
    let (client, _session, mut agent) = opened(options).await;
    agent.complete("a").await;
    agent.question(1, link("a")).await;
    assert_eq!(agent.result(1).await, json!({"action": "accept"}));
    // Its id stands for it until its end was told.
    agent.question(2, link("a")).await;
    assert_eq!(agent.refusal(2).await, -32602);
    agent.complete("a").await;
    agent.complete("a").await;
    agent.complete("never asked").await;
    agent.question(3, link("a")).await;
    assert_eq!(agent.result(3).await, json!({"action": "accept"}));
    assert_eq!(*agreeing.0.lock(), ["a"]);
    let stats = client.link_stats().unwrap();
    assert_eq!((stats.completed, stats.ignored, stats.forgotten), (1, 3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_link_may_end_while_the_user_is_asked() {
    let options = in_stream(ElicitationModes::URL);
    let (client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.question(1, link("a")).await;
    agent.complete("a").await;
    agent.complete("a").await;
    let pending = next_question(&mut turn).await;
    assert!(matches!(turn.next().await, Some(TurnEvent::LinkCompleted { link }) if link == *"a"));
    pending.answer(ElicitationAnswer::accept()).unwrap();
    assert_eq!(agent.result(1).await, json!({"action": "accept"}));
    // It is over: nothing is waited for any more.
    agent.complete("a").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, [""; 0]);
    let stats = client.link_stats().unwrap();
    assert_eq!((stats.completed, stats.ignored), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_link_is_told_between_turns_too() {
    let options = in_stream(ElicitationModes::URL);
    let (client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    for (id, name) in [(1, "a"), (2, "b")] {
        agent.question(id, link(name)).await;
        next_question(&mut turn)
            .await
            .answer(ElicitationAnswer::accept())
            .unwrap();
        assert_eq!(agent.result(id).await, json!({"action": "accept"}));
    }
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    agent.complete("a").await;
    let event = session.updates().next().await;
    assert!(matches!(event, Some(TurnEvent::LinkCompleted { link }) if link == *"a"));
    drop(session);
    agent.complete("b").await;
    agent.question(3, json!({})).await;
    assert_eq!(agent.refusal(3).await, -32602);
    let stats = client.link_stats().unwrap();
    assert_eq!(
        (stats.completed, stats.ignored),
        (1, 1),
        "nobody is left to tell"
    );
}

#[tokio::test(start_paused = true)]
async fn links_that_never_end_are_forgotten_at_last() {
    let options = ClientOptions::new().with_elicitation(ElicitationModes::URL, Agreeing::default());
    let (client, _session, mut agent) = opened(options).await;
    for id in 0..66 {
        agent.question(id, link(&id.to_string())).await;
        assert_eq!(agent.result(id).await, json!({"action": "accept"}));
    }
    for id in 0..66 {
        agent.complete(&id.to_string()).await;
    }
    agent.question(66, json!({})).await;
    assert_eq!(agent.refusal(66).await, -32602);
    let stats = client.link_stats().unwrap();
    assert_eq!(
        (stats.completed, stats.ignored, stats.forgotten),
        (64, 2, 2)
    );
}
