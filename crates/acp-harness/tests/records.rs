//! Records of sessions: claimed by one at a time, replaced as a whole, never fatal.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use acp_harness::record::{RecordError, SessionRecord, SessionRecords};
use tempfile::TempDir;

fn records() -> (TempDir, SessionRecords) {
    let dir = tempfile::tempdir().unwrap();
    let records = SessionRecords::in_folder(dir.path().join("deep/sessions"));
    (dir, records)
}

fn record(id: &str) -> SessionRecord {
    let created = UNIX_EPOCH + Duration::from_millis(1_795_990_146_133);
    SessionRecord::new(id, "codex", "/home/ada/project", created)
}

/// The one file of this kind.
fn file(dir: &TempDir, extension: &str) -> PathBuf {
    let mut files = fs::read_dir(dir.path().join("deep/sessions"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().unwrap() == extension);
    let file = files.next().unwrap();
    assert_eq!(files.next(), None);
    file
}

#[test]
fn a_record_is_found_by_who_comes_next() {
    let (dir, records) = records();
    let claim = records.try_claim("codex", "thread 1").unwrap();
    assert_eq!(claim.load().unwrap(), None);
    claim.save(&record("s-1")).unwrap();
    claim.save(&record("s-2")).unwrap();
    assert_eq!(claim.load().unwrap(), Some(record("s-2")));
    drop(claim);

    let claim = records.try_claim("codex", "thread 1").unwrap();
    assert_eq!(claim.load().unwrap(), Some(record("s-2")));
    let path = file(&dir, "json");
    let name = path.file_stem().unwrap().to_str().unwrap();
    assert!(
        name.len() == 32 && name.bytes().all(|c| c.is_ascii_hexdigit()),
        "{name}"
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        r#"{"version":1,"sessionId":"s-2","agent":"codex","cwd":"/home/ada/project","created":1795990146}"#
    );
    claim.forget().unwrap();
    claim.forget().unwrap();
    assert_eq!(claim.load().unwrap(), None);
}

#[test]
fn conversations_and_agents_are_kept_apart() {
    let (_dir, records) = records();
    let pairs = [
        ("codex", "1"),
        ("codex", "11"),
        ("codex1", "1"),
        ("gemini", "1"),
        ("codex", ""),
    ];
    let claims: Vec<_> = pairs
        .iter()
        .map(|(agent, key)| records.try_claim(agent, key).unwrap())
        .collect();
    for (claim, n) in claims.iter().zip(0..) {
        claim.save(&record(&format!("s-{n}"))).unwrap();
    }
    for (claim, n) in claims.iter().zip(0..) {
        assert_eq!(claim.load().unwrap(), Some(record(&format!("s-{n}"))));
    }
    assert_eq!(records.list().unwrap().len(), pairs.len());
}

#[test]
#[cfg(unix)]
fn only_the_owner_may_read_them() {
    use std::os::unix::fs::PermissionsExt;

    let (dir, records) = records();
    records
        .try_claim("codex", "1")
        .unwrap()
        .save(&record("s"))
        .unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file(&dir, "json")), 0o600);
    assert_eq!(mode(&file(&dir, "lock")), 0o600);
    assert_eq!(mode(&dir.path().join("deep/sessions")), 0o700);
}

#[test]
fn what_makes_no_sense_is_forgotten() {
    let (dir, records) = records();
    let claim = records.try_claim("codex", "1").unwrap();
    claim.save(&record("s")).unwrap();
    let path = file(&dir, "json");
    let too_long = fs::read_to_string(&path).unwrap() + &" ".repeat(70_000);
    for nonsense in [
        "",
        "s-1",
        "{\"sessionId\":\"s\"",
        "{}",
        "[]",
        r#"{"version":2,"sessionId":"s","agent":"a","cwd":"/","created":0}"#,
        r#"{"version":1,"sessionId":"","agent":"a","cwd":"/","created":0}"#,
        r#"{"version":1,"sessionId":"s","agent":"a","cwd":"/","created":18446744073709551615}"#,
        &too_long,
    ] {
        fs::write(&path, nonsense).unwrap();
        assert_eq!(claim.load().unwrap(), None, "{nonsense:.80}");
        assert!(!path.exists(), "{nonsense:.80}");
    }
    fs::write(&path, b"\xff\xfe").unwrap();
    assert_eq!(claim.load().unwrap(), None);
    // The conversation goes on.
    claim.save(&record("s-2")).unwrap();
    assert_eq!(claim.load().unwrap(), Some(record("s-2")));
}

