//! Folders, policies and limits of one session, one handle or one call.

mod support;

use std::time::Duration;

use acp_client::{
    Allow, Client, ClientError, ClientOptions, ClientTimeouts, DecidedBy, PermissionRequest,
    Policy, Session, SessionSetup, TurnEvent,
};
use serde_json::{Value, json};
use support::{Agent, SESSION, dialed, opened, selected};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// Opens a session of this id in these folders.
async fn open(client: &Client, agent: &mut Agent, id: &str, setup: SessionSetup) -> Session {
    let serve = async {
        let request = agent.request("session/new").await;
        agent.answer(&request, json!({"sessionId": id})).await;
    };
    let (session, ()) = tokio::join!(client.new_session(setup), serve);
    session.unwrap()
}

/// The answer to a session that wants to edit a file.
async fn asks_to_edit(agent: &mut Agent, session: &str, path: &str) -> Value {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let tool = json!({"toolCallId": "t", "kind": "edit", "locations": [{"path": path}]});
    let ask = json!({"sessionId": session, "toolCall": tool, "options": options});
    agent.ask(1, "session/request_permission", ask).await;
    agent.result(1).await
}

#[tokio::test]
async fn one_policy_allows_edits_in_all_folders_of_each_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = |below: &str| dir.path().join(below);
    let named = |below: &str| path(below).to_str().unwrap().to_owned();
    for folder in ["a", "b", "c"] {
        std::fs::create_dir(path(folder)).unwrap();
    }
    let options = ClientOptions::new().with_permissions(Policy::allow(Allow::Edits));
    let folders = json!({"sessionCapabilities": {"additionalDirectories": {}}});
    let (client, mut agent) = dialed(options, folders).await;
    let both = SessionSetup::new(path("a")).with_additional_directories([path("b")]);
    let _first = open(&client, &mut agent, "first", both).await;
    let _second = open(&client, &mut agent, "second", path("c").into()).await;
    for (session, file, answer) in [
        ("first", "a/x", "yes"),
        ("first", "b/new/x", "yes"),
        ("first", "c/x", "no"),
        ("second", "c/x", "yes"),
        ("second", "a/x", "no"),
    ] {
        let answered = asks_to_edit(&mut agent, session, &named(file)).await;
        assert_eq!(answered, selected(answer), "{session} {file}");
    }
    // Held to folders of its own, it goes by those.
    let one = SessionSetup::new(path("a"))
        .with_additional_directories([path("b")])
        .with_permissions(Policy::new(Allow::Edits, path("b")));
    let _third = open(&client, &mut agent, "third", one).await;
    for (file, answer) in [("a/x", "no"), ("b/x", "yes")] {
        let answered = asks_to_edit(&mut agent, "third", &named(file)).await;
        assert_eq!(answered, selected(answer), "{file}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_may_have_a_handler_of_its_own() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let setup = SessionSetup::new("/code").with_permissions(async |ask: PermissionRequest| {
        assert_eq!(ask.folders().cwd().to_str(), Some("/code"));
        ask.select(&"yes".into()).unwrap()
    });
    let _own = open(&client, &mut agent, "own", setup).await;
    let _other = open(&client, &mut agent, "other", "/code".into()).await;
    assert_eq!(asks_to_edit(&mut agent, "own", "/x").await, selected("yes"));
    assert_eq!(
        asks_to_edit(&mut agent, "other", "/x").await,
        selected("no")
    );
    let setup = SessionSetup::new("/code").with_permissions_in_stream();
    let mut read = open(&client, &mut agent, "read", setup).await;
    let reading = async {
        let mut updates = read.updates();
        let Some(TurnEvent::Permission(pending)) = updates.next().await else {
            panic!("a permission request");
        };
        pending.select(&"yes".into()).unwrap();
    };
    let (answer, ()) = tokio::join!(asks_to_edit(&mut agent, "read", "/x"), reading);
    assert_eq!(answer, selected("yes"));
}

#[tokio::test(start_paused = true)]
async fn a_handle_bounds_the_time_of_its_own_calls() {
    let offers = json!({"sessionCapabilities": {"list": {}}});
    let (client, mut agent) = dialed(ClientOptions::new(), offers).await;
    let session = support::open(&client, &mut agent, json!({})).await;
    let hasty = client.clone().with_timeout(SECOND);
    let control = session.control().with_timeout(2 * SECOND);
    let begun = Instant::now();
    let errors = [
        (hasty.list_sessions().all().await.unwrap_err(), 1),
        (hasty.new_session("/code").await.unwrap_err(), 1),
        (
            // The session's word goes before that of its client.
            hasty
                .new_session(SessionSetup::new("/code").with_timeout(5 * SECOND))
                .await
                .unwrap_err(),
            5,
        ),
        (control.set_config_option("a", "b").await.unwrap_err(), 2),
        (
            session
                .control()
                .set_config_option("a", "b")
                .await
                .unwrap_err(),
            30,
        ),
        (client.list_sessions().all().await.unwrap_err(), 30),
    ];
    assert_eq!(begun.elapsed().as_secs(), 1 + 1 + 5 + 2 + 30 + 30);
    for (error, seconds) in errors {
        assert!(
            matches!(error, ClientError::TimedOut { after, .. } if after == seconds * SECOND),
            "{error}"
        );
        assert!(error.facts().unwrap().write_admitted);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_in_a_session_that_nobody_reads_is_refused_after_a_while() {
    let unread = 30 * SECOND;
    let options = ClientOptions::new()
        .with_permissions_in_stream()
        .with_timeouts(ClientTimeouts {
            unread,
            ..ClientTimeouts::default()
        });
    let (client, mut session, mut agent) = opened(options).await;
    let tool = json!({"toolCallId": "t"});
    let begun = Instant::now();
    agent.ask_permission(1, tool.clone()).await;
    assert_eq!(agent.result(1).await, selected("no"));
    assert_eq!(begun.elapsed(), unread);
    assert_eq!(client.decisions().newest()[0].by, DecidedBy::Nobody);
    // Somebody who comes in time has it, and may take their time.
    agent.ask_permission(2, tool.clone()).await;
    agent.hears_nothing_for(20 * SECOND).await;
    let mut updates = session.updates();
    let Some(TurnEvent::Permission(pending)) = updates.next().await else {
        panic!("a permission request");
    };
    drop(updates);
    agent.hears_nothing_for(600 * SECOND).await;
    pending.select(&"yes".into()).unwrap();
    assert_eq!(agent.result(2).await, selected("yes"));
    // A turn that runs is read, sooner or later.
    agent.ask_permission(3, tool.clone()).await;
    agent.hears_nothing_for(20 * SECOND).await;
    let mut turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.hears_nothing_for(600 * SECOND).await;
    let Some(TurnEvent::Permission(pending)) = turn.next().await else {
        panic!("a permission request");
    };
    pending.reject();
    assert_eq!(agent.result(3).await, selected("no"));
    agent.answer(&prompt, support::end_turn()).await;
    turn.end().await.unwrap();
    assert_eq!(*session.id(), *SESSION);
}
