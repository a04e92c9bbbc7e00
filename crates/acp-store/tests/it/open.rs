//! A file is made, or opened, or refused and left as it was.

use std::{fs, path::Path};

use acp_agent::{host::CatalogQuery, kit::History};
use acp_store::{OpenError, SqliteHistory};
use rusqlite::{Connection, config::DbConfig};
use sha2::{Digest as _, Sha256};

use crate::support::{Place, failure, id, said, session, texts};

/// A file with some sessions, closed.
async fn written() -> Place {
    let place = Place::new();
    let history = place.open();
    for name in ["a", "b", "c"] {
        history.create(session(name)).await.unwrap();
        let text = format!("{name} ").repeat(3000);
        for at in 0..20 {
            let records = said(&format!("{name}{at}"), &[&*text]);
            history.append(&id(name), at, records).await.unwrap();
        }
    }
    history.close().await;
    place
}

/// The hash of a file. One that is not there is as good as an empty one.
fn hash(file: &Path) -> [u8; 32] {
    Sha256::digest(fs::read(file).unwrap_or_default()).into()
}

/// Opens a file that must be refused, and looks whether it is as it was.
#[track_caller]
fn check(place: &Place, want: &str) -> OpenError {
    let hashes = || [&place.file, &place.log()].map(|file| hash(file));
    let before = hashes();
    let error = SqliteHistory::open(&place.file).unwrap_err();
    assert_eq!(hashes(), before, "{error:?}");
    let folder = place.folder.path().to_str().unwrap();
    assert_eq!(error.to_string().replace(folder, ""), want);
    error
}

