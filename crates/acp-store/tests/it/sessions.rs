//! Sessions are begun, changed, gone on with, read, listed and deleted, and all
//! of it is there after a restart.

use std::{collections::BTreeMap, path::PathBuf, time::SystemTime};

use acp_agent::{
    host::{CatalogEntry, CatalogOrder, CatalogQuery, ConfigValue},
    kit::{History, HistoryError, StoredSession},
};
use acp_store::SqliteHistory;

use crate::support::{Place, id, read_all, said, session, texts};

#[tokio::test]
async fn facts_last() {
    let place = Place::new();
    let before = SystemTime::now();
    let entry = CatalogEntry::new(id("s"))
        .with_cwd("/home/ada/prøject")
        .with_additional_directories(vec!["/a".into(), "/b \"c\"".into()])
        .with_title("Nul \0 and more");
    let options = BTreeMap::from([
        ("mode".to_owned(), ConfigValue::Choice("act".to_owned())),
        ("loud".to_owned(), ConfigValue::Switch(true)),
    ]);
    let mut given = StoredSession::new(entry)
        .with_options(options)
        .with_length(7);

    let history = place.open();
    history.create(given.clone()).await.unwrap();
    assert!(matches!(
        history.create(given.clone()).await,
        Err(HistoryError::Exists)
    ));
    history.close().await;

    let history = place.open();
    let found = history.get(&id("s")).await.unwrap().unwrap();
    let created = found.entry.updated_at.unwrap();
    // Micros are kept.
    assert!(created + std::time::Duration::from_micros(1) > before);
    assert!(created <= SystemTime::now());
    (given.entry.updated_at, given.length) = (Some(created), 0);
    assert_eq!(found, given);

    let mut other = session("s").with_length(99);
    other.entry.updated_at = Some(SystemTime::UNIX_EPOCH);
    history.update(other.clone()).await.unwrap();
    let found = history.get(&id("s")).await.unwrap().unwrap();
    (other.entry.updated_at, other.length) = (Some(created), 0);
    assert_eq!(found, other);

    history
        .append(&id("s"), 0, said("t", &["a"]))
        .await
        .unwrap();
    let found = history.get(&id("s")).await.unwrap().unwrap();
    assert_eq!(found.length, 1);
    assert!(found.entry.updated_at.unwrap() >= created);
}

#[tokio::test]
async fn records_last_in_their_order() {
    let place = Place::new();
    let history = place.open();
    for name in ["a", "b"] {
        history.create(session(name)).await.unwrap();
    }
    history
        .append(&id("a"), 0, said("t1", &["1", "2"]))
        .await
        .unwrap();
    history
        .append(&id("b"), 0, said("t2", &["other"]))
        .await
        .unwrap();
    history
        .append(&id("a"), 2, said("t3", &["3"]))
        .await
        .unwrap();
    history.append(&id("a"), 3, Vec::new()).await.unwrap();
    drop(history);

    let history = place.open();
    let records = read_all(&history, "a").await.unwrap();
    assert_eq!(
        records,
        [said("t1", &["1", "2"]), said("t3", &["3"])].concat()
    );
    assert_eq!(texts(&history, "b").await, ["other"]);
    // From any position, also behind the end.
    let page = history.read(&id("a"), 2).await.unwrap();
    assert_eq!((page.records, page.next), (said("t3", &["3"]), 3));
    for end in [3, 4, u64::MAX] {
        let page = history.read(&id("a"), end).await.unwrap();
        assert_eq!((page.records.len(), page.next), (0, end));
    }
}

#[tokio::test]
async fn a_session_goes_on_at_its_end_only() {
    let place = Place::new();
    let history = place.open_with(&["a", "b"]).await;

    let check = async |at, records, is_success: bool, want: &[&str]| {
        let appended = history.append(&id("s"), at, records).await;
        match appended {
            Err(HistoryError::Moved) => assert!(!is_success),
            appended => assert!(appended.is_ok() && is_success, "{appended:?}"),
        }
        assert_eq!(texts(&history, "s").await, want);
    };
    let ab = ["a", "b"];
    // Another turn took the place; or there is a gap.
    check(0, said("u", &["a"]), false, &ab).await;
    check(1, said("u", &["a", "b"]), false, &ab).await;
    check(3, said("u", &["a"]), false, &ab).await;
    check(u64::MAX, said("u", &["a"]), false, &ab).await;
    check(1, Vec::new(), false, &ab).await;
    // The same once more, as a whole, a part of it, and with more behind it.
    check(0, said("t", &["a", "b"]), true, &ab).await;
    check(0, said("t", &["a"]), true, &ab).await;
    check(0, said("t", &["a", "b", "c"]), true, &["a", "b", "c"]).await;
    let mut mixed = said("t", &["a", "b", "c", "d"]);
    mixed[2].number = 9;
    check(0, mixed, false, &["a", "b", "c"]).await;
}

