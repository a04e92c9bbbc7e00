//! The history in memory: what it keeps, and what happens at its bounds.

use std::collections::BTreeMap;

use acp_agent::{
    demo::DemoAgent,
    host::{
        Block, CatalogEntry, CatalogOrder, CatalogQuery, ConfigValue, SessionId, ToolCall, ToolEnd,
        TurnId,
    },
    kit::{
        History, HistoryError, Kit, MemoryHistory, Record, RecordBody, RecordedEnd, StoredSession,
    },
};
use serde_json::json;

use crate::client::Client;

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn session(name: &str) -> StoredSession {
    StoredSession::new(CatalogEntry::new(id(name)).with_cwd("/home/ada"))
}

/// RecordBody one turn leaves when it says so many bytes.
fn turn(name: &str, bytes: usize) -> Vec<Record> {
    let turn = TurnId::from(name);
    let said = Block::text("x".repeat(bytes));
    let happened = [
        RecordBody::Asked(vec![Block::text(name)]),
        RecordBody::Said(said),
        RecordBody::Ended(RecordedEnd::Done),
    ];
    let records = (0..).zip(happened);
    records
        .map(|(number, what)| Record::new(turn.clone(), number, what))
        .collect()
}

async fn length(history: &MemoryHistory, name: &str) -> Option<u64> {
    let stored = history.get(&id(name)).await.unwrap();
    stored.map(|stored| stored.length)
}

async fn append(
    history: &MemoryHistory,
    name: &str,
    records: Vec<Record>,
) -> Result<(), HistoryError> {
    let at = length(history, name).await.ok_or(HistoryError::NotFound)?;
    history.append(&id(name), at, records).await
}

/// All records, and how many pages they made.
async fn read(history: &MemoryHistory, name: &str) -> (Vec<Record>, usize) {
    let (mut records, mut from, mut pages) = (Vec::new(), 0, 0);
    loop {
        let page = history.read(&id(name), from).await.unwrap();
        if page.records.is_empty() {
            return (records, pages);
        }
        (from, pages) = (page.next, pages + 1);
        records.extend(page.records);
    }
}

#[tokio::test]
async fn records_go_where_the_list_ends() {
    let history = MemoryHistory::new();
    history.create(session("a")).await.unwrap();
    let again = history.create(session("a")).await;
    assert!(matches!(again, Err(HistoryError::Exists)));
    append(&history, "a", turn("t1", 1)).await.unwrap();
    for at in [0, 2, 4] {
        let late = history.append(&id("a"), at, turn("t2", 1)).await;
        assert!(matches!(late, Err(HistoryError::Moved)), "at {at}");
    }
    append(&history, "a", turn("t2", 1)).await.unwrap();
    let want = [turn("t1", 1), turn("t2", 1)].concat();
    assert_eq!(read(&history, "a").await, (want.clone(), 1));
    // From the middle, and from behind the end.
    let page = history.read(&id("a"), 4).await.unwrap();
    assert_eq!((&page.records[..], page.next), (&want[4..], 6));
    let page = history.read(&id("a"), 9).await.unwrap();
    assert!(page.records.is_empty());
}

#[tokio::test]
async fn facts_are_replaced_but_time_and_length() {
    let history = MemoryHistory::new();
    history.create(session("a")).await.unwrap();
    append(&history, "a", turn("t1", 1)).await.unwrap();
    let before = history.get(&id("a")).await.unwrap().unwrap();
    let mut changed = session("a").with_length(99);
    changed.entry.title = Some("Plants".to_owned());
    let options = [("web".to_owned(), ConfigValue::Switch(true))];
    changed.options = BTreeMap::from(options);
    history.update(changed.clone()).await.unwrap();
    let after = history.get(&id("a")).await.unwrap().unwrap();
    assert_eq!(after.length, 3);
    assert!(before.entry.updated_at.is_some());
    assert_eq!(after.entry.updated_at, before.entry.updated_at);
    assert_eq!(after.entry.title.as_deref(), Some("Plants"));
    assert_eq!(after.options, changed.options);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let history = MemoryHistory::new();
    history.create(session("a")).await.unwrap();
    history.delete(&id("a")).await.unwrap();
    history.delete(&id("a")).await.unwrap();
    let not_found = |result: Result<(), HistoryError>| {
        assert!(matches!(result, Err(HistoryError::NotFound)), "{result:?}");
    };
    not_found(history.update(session("a")).await);
    not_found(history.append(&id("a"), 0, turn("t1", 1)).await);
    not_found(history.read(&id("a"), 0).await.map(drop));
    let listed = history.list(CatalogQuery::new(9)).await.unwrap();
    assert!(listed.is_empty());
}

