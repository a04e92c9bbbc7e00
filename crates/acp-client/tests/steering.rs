//! Steering: what becomes of it in every state a session can be in.

mod support;

use std::time::Duration;

use acp_client::{
    ClientOptions, ClientTimeouts, SteeringFailure, SteeringOutcome, SteeringPrompt, Turn,
    TurnEvent,
};
use acp_protocol::rpc::{ErrorCode, ReceiveSeq};
use acp_protocol::v1::ContentBlock;
use serde_json::{Value, json};
use support::{Agent, SESSION, end_turn, opened};

const SECOND: Duration = Duration::from_secs(1);

/// Takes the next event, which must be an update, and gives its place.
async fn next_seq(turn: &mut Turn) -> ReceiveSeq {
    match turn.next().await {
        Some(TurnEvent::Update(update)) => update.receive_seq,
        other => panic!("{other:?}"),
    }
}

/// Steers a fresh session, and gives what comes of this result.
async fn steered(result: Value) -> Result<acp_client::Steered, acp_client::SteeringError> {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let steering = session.control().steer("more");
    let request = agent.request("_session/steering").await;
    agent.answer(&request, result).await;
    steering.result().await
}

#[tokio::test(start_paused = true)]
async fn a_running_turn_is_told_more() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("before").await;
    let meta = json!({"idleBehavior": "promptRequired"});
    let more = SteeringPrompt::new("and use tabs").with_meta(meta.as_object().unwrap().clone());
    let steering = turn.control().steer(more);
    assert!(steering.admission());
    let request = agent.request("_session/steering").await;
    assert_eq!(
        request["params"],
        json!({
            "sessionId": SESSION,
            "prompt": [{"type": "text", "text": "and use tabs"}],
            "_meta": meta,
        })
    );
    // Ids of extensions are below those of the protocol.
    assert_eq!(request["id"], 1);
    assert!(prompt["id"].as_i64().unwrap() >= 1 << 32);
    agent
        .answer(
            &request,
            json!({"outcome": "injected", "reason": "at the next tool"}),
        )
        .await;
    agent.text("after").await;
    agent.answer(&prompt, end_turn()).await;
    let steered = steering.result().await.unwrap();
    assert_eq!(steered.outcome, SteeringOutcome::Injected);
    assert_eq!(steered.reason.as_deref(), Some("at the next tool"));
    assert!(steered.facts.write_admitted);
    assert!(next_seq(&mut turn).await < steered.facts.response_seq);
    assert!(next_seq(&mut turn).await > steered.facts.response_seq);
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn outcomes_are_the_words_of_the_agent() {
    let words = [
        ("injected", SteeringOutcome::Injected),
        ("promptRequired", SteeringOutcome::PromptRequired),
        ("startedNewTurn", SteeringOutcome::StartedNewTurn),
        ("failed", SteeringOutcome::Failed),
        (
            "Queued later\n",
            SteeringOutcome::Other("Queued later\n".into()),
        ),
        ("", SteeringOutcome::Other(String::new())),
    ];
    for (word, expected) in words {
        let steered = steered(json!({"outcome": word})).await.unwrap();
        assert_eq!(steered.outcome, expected);
        assert_eq!(steered.outcome.as_str(), word);
        assert_eq!(steered.reason, None);
    }
}

#[tokio::test(start_paused = true)]
async fn reasons_are_cleaned_and_never_hide_the_outcome() {
    let long = "x".repeat(2000);
    let reasons = [
        (json!("a\r\nb\u{1b}[31m"), Some("a b".to_owned())),
        (json!(long), Some("x".repeat(1021) + "…")),
        (json!(null), None),
        (json!({"why": "not"}), None),
        (json!(7), None),
    ];
    for (reason, expected) in reasons {
        let steered = steered(json!({"outcome": "failed", "reason": reason})).await;
        let steered = steered.unwrap();
        assert_eq!(steered.outcome, SteeringOutcome::Failed);
        assert_eq!(steered.reason, expected);
    }
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let steering = session.control().steer("more");
    agent.request("_session/steering").await;
    let halved = r#"{"jsonrpc":"2.0","id":1,"result":{"reason":"\ud800!","outcome":"injected"}}"#;
    agent.raw(halved).await;
    let steered = steering.result().await.unwrap();
    assert_eq!(steered.outcome, SteeringOutcome::Injected);
    let reason = steered.reason.unwrap();
    assert!(
        reason.contains('\u{fffd}') && reason.ends_with('!'),
        "{reason}"
    );
}

#[tokio::test(start_paused = true)]
async fn errors_keep_the_code_and_no_data() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let steering = session.control().steer("more");
    let request = agent.request("_session/steering").await;
    let error = json!({
        "code": -32042,
        "message": format!("no\nway {}", "é".repeat(1000)),
        "data": {"secret": "hunter2"},
    });
    agent
        .say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        .await;
    let error = steering.result().await.unwrap_err();
    assert_eq!(error.code, ErrorCode(-32042));
    assert_eq!(error.failure, SteeringFailure::Refused);
    assert!(error.write_admitted);
    assert!(error.response_seq > ReceiveSeq::default());
    assert!(error.message.starts_with("no way ") && error.message.len() <= 1024);
    assert!(!format!("{error:?}{error}").contains("hunter2"));

    let cancelled = session.control().steer("more");
    let request = agent.request("_session/steering").await;
    agent.refuse(&request, -32800).await;
    let error = cancelled.result().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::REQUEST_CANCELLED);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_makes_no_sense_is_an_error_with_its_facts() {
    for nonsense in [
        json!({}),
        json!(null),
        json!({"outcome": 7}),
        json!("injected"),
    ] {
        let error = steered(nonsense).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::INTERNAL);
        assert_eq!(error.failure, SteeringFailure::Other);
        assert!(error.write_admitted);
        assert!(error.response_seq > ReceiveSeq::default());
    }
}

