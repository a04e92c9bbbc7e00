//! How things stand in the file. A file that was written once is read for ever:
//! where one of these texts has to change, the form of records gets a new number.

use acp_agent::{
    host::{
        Block, Cost, Diff, Json, Media, PlanEntry, PlanPriority, PlanStatus, Resource,
        ResourceLink, ToolCall, ToolContent, ToolEnd, ToolKind, ToolLocation, ToolProgress,
    },
    kit::{History, Record, RecordBody, RecordedEnd},
};
use acp_store::StoreError;
use expect_test::expect_file;
use rusqlite::Connection;

use crate::support::{Place, failure, id, read_all, session};

/// One of each.
fn everything() -> Vec<RecordBody> {
    let call = ToolCall::new("tool1", "edit", "Edit notes.md")
        .with_kind(ToolKind::Edit)
        .with_location(ToolLocation::new("/home/ada/notes.md").with_line(7))
        .with_input(Json::parse(r#"{ "b": 1.50, "a": [null] }"#).unwrap())
        .with_content(ToolContent::Diff(
            Diff::new("/home/ada/notes.md", "new\n").with_old_text("old\n"),
        ))
        .with_content(ToolContent::Terminal("term-1".to_owned()));
    let mut things = vec![
        RecordBody::Asked(vec![
            Block::text("Hi \u{0} \u{2028} \"you\" 😀"),
            Block::Link(
                ResourceLink::new("file:///a", "a")
                    .with_title("A")
                    .with_description("The first")
                    .with_media_type("text/plain")
                    .with_size(3),
            ),
            Block::Resource(Resource::text("file:///a", "aaa").with_media_type("text/plain")),
            Block::Resource(Resource::base64("file:///b", "YWFh")),
        ]),
        RecordBody::Said(Block::text("Hello")),
        RecordBody::Said(Block::Thinking("hm".to_owned())),
        RecordBody::Said(Block::Refusal("no".to_owned())),
        RecordBody::Said(Block::Image(
            Media::new("image/png", "iVBORw0=").with_uri("file:///p.png"),
        )),
        RecordBody::Said(Block::Audio(Media::new("audio/wav", "UklGRg=="))),
        RecordBody::ToolRequested(call.clone()),
        RecordBody::ToolStarted(call),
        RecordBody::ToolProgressed(
            ToolProgress::new("tool1")
                .with_title("Editing")
                .with_content(vec![ToolContent::text("…")])
                .with_locations(vec![ToolLocation::new("/x")]),
        ),
        RecordBody::ToolProgressed(ToolProgress::new("tool1")),
        RecordBody::ToolCompleted(
            ToolEnd::completed("tool1")
                .with_content(ToolContent::text("done"))
                .with_output(Json::parse("1e2").unwrap()),
        ),
        RecordBody::ToolCompleted(ToolEnd::failed("tool1")),
        RecordBody::Planned(vec![
            PlanEntry::new("one").with_status(PlanStatus::Completed),
            PlanEntry::new("two")
                .with_status(PlanStatus::InProgress)
                .with_priority(PlanPriority::High),
            PlanEntry::new("three").with_priority(PlanPriority::Low),
        ]),
        RecordBody::Used {
            used: 5,
            limit: 100,
            cost: None,
        },
        RecordBody::Compacted(vec![Block::text("in short")]),
        RecordBody::Forgotten { records: 3 },
    ];
    for end in [
        RecordedEnd::Done,
        RecordedEnd::MaxTokens,
        RecordedEnd::MaxSteps,
        RecordedEnd::Refused,
        RecordedEnd::Interrupted,
        RecordedEnd::Failed,
    ] {
        things.push(RecordBody::Ended(end));
    }
    things.push(RecordBody::Used {
        used: 5,
        limit: 100,
        cost: Some(Cost::new(0.25, "EUR")),
    });
    things
}

#[tokio::test]
async fn records_are_written_as_they_always_were() {
    let place = Place::new();
    let history = place.open();
    history.create(session("s")).await.unwrap();
    let records: Vec<_> = everything()
        .into_iter()
        .zip(0..)
        .map(|(what, number)| Record::new("turn".into(), number * 2, what))
        .collect();
    history.append(&id("s"), 0, records.clone()).await.unwrap();
    history.close().await;

    let file = Connection::open(&place.file).unwrap();
    let select = "SELECT form || ' ' || number || ' ' || body FROM record ORDER BY position";
    let mut select = file.prepare(select).unwrap();
    let rows = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let rows: Vec<_> = rows.map(|row| row.unwrap() + "\n").collect();
    expect_file!["records.txt"].assert_eq(&rows.concat());

    assert_eq!(read_all(&place.open(), "s").await.unwrap(), records);
}

#[tokio::test]
async fn what_a_newer_version_wrote_is_not_left_out() {
    let check = async |set: &str, public: &str, is_right: fn(&StoreError) -> bool| {
        let place = Place::new();
        let history = place.open_with(&["a", "b", "c"]).await;
        let file = Connection::open(&place.file).unwrap();
        let update = format!("UPDATE record SET {set} WHERE position = 1");
        assert_eq!(file.execute(&update, []).unwrap(), 1);
        let error = history.read(&id("s"), 0).await.unwrap_err();
        let (text, cause) = failure(&error);
        assert_eq!(text, Some(public));
        assert!(is_right(cause), "{cause:?}");
    };
    let newer = "the session was written by a newer version of this agent";
    check("form = 2", newer, |cause| {
        matches!(cause, StoreError::Newer { found: 2, known: 1 })
    })
    .await;
    check(r#"body = '{"Dreamt":"x"}'"#, newer, |cause| {
        matches!(cause, StoreError::UnknownRecord { .. })
    })
    .await;
    let damaged = "the session history is damaged";
    check(r#"body = '{"Said":{"Te'"#, damaged, |cause| {
        matches!(cause, StoreError::Damaged { .. })
    })
    .await;
    check("position = 7", damaged, |cause| {
        matches!(cause, StoreError::Damaged { .. })
    })
    .await;
}

#[tokio::test]
async fn a_check_finds_what_is_missing() {
    for damage in [
        "DELETE FROM record WHERE position = 1",
        "DELETE FROM record WHERE position = 2",
        "UPDATE session SET length = 4",
        "PRAGMA foreign_keys = OFF; DELETE FROM session",
    ] {
        let place = Place::new();
        let history = place.open_with(&["a", "b", "c"]).await;
        history.check().await.unwrap();
        Connection::open(&place.file)
            .unwrap()
            .execute_batch(damage)
            .unwrap();
        let error = history.check().await.unwrap_err();
        assert_eq!(
            failure(&error).0,
            Some("the session history is damaged"),
            "{damage}"
        );
    }
}
