//! Chunks of messages, and what is left of a step behind its deltas.

use std::sync::Arc;

use acp_host::{Block, Delta};
use acp_protocol::{
    Meta,
    v1::{ContentChunk, SessionUpdate},
};

use super::{draft::KnownOfStep, message_ids::ChunkKind};
use crate::wire;

/// Whether a step has something that the client does not know.
pub(super) fn is_unknown(blocks: &[Block], mut known: KnownOfStep) -> bool {
    blocks.iter().any(|block| {
        let (known, length) = match block {
            Block::Text(text) | Block::Refusal(text) => (&mut known.message, text.len()),
            Block::Thinking(text) => (&mut known.thought, text.len()),
            _ => (&mut known.others, 1),
        };
        let skip = length.min(*known);
        *known -= skip;
        skip < length
    })
}

pub(super) fn chunk(kind: ChunkKind, message: &Arc<str>, text: String) -> SessionUpdate {
    let mut chunk = ContentChunk::new(wire::text(text));
    chunk.message_id = Some(Arc::clone(message).into());
    if kind == ChunkKind::Refusal {
        let meta = Meta::from_iter([("refusal".to_owned(), true.into())]);
        chunk.meta = Some(Box::new(meta));
    }
    match kind {
        ChunkKind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
        _ => SessionUpdate::AgentMessageChunk(chunk),
    }
}

/// The rest of a text behind the bytes that the client knows.
///
/// Where the deltas were no beginning of the text, nothing of it is repeated.
pub(super) fn rest(mut text: String, known: &mut usize) -> String {
    let skip = (*known).min(text.len());
    *known -= skip;
    if !text.is_char_boundary(skip) {
        return String::new();
    }
    text.drain(..skip);
    text
}

/// The text of a delta and its kind. `None` if there is no text, or if it has no
/// form on the wire: unfinished arguments.
pub(super) fn chunk_text(delta: &Delta) -> Option<(ChunkKind, &str)> {
    let (kind, text) = match delta {
        Delta::Text(text) => (ChunkKind::Message, text),
        Delta::Refusal(text) => (ChunkKind::Refusal, text),
        Delta::Thinking(text) => (ChunkKind::Thought, text),
        Delta::ToolInput(_) => return None,
    };
    (!text.is_empty()).then_some((kind, text))
}
