//! Updates: told once, counted, joined, waited for; and how they end.

mod support;

use std::time::Duration;

use acp_client::{
    ClientError, ClientOptions, Flow, Session, SessionEndCause, SessionSetup, TurnEvent,
};
use acp_protocol::rpc::Limits;
use serde_json::{Value, json};
use support::{Agent, SESSION, all, brief, chunk, dialed, end_turn, open, opened};
use tokio::time::{Instant, timeout};

const SECOND: Duration = Duration::from_secs(1);

/// An update that says which event it tells of.
async fn event(agent: &mut Agent, text: &str, meta: Value) {
    let params = json!({"sessionId": SESSION, "update": chunk(text), "_meta": meta});
    agent
        .say(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
        .await;
}

/// Waits until everything the agent said was received.
async fn received(agent: &mut Agent) {
    agent.ask(7, "unknown/method", json!({})).await;
    agent.refusal(7).await;
}

/// Everything that is there between turns.
async fn pending(session: &mut Session) -> Vec<String> {
    let mut seen = Vec::new();
    let mut updates = session.updates();
    while let Ok(Some(event)) = timeout(SECOND, updates.next()).await {
        seen.push(brief(&event));
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_told_of_twice_is_read_once() {
    let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
    event(&mut agent, "a", json!({"eventId": "1"})).await;
    event(&mut agent, "b", json!({"eventId": "2", "promptId": "p"})).await;
    event(&mut agent, "a again", json!({"eventId": "1"})).await;
    // History is no repetition, and what has no name is never the same.
    event(&mut agent, "old", json!({"eventId": "1", "isReplay": true})).await;
    for meta in [
        json!(null),
        json!({}),
        json!({"eventId": ""}),
        json!({"eventId": 1}),
        json!({"eventId": "x".repeat(257)}),
    ] {
        event(&mut agent, "one", meta.clone()).await;
        event(&mut agent, "two", meta).await;
    }
    received(&mut agent).await;
    let mut expected = vec!["a", "b", "old"];
    expected.extend(["one", "two"].repeat(5));
    assert_eq!(pending(&mut session).await, expected);
    let counters = session.counters();
    assert_eq!(
        (counters.received, counters.delivered, counters.deduped),
        (14, 13, 1)
    );
    assert_eq!((counters.dropped, counters.waiting), (0, 0));
    assert_eq!(client.counters(), counters);
    assert_eq!(session.control().counters(), counters);
}

#[tokio::test(start_paused = true)]
async fn exactly_512_events_are_remembered() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    for n in 0..512 {
        event(&mut agent, "x", json!({"eventId": n.to_string()})).await;
    }
    assert_eq!(pending(&mut session).await.len(), 512);
    event(&mut agent, "again", json!({"eventId": "0"})).await;
    event(&mut agent, "513th", json!({"eventId": "512"})).await;
    event(&mut agent, "forgotten", json!({"eventId": "0"})).await;
    assert_eq!(pending(&mut session).await, ["513th", "forgotten"]);
}

#[tokio::test(start_paused = true)]
async fn every_update_can_be_had() {
    let options = ClientOptions::new().without_deduplication();
    let (_client, mut session, mut agent) = opened(options).await;
    for _ in 0..3 {
        event(&mut agent, "a", json!({"eventId": "1"})).await;
    }
    assert_eq!(pending(&mut session).await, ["a", "a", "a"]);
    assert_eq!(session.counters().deduped, 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_loaded_is_never_a_repetition() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({"loadSession": true})).await;
    let serve = async {
        let load = agent.request("session/load").await;
        // This agent does not say that it replays.
        for text in ["a", "a again"] {
            event(&mut agent, text, json!({"eventId": "1"})).await;
        }
        agent.answer(&load, json!({})).await;
        event(&mut agent, "live", json!({"eventId": "1"})).await;
    };
    let load = async {
        let loading = client.load_session(SESSION, "/code").await.unwrap();
        loading.collect().await.unwrap()
    };
    let (mut loaded, ()) = tokio::join!(load, serve);
    assert_eq!(loaded.replay.len(), 2);
    assert_eq!(pending(&mut loaded.session).await, ["live"]);
}

#[tokio::test(start_paused = true)]
async fn an_update_tells_what_the_agent_noted_on_it() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let meta = json!({"eventId": "e", "promptId": "p", "isReplay": true});
    event(&mut agent, "x", meta).await;
    event(&mut agent, "y", json!({"eventId": [1], "isReplay": "yes"})).await;
    let mut updates = session.updates();
    let Some(TurnEvent::Update(noted)) = updates.next().await else {
        panic!("an update");
    };
    assert_eq!(
        (noted.event_id(), noted.prompt_id()),
        (Some("e"), Some("p"))
    );
    assert!(noted.is_replay());
    let Some(TurnEvent::Update(odd)) = updates.next().await else {
        panic!("an update");
    };
    assert_eq!((odd.event_id(), odd.prompt_id()), (None, None));
    assert!(!odd.is_replay());
}

#[tokio::test(start_paused = true)]
async fn the_newest_can_be_all_that_is_wanted() {
    // For one session, or for all of a client.
    let flow = Flow::DropOldest { depth: 512 };
    let for_all = ClientOptions::new().with_flow(flow);
    for (options, setup) in [
        (
            ClientOptions::new(),
            SessionSetup::new("/code").with_flow(flow),
        ),
        (for_all, SessionSetup::new("/code")),
    ] {
        let (client, mut agent) = dialed(options, json!({})).await;
        let serve = async {
            let request = agent.request("session/new").await;
            agent.answer(&request, json!({"sessionId": SESSION})).await;
        };
        let (session, ()) = tokio::join!(client.new_session(setup), serve);
        let mut session = session.unwrap();
        let mut turn = session.prompt("x").await.unwrap();
        let prompt = agent.request("session/prompt").await;
        for n in 0..600 {
            agent.text(&n.to_string()).await;
        }
        agent.answer(&prompt, end_turn()).await;
        received(&mut agent).await;
        assert_eq!(turn.control().counters().dropped, 88);
        let mut expected = vec!["gap 88".to_owned()];
        expected.extend((88..600).map(|n| n.to_string()));
        // The end has its place behind them.
        assert_eq!(all(&mut turn).await, expected);
        turn.end().await.unwrap();
        let counters = client.counters();
        assert_eq!((counters.delivered, counters.dropped), (512, 88));
    }
}

#[tokio::test(start_paused = true)]
async fn pieces_of_text_that_are_there_are_joined() {
    let options = ClientOptions::new().with_permissions_in_stream();
    let (_client, mut session, mut agent) = opened(options).await;
    agent.text("late, ").await;
    agent.text("of nobody").await;
    received(&mut agent).await;
    let mut turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    let thought = |text: &str| json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}});
    let of_message = |id: &str, text: &str| json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": {"type": "text", "text": text}});
    for text in ["one ", "two ", "three"] {
        agent.text(text).await;
    }
    agent.update(SESSION, thought("hm ")).await;
    agent.update(SESSION, thought("hm")).await;
    agent.update(SESSION, of_message("1", "a")).await;
    agent.update(SESSION, of_message("1", "b")).await;
    agent.update(SESSION, of_message("2", "c")).await;
    event(&mut agent, "d", json!({"eventId": "1"})).await;
    event(&mut agent, "d again", json!({"eventId": "1"})).await;
    event(&mut agent, "e", json!({"eventId": "2"})).await;
    event(&mut agent, "f", json!({"usage": 1})).await;
    agent.text("before ").await;
    agent.ask_permission(0, json!({"toolCallId": "t"})).await;
    agent.text("after").await;
    agent.answer(&prompt, end_turn()).await;
    received(&mut agent).await;

    let mut seen = Vec::new();
    let mut places = Vec::new();
    while let Some(event) = turn.next_merged().await {
        if let TurnEvent::Update(update) = &event {
            places.push(update.receive_seq.get());
            assert!(update.line.as_str().contains("sessionUpdate"));
        }
        seen.push(brief(&event));
        if let TurnEvent::Permission(pending) = event {
            pending.reject();
        }
    }
    assert_eq!(
        seen,
        [
            "earlier late, of nobody",
            "one two three",
            "agent_thought_chunk",
            "ab",
            "c",
            "de",
            "f",
            "before ",
            "asks t",
            "after"
        ]
    );
    // Each has the place of its last piece.
    let first = places[0];
    assert_eq!(
        places.iter().map(|place| place - first).collect::<Vec<_>>(),
        [0, 2, 4, 5, 8, 9, 10, 11]
    );
    let counters = turn.control().counters();
    assert_eq!((counters.received, counters.deduped), (16, 1));
    assert_eq!(counters.delivered, 15);
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn joining_waits_for_nothing_and_has_a_bound() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let mut updates = session.updates();
    agent.text("alone").await;
    assert_eq!(brief(&updates.next_merged().await.unwrap()), "alone");
    let half = "x".repeat(40 << 10);
    agent.text(&half).await;
    agent.text(&half).await;
    received(&mut agent).await;
    for _ in 0..2 {
        let piece = updates.next_merged().await.unwrap();
        assert_eq!(brief(&piece).len(), half.len());
    }
}

