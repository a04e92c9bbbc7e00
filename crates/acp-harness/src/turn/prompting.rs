//! The prompt of a turn.

use acp_protocol::v1::ContentBlock;

use super::{Opened, TurnRequest};
use crate::transcript::{FirstPrompt, TranscriptStats};

/// Writes the prompt: in a new session instructions and history go before it.
pub(super) fn prompt_of(
    request: &TurnRequest,
    opened: Opened,
) -> (Vec<ContentBlock>, TranscriptStats) {
    let (text, history) = if opened == Opened::New {
        let first = FirstPrompt::new(&request.prompt)
            .with_instructions(&request.instructions)
            .with_history(&request.history);
        (first.to_text(), request.history.stats())
    } else {
        (request.prompt.clone(), TranscriptStats::default())
    };
    let mut blocks = Vec::with_capacity(1 + request.attachments.len());
    if !text.is_empty() {
        blocks.push(ContentBlock::text(text));
    }
    blocks.extend(request.attachments.iter().cloned());
    (blocks, history)
}
