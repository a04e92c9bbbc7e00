//! Lists of sessions.

use std::time::{Duration, UNIX_EPOCH};

use acp_agent::host::{CatalogEntry, SessionId};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Does, full_agent},
};

fn entry(id: &str, cwd: &str) -> CatalogEntry {
    CatalogEntry::new(SessionId::new(id).unwrap()).with_cwd(cwd)
}

fn ids(answer: &Value) -> Vec<&str> {
    let sessions = answer["result"]["sessions"].as_array();
    let sessions = sessions.unwrap_or_else(|| panic!("no list: {answer}"));
    sessions
        .iter()
        .map(|session| session["sessionId"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn what_the_catalog_knows_is_listed() {
    let (agent, strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let mut nowhere = entry("nowhere", "/");
    nowhere.cwd = None;
    *strings.script.entries.lock() = vec![
        entry("b", "/home/ada").with_title(""),
        entry("a", "/home/bob")
            .with_title("Notes")
            .with_additional_directories(vec!["/srv".into()])
            .with_updated_at(UNIX_EPOCH + Duration::from_millis(1_700_000_000_999)),
        nowhere,
    ];
    let answer = client.call("session/list", json!({})).await;
    let want = json!({"sessions": [
        {"sessionId": "a", "cwd": "/home/bob", "additionalDirectories": ["/srv"],
            "title": "Notes", "updatedAt": "2023-11-14T22:13:20Z"},
        {"sessionId": "b", "cwd": "/home/ada"},
    ]});
    assert_eq!(answer["result"], want);

    // Parameters may be left out.
    client
        .send(json!({"jsonrpc": "2.0", "id": "bare", "method": "session/list"}))
        .await;
    assert_eq!(client.next().await["result"], want);

    let answer = client
        .call("session/list", json!({"cwd": "/home/ada"}))
        .await;
    assert_eq!(ids(&answer), ["b"]);
    let answer = client.call("session/list", json!({"cwd": "/home"})).await;
    assert_eq!(ids(&answer), [""; 0]);
    for cwd in ["", "home", "/home/../ada", "/home/"] {
        let answer = client.call("session/list", json!({"cwd": cwd})).await;
        assert_eq!(answer["error"]["code"], -32602, "{cwd:?}: {answer}");
    }
    let answer = client.call("session/list", json!({"cwd": 7})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");

    strings
        .script
        .list
        .lock()
        .extend([Does::FailInPrivate, Does::Panic]);
    for _ in 0..2 {
        let answer = client.call("session/list", json!({})).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["message"], "session/list: the agent failed");
    }
}

#[tokio::test(start_paused = true)]
async fn long_lists_come_in_pages() {
    let (agent, strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let all = (0..250).map(|n| entry(&format!("s-{n:03}"), "/a"));
    strings.script.entries.lock().extend(all.rev());
    let mut seen = Vec::new();
    let (mut params, mut pages) = (json!({}), 0);
    loop {
        let answer = client.call("session/list", params).await;
        pages += 1;
        seen.extend(ids(&answer).into_iter().map(ToOwned::to_owned));
        match &answer["result"]["nextCursor"] {
            Value::Null => break,
            cursor => params = json!({"cursor": cursor}),
        }
    }
    assert_eq!(pages, 3);
    assert!(
        seen.iter()
            .enumerate()
            .all(|(n, id)| *id == format!("s-{n:03}"))
    );
    assert_eq!(seen.len(), 250);
    // The host is told where the page begins.
    let queries = strings.script.queries.lock();
    let after: Vec<_> = queries.iter().map(|query| query.after.clone()).collect();
    let at = |id: &str| Some(entry(id, "/a").position());
    assert_eq!(after, [None, at("s-099"), at("s-199")]);
}

#[tokio::test(start_paused = true)]
async fn a_cursor_is_good_for_its_agent_and_its_filter() {
    let (agent, strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let all = (0..150).map(|n| entry(&format!("s-{n:03}"), "/a"));
    strings.script.entries.lock().extend(all);
    let answer = client.call("session/list", json!({"cwd": "/a"})).await;
    let cursor = answer["result"]["nextCursor"].as_str().unwrap().to_owned();

    let good = json!({"cwd": "/a", "cursor": cursor});
    let answer = client.call("session/list", good.clone()).await;
    assert_eq!(ids(&answer).len(), 50);
    // The same agent on another connection.
    let mut other = Client::ready(&agent).await;
    assert_eq!(
        ids(&other.call("session/list", good.clone()).await).len(),
        50
    );

    let calls = strings.script.queries.lock().len();
    for bad in [
        json!({"cursor": cursor}),
        json!({"cursor": cursor, "cwd": "/b"}),
        json!({"cursor": ""}),
        json!({"cursor": "s-099"}),
        json!({"cursor": format!("{cursor}00"), "cwd": "/a"}),
    ] {
        let answer = client.call("session/list", bad.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{bad}: {answer}");
    }
    let (stranger, _strings) = full_agent();
    let mut stranger = Client::ready(&stranger).await;
    let answer = stranger.call("session/list", good).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(strings.script.queries.lock().len(), calls);
}