#[tokio::test(start_paused = true)]
async fn who_forwards_updates_can_wait_for_them() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    control.wait_updates().await.unwrap();
    let mut turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("one").await;
    received(&mut agent).await;
    assert!(timeout(SECOND, control.wait_updates()).await.is_err());
    // Taken, and not yet handled: its reader has not come back.
    let Some(TurnEvent::Update(one)) = turn.next().await else {
        panic!("an update");
    };
    let waiting = control.wait_updates_through(one.receive_seq);
    assert!(timeout(SECOND, waiting).await.is_err());
    let start = Instant::now();
    let reader = async {
        assert!(timeout(3 * SECOND, turn.next()).await.is_err());
    };
    let (reached, ()) = tokio::join!(control.wait_updates_through(one.receive_seq), reader);
    reached.unwrap();
    assert_eq!(start.elapsed(), 3 * SECOND);
    agent.answer(&prompt, end_turn()).await;
    let end = turn.end().await.unwrap();
    let reached = control.wait_updates_through(end.facts.response_seq);
    drop(session.updates());
    let reader = async { assert!(timeout(SECOND, session.updates().next()).await.is_err()) };
    let (reached, ()) = tokio::join!(reached, reader);
    reached.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_piece_that_was_joined_is_handled_when_its_reader_comes_back() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    let mut updates = session.updates();
    agent.text("one ").await;
    agent.text("two").await;
    received(&mut agent).await;
    let joined = updates.next_merged().await.unwrap();
    assert_eq!(brief(&joined), "one two");
    assert!(timeout(SECOND, control.wait_updates()).await.is_err());
    let reader = async { assert!(timeout(SECOND, updates.next_merged()).await.is_err()) };
    let (reached, ()) = tokio::join!(control.wait_updates(), reader);
    reached.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_place_that_is_still_to_come_is_waited_for() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let control = session.control();
    agent.text("one").await;
    let mut updates = session.updates();
    let Some(TurnEvent::Update(one)) = updates.next().await else {
        panic!("an update");
    };
    let next = one.receive_seq.plus(1);
    let waiting = control.wait_updates_through(next);
    let reader = async {
        assert!(timeout(SECOND, updates.next()).await.is_err());
        agent.text("two").await;
        assert!(updates.next().await.is_some());
        assert!(timeout(SECOND, updates.next()).await.is_err());
    };
    let since = Instant::now();
    let (reached, ()) = tokio::join!(waiting, reader);
    reached.unwrap();
    assert!(since.elapsed() >= SECOND);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_what_will_not_be_read() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    agent.text("unread").await;
    received(&mut agent).await;
    let control = session.control();
    let since = Instant::now();
    let dies = async {
        tokio::task::yield_now().await;
        agent.hang_up();
    };
    let (waited, ()) = tokio::join!(control.wait_updates(), dies);
    assert!(matches!(waited, Err(ClientError::Died(_))), "{waited:?}");
    assert!(since.elapsed() <= SECOND);

    let (client, session, mut agent) = opened(ClientOptions::new()).await;
    agent.text("unread").await;
    received(&mut agent).await;
    let control = session.control();
    let (waited, closed) = tokio::join!(control.wait_updates(), session.close());
    assert!(matches!(closed, Err(ClientError::Unsupported { .. })));
    assert!(
        matches!(waited, Err(ClientError::SessionClosed)),
        "{waited:?}"
    );
    let waited = control.wait_updates().await;
    assert!(matches!(waited, Err(ClientError::SessionClosed)));
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn updates_end_with_a_reason() {
    // The agent dies: what it said before is read first.
    let options = ClientOptions::new().with_limits(Limits::default().with_idle_updates(2));
    let (_client, mut session, mut agent) = opened(options.clone()).await;
    drop(session.updates().next());
    assert!(timeout(SECOND, session.updates().next()).await.is_err());
    for text in ["a", "b", "c", "d"] {
        agent.text(text).await;
    }
    received(&mut agent).await;
    agent.hang_up();
    let mut updates = session.updates();
    for expected in ["gap 2", "c", "d"] {
        assert!(updates.end().is_none());
        assert_eq!(brief(&updates.next().await.unwrap()), expected);
    }
    assert!(updates.next().await.is_none());
    let end = updates.end().unwrap();
    assert!(matches!(end.cause, SessionEndCause::Died(_)), "{end:?}");
    assert_eq!(end.dropped, 2);

    // The client is closed here.
    let (client, mut session, _agent) = opened(options).await;
    client.close().await;
    let mut updates = session.updates();
    assert!(updates.next().await.is_none());
    let end = updates.end().unwrap();
    assert!(
        matches!(end.cause, SessionEndCause::ClientClosed),
        "{end:?}"
    );

    // The session is deleted here.
    let delete = json!({"sessionCapabilities": {"delete": {}}});
    let (client, mut agent) = dialed(ClientOptions::new(), delete).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    let serve = async {
        let request = agent.request("session/delete").await;
        agent.answer(&request, json!({})).await;
    };
    let (deleted, ()) = tokio::join!(client.delete_session(SESSION), serve);
    deleted.unwrap();
    let mut updates = session.updates();
    assert!(updates.next().await.is_none());
    assert!(matches!(
        updates.end().unwrap().cause,
        SessionEndCause::SessionClosed
    ));
}
