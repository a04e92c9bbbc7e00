//! Dialing: once, with an answer or a reason, and an end that is told once.

mod support;

use std::time::Duration;

use acp_client::{Client, ClientEnd, ClientError, ClientOptions, ClientTimeouts, StartStage};
use acp_protocol::v1::Implementation;
use serde_json::json;
use support::{dialed, open, pair};

const SECOND: Duration = Duration::from_secs(1);

/// Answers the first request, whatever it is, with `answer`.
async fn dial_answered(answer: serde_json::Value) -> (Client, ClientError) {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        agent.answer(&hello, answer).await;
        agent.hears_the_end().await;
    };
    let (dialed, ()) = tokio::join!(client.dial(), serve);
    (client, dialed.unwrap_err())
}

#[tokio::test(start_paused = true)]
async fn the_agent_is_told_who_we_are_and_what_we_can_do() {
    let options = ClientOptions::new()
        .with_info(Implementation::new("tester", "1.2"))
        .with_notices();
    let (client, mut agent) = pair(options);
    let serve = async {
        let hello = agent.request("initialize").await;
        let params = &hello["params"];
        assert_eq!(params["protocolVersion"], 1);
        assert_eq!(
            params["clientInfo"],
            json!({"name": "tester", "version": "1.2"})
        );
        let can = &params["clientCapabilities"];
        assert_eq!(
            can["fs"],
            json!({"readTextFile": false, "writeTextFile": false})
        );
        assert_ne!(can["terminal"], true);
        assert_eq!(can["session"], json!({"notices": {}}));
        assert_eq!(can.get("elicitation"), None);
        let answer = json!({
            "protocolVersion": 1,
            "agentInfo": {"name": "a", "version": "2"},
            "agentCapabilities": {"loadSession": true},
            "authMethods": [{"id": "key", "name": "Key"}],
            "_meta": {"x": 1},
        });
        agent.answer(&hello, answer).await;
    };
    assert!(matches!(client.agent(), Err(ClientError::NotDialed)));
    assert!(matches!(
        client.new_session("/code").await,
        Err(ClientError::NotDialed)
    ));
    let (answer, ()) = tokio::join!(client.dial(), serve);
    let answer = answer.unwrap();
    assert_eq!(answer.agent_info.as_ref().unwrap().version, "2");
    assert!(answer.agent_capabilities.load_session);
    assert_eq!(answer.auth_methods.len(), 1);
    assert_eq!(answer.meta.as_ref().unwrap()["x"], 1);
    assert_eq!(client.agent().unwrap(), answer);
    assert_eq!(
        client.dial().await.unwrap(),
        answer,
        "dialing again does nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn callers_share_an_attempt() {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        agent.hears_nothing_for(SECOND).await;
        agent.answer(&hello, json!({"protocolVersion": 1})).await;
    };
    let (one, two, ()) = tokio::join!(client.dial(), client.dial(), serve);
    one.unwrap();
    two.unwrap();
}