#[tokio::test]
async fn a_new_file_is_for_the_user_alone() {
    let place = Place::new();
    let history = place.open();
    history.create(session("s")).await.unwrap();
    assert_eq!(
        place.names(),
        ["sessions.db", "sessions.db-shm", "sessions.db-wal"]
    );
    #[cfg(unix)]
    for name in place.names() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(place.folder.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    history.close().await;
    assert_eq!(place.names(), ["sessions.db"]);
}

#[tokio::test]
async fn many_may_open_a_new_file_at_once() {
    let place = Place::new();
    let opened: Vec<_> = std::thread::scope(|scope| {
        let open = || SqliteHistory::open(&place.file).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for (history, name) in opened.iter().zip('a'..) {
        history.create(session(&name.to_string())).await.unwrap();
    }
    let listed = opened[0].list(CatalogQuery::new(99)).await.unwrap();
    assert_eq!(listed.len(), 8);
    for history in opened {
        history.close().await;
    }
    assert_eq!(place.names(), ["sessions.db"]);
}

#[test]
fn a_file_needs_its_folder() {
    let mut place = Place::new();
    let file = |place: &Place, name: &str| place.folder.path().join(name);
    for (name, want) in [
        ("no/s.db", "find the folder of the session history /no/s.db"),
        (".", "open the session history : it is not a file"),
        ("..", "find the folder of the session history /.."),
    ] {
        place.file = file(&place, name);
        check(&place, want);
    }
    for name in ["", "/"] {
        let error = SqliteHistory::open(name).unwrap_err();
        assert!(matches!(error, OpenError::NoFolder { .. }), "{error:?}");
    }
    fs::write(file(&place, "plain"), "x").unwrap();
    place.file = file(&place, "plain/s.db");
    check(&place, "find the folder of the session history /plain/s.db");
    assert_eq!(place.names(), ["plain"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_no_file() {
    let place = Place::new();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &place.file, mode).unwrap();
    let error = SqliteHistory::open(&place.file).unwrap_err();
    assert!(matches!(error, OpenError::NotAFile { .. }), "{error:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn names_mean_nothing_special() {
    for name in [
        ":memory:",
        "file:x?mode=memory",
        "s.db?immutable=1",
        "ünï 'q' \"p\"",
    ] {
        let mut place = Place::new();
        place.file = place.folder.path().join(name);
        let history = place.open();
        history.create(session("s")).await.unwrap();
        history.close().await;
        assert_eq!(place.names(), [name]);
    }
    // As a link to a file elsewhere, whose log is there, too.
    let (place, other) = (Place::new(), Place::new());

    let text = "x".repeat(100_000);
    let _history = place.open_with(&[&*text]).await;
    std::os::unix::fs::symlink(&place.file, &other.file).unwrap();
    assert_eq!(texts(&other.open(), "s").await, [text]);
    assert_eq!(other.names(), ["sessions.db"]);
}

#[test]
fn what_is_no_history_is_left_alone() {
    for bytes in [
        b"hello".to_vec(),
        b"SQLite format 3\0".to_vec(),
        vec![0; 8192],
        (0..50_000_u32).map(|i| (i * i % 251) as u8).collect(),
    ] {
        let place = Place::new();
        fs::write(&place.file, bytes).unwrap();
        let error = check(
            &place,
            "open the session history /sessions.db: the file holds something else, or its beginning is damaged",
        );
        assert!(matches!(error, OpenError::NotAHistory { .. }));
        assert_eq!(place.names(), ["sessions.db"]);
    }
}

#[test]
fn an_empty_file_is_left_alone() {
    let place = Place::new();
    fs::write(&place.file, "").unwrap();
    let want = "open the session history /sessions.db: the file is empty; remove it, and a new history is begun";
    check(&place, want);
    // SQLite by itself would throw this away.
    fs::write(place.log(), "the log of something").unwrap();
    check(&place, want);
}

#[test]
fn databases_of_others_are_left_alone() {
    for mode in ["DELETE", "WAL"] {
        let place = Place::new();
        let other = Connection::open(&place.file).unwrap();
        let set = format!("PRAGMA journal_mode = {mode}");
        other
            .query_row(&set, [], |row| row.get::<_, String>(0))
            .unwrap();
        other
            .execute_batch("CREATE TABLE session (x); INSERT INTO session VALUES (1);")
            .unwrap();
        // Its log remains beside it.
        other
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .unwrap();
        other.close().unwrap();
        let error = check(
            &place,
            "open the session history /sessions.db: the file holds something else, or its beginning is damaged",
        );
        assert!(matches!(error, OpenError::NotAHistory { .. }));
    }
}

#[tokio::test]
async fn what_somebody_planted_is_not_run() {
    let trigger = "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END;";
    let view = "CREATE VIEW w AS SELECT load_extension('/tmp/x');";
    let index = "CREATE INDEX i ON session (abs(updated_at));";
    for planted in [trigger, view, index, "CREATE TABLE more (x);"] {
        let place = written().await;
        let other = Connection::open(&place.file).unwrap();
        other.execute_batch(planted).unwrap();
        other.close().unwrap();
        let error = SqliteHistory::open(&place.file).unwrap_err();
        let OpenError::Damaged { source, .. } = error else {
            panic!("{error:?}");
        };
        let want = "it holds tables, triggers or views of somebody else";
        assert_eq!(source.to_string(), want, "{planted}");
    }
    // In the place of what we make.
    let place = written().await;
    let other = Connection::open(&place.file).unwrap();
    other
        .execute_batch(
            "DROP INDEX session_in_folder; CREATE INDEX session_in_folder ON session (abs(key));",
        )
        .unwrap();
    other.close().unwrap();
    let error = SqliteHistory::open(&place.file).unwrap_err();
    let OpenError::Damaged { source, .. } = error else {
        panic!("{error:?}");
    };
    let want = "the index session_in_folder is missing, or was changed";
    assert_eq!(source.to_string(), want);
    // Planted while the store is open, it is not run either.
    let place = written().await;
    let history = place.open();
    let other = Connection::open(&place.file).unwrap();
    other.execute_batch(trigger).unwrap();
    history
        .append(&id("a"), 20, said("later", &["text"]))
        .await
        .unwrap();
    let count = "SELECT count(*) FROM record";
    let left: i64 = other.query_row(count, [], |row| row.get(0)).unwrap();
    assert!(left > 60, "{left}");
}

#[tokio::test]
async fn a_newer_form_is_left_alone() {
    let place = written().await;
    let newer = Connection::open(&place.file).unwrap();
    newer
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    // Only the log says so.
    newer.close().unwrap();
    let error = check(
        &place,
        "open the session history /sessions.db: it has form 99, and this program knows up to 2",
    );
    assert!(matches!(
        error,
        OpenError::Newer {
            found: 99,
            known: 2,
            ..
        }
    ));
}

#[tokio::test]
async fn a_form_that_becomes_newer_stops_an_open_store() {
    let place = written().await;
    let history = place.open();
    let newer = Connection::open(&place.file).unwrap();
    newer.pragma_update(None, "user_version", 3).unwrap();
    for error in [
        history
            .append(&id("a"), 20, said("t", &["x"]))
            .await
            .unwrap_err(),
        history.get(&id("a")).await.unwrap_err(),
    ] {
        let (public, cause) = failure(&error);
        assert_eq!(
            public,
            Some("the session was written by a newer version of this agent")
        );
        assert_eq!(
            cause.to_string(),
            "read form 3 of the session history; this program knows up to 2"
        );
    }
}

/// Changes the bytes of a file that was closed.
fn change(place: &Place, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(&place.file).unwrap();
    change(&mut bytes);
    fs::write(&place.file, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_file_is_left_alone() {
    let damaged = "open the session history /sessions.db: it is damaged";
    let not_ours = "open the session history /sessions.db: the file holds something else, or its beginning is damaged";
    type Damage = fn(&mut Vec<u8>);
    let damages: [(Damage, &str); 7] = [
        (|bytes| bytes.truncate(bytes.len() / 2), damaged),
        (|bytes| bytes.truncate(bytes.len() / 2 + 1000), damaged),
        (|bytes| bytes.truncate(bytes.len() - 1), damaged),
        (|bytes| bytes.truncate(4096), damaged),
        (|bytes| bytes.truncate(700), damaged),
        (|bytes| bytes[..16].fill(b'x'), not_ours),
        (|bytes| bytes[100..4096].fill(0), damaged),
    ];
    for (damage, want) in damages {
        let place = written().await;
        change(&place, damage);
        check(&place, want);
    }

    let place = written().await;
    let other = Connection::open(&place.file).unwrap();
    other
        .execute_batch("DROP TABLE record; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    other.close().unwrap();
    check(&place, damaged);
}

#[tokio::test]
async fn damage_that_is_found_later_ends_all_writing() {
    let place = written().await;
    // All pages but those with which it is opened.
    change(&place, |bytes| bytes[12 * 4096..].fill(0x5a));
    let before = hash(&place.file);
    let history = place.open();
    let errors = [
        history.check().await.unwrap_err(),
        history
            .append(&id("a"), 20, said("t", &["x"]))
            .await
            .unwrap_err(),
        history.create(session("new")).await.unwrap_err(),
        history.compact().await.unwrap_err(),
    ];
    for error in errors {
        let (public, cause) = failure(&error);
        assert_eq!(public, Some("the session history is damaged"));
        assert_eq!(
            cause.to_string(),
            "use the session history, which is damaged"
        );
    }
    history.close().await;
    assert_eq!(hash(&place.file), before);
}

#[tokio::test]
async fn what_was_killed_is_opened_with_its_log() {
    let place = Place::new();
    let _history = place.open_with(&["a", "b"]).await;
    let copy = place.killed();
    assert!(fs::metadata(copy.log()).unwrap().len() > 0);
    let killed = copy.open();
    killed.check().await.unwrap();
    assert_eq!(texts(&killed, "s").await, ["a", "b"]);
}

#[tokio::test]
async fn a_closed_store_says_so() {
    let place = Place::new();
    let history = place.open();
    let clone = history.clone();
    history.create(session("s")).await.unwrap();
    history.close().await;
    clone.close().await;
    for error in [
        clone.get(&id("s")).await.unwrap_err(),
        clone.create(session("t")).await.unwrap_err(),
    ] {
        let (public, cause) = failure(&error);
        assert_eq!(public, None);
        assert_eq!(
            cause.to_string(),
            "use the session history, which was closed"
        );
    }
}
