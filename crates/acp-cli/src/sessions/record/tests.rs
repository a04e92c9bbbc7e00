//! What a record keeps, and for how long.

use super::*;

fn record() -> Record {
    Record::new(&SessionKey::of_demo("one"), "/home/ada/project/src")
}

fn turn(record: &mut Record, prompt: &str, report: &str) {
    record.begin_turn(prompt);
    record.end_turn(&TurnEnded {
        report: report.to_owned(),
        stop_reason: Some("end_turn".to_owned()),
    });
}

fn ids(record: &Record) -> Vec<&str> {
    record.session_ids().map(SessionId::as_str).collect()
}

#[test]
fn it_comes_back_as_it_was_written() {
    let mut record = record();
    record.go_on_in("s".into());
    turn(&mut record, "ask", "answer");
    record.begin_turn("killed");
    let written = serde_json::to_vec(&record).unwrap();
    assert_eq!(Record::read(&written), Ok(record));
}

#[test]
fn what_is_newer_is_not_damaged() {
    let written = serde_json::to_string(&record()).unwrap();
    let newer = written.replace("\"version\":1", "\"version\":2");
    assert_ne!(newer, written);
    assert_eq!(Record::read(newer.as_bytes()), Err(NoRecord::Newer));
    for damaged in ["", "{", "[]", "{\"version\":1}", &written[..100]] {
        let read = Record::read(damaged.as_bytes());
        assert_eq!(read, Err(NoRecord::Damaged), "{damaged}");
    }
}

#[test]
fn what_is_forgotten_goes_on_and_what_is_begun_anew_does_not() {
    let mut record = record();
    record.go_on_in("a".into());
    turn(&mut record, "first", "1");
    record.go_on_in("b".into());
    turn(&mut record, "second", "2");
    let said = record.transcript().to_text();
    assert!(
        said.contains("> first\n") && said.contains("> 2\n"),
        "{said}"
    );
    assert_eq!(ids(&record), ["b", "a"]);

    record.begin_anew();
    assert!(record.transcript().is_empty());
    assert_eq!((record.session_id.as_ref(), record.turns.len()), (None, 2));
    record.go_on_in("c".into());
    turn(&mut record, "third", "3");
    assert_eq!(record.about(), "third");
    assert!(!record.transcript().to_text().contains("first"));

    // Back to a session of before: to what was said there.
    record.take_up(&"a".into());
    assert_eq!(ids(&record), ["a", "c", "b"]);
    assert!(record.transcript().to_text().contains("> first\n"));
    // To one that nobody knew here, and to the same again.
    record.take_up(&"d".into());
    record.take_up(&"d".into());
    assert!(record.transcript().is_empty());
    assert_eq!(ids(&record), ["d", "a", "c", "b"]);
    let chapters: Vec<_> = record.turns.iter().map(|turn| turn.chapter).collect();
    assert_eq!((chapters, record.chapter), (vec![0, 0, 1], 2));
}

#[test]
fn what_was_closed_begins_anew() {
    let mut record = record();
    record.go_on_in("a".into());
    turn(&mut record, "first", "1");
    record.close();
    assert!(record.closed.is_some() && record.session_id.is_none());
    assert_eq!(
        (ids(&record), record.transcript().is_empty()),
        (vec!["a"], true)
    );
    record.go_on_in("b".into());
    assert_eq!(record.closed, None);
}

#[test]
fn how_a_turn_ended_is_told_also_when_nobody_saw_it() {
    let mut record = record();
    turn(&mut record, "ask", "answer");
    record.begin_turn("failed");
    record.end_turn(&TurnEnded::default());
    record.begin_turn("killed");
    record.add("and more");
    let ends: Vec<_> = record.turns.iter().map(Turn::end).collect();
    assert_eq!(ends, ["end_turn", "failed", "interrupted"]);
    let said = record.transcript().to_text();
    assert!(
        said.contains("user:\n> killed\nuser:\n> and more\n"),
        "{said}"
    );
}

#[test]
fn nothing_of_it_grows_without_end() {
    let mut record = record();
    let long = "ä".repeat(MAX_REPORT);
    for n in 0..40 {
        record.go_on_in(format!("s-{n}").as_str().into());
        turn(&mut record, &long, &long);
    }
    let first = &record.turns[0];
    assert!(first.prompt.cut && first.prompt.text.len() <= MAX_PROMPT);
    assert!(first.report.cut && first.report.text.len() <= MAX_REPORT);
    let kept: usize = record.turns.iter().map(Turn::bytes).sum();
    assert!(kept <= MAX_KEPT, "{kept}");
    assert_eq!(record.count(), 40);
    assert!(record.left_out > 0);

    for _ in 0..200 {
        record.add(&long);
    }
    let last = record.turns.last().unwrap();
    assert!(last.bytes() <= MAX_KEPT && !last.added.is_empty());

    for n in 0..MAX_TURNS + 10 {
        record.go_on_in(format!("t-{n}").as_str().into());
        turn(&mut record, "x", "y");
    }
    assert_eq!(record.turns.len(), MAX_TURNS);
    assert_eq!(record.former.len(), MAX_FORMER);
    record.set_title(&long);
    assert!(record.about().len() <= 4 * MAX_TITLE);
}