#[tokio::test(start_paused = true)]
async fn another_version_is_refused_and_the_agent_hung_up_on() {
    for version in [0, 2, 99] {
        let (client, error) = dial_answered(json!({"protocolVersion": version})).await;
        assert!(
            matches!(error, ClientError::VersionMismatch { got } if got == version),
            "{error}"
        );
        let again = client.dial().await.unwrap_err();
        assert!(
            matches!(again, ClientError::Closed),
            "streams are good for one attempt: {again}"
        );
    }
    // The draft of version 2 has another shape besides.
    let draft = json!({"protocolVersion": 2, "info": {"name": "x"}, "capabilities": {}, "authMethods": [{"methodId": "k"}]});
    let (_, error) = dial_answered(draft).await;
    assert_eq!(
        error.to_string(),
        "agree on a protocol version: the agent speaks 2, this client 1"
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_none_is_told_as_such() {
    for answer in [
        json!({}),
        json!(null),
        json!({"protocolVersion": "1"}),
        json!([1]),
    ] {
        let (_, error) = dial_answered(answer.clone()).await;
        assert!(
            matches!(error, ClientError::BadAnswer { .. }),
            "{answer}: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_refuses_is_told_as_such() {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        agent.refuse(&hello, -32022).await;
    };
    let (dialed, ()) = tokio::join!(client.dial(), serve);
    assert_eq!(
        dialed.unwrap_err().to_string(),
        "introduce ourselves to the agent: the agent answered no (-32022)"
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_says_nothing_is_given_up() {
    let (client, mut agent) = pair(ClientOptions::new());
    let start = tokio::time::Instant::now();
    let error = client.dial().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "hear the first byte of the agent within 30 s"
    );
    assert_eq!(start.elapsed(), 30 * SECOND);
    agent.request("initialize").await;
    agent.hears_the_end().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_speaks_has_its_time_to_answer_and_no_more() {
    let options = ClientOptions::new().with_timeouts(ClientTimeouts {
        first_byte: 10 * SECOND,
        ..ClientTimeouts::default()
    });
    let (client, mut agent) = pair(options);
    let start = tokio::time::Instant::now();
    let serve = async {
        agent.request("initialize").await;
        tokio::time::sleep(9 * SECOND).await;
        agent.raw("loading the model").await;
        agent.hears_the_end().await;
    };
    let (dialed, ()) = tokio::join!(client.dial(), serve);
    let error = dialed.unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::StartTimeout {
                stage: StartStage::Initialize,
                after,
                ..
            } if after == 30 * SECOND
        ),
        "{error}"
    );
    assert_eq!(start.elapsed(), 39 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_time_that_is_given_holds_for_the_whole_start() {
    let options =
        ClientOptions::new().with_timeouts(ClientTimeouts::default().with_initialize(20 * SECOND));
    let (client, mut agent) = pair(options);
    let start = tokio::time::Instant::now();
    let serve = async {
        agent.request("initialize").await;
        tokio::time::sleep(9 * SECOND).await;
        agent.raw("loading the model").await;
        agent.hears_the_end().await;
    };
    let (dialed, ()) = tokio::join!(client.dial(), serve);
    dialed.unwrap_err();
    assert_eq!(start.elapsed(), 20 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_hangs_up_is_told_at_once() {
    let (client, agent) = pair(ClientOptions::new());
    agent.hang_up();
    let start = tokio::time::Instant::now();
    let error = client.dial().await.unwrap_err();
    assert!(matches!(error, ClientError::Died(_)), "{error}");
    assert!(start.elapsed() < SECOND);
}

#[tokio::test(start_paused = true)]
async fn closing_wins_over_dialing() {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        client.close().await;
        agent.hears_the_end().await;
        hello
    };
    let (dialed, _) = tokio::join!(client.dial(), serve);
    assert!(matches!(dialed, Err(ClientError::Closed)));
    assert!(matches!(client.done().await, ClientEnd::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_client_can_be_closed_before_it_dials_and_twice() {
    let (client, _agent) = pair(ClientOptions::new());
    assert!(client.close().await.is_none());
    assert!(client.close().await.is_none());
    assert!(matches!(client.dial().await, Err(ClientError::Closed)));
    assert!(matches!(client.done().await, ClientEnd::Closed));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_agent_is_the_end_of_the_client() {
    let (client, agent) = dialed(ClientOptions::new(), json!({})).await;
    let done = tokio::spawn({
        let client = client.clone();
        async move { client.done().await }
    });
    agent.hang_up();
    let ClientEnd::Died(death) = done.await.unwrap() else {
        panic!("it died");
    };
    assert_eq!(death.to_string(), "the peer closed the connection");
    assert!(death.exit().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_leaves_the_attempt_to_the_next() {
    let (client, mut agent) = pair(ClientOptions::new());
    let impatient = tokio::time::timeout(SECOND, client.dial()).await;
    assert!(impatient.is_err());
    agent.request("initialize").await;
    agent.hears_the_end().await;
    let next = client.dial().await.unwrap_err();
    assert!(
        matches!(next, ClientError::Closed),
        "streams are good for one attempt: {next}"
    );
}

#[tokio::test(start_paused = true)]
async fn sessions_keep_the_agent_and_the_last_to_go_hangs_up() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    let control = session.control();
    drop(client);
    let turn = session.prompt("still here").await.unwrap();
    agent.request("session/prompt").await;
    drop(session);
    agent.hears_nothing_for(SECOND).await;
    drop(turn);
    agent.notification("session/cancel").await;
    agent.hears_the_end().await;
    drop(control);
}
