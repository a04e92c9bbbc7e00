//! Joins pieces of text that follow each other.

use acp_protocol::Meta;
use acp_protocol::v1::{ContentBlock, ContentChunk, SessionUpdate, TextContent};

use super::TurnEvent;
use crate::limits::MERGED_TEXT;
use acp_connection::Update;

/// Joins adjacent pieces of one message into larger ones.
///
/// Agents send a few letters at a time. Who writes a log or forwards a conversation
/// wants fewer and larger pieces; what is no text passes as it is, in its place. A piece
/// is held back until the next event shows that it is complete, and nothing else is: an
/// agent may wait for the answer to what it asks.
/// [`Turn::next_merged`](crate::Turn::next_merged) joins what is there and waits for
/// nothing.
///
/// ```no_run
/// # async fn show(mut turn: acp_client::Turn) {
/// let mut merge = acp_client::Merge::new();
/// while let Some(event) = turn.next().await {
///     for whole in merge.push(event) {
///         println!("{whole:?}");
///     }
/// }
/// if let Some(last) = merge.finish() {
///     println!("{last:?}");
/// }
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Merge {
    held: Option<TurnEvent>,
}

impl Merge {
    /// Creates one that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes an event, and gives what is complete by now: the piece that was held back,
    /// and the event itself if it is none.
    pub fn push(&mut self, event: TurnEvent) -> impl Iterator<Item = TurnEvent> + use<> {
        let (before, event) = match (&mut self.held, event) {
            (Some(TurnEvent::Update(held)), TurnEvent::Update(next))
            | (Some(TurnEvent::Earlier(held)), TurnEvent::Earlier(next))
                if can_join(held, &next) =>
            {
                join(held, next);
                (None, None)
            }
            (_, event) if is_piece(&event) => (self.held.replace(event), None),
            (_, event) => (self.held.take(), Some(event)),
        };
        before.into_iter().chain(event)
    }

    /// Gives the event that is held back.
    #[must_use]
    pub fn finish(self) -> Option<TurnEvent> {
        self.held
    }
}

fn is_piece(event: &TurnEvent) -> bool {
    match event {
        TurnEvent::Update(update) | TurnEvent::Earlier(update) => text(&update.update).is_some(),
        _ => false,
    }
}

/// Tells whether `next` is another piece of the message that `update` is a piece of.
pub(crate) fn can_join(update: &Update, next: &Update) -> bool {
    let (Some(first), Some(second)) = (text(&update.update), text(&next.update)) else {
        return false;
    };
    first.kind == second.kind
        && first.message == second.message
        && first.text.len() + second.text.len() <= MERGED_TEXT
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

#[derive(PartialEq)]
enum Kind {
    Answer,
    Thought,
    User,
}

struct Text<'a> {
    kind: Kind,
    message: Option<&'a str>,
    text: &'a str,
}

/// Takes apart an update that is plain text and nothing else.
fn text(update: &SessionUpdate) -> Option<Text<'_>> {
    let (kind, chunk) = match update {
        SessionUpdate::AgentMessageChunk(chunk) => (Kind::Answer, chunk),
        SessionUpdate::AgentThoughtChunk(chunk) => (Kind::Thought, chunk),
        SessionUpdate::UserMessageChunk(chunk) => (Kind::User, chunk),
        _ => return None,
    };
    let ContentBlock::Text(content) = &chunk.content else {
        return None;
    };
    if chunk.meta.is_some() || content.meta.is_some() || content.annotations.is_some() {
        return None;
    }
    Some(Text {
        kind,
        message: chunk.message_id.as_ref().map(|id| id.as_str()),
        text: &content.text,
    })
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
