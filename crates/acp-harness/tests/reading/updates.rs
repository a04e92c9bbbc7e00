//! Updates of all kinds, as they come.

use acp_protocol::RawJson;
use acp_protocol::v1::{
    ContentBlock, ContentChunk, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolKind,
};
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) fn id() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "c"])
}

pub(crate) fn status() -> impl Strategy<Value = Option<ToolCallStatus>> {
    prop::option::of(prop_oneof![
        Just(ToolCallStatus::Pending),
        Just(ToolCallStatus::InProgress),
        Just(ToolCallStatus::Completed),
        Just(ToolCallStatus::Failed),
        Just(ToolCallStatus::Unrecognized("paused".into())),
    ])
}

pub(crate) fn kind() -> impl Strategy<Value = Option<ToolKind>> {
    prop::option::of(prop_oneof![Just(ToolKind::Read), Just(ToolKind::Execute)])
}

pub(crate) fn content() -> impl Strategy<Value = Vec<ToolCallContent>> {
    let part = prop_oneof![
        "[ab\n]{0,4}".prop_map(ToolCallContent::text),
        "[ab\n]{0,6}".prop_map(|new| ToolCallContent::diff("/p/f", new)),
        Just(ToolCallContent::terminal("t-9")),
        Just(ContentBlock::image("AA", "image/png").into()),
    ];
    prop::collection::vec(part, 0..4)
}

pub(crate) fn raw() -> impl Strategy<Value = Option<RawJson>> {
    let value = prop_oneof![
        "[ab\"]{0,4}".prop_map(Value::from),
        Just(json!({"k": [1, null]})),
        Just(json!(7)),
    ];
    prop::option::of(value.prop_map(RawJson::from))
}

pub(crate) fn any_update() -> impl Strategy<Value = SessionUpdate> {
    let title = prop::sample::select(vec!["", "read_file", "Read it", "x.y-z", "9", "ä"]);
    let name = prop::option::of(prop::sample::select(vec!["grep", "two words"]));
    let call = (
        id(),
        title.clone(),
        name.clone(),
        kind(),
        status(),
        content(),
        raw(),
        raw(),
    )
        .prop_map(|(id, title, name, kind, status, content, input, output)| {
            let mut call = ToolCall::new(id, title);
            call.name = name.map(str::to_owned);
            (call.kind, call.status, call.content) = (kind, status, content);
            (call.raw_input, call.raw_output) = (input, output);
            SessionUpdate::from(call)
        });
    let update = (
        id(),
        prop::option::of(title),
        name,
        kind(),
        status(),
        prop::option::of(content()),
        raw(),
        raw(),
    )
        .prop_map(|(id, title, name, kind, status, content, input, output)| {
            let mut update = ToolCallUpdate::new(id);
            update.title = title.map(str::to_owned);
            update.name = name.map(str::to_owned);
            (update.kind, update.status, update.content) = (kind, status, content);
            (update.raw_input, update.raw_output) = (input, output);
            SessionUpdate::from(update)
        });
    let message = prop::option::of(prop::sample::select(vec!["m1", "m2"]));
    let chunk = ("[ a\n]{0,3}", message).prop_map(|(text, message)| {
        let mut chunk = ContentChunk::text(text);
        chunk.message_id = message.map(Into::into);
        SessionUpdate::AgentMessageChunk(chunk)
    });
    prop_oneof![
        3 => call,
        4 => update,
        4 => chunk,
        1 => "[ a]{0,3}".prop_map(SessionUpdate::agent_thought),
        1 => Just(SessionUpdate::user_text("me")),
        1 => Just(serde_json::from_value(json!({"sessionUpdate": "_x"})).unwrap()),
    ]
}
