//! Several stores on one file.

use std::time::Duration;

use acp_agent::{
    host::{CatalogQuery, HostErrorKind, SessionId},
    kit::{History, HistoryError},
};
use acp_store::{SqliteHistory, StoreOptions};
use rusqlite::Connection;

use crate::support::{Place, failure, id, said, session, texts};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_write_at_once() {
    let place = Place::new();
    let write = async |history: SqliteHistory, name: &'static str| {
        history.create(session(name)).await.unwrap();
        for at in 0..100 {
            let records = said(&format!("{name}{at}"), &[&*at.to_string()]);
            history.append(&id(name), at, records).await.unwrap();
        }
    };
    let (one, two) = (place.open(), place.open());
    let (one, two) = (
        tokio::spawn(write(one, "one")),
        tokio::spawn(write(two, "two")),
    );
    one.await.unwrap();
    two.await.unwrap();
    let history = place.open();
    history.check().await.unwrap();
    let want: Vec<_> = (0..100).map(|at| at.to_string()).collect();
    for name in ["one", "two"] {
        assert_eq!(texts(&history, name).await, want);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_position_is_given_once() {
    let place = Place::new();
    place.open().create(session("s")).await.unwrap();
    // Each takes as many positions as it can get.
    let take = async |history: SqliteHistory, name: &'static str| {
        let s: SessionId = id("s");
        let mut taken = Vec::new();
        for turn in 0..50 {
            let at = history.get(&s).await.unwrap().unwrap().length;
            let text = format!("{name}{turn}");
            match history.append(&s, at, said(&text, &[&*text])).await {
                Ok(()) => taken.push(text),
                Err(HistoryError::Moved) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        taken
    };
    let (one, two) = (
        tokio::spawn(take(place.open(), "one")),
        tokio::spawn(take(place.open(), "two")),
    );
    let mut taken = one.await.unwrap();
    taken.extend(two.await.unwrap());
    let mut kept = texts(&place.open(), "s").await;
    taken.sort();
    kept.sort();
    assert_eq!(kept, taken);
}

#[tokio::test]
async fn a_store_waits_for_others_up_to_its_bound() {
    let place = Place::new();
    let options = StoreOptions::new().with_busy_timeout(Duration::from_millis(20));
    let history = options.open(&place.file).unwrap();
    history.create(session("s")).await.unwrap();

    let other = Connection::open(&place.file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = history
        .append(&id("s"), 0, said("t", &["a"]))
        .await
        .unwrap_err();
    let (public, cause) = failure(&error);
    assert_eq!(public, Some("the session history is in use; try again"));
    assert_eq!(
        cause.to_string(),
        "change the session history while another process does"
    );
    let HistoryError::Failed(error) = error else {
        unreachable!()
    };
    assert!(matches!(
        error.kind(),
        HostErrorKind::Busy {
            retry_after: Some(_)
        }
    ));
    // Reading never waits.
    assert_eq!(texts(&history, "s").await, [""; 0]);

    // One with more patience gets its turn.
    let patient = place.open();
    let waiting = tokio::spawn(async move { patient.append(&id("s"), 0, said("t", &["b"])).await });
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(texts(&history, "s").await, ["b"]);
}

#[tokio::test]
async fn a_crowd_is_served_in_turn() {
    let place = Place::new();
    let history = place.open();
    // More than the queue has places.
    let crowd: Vec<_> = (0..300)
        .map(|number| {
            let history = history.clone();
            tokio::spawn(async move {
                let name = format!("s{number}");
                history.create(session(&name)).await.unwrap();
                history.get(&id(&name)).await.unwrap().unwrap();
            })
        })
        .collect();
    for one in crowd {
        one.await.unwrap();
    }
    let all = history.list(CatalogQuery::new(999)).await.unwrap();
    assert_eq!(all.len(), 300);
}

#[tokio::test]
async fn a_change_that_nobody_waits_for_is_whole() {
    let place = Place::new();
    let history = place.open();
    history.create(session("s")).await.unwrap();
    let other = Connection::open(&place.file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    {
        // Begun, and then dropped while it waits for the other one.
        let s = id("s");
        let append = history.append(&s, 0, said("t", &["a", "b"]));
        let dropped = tokio::time::timeout(Duration::from_millis(1), append).await;
        dropped.unwrap_err();
    }
    other.execute_batch("COMMIT").unwrap();
    // It was asked for later, so it comes later.
    history.update(session("s")).await.unwrap();
    let texts = texts(&history, "s").await;
    assert!(texts.is_empty() || texts == ["a", "b"], "{texts:?}");
}
