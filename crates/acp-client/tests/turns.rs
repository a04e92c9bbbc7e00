//! Turns: one stream each, one at a time, always with an end.

mod support;

use std::time::Duration;

use acp_client::{ClientError, ClientOptions, TurnEvent};
use acp_protocol::v1::StopReason;
use serde_json::json;
use support::{Agent, SESSION, all, brief, chunk, dialed, end_turn, open, opened};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn updates_come_in_order_and_then_the_end() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("hello").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    assert_eq!(prompt["params"]["sessionId"], SESSION);
    assert_eq!(
        prompt["params"]["prompt"],
        json!([{"type": "text", "text": "hello"}])
    );
    for n in 0..300 {
        agent.text(&n.to_string()).await;
    }
    agent
        .answer(
            &prompt,
            json!({"stopReason": "max_tokens", "_meta": {"cost": 1}}),
        )
        .await;
    let expected: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    assert_eq!(all(&mut turn).await, expected);
    assert!(turn.next().await.is_none(), "it stays ended");
    let end = turn.end().await.unwrap();
    assert_eq!(end.stop_reason, StopReason::MaxTokens);
    assert_eq!(end.meta.unwrap()["cost"], 1);
    assert!(end.facts.write_admitted);
}

#[tokio::test(start_paused = true)]
async fn the_end_can_be_had_without_reading() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("hello").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("unread").await;
    agent
        .answer(&prompt, json!({"stopReason": "something_new"}))
        .await;
    let end = turn.end().await.unwrap();
    assert_eq!(
        end.stop_reason.as_str(),
        "something_new",
        "unknown is a value, not an error"
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_turn_has_to_wait() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    assert!(matches!(
        session.prompt("two").await,
        Err(ClientError::TurnInProgress)
    ));
    let serve = async {
        agent.hears_nothing_for(5 * SECOND).await;
        agent.answer(&one, end_turn()).await;
        let two = agent.request("session/prompt").await;
        assert_eq!(two["params"]["prompt"][0]["text"], "two");
        agent.answer(&two, end_turn()).await;
    };
    let waiting = async { session.prompt_when_idle("two").await.unwrap().end().await };
    let (first, second, ()) = tokio::join!(turn.end(), waiting, serve);
    first.unwrap();
    second.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_goes_on_until_the_agent_ends_it() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("hello").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    turn.control().cancel();
    let cancel = agent.notification("session/cancel").await;
    assert_eq!(cancel["params"]["sessionId"], SESSION);
    agent.text("last words").await;
    agent
        .answer(&prompt, json!({"stopReason": "cancelled"}))
        .await;
    assert_eq!(all(&mut turn).await, ["last words"]);
    assert_eq!(turn.end().await.unwrap().stop_reason, StopReason::Cancelled);
    agent.hears_nothing_for(60 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_got_lost_is_said_again() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("hello").await.unwrap();
    let start = tokio::time::Instant::now();
    let prompt = agent.request("session/prompt").await;
    turn.cancel();
    let mut heard = Vec::new();
    for _ in 0..3 {
        agent.notification("session/cancel").await;
        heard.push(start.elapsed().as_secs());
    }
    assert_eq!(heard, [0, 1, 4]);
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(turn.end().await.unwrap().stop_reason, StopReason::EndTurn);
    agent.hears_nothing_for(60 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_not_said_again_while_nobody_reads_the_answer() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("hello").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    turn.cancel();
    agent.notification("session/cancel").await;
    agent.answer(&prompt, end_turn()).await;
    agent.hears_nothing_for(60 * SECOND).await;
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_not_said_again_in_the_next_turn() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    turn.cancel();
    agent.notification("session/cancel").await;
    agent.answer(&one, end_turn()).await;
    turn.end().await.unwrap();
    let _turn = session.prompt("two").await.unwrap();
    agent.request("session/prompt").await;
    agent.hears_nothing_for(60 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_is_cancelled_and_keeps_its_place() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    drop(turn);
    agent.notification("session/cancel").await;
    assert!(matches!(
        session.prompt("two").await,
        Err(ClientError::TurnInProgress)
    ));
    agent.text("nobody reads this").await;
    agent.answer(&one, json!({"stopReason": "cancelled"})).await;
    let mut turn = session.prompt_when_idle("two").await.unwrap();
    let two = agent.request("session/prompt").await;
    agent.text("two").await;
    agent.answer(&two, end_turn()).await;
    assert_eq!(all(&mut turn).await, ["two"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_that_never_ends_is_told_after_the_grace() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    drop(turn);
    let start = tokio::time::Instant::now();
    let stuck = session.prompt_when_idle("two").await.unwrap_err();
    assert!(
        matches!(stuck, ClientError::TurnStillRunning { .. }),
        "{stuck}"
    );
    assert_eq!(start.elapsed(), acp_client::limits::CANCEL_GRACE);
    for _ in 0..4 {
        agent.notification("session/cancel").await;
    }
    agent.answer(&one, end_turn()).await;
    agent.hears_nothing_for(SECOND).await;
    drop(session.prompt_when_idle("two").await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn late_words_are_read_between_turns() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    agent.text("in time").await;
    agent.answer(&one, end_turn()).await;
    agent.text("late").await;
    agent.text("later").await;
    assert_eq!(all(&mut turn).await, ["in time"]);
    let mut updates = session.updates();
    assert_eq!(brief(&updates.next().await.unwrap()), "late");
    assert_eq!(brief(&updates.next().await.unwrap()), "later");
}

#[tokio::test(start_paused = true)]
async fn late_words_nobody_read_come_first_in_the_next_turn_and_marked() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    agent.answer(&one, end_turn()).await;
    agent.text("late").await;
    // The answer to a request behind it: the late word is in.
    agent.ask(7, "unknown/method", json!({})).await;
    agent.refusal(7).await;
    turn.end().await.unwrap();
    let mut turn = session.prompt("two").await.unwrap();
    let two = agent.request("session/prompt").await;
    agent.text("two").await;
    agent.answer(&two, end_turn()).await;
    assert_eq!(all(&mut turn).await, ["earlier late", "two"]);
}

#[tokio::test(start_paused = true)]
async fn reading_between_turns_waits_for_the_turn_that_runs() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let one = agent.request("session/prompt").await;
    let serve = async {
        agent.text("of the turn").await;
        tokio::time::sleep(SECOND).await;
        agent.answer(&one, end_turn()).await;
        agent.text("late").await;
    };
    let between = async { brief(&session.updates().next().await.unwrap()) };
    let (end, between, ()) = tokio::join!(turn.end(), between, serve);
    end.unwrap();
    assert_eq!(between, "late");
}

#[tokio::test(start_paused = true)]
async fn sessions_do_not_see_each_other() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let mut first = open(&client, &mut agent, json!({})).await;
    let serve = async {
        let request = agent.request("session/new").await;
        agent.answer(&request, json!({"sessionId": "s-2"})).await;
    };
    let (second, ()) = tokio::join!(client.new_session("/code"), serve);
    let mut second = second.unwrap();
    let mut one = first.prompt("one").await.unwrap();
    let mut two = second.prompt("two").await.unwrap();
    let ask_one = agent.request("session/prompt").await;
    let ask_two = agent.request("session/prompt").await;
    agent.update("s-2", chunk("b")).await;
    agent.update(SESSION, chunk("a")).await;
    agent.update("s-3", chunk("nobody's")).await;
    agent.answer(&ask_two, end_turn()).await;
    agent
        .answer(&ask_one, json!({"stopReason": "refusal"}))
        .await;
    assert_eq!(all(&mut one).await, ["a"]);
    assert_eq!(all(&mut two).await, ["b"]);
    assert_eq!(one.end().await.unwrap().stop_reason, StopReason::Refusal);
    assert_eq!(two.end().await.unwrap().stop_reason, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_shown_and_costs_nothing_else() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("before").await;
    agent
        .update(
            SESSION,
            json!({"sessionUpdate": "tool_call", "title": "no id"}),
        )
        .await;
    agent
        .update(SESSION, json!({"sessionUpdate": "from_the_future", "x": 1}))
        .await;
    agent.raw("this is no message at all").await;
    agent.text("after").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(
        all(&mut turn).await,
        ["before", "unreadable", "from_the_future", "after"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_keeps_the_line_it_came_in() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    let line = r#"{"jsonrpc":"2.0", "method":"session/update","params":{"sessionId":"s-1","update":{"content":{"type":"text","text":"x"},"sessionUpdate":"agent_message_chunk"},"_meta":{"a":1},"more":2}}"#;
    agent.raw(line).await;
    let Some(TurnEvent::Update(update)) = turn.next().await else {
        panic!("an update");
    };
    assert_eq!(update.line.as_str(), line);
    assert_eq!(update.meta.unwrap()["a"], 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hangs_up_ends_the_turn_after_its_last_words() {
    let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.text("last words").await;
    agent.hang_up();
    assert_eq!(all(&mut turn).await, ["last words"]);
    assert!(matches!(turn.end().await, Err(ClientError::Died(_))));
    assert!(matches!(
        session.prompt("two").await,
        Err(ClientError::Died(_))
    ));
    assert!(matches!(
        client.new_session("/code").await,
        Err(ClientError::Died(_))
    ));
    assert!(matches!(client.dial().await, Err(ClientError::Died(_))));
    assert!(session.updates().next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_agent_may_answer_a_prompt_with_an_error() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let refused = async |agent: &mut Agent, session: &mut acp_client::Session, code| {
        let mut turn = session.prompt("one").await.unwrap();
        let prompt = agent.request("session/prompt").await;
        agent.refuse(&prompt, code).await;
        assert_eq!(turn.facts(), None);
        assert!(turn.next().await.is_none());
        let facts = turn.facts().unwrap();
        assert!(
            facts.write_admitted && facts.response_seq.get() > 0,
            "{facts:?}"
        );
        turn.end().await.unwrap_err()
    };
    let error = refused(&mut agent, &mut session, 400).await;
    assert!(error.facts().unwrap().response_seq.get() > 0, "{error:?}");
    let ClientError::Refused { method, error, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((method, error.code.0), ("session/prompt", 400));
    let error = refused(&mut agent, &mut session, -32000).await;
    assert!(matches!(error, ClientError::AuthRequired { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_none_is_an_error_of_the_agent() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    for answer in [
        json!({}),
        json!(null),
        json!("end_turn"),
        json!({"stopReason": 1}),
    ] {
        let turn = session.prompt("one").await.unwrap();
        let prompt = agent.request("session/prompt").await;
        agent.answer(&prompt, answer.clone()).await;
        let error = turn.end().await.unwrap_err();
        assert!(
            matches!(error, ClientError::BadAnswer { .. }),
            "{answer}: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_the_agent_does_not_take_are_not_sent() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let image = acp_protocol::v1::ContentBlock::from(acp_protocol::v1::ImageContent::new(
        "aGk=",
        "image/png",
    ));
    assert!(matches!(
        session.prompt(Vec::new()).await,
        Err(ClientError::EmptyPrompt)
    ));
    assert!(matches!(
        session.prompt(image).await,
        Err(ClientError::Unsupported {
            capability: "promptCapabilities.image"
        })
    ));
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_may_move_to_another_task() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = tokio::spawn(async move {
        let turn = session.prompt("one").await.unwrap();
        (turn.end().await, session)
    });
    let prompt = agent.request("session/prompt").await;
    agent.answer(&prompt, end_turn()).await;
    let (end, _session) = turn.await.unwrap();
    end.unwrap();
}
