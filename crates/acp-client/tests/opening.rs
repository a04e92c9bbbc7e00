//! Sessions that the agent remembers: loaded with their history, or resumed without.

mod support;

use std::time::Duration;

use acp_client::{Client, ClientError, ClientOptions, SessionSetup, TurnEvent};
use acp_protocol::v1::{McpServer, McpServerHttp};
use serde_json::{Value, json};
use support::{Agent, SESSION, all, brief, chunk, dialed, end_turn, open, opened};
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

/// Everything that has to do with old sessions.
fn remembering() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "close": {}}})
}

fn modes() -> Value {
    json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]})
}

async fn remembered() -> (Client, Agent) {
    dialed(ClientOptions::new(), remembering()).await
}

#[tokio::test(start_paused = true)]
async fn a_history_is_streamed_and_then_there_is_a_session() {
    let (client, mut agent) = remembered().await;
    let mut loading = client.load_session(SESSION, "/code").await.unwrap();
    assert_eq!(loading.session_id(), SESSION);
    let load = agent.request("session/load").await;
    assert_eq!(
        load["params"],
        json!({"sessionId": SESSION, "cwd": "/code", "mcpServers": []})
    );
    agent.text("old").await;
    // Streamed: it is there before the answer is.
    assert_eq!(brief(&loading.next().await.unwrap()), "old");
    agent.text("older").await;
    agent.answer(&load, json!({"modes": modes()})).await;
    // One more right behind the answer, as many agents send.
    agent.text("news").await;
    assert_eq!(brief(&loading.next().await.unwrap()), "older");
    assert!(loading.next().await.is_none());
    assert!(loading.next().await.is_none(), "it stays ended");
    let mut session = loading.end().await.unwrap();
    assert_eq!(session.id(), SESSION);
    assert_eq!(session.modes().unwrap().current_mode_id, *"ask");
    assert_eq!(brief(&session.updates().next().await.unwrap()), "news");
    let mut turn = session.prompt("go on").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("new").await;
    agent.answer(&prompt, end_turn()).await;
    assert_eq!(all(&mut turn).await, ["new"]);
    // And a cancel of the next one reaches it (B087).
    let turn = session.prompt("stop").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    turn.cancel();
    agent.notification("session/cancel").await;
    agent
        .answer(&prompt, json!({"stopReason": "cancelled"}))
        .await;
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_history_can_be_had_in_one_piece_or_not_at_all() {
    let (client, mut agent) = remembered().await;
    let serve = async {
        let load = agent.request("session/load").await;
        for n in 0..1000 {
            agent.text(&n.to_string()).await;
        }
        agent
            .update(SESSION, json!({"sessionUpdate": "tool_call"}))
            .await;
        agent.answer(&load, json!({})).await;
        let load = agent.request("session/load").await;
        agent.update("s-2", chunk("unread")).await;
        let mode = json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"});
        agent.update("s-2", mode).await;
        agent.answer(&load, json!(null)).await;
    };
    let load = async {
        let loading = client.load_session(SESSION, "/code").await.unwrap();
        let loaded = loading.collect().await.unwrap();
        let loading = client.load_session("s-2", "/code").await.unwrap();
        (loaded, loading.end().await.unwrap())
    };
    let ((loaded, session), ()) = tokio::join!(load, serve);
    assert_eq!(loaded.session.id(), SESSION);
    assert_eq!(loaded.missing, 1);
    let replay = loaded.replay.into_iter().map(TurnEvent::Update);
    let expected: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    assert_eq!(
        replay.map(|event| brief(&event)).collect::<Vec<_>>(),
        expected
    );
    // What was not shown was learned from all the same.
    assert_eq!(session.modes().unwrap().current_mode_id, *"code");
}

#[tokio::test(start_paused = true)]
async fn the_session_can_be_used_by_the_agent_while_it_is_loaded() {
    let options = ClientOptions::new().with_permissions_in_stream();
    let (client, mut agent) = dialed(options, remembering()).await;
    let mut loading = client.load_session(SESSION, "/code").await.unwrap();
    let load = agent.request("session/load").await;
    agent.text("before").await;
    agent.ask_permission(0, json!({"toolCallId": "t"})).await;
    assert_eq!(brief(&loading.next().await.unwrap()), "before");
    let Some(TurnEvent::Permission(pending)) = loading.next().await else {
        panic!("it asked");
    };
    pending.reject();
    assert_eq!(agent.result(0).await, support::selected("no"));
    agent.answer(&load, json!({})).await;
    loading.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_loaded_is_told_before_anything_is_sent() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let error = client.load_session("s-9", "/code").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "use `loadSession`, which the agent does not offer"
    );
    let error = client.resume_session("s-9", "/code").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "use `sessionCapabilities.resume`, which the agent does not offer"
    );
    agent.hears_nothing_for(SECOND).await;

    let (client, mut agent) = remembered().await;
    let _open = open(&client, &mut agent, json!({})).await;
    let http = McpServer::from(McpServerHttp::new("x", "http://127.0.0.1:1", Vec::new()));
    let cases = [
        ("", SessionSetup::new("/code"), "whose id is empty"),
        ("s-9", SessionSetup::new("work"), "must be absolute"),
        (
            SESSION,
            SessionSetup::new("/code"),
            "a session that is open already",
        ),
        (
            "s-9",
            SessionSetup::new("/code").with_additional_directories(["/more"]),
            "`sessionCapabilities.additionalDirectories`",
        ),
        (
            "s-9",
            SessionSetup::new("/code").with_mcp_servers([http]),
            "`mcpCapabilities.http`",
        ),
    ];
    for (id, setup, expected) in cases {
        let load = client.load_session(id, setup.clone()).await.unwrap_err();
        assert!(load.to_string().contains(expected), "{load}");
        let resume = client.resume_session(id, setup).await.unwrap_err();
        assert!(resume.to_string().contains(expected), "{resume}");
    }
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_not_loaded_can_be_tried_again() {
    let (client, mut agent) = remembered().await;
    let load = async |agent: &mut Agent, answer: Value| {
        let loading = client.load_session(SESSION, "/code").await.unwrap();
        let request = agent.request("session/load").await;
        agent.text("of this attempt").await;
        match answer {
            Value::Number(code) => agent.refuse(&request, code.as_i64().unwrap()).await,
            answer => agent.answer(&request, answer).await,
        }
        loading.collect().await
    };
    let error = load(&mut agent, json!(-32603)).await.unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::Refused {
                method: "session/load",
                ..
            }
        ),
        "{error}"
    );
    let error = load(&mut agent, json!(-32000)).await.unwrap_err();
    assert!(matches!(error, ClientError::AuthRequired { .. }), "{error}");
    let error = load(&mut agent, json!("no object")).await.unwrap_err();
    assert!(matches!(error, ClientError::BadAnswer { .. }), "{error}");
    // Said when the attempts had failed: nobody's. The refusal behind it shows that it
    // was read.
    agent.text("late").await;
    agent.ask(7, "unknown/method", json!({})).await;
    agent.refusal(7).await;
    let loaded = load(&mut agent, json!({})).await.unwrap();
    assert_eq!(loaded.replay.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_history_is_collected_up_to_its_bound() {
    let (client, mut agent) = remembered().await;
    let loading = client.load_session(SESSION, "/code").await.unwrap();
    let request = agent.request("session/load").await;
    let serve = async {
        let text = "x".repeat(8 << 20);
        for _ in 0..9 {
            agent.text(&text).await;
        }
        agent.answer(&request, json!({})).await;
    };
    let (loaded, ()) = tokio::join!(loading.collect(), serve);
    let loaded = loaded.unwrap();
    // Eight have 64 MiB, and what stands around their texts.
    assert_eq!((loaded.replay.len(), loaded.missing), (7, 2));
}

#[tokio::test(start_paused = true)]
async fn loading_takes_a_while_but_not_for_ever() {
    let (client, mut agent) = remembered().await;
    let start = Instant::now();
    let mut loading = client.load_session(SESSION, "/code").await.unwrap();
    let request = agent.request("session/load").await;
    agent.text("one").await;
    assert_eq!(brief(&loading.next().await.unwrap()), "one");
    // The caller's own time does not count, and that of a wait it gave up does.
    sleep(1000 * SECOND).await;
    assert!(timeout(40 * SECOND, loading.next()).await.is_err());
    let error = loading.end().await.unwrap_err();
    assert_eq!(start.elapsed(), 1090 * SECOND);
    assert_eq!(error.to_string(), "load a session within 90 s");
    let ClientError::LoadTimeout { session, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(session, *SESSION);
    let told = agent.notification("$/cancel_request").await;
    assert_eq!(told["params"]["requestId"], request["id"]);
    // It loads the session after all: nobody wants it any more.
    agent.answer(&request, json!({})).await;
    let close = agent.request("session/close").await;
    assert_eq!(close["params"]["sessionId"], SESSION);
    // Here it is forgotten; the next attempt is one of its own.
    let loading = client.load_session(SESSION, "/code").await.unwrap();
    let request = agent.request("session/load").await;
    agent.answer(&request, json!({})).await;
    loading.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_loading_that_is_given_up_leaves_nothing_behind() {
    // Before the answer, and when it is there and unread.
    for answered in [false, true] {
        let (client, mut agent) = remembered().await;
        let loading = client.load_session(SESSION, "/code").await.unwrap();
        let request = agent.request("session/load").await;
        if answered {
            agent.text("unread").await;
            agent.answer(&request, json!({})).await;
            // The answer to a request behind it: it is there.
            agent.ask(7, "unknown/method", json!({})).await;
            agent.refusal(7).await;
            drop(loading);
        } else {
            drop(loading);
            agent.notification("$/cancel_request").await;
            agent.text("nobody's").await;
            agent.answer(&request, json!({})).await;
        }
        let close = agent.request("session/close").await;
        assert_eq!(close["params"]["sessionId"], SESSION);
        agent.answer(&close, json!({})).await;
        let session = open(&client, &mut agent, json!({})).await;
        assert_eq!(session.id(), SESSION);
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_does_not_close_what_was_opened_since() {
    let (client, mut agent) = remembered().await;
    drop(client.load_session(SESSION, "/code").await.unwrap());
    let first = agent.request("session/load").await;
    agent.notification("$/cancel_request").await;
    let second = client.load_session(SESSION, "/code").await.unwrap();
    let request = agent.request("session/load").await;
    agent.answer(&first, json!({})).await;
    agent.answer(&request, json!({})).await;
    let _session = second.end().await.unwrap();
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_dies_while_it_loads_is_told_after_its_last_words() {
    let (client, mut agent) = remembered().await;
    let mut loading = client.load_session(SESSION, "/code").await.unwrap();
    agent.request("session/load").await;
    agent.text("last words").await;
    agent.hang_up();
    let since = Instant::now();
    assert_eq!(brief(&loading.next().await.unwrap()), "last words");
    let error = loading.end().await.unwrap_err();
    assert!(matches!(error, ClientError::Died(_)), "{error}");
    assert!(since.elapsed() <= SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_resumed_without_its_history() {
    let (client, mut agent) = remembered().await;
    let serve = async {
        let resume = agent.request("session/resume").await;
        assert_eq!(
            resume["params"],
            json!({"sessionId": SESSION, "cwd": "/code", "mcpServers": []})
        );
        // Some replay all the same: more than is kept between turns.
        for n in 0..600 {
            agent.text(&n.to_string()).await;
        }
        agent.answer(&resume, json!({"modes": modes()})).await;
    };
    let (session, ()) = tokio::join!(client.resume_session(SESSION, "/code"), serve);
    let mut session = session.unwrap();
    assert_eq!(session.modes().unwrap().current_mode_id, *"ask");
    let mut turn = session.prompt("go on").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.answer(&prompt, end_turn()).await;
    let expected: Vec<String> = (0..600).map(|n| format!("earlier {n}")).collect();
    assert_eq!(all(&mut turn).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_not_resumed_can_be_tried_again() {
    let (client, mut agent) = remembered().await;
    let resume = async |agent: &mut Agent, code: Option<i64>| {
        let serve = async {
            let request = agent.request("session/resume").await;
            match code {
                Some(code) => agent.refuse(&request, code).await,
                None => agent.answer(&request, json!({})).await,
            }
        };
        let (session, ()) = tokio::join!(client.resume_session(SESSION, "/code"), serve);
        session
    };
    let error = resume(&mut agent, Some(-32002)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "resume a session: the agent answered no (-32002)"
    );
    // Given up by its caller: it is closed when it succeeds after all.
    let given_up = timeout(SECOND, client.resume_session(SESSION, "/code")).await;
    assert!(given_up.is_err());
    let request = agent.request("session/resume").await;
    agent.notification("$/cancel_request").await;
    agent.answer(&request, json!({})).await;
    let close = agent.request("session/close").await;
    agent.answer(&close, json!({})).await;
    resume(&mut agent, None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_opened_when_nobody_waits_any_more_is_closed() {
    let (client, mut agent) = remembered().await;
    // Given up before the answer, and with the answer unread.
    for answered in [false, true] {
        let mut opening = Box::pin(client.new_session("/code"));
        assert!(futures_poll(&mut opening).is_none());
        let request = agent.request("session/new").await;
        if answered {
            agent.answer(&request, json!({"sessionId": SESSION})).await;
            agent.ask(7, "unknown/method", json!({})).await;
            agent.refusal(7).await;
            drop(opening);
        } else {
            drop(opening);
            agent.notification("$/cancel_request").await;
            agent.answer(&request, json!({"sessionId": SESSION})).await;
        }
        let close = agent.request("session/close").await;
        assert_eq!(close["params"]["sessionId"], SESSION);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_said_to_an_earlier_session_of_the_name_is_not_for_the_next() {
    let (client, session, mut agent) = opened(ClientOptions::new()).await;
    // Another session is being opened all the while, so early updates are kept.
    let mut other = Box::pin(client.new_session("/code"));
    assert!(futures_poll(&mut other).is_none());
    let first = agent.request("session/new").await;
    drop(session);
    agent.text("for the first").await;
    agent.ask(7, "unknown/method", json!({})).await;
    agent.refusal(7).await;
    let serve = async {
        let request = agent.request("session/new").await;
        agent.text("for the second").await;
        agent.answer(&request, json!({"sessionId": SESSION})).await;
    };
    let (second, ()) = tokio::join!(client.new_session("/code"), serve);
    let mut second = second.unwrap();
    assert_eq!(
        brief(&second.updates().next().await.unwrap()),
        "for the second"
    );
    agent.answer(&first, json!({"sessionId": "s-2"})).await;
    other.await.unwrap();
}

/// Polls a future once.
fn futures_poll<F: std::future::Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut cx) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}