#[tokio::test]
async fn what_is_deleted_does_not_come_back() {
    let place = Place::new();
    let history = place.open();
    for name in ["kept", "gone", "never prompted"] {
        history.create(session(name)).await.unwrap();
        history.append(&id(name), 0, Vec::new()).await.unwrap();
    }
    history
        .append(&id("kept"), 0, said("t", &["a"]))
        .await
        .unwrap();
    history
        .append(&id("gone"), 0, said("t", &["b"]))
        .await
        .unwrap();
    for name in ["gone", "never prompted", "unknown", "gone"] {
        history.delete(&id(name)).await.unwrap();
    }
    history.close().await;

    let history = place.open();
    for name in ["gone", "never prompted", "unknown"] {
        assert_eq!(history.get(&id(name)).await.unwrap(), None);
        let all = [
            history.update(session(name)).await.err(),
            history
                .append(&id(name), 1, said("t", &["late"]))
                .await
                .err(),
            history.append(&id(name), 0, Vec::new()).await.err(),
            history.read(&id(name), 0).await.err(),
        ];
        for error in all {
            assert!(matches!(error, Some(HistoryError::NotFound)), "{error:?}");
        }
    }
    assert_eq!(texts(&history, "kept").await, ["a"]);
    // One that is made anew has nothing of the one before.
    history.create(session("gone")).await.unwrap();
    assert_eq!(read_all(&history, "gone").await.unwrap(), []);
}

#[tokio::test]
async fn lists_go_on_where_they_ended() {
    let place = Place::new();
    let history = place.open();
    // In the order of bytes, which is none of the order of letters.
    let names = ["B", "a", "a b", "é", "ß-\"quoted\"", "😀"];
    let mut by_bytes = names;
    by_bytes.sort_unstable();
    for name in names.iter().rev() {
        let mut session = session(name);
        if name.is_ascii() {
            session.entry.cwd = Some("/home/bob".into());
        }
        history.create(session).await.unwrap();
    }
    let mut nowhere = session("nowhere");
    nowhere.entry.cwd = None;
    history.create(nowhere).await.unwrap();

    // They were made from the last to the first.
    for (order, sorted) in [
        (CatalogOrder::ById, by_bytes),
        (CatalogOrder::NewestFirst, names),
    ] {
        check_pages(&history, order, &sorted).await;
    }
    let all = history.list(CatalogQuery::new(usize::MAX)).await.unwrap();
    assert_eq!(all.len(), names.len() + 1);
    assert_eq!(all[0].id.as_str(), "nowhere", "the newest");
    let none = CatalogQuery::new(9).with_cwd("/home/nobody");
    assert_eq!(history.list(none).await.unwrap(), []);

    // Events of a session bring it up.
    history
        .append(&id("😀"), 0, said("t", &["hi"]))
        .await
        .unwrap();
    let first = history.list(CatalogQuery::new(1)).await.unwrap();
    assert_eq!(first[0].id.as_str(), "😀");
}

/// Lists the sessions of a folder in pages of several sizes.
async fn check_pages(history: &SqliteHistory, order: CatalogOrder, sorted: &[&str]) {
    for limit in 1..5 {
        let mut query = CatalogQuery::new(limit).with_order(order);
        query.cwd = Some(PathBuf::from("/home/bob"));
        let mut listed = Vec::new();
        loop {
            let page = history.list(query.clone()).await.unwrap();
            assert!(page.len() <= limit);
            let is_last = page.len() < limit;
            query.after = page.last().map(CatalogEntry::position).or(query.after);
            listed.extend(page.into_iter().map(|entry| entry.id.to_string()));
            if is_last {
                break;
            }
        }
        let ascii: Vec<_> = sorted.iter().filter(|name| name.is_ascii()).collect();
        let ascii: Vec<_> = ascii.iter().map(|name| **name).collect();
        assert_eq!(listed, ascii, "{order:?}");
    }
}

#[tokio::test]
async fn a_long_session_is_read_in_pages() {
    let place = Place::new();
    let history = place.open();
    history.create(session("long")).await.unwrap();
    let text = "x".repeat(100_000);
    let mut at = 0;
    for turn in 0..30 {
        let records = said(&format!("t{turn}"), &[&*text]);
        history.append(&id("long"), at, records).await.unwrap();
        at += 1;
    }
    let large = "y".repeat(5 << 20);
    history
        .append(&id("long"), at, said("large", &[&*large]))
        .await
        .unwrap();
    let many: Vec<_> = (0..3000).map(|_| "z").collect();
    history
        .append(&id("long"), at + 1, said("many", &many))
        .await
        .unwrap();

    let (mut from, mut pages) = (0, Vec::new());
    loop {
        let page = history.read(&id("long"), from).await.unwrap();
        if page.records.is_empty() {
            break;
        }
        pages.push(page.records.len());
        from = page.next;
    }
    assert_eq!(from, 30 + 1 + 3000);
    // 1 MiB, or 1,024 records, and the record with which it is full.
    assert_eq!(pages, [11, 11, 9, 1024, 1024, 952]);
}