#[tokio::test]
async fn a_long_session_is_read_in_pages() {
    let history = MemoryHistory::new();
    history.create(session("a")).await.unwrap();
    for number in 0..4 {
        let records = turn(&format!("t{number}"), 700 << 10);
        append(&history, "a", records).await.unwrap();
    }
    let (records, pages) = read(&history, "a").await;
    assert_eq!(records.len(), 12);
    assert_eq!(pages, 4);
}

#[tokio::test]
async fn the_oldest_turns_of_a_session_are_forgotten() {
    let history = MemoryHistory::new().with_max_session_bytes(1000);
    history.create(session("a")).await.unwrap();
    for name in ["t1", "t2", "t3"] {
        append(&history, "a", turn(name, 300)).await.unwrap();
    }
    assert_eq!(length(&history, "a").await, Some(9));
    let (records, _) = read(&history, "a").await;
    assert_eq!(records[0].body, RecordBody::Forgotten { records: 3 });
    assert_eq!(records[1..], [turn("t2", 300), turn("t3", 300)].concat());
    // Who had read the beginning reads on without the gap.
    let page = history.read(&id("a"), 3).await.unwrap();
    assert_eq!(page.records.len(), 6);
    // A turn is forgotten as a whole, however it was written.
    let mut begins = turn("t4", 500);
    let ends = begins.split_off(2);
    append(&history, "a", begins).await.unwrap();
    append(&history, "a", ends).await.unwrap();
    let (records, _) = read(&history, "a").await;
    assert_eq!(records[0].body, RecordBody::Forgotten { records: 9 });
    assert_eq!(records[1..], turn("t4", 500));
}

#[tokio::test]
async fn a_turn_that_fits_nowhere_is_refused() {
    let history = MemoryHistory::new().with_max_session_bytes(1000);
    history.create(session("a")).await.unwrap();
    append(&history, "a", turn("t1", 300)).await.unwrap();
    let refused = append(&history, "a", turn("t2", 1000)).await;
    let Err(HistoryError::Failed(error)) = refused else {
        panic!("{refused:?}");
    };
    assert!(error.public_text().unwrap().contains("too long"));
    // In pieces as well.
    append(&history, "a", turn("t3", 500)).await.unwrap();
    assert!(append(&history, "a", turn("t3", 500)).await.is_err());
    let (records, _) = read(&history, "a").await;
    assert_eq!(records.last(), turn("t3", 500).last());
}

#[tokio::test]
async fn the_session_that_rested_longest_is_forgotten() {
    let history = MemoryHistory::new()
        .with_max_sessions(2)
        .with_max_bytes(1000);
    history.create(session("a")).await.unwrap();
    history.create(session("b")).await.unwrap();
    append(&history, "a", turn("t1", 400)).await.unwrap();
    history.create(session("c")).await.unwrap();
    assert_eq!(length(&history, "b").await, None);
    assert_eq!(length(&history, "a").await, Some(3));
    // Too many bytes: the one that is written to is spared.
    append(&history, "c", turn("t1", 400)).await.unwrap();
    append(&history, "c", turn("t2", 400)).await.unwrap();
    assert_eq!(length(&history, "a").await, None);
    assert_eq!(length(&history, "c").await, Some(6));
}

#[tokio::test]
async fn lists_are_cut_where_they_are_asked_to() {
    let history = MemoryHistory::new();
    for name in ["b", "a", "d", "c"] {
        history.create(session(name)).await.unwrap();
    }
    let mut elsewhere = session("e");
    elsewhere.entry.cwd = Some("/elsewhere".into());
    history.create(elsewhere).await.unwrap();
    let list = async |query| {
        let listed = history.list(query).await.unwrap();
        let names: Vec<_> = listed.iter().map(|entry| entry.id.to_string()).collect();
        names.concat()
    };
    let by_id = |limit| CatalogQuery::new(limit).with_order(CatalogOrder::ById);
    let b = history.get(&id("b")).await.unwrap().unwrap();
    let b = b.entry.position();
    assert_eq!(list(by_id(9)).await, "abcde");
    assert_eq!(list(by_id(2)).await, "ab");
    assert_eq!(list(by_id(2).with_after(b.clone())).await, "cd");
    assert_eq!(list(by_id(9).with_cwd("/elsewhere")).await, "e");
    // In which something happened last.
    append(&history, "d", turn("t1", 1)).await.unwrap();
    append(&history, "b", turn("t1", 1)).await.unwrap();
    assert_eq!(list(CatalogQuery::new(4)).await, "bdec");
    assert_eq!(list(CatalogQuery::new(9).with_after(b)).await, "");
    let c = history.get(&id("c")).await.unwrap().unwrap();
    let behind = CatalogQuery::new(9).with_after(c.entry.position());
    assert_eq!(list(behind).await, "a");
}

