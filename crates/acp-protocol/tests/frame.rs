//! The short way to write an update writes what the long way writes.

use acp_protocol::{
    Notification,
    rpc::frame::{self, UpdateHead},
    v1::{ContentBlock, ContentChunk, SessionNotification, SessionUpdate},
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
