//! Joins pieces of text that follow each other.

use std::mem::discriminant;

use acp_connection::Update;
use acp_protocol::Meta;
use acp_protocol::v1::{ContentBlock, ContentChunk, SessionUpdate, TextContent};

use crate::limits::MERGED_TEXT;

/// Tells whether `next` is another piece of the message that `update` is a piece of.
pub(crate) fn can_join(update: &Update, next: &Update) -> bool {
    let (Some((first, text)), Some((second, more))) =
        (plain_text(&update.update), plain_text(&next.update))
    else {
        return false;
    };
    discriminant(&update.update) == discriminant(&next.update)
        && first.message_id == second.message_id
        && text.len() + more.len() <= MERGED_TEXT
        && is_plain(update.meta.as_deref())
        && is_plain(next.meta.as_deref())
        && update.prompt_id() == next.prompt_id()
        && update.is_replay() == next.is_replay()
}

/// Joins `next` to `update`, which takes its place, its line and its marks.
pub(crate) fn join(update: &mut Update, next: Update) {
    let (SessionUpdate::AgentMessageChunk(chunk)
    | SessionUpdate::AgentThoughtChunk(chunk)
    | SessionUpdate::UserMessageChunk(chunk)) = next.update
    else {
        return;
    };
    let (Some(content), ContentBlock::Text(more)) = (text_mut(&mut update.update), chunk.content)
    else {
        return;
    };
    content.text.push_str(&more.text);
    update.receive_seq = next.receive_seq;
    update.line = next.line;
    update.meta = next.meta;
}

/// Takes apart an update that is plain text and nothing else.
fn plain_text(update: &SessionUpdate) -> Option<(&ContentChunk, &str)> {
    let (SessionUpdate::AgentMessageChunk(chunk)
    | SessionUpdate::AgentThoughtChunk(chunk)
    | SessionUpdate::UserMessageChunk(chunk)) = update
    else {
        return None;
    };
    let ContentBlock::Text(content) = &chunk.content else {
        return None;
    };
    let plain = chunk.meta.is_none() && content.meta.is_none() && content.annotations.is_none();
    plain.then_some((chunk, &content.text))
}

fn text_mut(update: &mut SessionUpdate) -> Option<&mut TextContent> {
    let (SessionUpdate::AgentMessageChunk(ContentChunk { content, .. })
    | SessionUpdate::AgentThoughtChunk(ContentChunk { content, .. })
    | SessionUpdate::UserMessageChunk(ContentChunk { content, .. })) = update
    else {
        return None;
    };
    match content {
        ContentBlock::Text(text) => Some(text),
        _ => None,
    }
}

/// Tells whether there is nothing in it that joining would lose: the name of an event
/// says nothing once it was compared.
fn is_plain(meta: Option<&Meta>) -> bool {
    meta.is_none_or(|meta| {
        meta.keys()
            .all(|key| matches!(key.as_str(), "eventId" | "promptId" | "isReplay"))
    })
}
