//! What a client asks besides prompts: logins, lists, closing and deleting.

mod support;

use std::time::Duration;

use acp_client::limits::{MAX_ID, MAX_LIST_BYTES};
use acp_client::{Client, ClientError, ClientOptions};
use acp_protocol::v1::StopReason;
use serde_json::{Value, json};
use support::{Agent, SESSION, all, brief, dialed, open, pair};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

async fn with_sessions(capabilities: Value) -> (Client, Agent) {
    let capabilities = json!({"sessionCapabilities": capabilities});
    dialed(ClientOptions::new(), capabilities).await
}

fn sessions(ids: &[&str]) -> Value {
    ids.iter()
        .map(|id| json!({"sessionId": id, "cwd": "/code"}))
        .collect()
}

/// Answers `session/list` with these pages, and gives the parameters it was asked with.
async fn serve_pages(agent: &mut Agent, pages: Vec<Value>) -> Vec<Value> {
    let mut asked = Vec::new();
    for page in pages {
        let request = agent.request("session/list").await;
        asked.push(request["params"].clone());
        agent.answer(&request, page).await;
    }
    asked
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_over_its_pages() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    let odd = "ä \"quoted\" cursor";
    let pages = vec![
        json!({"sessions": sessions(&["a", "b"]), "nextCursor": odd}),
        // An empty page is not the end (B072).
        json!({"sessions": [], "nextCursor": "third"}),
        json!({"sessions": sessions(&["c"]), "nextCursor": null}),
    ];
    let read = async {
        let mut list = client.list_sessions().with_cwd("/code");
        let mut ids = Vec::new();
        while let Some(session) = list.next().await.unwrap() {
            ids.push(session.session_id.to_string());
        }
        assert!(list.next().await.unwrap().is_none(), "it stays ended");
        ids
    };
    let (ids, asked) = tokio::join!(read, serve_pages(&mut agent, pages));
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(
        asked,
        [
            json!({"cwd": "/code"}),
            json!({"cwd": "/code", "cursor": odd}),
            json!({"cwd": "/code", "cursor": "third"}),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_is_asked_for_when_it_is_read() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    let mut list = client.list_sessions();
    agent.hears_nothing_for(SECOND).await;
    let page = json!({"sessions": sessions(&["a"]), "nextCursor": "2"});
    let (first, _) = tokio::join!(list.next_page(), serve_pages(&mut agent, vec![page]));
    let first = first.unwrap().unwrap();
    assert_eq!(first.sessions.len(), 1);
    assert_eq!(first.next_cursor.as_deref(), Some("2"));
    agent.hears_nothing_for(SECOND).await;
    // Later, and elsewhere. An empty cursor leads nowhere.
    let mut list = client.list_sessions().with_cursor("2");
    let page = json!({"sessions": [], "nextCursor": ""});
    let (second, asked) = tokio::join!(list.next_page(), serve_pages(&mut agent, vec![page]));
    assert!(second.unwrap().unwrap().next_cursor.is_none());
    assert_eq!(asked, [json!({"cursor": "2"})]);
    assert!(list.next_page().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_not_waited_for_is_asked_for_again() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    let mut list = client.list_sessions();
    assert!(tokio::time::timeout(SECOND, list.next()).await.is_err());
    agent.request("session/list").await;
    agent.notification("$/cancel_request").await;
    let page = json!({"sessions": sessions(&["a"])});
    let (session, _) = tokio::join!(list.next(), serve_pages(&mut agent, vec![page]));
    assert_eq!(session.unwrap().unwrap().session_id, *"a");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_goes_round_is_an_error_and_no_endless_loop() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    // An agent that ignores the cursor, and one that goes round in a larger circle.
    for cursors in [vec!["x", "x"], vec!["x", "y", "x"]] {
        let count = cursors.len();
        let pages = cursors
            .iter()
            .map(|cursor| json!({"sessions": sessions(&["a"]), "nextCursor": cursor}))
            .collect();
        let (listed, _) =
            tokio::join!(client.list_sessions().all(), serve_pages(&mut agent, pages));
        let error = listed.unwrap_err();
        assert!(
            matches!(error, ClientError::EndlessList { pages } if pages == count),
            "{error}"
        );
    }
    // And one that always finds another cursor.
    let pages = (0..acp_client::limits::MAX_LIST_PAGES)
        .map(|n| json!({"sessions": [], "nextCursor": n.to_string()}))
        .collect();
    let (listed, _) = tokio::join!(client.list_sessions().all(), serve_pages(&mut agent, pages));
    assert!(matches!(listed, Err(ClientError::EndlessList { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_list_has_a_budget_in_bytes() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    let page = |cursor: Value| {
        let title = "t".repeat(MAX_LIST_BYTES / 2);
        json!({"sessions": [{"sessionId": "a", "cwd": "/", "title": title}], "nextCursor": cursor})
    };
    let pages = vec![page(json!("x")), page(json!(null))];
    let (listed, _) = tokio::join!(client.list_sessions().all(), serve_pages(&mut agent, pages));
    assert!(matches!(listed, Err(ClientError::ListTooLarge { .. })));
}

#[tokio::test(start_paused = true)]
async fn what_the_agent_does_not_offer_is_not_asked_for() {
    let (client, mut agent) = with_sessions(json!({})).await;
    let errors = [
        client.list_sessions().next().await.unwrap_err(),
        client.close_session("x").await.unwrap_err(),
        client.delete_session("x").await.unwrap_err(),
        client.logout().await.unwrap_err(),
    ];
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "sessionCapabilities.list",
            "sessionCapabilities.close",
            "sessionCapabilities.delete",
            "auth.logout"
        ]
        .map(|name| format!("use `{name}`, which the agent does not offer"))
    );
    let long = client.close_session("x".repeat(MAX_ID + 1)).await;
    assert!(matches!(
        long,
        Err(ClientError::SessionIdTooLong { bytes: 1025 })
    ));
    for empty in [
        client.close_session("").await,
        client.delete_session("").await,
    ] {
        assert!(matches!(empty, Err(ClientError::EmptySessionId)));
    }
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_login_is_one_of_those_the_agent_told_of() {
    let (client, mut agent) = pair(ClientOptions::new());
    let serve = async {
        let hello = agent.request("initialize").await;
        let answer = json!({
            "protocolVersion": 1,
            "agentCapabilities": {"auth": {"logout": {}}},
            "authMethods": [
                {"id": "key", "name": "API key"},
                {"id": "tty", "name": "Log in", "type": "terminal"},
            ],
        });
        agent.answer(&hello, answer).await;
        let login = agent.request("authenticate").await;
        assert_eq!(login["params"], json!({"methodId": "key"}));
        // Its user has to find a browser first.
        tokio::time::sleep(300 * SECOND).await;
        agent.answer(&login, json!({})).await;
        let logout = agent.request("logout").await;
        agent.answer(&logout, json!(null)).await;
        let login = agent.request("authenticate").await;
        agent.refuse(&login, -32603).await;
        agent.request("authenticate").await;
    };
    let work = async {
        client.dial().await.unwrap();
        // A terminal login is not for `authenticate`.
        for unknown in ["tty", "nothing"] {
            let error = client.authenticate(unknown).await.unwrap_err();
            let ClientError::UnknownLogin { method, offered } = error else {
                panic!("{error}");
            };
            assert_eq!(method.as_str(), unknown);
            assert_eq!(offered, ["key"]);
        }
        client.authenticate("key").await.unwrap();
        client.logout().await.unwrap();
        let refused = client.authenticate("key").await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "log in: the agent answered no (-32603)"
        );
        let start = Instant::now();
        let late = client.authenticate("key").await.unwrap_err();
        assert!(matches!(late, ClientError::TimedOut { .. }), "{late}");
        assert_eq!(start.elapsed(), 600 * SECOND);
    };
    tokio::join!(work, serve);
}

#[tokio::test(start_paused = true)]
async fn sessions_of_others_are_closed_and_deleted_by_name() {
    let (client, mut agent) = with_sessions(json!({"close": {}, "delete": {}})).await;
    let serve = async {
        for method in ["session/close", "session/delete"] {
            let request = agent.request(method).await;
            assert_eq!(request["params"], json!({"sessionId": "old"}));
            agent.answer(&request, json!({})).await;
        }
        let request = agent.request("session/delete").await;
        agent.refuse(&request, -32002).await;
    };
    let work = async {
        client.close_session("old").await.unwrap();
        client.delete_session("old").await.unwrap();
        client.delete_session("old").await.unwrap_err()
    };
    let (error, ()) = tokio::join!(work, serve);
    assert_eq!(
        error.to_string(),
        "delete the session: the agent answered no (-32002)"
    );
}

#[tokio::test(start_paused = true)]
async fn closing_a_session_ends_its_turn() {
    // With the agent's answer, if it gives one in time, and without it else.
    for answers in [true, false] {
        let (client, mut agent) = with_sessions(json!({"close": {}})).await;
        let mut session = open(&client, &mut agent, json!({})).await;
        let mut turn = session.prompt("work").await.unwrap();
        let prompt = agent.request("session/prompt").await;
        let serve = async {
            let close = agent.request("session/close").await;
            agent.text("last words").await;
            if answers {
                agent
                    .answer(&prompt, json!({"stopReason": "cancelled"}))
                    .await;
            }
            agent.answer(&close, json!({})).await;
        };
        let (closed, ()) = tokio::join!(session.close(), serve);
        closed.unwrap();
        assert_eq!(all(&mut turn).await, ["last words"]);
        match turn.end().await {
            Ok(end) => assert!(answers && end.stop_reason == StopReason::Cancelled),
            Err(error) => assert!(
                !answers && matches!(error, ClientError::SessionClosed),
                "{error}"
            ),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_does_not_go_on_unseen_where_the_agent_closes_no_sessions() {
    let (client, mut agent) = with_sessions(json!({})).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    let turn = session.prompt("work").await.unwrap();
    agent.request("session/prompt").await;
    let closed = session.close().await;
    assert!(matches!(closed, Err(ClientError::Unsupported { .. })));
    agent.notification("session/cancel").await;
    let end = turn.end().await;
    assert!(matches!(end, Err(ClientError::SessionClosed)), "{end:?}");
    agent.hears_nothing_for(60 * SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_deleted_ends_here_and_its_id_is_free() {
    let (client, mut agent) = with_sessions(json!({"delete": {}})).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    agent.text("for the first").await;
    let serve = async {
        let request = agent.request("session/delete").await;
        agent.answer(&request, json!({})).await;
        agent.text("late, for the first").await;
    };
    let (deleted, ()) = tokio::join!(client.delete_session(SESSION), serve);
    deleted.unwrap();
    let mut second = open(&client, &mut agent, json!({})).await;
    agent.text("for the second").await;
    // The first one is read to its end, and nothing of it is in the second.
    let mut updates = session.updates();
    let mut seen = Vec::new();
    while let Some(event) = updates.next().await {
        seen.push(brief(&event));
    }
    assert_eq!(seen, ["for the first", "late, for the first"]);
    drop(updates);
    let set = session.control().set_mode("x").await;
    assert!(matches!(set, Err(ClientError::SessionClosed)));
    assert!(matches!(
        session.prompt("more").await,
        Err(ClientError::SessionClosed)
    ));
    let mut updates = second.updates();
    assert_eq!(brief(&updates.next().await.unwrap()), "for the second");
    drop(updates);
    // Dropping the first takes nothing from the second.
    drop(session);
    agent.text("more for the second").await;
    let mut updates = second.updates();
    assert_eq!(brief(&updates.next().await.unwrap()), "more for the second");
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn pages_may_have_numbers() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    let pages = vec![
        json!({"sessions": sessions(&["a"]), "nextCursor": 2}),
        json!({"sessions": sessions(&["b"]), "nextCursor": 3.5}),
        json!({"sessions": sessions(&["c"]), "nextCursor": {"page": 4}}),
    ];
    let (listed, asked) =
        tokio::join!(client.list_sessions().all(), serve_pages(&mut agent, pages));
    let ids = listed.unwrap();
    let ids: Vec<_> = ids.iter().map(|one| one.session_id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(
        asked[1..],
        [json!({"cursor": "2"}), json!({"cursor": "3.5"})]
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_without_a_folder_is_of_the_folder_that_was_asked_for() {
    let (client, mut agent) = with_sessions(json!({"list": {}})).await;
    let page = json!({"sessions": [
        {"sessionId": "a"}, {"sessionId": "b", "cwd": null, "title": "B"},
        {"sessionId": "c", "cwd": "/code"}, {"title": "no id"}, 17,
    ]});
    let mut list = client.list_sessions().with_cwd("/code");
    let (listed, _) = tokio::join!(
        list.next_page(),
        serve_pages(&mut agent, vec![page.clone()])
    );
    let listed = listed.unwrap().unwrap();
    let folders = listed
        .sessions
        .iter()
        .map(|one| (one.session_id.as_str(), &*one.cwd));
    assert_eq!(
        folders.collect::<Vec<_>>(),
        [("a", "/code"), ("b", "/code"), ("c", "/code")]
    );
    assert_eq!((listed.left_out, list.left_out()), (2, 2));
    // Of a list of all folders nobody knows, and it is counted.
    let mut list = client.list_sessions();
    let (listed, _) = tokio::join!(list.next_page(), serve_pages(&mut agent, vec![page]));
    assert_eq!(listed.unwrap().unwrap().sessions.len(), 1);
    assert_eq!(list.left_out(), 4);
}