/// Loads a session with these records, and gives what is told.
async fn load(history: MemoryHistory, name: &str) -> Vec<serde_json::Value> {
    let kit = Kit::new(DemoAgent::default()).with_history(history);
    let mut client = Client::ready(&kit.into_builder().build().unwrap()).await;
    let params = json!({"sessionId": name, "cwd": "/home/ada", "mcpServers": []});
    let (told, answer) = client.told("session/load", params).await;
    assert!(answer["result"].is_object(), "{answer}");
    told
}

#[tokio::test(start_paused = true)]
async fn a_client_is_told_of_what_was_forgotten() {
    let history = MemoryHistory::new().with_max_session_bytes(1000);
    history.create(session("a")).await.unwrap();
    for name in ["t1", "t2", "t3"] {
        append(&history, "a", turn(name, 300)).await.unwrap();
    }
    let told = load(history, "a").await;
    assert_eq!(told[0]["sessionUpdate"], "agent_thought_chunk");
    let text = told[0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("no longer remembered"), "{text}");
    assert_eq!(told[1]["content"]["text"], "t2");
    assert_eq!(told.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn tools_of_a_turn_that_was_killed_have_failed() {
    let history = MemoryHistory::new();
    history.create(session("a")).await.unwrap();
    let started = |turn: &str, tool: &str| {
        let call = ToolCall::new(tool, "run", "Run");
        Record::new(turn.into(), 1, RecordBody::ToolStarted(call))
    };
    let asked = |turn: &str| {
        let asked = RecordBody::Asked(vec![Block::text(turn)]);
        Record::new(turn.into(), 0, asked)
    };
    let done = RecordBody::ToolCompleted(ToolEnd::completed("b"));
    let records = vec![
        asked("t1"),
        started("t1", "a"),
        asked("t2"),
        started("t2", "b"),
        Record::new("t2".into(), 2, done),
        asked("t3"),
        started("t3", "c"),
    ];
    append(&history, "a", records).await.unwrap();
    let told = load(history, "a").await;
    let of = |tool: &str| -> Vec<_> {
        let updates = told.iter().filter(|update| update["toolCallId"] == tool);
        updates.map(|update| update["status"].clone()).collect()
    };
    assert_eq!(of("a"), ["in_progress", "failed"]);
    assert_eq!(of("b"), ["in_progress", "completed"]);
    assert_eq!(of("c"), ["in_progress", "failed"]);
    // In its place: before the next turn.
    let failed = told.iter().position(|update| update["status"] == "failed");
    let next = told
        .iter()
        .position(|update| update["content"]["text"] == "t2");
    assert!(failed < next);
}

#[test]
fn records_keep_the_form_in_which_stores_have_them() {
    let check = |what: RecordBody, want: serde_json::Value| {
        let record = Record::new("t1".into(), 7, what);
        let want = json!({"turn": "t1", "number": 7, "what": want});
        assert_eq!(serde_json::to_value(&record).unwrap(), want);
        assert_eq!(serde_json::from_value::<Record>(want).unwrap(), record);
    };
    check(
        RecordBody::Asked(vec![Block::text("hi")]),
        json!({"Asked": [{"Text": "hi"}]}),
    );
    check(
        RecordBody::Ended(RecordedEnd::MaxSteps),
        json!({"Ended": "MaxSteps"}),
    );
    check(
        RecordBody::Used {
            used: 1,
            limit: 2,
            cost: None,
        },
        json!({"Used": {"used": 1, "limit": 2}}),
    );
    check(
        RecordBody::Compacted(vec![Block::text("all")]),
        json!({"Compacted": [{"Text": "all"}]}),
    );
    check(
        RecordBody::Forgotten { records: 3 },
        json!({"Forgotten": {"records": 3}}),
    );
}
