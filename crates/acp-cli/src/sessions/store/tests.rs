//! Files that are there, damaged, newer or gone.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::in_folder(dir.path().join("acp/sessions"));
    (dir, store)
}

fn claimed(store: &Store, name: &str) -> Hold {
    store
        .try_claim(&SessionKey::of_demo(name))
        .unwrap()
        .unwrap()
}

fn saved(store: &Store, name: &str, session: &str) -> Record {
    let hold = claimed(store, name);
    let mut record = Record::new(&SessionKey::of_demo(name), "/");
    record.go_on_in(session.into());
    hold.save(record.clone()).unwrap();
    record
}

#[test]
fn what_is_saved_is_there_for_the_next() {
    let (_dir, store) = store();
    let record = saved(&store, "one", "s-1");
    let hold = claimed(&store, "one");
    assert_eq!(hold.record(), Some(record));
    assert_eq!(claimed(&store, "two").record(), None);
    hold.update(|record| record.set_title("Title")).unwrap();
    drop(hold);
    let kept = claimed(&store, "one").record().unwrap();
    assert_eq!(kept.title.as_deref(), Some("Title"));
}

#[test]
fn nobody_else_may_look() {
    let (_dir, store) = store();
    saved(&store, "one", "s-1");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&store.folder), 0o700);
    for entry in fs::read_dir(&store.folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn one_holds_it_at_a_time() {
    let (_dir, store) = store();
    let hold = claimed(&store, "one");
    assert!(
        store
            .try_claim(&SessionKey::of_demo("one"))
            .unwrap()
            .is_none()
    );
    let _other = claimed(&store, "two");
    drop(hold);
    claimed(&store, "one");
}

#[test]
fn who_dies_while_writing_leaves_what_was_there() {
    let (_dir, store) = store();
    let record = saved(&store, "one", "s-1");
    let path = store.path(&SessionKey::of_demo("one"), RECORD);
    fs::write(path.with_extension("new"), "{\"version\":1,\"na").unwrap();
    let hold = claimed(&store, "one");
    assert_eq!((hold.record(), hold.aside()), (Some(record), None));
    hold.update(|record| record.set_title("Title")).unwrap();
    assert!(!path.with_extension("new").exists());
    assert_eq!(store.list(None).unwrap().records.len(), 1);
}

#[test]
fn what_is_damaged_is_put_aside_and_nothing_else() {
    let (_dir, store) = store();
    saved(&store, "one", "s-1");
    saved(&store, "two", "s-2");
    let path = store.path(&SessionKey::of_demo("one"), RECORD);
    for n in 1..=2 {
        fs::write(&path, format!("damage {n}")).unwrap();
        let listing = store.list(None).unwrap();
        assert_eq!(listing.unreadable, [path.as_path()]);
        assert_eq!(listing.records.len(), 1);
        let hold = claimed(&store, "one");
        assert_eq!(hold.record(), None);
        let aside = hold.aside().unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), format!("damage {n}"));
        hold.save(Record::new(&SessionKey::of_demo("one"), "/"))
            .unwrap();
    }
    assert_eq!(
        claimed(&store, "two").record().unwrap().name.as_str(),
        "two"
    );
}

#[test]
fn what_is_newer_is_left_alone() {
    let (_dir, store) = store();
    saved(&store, "one", "s-1");
    let path = store.path(&SessionKey::of_demo("one"), RECORD);
    let newer = r#"{"version":2,"is":"from the future"}"#;
    fs::write(&path, newer).unwrap();
    let refused = store.try_claim(&SessionKey::of_demo("one")).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn deleted_leaves_nothing() {
    let (_dir, store) = store();
    saved(&store, "one", "s-1");
    claimed(&store, "one").delete().unwrap();
    // Neither does one that never came to a record.
    claimed(&store, "two").leave_nothing().unwrap();
    assert_eq!(fs::read_dir(&store.folder).unwrap().count(), 0);
    assert!(store.list(None).unwrap().records.is_empty());
}

#[test]
fn sessions_are_listed_by_folder_the_last_used_first() {
    let (_dir, store) = store();
    for (name, used) in [("a", 10), ("b", 30), ("c", 20)] {
        saved(&store, name, "s");
        let hold = claimed(&store, name);
        hold.update(|record| record.used = used).unwrap();
    }
    let elsewhere = SessionKey {
        folder: "/home/ada/other".to_owned(),
        ..SessionKey::of_demo("a")
    };
    let hold = store.try_claim(&elsewhere).unwrap().unwrap();
    hold.save(Record::new(&elsewhere, "/")).unwrap();
    let names = |folder| -> Vec<String> {
        let records = store.list(folder).unwrap().records;
        records.iter().map(|it| it.name.to_string()).collect()
    };
    assert_eq!(names(Some("/home/ada/project")), ["b", "c", "a"]);
    assert_eq!(names(Some("/home/ada/other")), ["a"]);
    assert_eq!(names(None).len(), 4);
}

#[test]
fn sockets_have_paths_that_the_system_takes() {
    let (dir, store) = store();
    let socket = store.socket(&SessionKey::of_demo("one"));
    assert_eq!(socket.parent(), Some(store.folder.as_path()));
    let deep = Store::in_folder(dir.path().join("x".repeat(200)));
    let socket = deep.socket(&SessionKey::of_demo("one"));
    assert!(socket.as_os_str().len() <= 103, "{}", socket.display());
    let other = Store::in_folder(dir.path().join("y".repeat(200)));
    assert_ne!(other.socket(&SessionKey::of_demo("one")), socket);
    claimed(&deep, "one");
    assert_eq!(deep.sockets("/home/ada/project").unwrap(), [socket]);
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let (_dir, store) = store();
    let record = saved(&store, "one", "s-1");
    let hold = claimed(&store, "one");
    let mut long = record.clone();
    long.go_on_in("s".repeat(9 << 20).as_str().into());
    let refused = hold.save(long);
    assert!(matches!(refused, Err(StoreError::TooLong { bytes }) if bytes > 9 << 20));
    drop(hold);
    assert_eq!(claimed(&store, "one").record(), Some(record));
}
