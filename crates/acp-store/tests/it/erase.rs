//! What is deleted is gone from the file and its log.

use std::{fs, time::SystemTime};

use acp_agent::{host::CatalogQuery, kit::History};
use rusqlite::Connection;

use crate::support::{Place, id, said, session, texts};

const SECRET: &str = "the canary sings at midnight";

/// A store with a session that holds a secret, many times and in large records.
async fn with_secret(place: &Place) -> acp_store::SqliteHistory {
    let history = place.open();
    for name in ["kept", "secret"] {
        history.create(session(name)).await.unwrap();
    }
    for at in 0..40 {
        let turn = format!("t{at}");
        history
            .append(&id("kept"), at, said(&turn, &["plain"]))
            .await
            .unwrap();
        let text = SECRET.repeat(1 + usize::try_from(at).unwrap() * 10);
        history
            .append(&id("secret"), at, said(&turn, &[&*text]))
            .await
            .unwrap();
    }
    assert!(place.holds(SECRET));
    history
}

#[tokio::test]
async fn nothing_is_left_of_what_was_deleted() {
    let place = Place::new();
    let history = with_secret(&place).await;
    history.delete(&id("secret")).await.unwrap();
    assert!(!place.holds(SECRET));
    assert_eq!(fs::metadata(place.log()).unwrap().len(), 0);
    assert_eq!(texts(&history, "kept").await.len(), 40);
    history.check().await.unwrap();
}

#[tokio::test]
async fn the_log_is_emptied_when_nobody_reads_it_any_more() {
    let place = Place::new();
    let history = with_secret(&place).await;
    let other = Connection::open(&place.file).unwrap();
    other
        .execute_batch("BEGIN; SELECT count(*) FROM record;")
        .unwrap();
    history.delete(&id("secret")).await.unwrap();
    assert!(place.holds(SECRET), "the other one still reads it");
    let killed = place.killed();
    other.execute_batch("COMMIT").unwrap();
    place.is_rid_of(SECRET).await;
    // Whoever was killed meanwhile does it when it is started again.
    assert!(killed.holds(SECRET));
    let _history = killed.open();
    killed.is_rid_of(SECRET).await;
    assert_eq!(texts(&history, "kept").await.len(), 40);
}

#[tokio::test]
async fn old_sessions_are_forgotten_when_asked() {
    let place = Place::new();
    let history = place.open();
    for number in 0..150 {
        let name = format!("old{number:03}");
        history.create(session(&name)).await.unwrap();
        history
            .append(&id(&name), 0, said("t", &[SECRET]))
            .await
            .unwrap();
    }
    let between = SystemTime::now();
    // Something happens in one of them.
    history
        .append(&id("old007"), 1, said("u", &["a"]))
        .await
        .unwrap();
    history.create(session("new")).await.unwrap();

    assert_eq!(history.prune(SystemTime::UNIX_EPOCH).await.unwrap(), 0);
    assert_eq!(history.prune(between).await.unwrap(), 149);
    let listed = history.list(CatalogQuery::new(999)).await.unwrap();
    let names: Vec<_> = listed.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(names, ["new", "old007"]);
    assert_eq!(texts(&history, "old007").await, [SECRET, "a"]);
    history.delete(&id("old007")).await.unwrap();
    assert!(!place.holds(SECRET));
}

#[tokio::test]
async fn room_is_used_again_and_given_back() {
    let place = Place::new();
    let history = with_secret(&place).await;
    history.delete(&id("secret")).await.unwrap();
    let size = || fs::metadata(&place.file).unwrap().len();
    let full = size();
    history.create(session("again")).await.unwrap();
    let text = "x".repeat(usize::try_from(full / 2).unwrap());
    history
        .append(&id("again"), 0, said("t", &[&*text]))
        .await
        .unwrap();
    history.delete(&id("again")).await.unwrap();
    assert_eq!(size(), full);
    history.compact().await.unwrap();
    assert!(size() < full / 5, "{} of {full}", size());
    assert_eq!(texts(&history, "kept").await.len(), 40);
    history.check().await.unwrap();
}