#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;

    let (dir, records) = records();
    let claim = records.try_claim("codex", "1").unwrap();
    claim.save(&record("s")).unwrap();
    let (path, lock) = (file(&dir, "json"), file(&dir, "lock"));
    let elsewhere = dir.path().join("elsewhere.json");
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    assert_eq!(claim.load().unwrap(), None);
    assert!(elsewhere.exists() && path.symlink_metadata().is_err());

    symlink(&elsewhere, path.with_extension("new")).unwrap();
    claim.save(&record("s-2")).unwrap();
    assert!(!path.symlink_metadata().unwrap().is_symlink());
    drop(claim);

    fs::remove_file(&lock).unwrap();
    symlink(&elsewhere, &lock).unwrap();
    let refused = records.try_claim("codex", "1");
    assert!(matches!(refused, Err(RecordError::File(_))), "{refused:?}");
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_old_one() {
    let (dir, records) = records();
    let claim = records.try_claim("codex", "1").unwrap();
    claim.save(&record("s-1")).unwrap();
    let long = claim.save(&record(&"x".repeat(70_000))).unwrap_err();
    assert!(matches!(long, RecordError::TooLong { bytes } if bytes > 70_000));
    // Something is in the way that is no file.
    let in_the_way = file(&dir, "json").with_extension("new");
    fs::create_dir(&in_the_way).unwrap();
    claim.save(&record("s-2")).unwrap_err();
    fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(claim.load().unwrap(), Some(record("s-1")));
    // What was left by who died while writing is not in the way.
    fs::write(&in_the_way, "half").unwrap();
    claim.save(&record("s-2")).unwrap();
    assert_eq!(claim.load().unwrap(), Some(record("s-2")));
}

#[tokio::test(start_paused = true)]
async fn one_waits_for_who_is_there_as_long_as_one_likes() {
    let (_dir, records) = records();
    let first = records.try_claim("codex", "1").unwrap();
    assert!(matches!(
        records.try_claim("codex", "1"),
        Err(RecordError::Busy)
    ));
    let begun = tokio::time::Instant::now();
    let late = records.claim("codex", "1", Duration::from_secs(3)).await;
    assert!(matches!(late, Err(RecordError::Busy)));
    assert_eq!(begun.elapsed(), Duration::from_secs(3));

    let leave = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(first);
    };
    let next = records.claim("codex", "1", Duration::MAX);
    let (next, ()) = tokio::join!(next, leave);
    next.unwrap();
}

#[test]
fn sweeping_takes_the_old_and_leaves_the_claimed() {
    let (dir, records) = records();
    let claimed = records.try_claim("codex", "1").unwrap();
    claimed.save(&record("s-1")).unwrap();
    records
        .try_claim("codex", "2")
        .unwrap()
        .save(&record("s-2"))
        .unwrap();
    assert_eq!(records.sweep(Duration::from_secs(3600)).unwrap(), 0);
    assert_eq!(records.list().unwrap().len(), 2);
    assert_eq!(records.sweep(Duration::ZERO).unwrap(), 1);
    assert_eq!(records.list().unwrap(), [record("s-1")]);
    drop(claimed);
    assert_eq!(records.sweep(Duration::ZERO).unwrap(), 1);
    assert_eq!(
        fs::read_dir(dir.path().join("deep/sessions"))
            .unwrap()
            .count(),
        0
    );
    let nowhere = SessionRecords::in_folder(dir.path().join("none"));
    assert_eq!(nowhere.sweep(Duration::ZERO).unwrap(), 0);
    assert_eq!(nowhere.list().unwrap(), []);
}

/// Many claim one conversation at once and count, while somebody removes the files of
/// locks that nobody holds: no two have it at once, so no count is lost.
#[test]
fn no_two_have_a_conversation_at_once() {
    const WORKERS: usize = 4;
    const TURNS: usize = 50;

    let (_dir, records) = records();
    let inside = AtomicBool::new(false);
    let done = AtomicBool::new(false);
    let turn = || loop {
        match records.try_claim("codex", "1") {
            Ok(claim) => {
                assert!(!inside.swap(true, Ordering::SeqCst), "two are inside");
                let count = claim.load().unwrap().map_or(0, |record| {
                    record.session_id.as_str().parse::<usize>().unwrap()
                });
                claim.save(&record(&(count + 1).to_string())).unwrap();
                inside.store(false, Ordering::SeqCst);
                return;
            }
            Err(RecordError::Busy) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| scope.spawn(|| (0..TURNS).for_each(|_| turn())))
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                // Another conversation comes and goes, and its lock with it.
                if let Ok(claim) = records.try_claim("codex", "2") {
                    claim.save(&record("x")).unwrap();
                    claim.abandon().unwrap();
                }
            }
        });
        for worker in workers {
            worker.join().unwrap();
        }
        done.store(true, Ordering::SeqCst);
    });
    let claim = records.try_claim("codex", "1").unwrap();
    let count = claim.load().unwrap().unwrap().session_id;
    assert_eq!(count, (WORKERS * TURNS).to_string().as_str());
}

/// The same when each who leaves takes the file of the lock along: the count cannot be
/// kept then, and still no two are inside at once.
#[test]
fn a_lock_that_is_removed_is_not_taken_twice() {
    let (_dir, records) = records();
    let inside = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut turns = 0;
                while turns < 100 {
                    match records.try_claim("codex", "1") {
                        Ok(claim) => {
                            assert!(!inside.swap(true, Ordering::SeqCst), "two are inside");
                            std::thread::yield_now();
                            inside.store(false, Ordering::SeqCst);
                            claim.abandon().unwrap();
                            turns += 1;
                        }
                        Err(RecordError::Busy) => std::thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
}

#[test]
fn times_before_the_epoch_are_the_epoch() {
    let long_ago = UNIX_EPOCH - Duration::from_secs(5);
    let record = SessionRecord::new("s", "a", "/", long_ago);
    assert_eq!(record.created, UNIX_EPOCH);
    let now = SessionRecord::new("s", "a", "/", SystemTime::now());
    assert!(now.created <= SystemTime::now());
}