#[tokio::test(start_paused = true)]
async fn content_the_agent_does_not_take_is_not_sent() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    let image = vec![ContentBlock::image("AA==", "image/png")];
    for steering in [control.steer(Vec::new()), control.steer(image)] {
        assert!(!steering.admission());
        let error = steering.result().await.unwrap_err();
        assert_eq!(error.code, ErrorCode::INTERNAL);
        assert_eq!(error.failure, SteeringFailure::Other);
        assert!(!error.write_admitted);
        assert_eq!(error.response_seq, ReceiveSeq::default());
    }
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_closed_is_not_steered() {
    let capabilities = json!({"sessionCapabilities": {"close": {}}});
    let (client, mut agent) = support::dialed(ClientOptions::new(), capabilities).await;
    let session = support::open(&client, &mut agent, json!({})).await;
    let control = session.control();
    let serve = async {
        let request = agent.request("session/close").await;
        agent.answer(&request, json!({})).await;
    };
    let (closed, ()) = tokio::join!(session.close(), serve);
    closed.unwrap();
    let after_session = control.steer("more");
    client.close().await;
    let after_client = control.steer("more");
    for steering in [after_session, after_client] {
        assert!(!steering.admission());
        let error = steering.result().await.unwrap_err();
        assert_eq!(error.failure, SteeringFailure::Closed);
        assert_eq!(error.code, ErrorCode::INTERNAL);
        assert!(!error.write_admitted);
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_connection_takes_nothing() {
    let (client, session, agent) = opened(ClientOptions::new()).await;
    agent.hang_up();
    client.done().await;
    let steering = session.control().steer("more");
    assert!(!steering.admission());
    let error = steering.result().await.unwrap_err();
    assert_eq!(error.failure, SteeringFailure::Closed);
    assert!(!error.write_admitted);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_connection_ends_the_wait() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let _turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    let steering = session.control().steer("more");
    agent.request("_session/steering").await;
    agent.hang_up();
    let error = steering.result().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::INTERNAL);
    assert_eq!(error.failure, SteeringFailure::Closed);
    assert!(error.write_admitted, "the agent may have acted on it");
    assert_eq!(error.response_seq, ReceiveSeq::default());
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_read_holds_up_nobody() {
    let (_client, session, agent) = opened(ClientOptions::new()).await;
    // More than the pipe holds: the writer is stuck from here on.
    let stuck = session.control().steer("x".repeat(1 << 20));
    let behind = session.control().steer("more");
    assert!(stuck.admission() && behind.admission());
    let wait = async {
        tokio::time::sleep(SECOND).await;
        agent.hang_up();
    };
    let (stuck, behind, ()) = tokio::join!(stuck.result(), behind.result(), wait);
    for error in [stuck.unwrap_err(), behind.unwrap_err()] {
        assert_eq!(error.failure, SteeringFailure::Closed);
        assert!(error.write_admitted);
    }
}

#[tokio::test(start_paused = true)]
async fn several_at_once_get_their_own_answers() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    let (first, second) = (control.steer("first"), control.steer("second"));
    let requests = [
        agent.request("_session/steering").await,
        agent.request("_session/steering").await,
    ];
    assert_eq!(requests[1]["params"]["prompt"][0]["text"], "second");
    for (request, word) in [(&requests[1], "failed"), (&requests[0], "injected")] {
        agent.answer(request, json!({"outcome": word})).await;
    }
    let (first, second) = tokio::join!(first.result(), second.result());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(first.outcome, SteeringOutcome::Injected);
    assert_eq!(second.outcome, SteeringOutcome::Failed);
    assert!(second.facts.response_seq < first.facts.response_seq);
}

#[tokio::test(start_paused = true)]
async fn dropping_it_takes_nothing_back() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    drop(session.control().steer("more"));
    let request = agent.request("_session/steering").await;
    agent.hears_nothing_for(SECOND).await;
    // The late answer is nobody's.
    agent.answer(&request, json!({"outcome": "injected"})).await;
    agent.hears_nothing_for(SECOND).await;
}

/// Lets a turn run and end, and gives when a steering that is never answered gave up.
async fn give_up_after(agent: &mut Agent, mut session: acp_client::Session) -> Duration {
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    let steering = turn.control().steer("more");
    agent.request("_session/steering").await;
    let ending = async {
        agent.hears_nothing_for(3600 * SECOND).await;
        agent.answer(&prompt, end_turn()).await;
        turn.end().await.unwrap();
        tokio::time::Instant::now()
    };
    let waiting = async {
        let error = steering.result().await.unwrap_err();
        (error, tokio::time::Instant::now())
    };
    let (ended, (error, gave_up)) = tokio::join!(ending, waiting);
    assert_eq!(error.failure, SteeringFailure::TimedOut);
    assert_eq!(error.code, ErrorCode::INTERNAL);
    assert!(error.write_admitted);
    gave_up - ended
}

#[tokio::test(start_paused = true)]
async fn it_is_waited_for_while_the_turn_runs_and_a_while_longer() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    assert_eq!(give_up_after(&mut agent, session).await, 30 * SECOND);

    let options = ClientOptions::new().with_timeouts(ClientTimeouts {
        request: 5 * SECOND,
        ..ClientTimeouts::default()
    });
    let (_client, session, mut agent) = opened(options).await;
    let start = tokio::time::Instant::now();
    let steering = session.control().steer("no turn runs");
    agent.request("_session/steering").await;
    let error = steering.result().await.unwrap_err();
    assert_eq!(error.failure, SteeringFailure::TimedOut);
    assert_eq!(start.elapsed(), 5 * SECOND);
}
