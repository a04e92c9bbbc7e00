//! The short way to write an update writes what the long way writes.

use acp_protocol::{
    Meta, Notification,
    rpc::frame::{self, TextHead, UpdateHead},
    v1::{ContentBlock, ContentChunk, Plan, SessionNotification, SessionUpdate},
};

#[test]
fn an_update_is_written_as_its_notification() {
    let session = "a \"session\"";
    let chunk = ContentChunk::new(ContentBlock::text("one\ntwo")).with_message_id("m-1");
    let update = SessionUpdate::AgentMessageChunk(chunk);
    let head = UpdateHead::new(session);
    for meta in [None, Some(r#"{"eventId":"t:1"}"#)] {
        let mut notification = SessionNotification::new(session, update.clone());
        notification.meta = meta.map(|meta| serde_json::from_str(meta).unwrap());
        let (mut short, mut long) = (Vec::new(), Vec::new());
        frame::update(&mut short, &head, &update, meta).unwrap();
        frame::notification(&mut long, SessionNotification::METHOD, &notification).unwrap();
        assert_eq!(short, long);
    }
}

#[test]
fn a_piece_of_text_is_written_as_its_update() {
    let head = UpdateHead::new(r#""text":"""#);
    let chunk = |text: &str| {
        let meta = Meta::from_iter([("refusal".to_owned(), true.into())]);
        let chunk = ContentChunk::new(ContentBlock::text(text)).with_message_id("m\"-1");
        [
            SessionUpdate::AgentThoughtChunk(chunk.clone()),
            SessionUpdate::AgentMessageChunk(chunk.with_meta(meta)),
        ]
    };
    let long = "\"long\"\t".repeat(1000);
    for kind in 0..2 {
        let piece = |text| chunk(text)[kind].clone();
        let around = [r#"{"eventId":"t:"#, r#"","promptId":"p"}"#];
        let plain = TextHead::new(&head, &piece(""), None).unwrap();
        let numbered = TextHead::new(&head, &piece("\"text\":\"\""), Some(around)).unwrap();
        for (number, text) in [(0, ""), (7, "one\ntwo"), (u64::MAX, &long)] {
            let meta = around.join(&number.to_string());
            for (text_head, meta) in [(&plain, None), (&numbered, Some(&*meta))] {
                let (mut short, mut long) = (Vec::new(), Vec::new());
                frame::text(&mut short, text_head, text, number);
                frame::update(&mut long, &head, &piece(text), meta).unwrap();
                assert_eq!(short, long);
            }
        }
    }
    let told = SessionUpdate::Plan(Plan::new([]));
    assert!(
        TextHead::new(&head, &told, None).is_none(),
        "it has no text"
    );
}
