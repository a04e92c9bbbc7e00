//! Beyond a bound there is an error, and all that was there remains.

use acp_agent::kit::{History, HistoryError};
use acp_store::{StoreError, StoreOptions};

use crate::support::{Place, failure, id, said, session, texts};

#[tokio::test]
async fn a_file_grows_to_its_bound() {
    let place = Place::new();
    let options = StoreOptions::new().with_max_file_bytes(200_000);
    let history = options.open(&place.file).unwrap();
    for name in ["s", "other"] {
        history.create(session(name)).await.unwrap();
    }
    let text = "x".repeat(20_000);
    let mut at = 0;
    let error = loop {
        match history
            .append(&id("s"), at, said(&format!("t{at}"), &[&*text]))
            .await
        {
            Ok(()) => at += 1,
            Err(error) => break error,
        }
        assert!(at < 20);
    };
    assert!(at > 5, "{at}");
    let (public, cause) = failure(&error);
    assert_eq!(public, Some("the session history is full"));
    assert!(matches!(cause, StoreError::Full));
    assert_eq!(texts(&history, "s").await.len() as u64, at);
    history.check().await.unwrap();

    // Deleting makes room.
    history.delete(&id("s")).await.unwrap();
    history
        .append(&id("other"), 0, said("t", &[&*text]))
        .await
        .unwrap();
    history.close().await;
    assert!(std::fs::metadata(&place.file).unwrap().len() <= 49 * 4096);
    assert_eq!(texts(&place.open(), "other").await, [text]);
}

#[tokio::test]
async fn a_record_has_a_bound() {
    let options = StoreOptions::new().with_max_record_bytes(100);
    let place = Place::new();
    let history = options.open(&place.file).unwrap();
    history.create(session("s")).await.unwrap();
    let long = "x".repeat(100);
    let error = history
        .append(&id("s"), 0, said("t", &["a", &*long]))
        .await
        .unwrap_err();
    let (public, cause) = failure(&error);
    assert_eq!(
        public,
        Some("the turn is too large for the session history")
    );
    assert!(
        matches!(
            cause,
            StoreError::TooLarge {
                bytes: 120,
                max: 100
            }
        ),
        "{cause:?}"
    );
    assert_eq!(texts(&history, "s").await, [""; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn paths_that_no_json_holds_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let history = place.open();
    let path = std::ffi::OsStr::from_bytes(b"/home/\xff");
    let mut given = session("s");
    given.entry.cwd = Some(path.into());
    let errors = [history.create(given.clone()).await.unwrap_err(), {
        given.entry.cwd = None;
        given.entry.additional_directories = vec![path.into()];
        history.create(given).await.unwrap_err()
    }];
    for error in errors {
        assert!(
            matches!(failure(&error), (None, StoreError::Unwritable { .. })),
            "{error:?}"
        );
    }
    let known = history.get(&id("s")).await;
    assert!(matches!(known, Ok(None)), "{known:?}");
    let missing = history.update(session("s")).await;
    assert!(matches!(missing, Err(HistoryError::NotFound)));
}
