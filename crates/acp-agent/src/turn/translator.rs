//! Events of a turn as updates of the client.

use std::{collections::HashMap, sync::Arc};

use acp_host::{
    Block, Delta, EventBody, Gate, GateKind, Notice, NoticeSeverity, ToolCall, ToolEnd, ToolId,
    ToolProgress, TurnFailure, TurnOrigin,
};
use acp_protocol::{
    Meta, RawJson,
    rpc::frame::TextHead,
    v1::{self, ContentBlock, ContentChunk, SessionUpdate, ToolCallStatus},
};

use super::{
    client_view::ClientView,
    message_ids::{ChunkKind, MessageIds},
    outcome::PromptEnd,
};
use crate::wire::{self, event_meta::EventMeta};

/// Turns the events of one turn into updates, in order.
#[derive(Debug)]
pub(crate) struct Translator {
    ids: MessageIds,
    meta: Arc<EventMeta>,
    /// The template of the message that streams.
    template: Option<ChunkTemplate>,
    /// Tool calls that the client knows and that have not ended.
    tools: HashMap<ToolId, ToolCall>,
    streamed: StreamedBytes,
    /// The model declined in its last words.
    is_refusal: bool,
}

/// The encoded chunk of a message, without its text.
#[derive(Debug)]
struct ChunkTemplate {
    message: u64,
    kind: ChunkKind,
    head: TextHead,
}

/// How many bytes of the current step were sent by deltas.
#[derive(Debug, Default)]
struct StreamedBytes {
    message: usize,
    thought: usize,
}

impl Translator {
    /// Begins a turn; `meta` is that of its updates.
    pub(crate) fn new(origin: &TurnOrigin, meta: EventMeta) -> Self {
        Self {
            ids: MessageIds::new(origin.turn.clone()),
            meta: Arc::new(meta),
            template: None,
            tools: HashMap::new(),
            streamed: StreamedBytes::default(),
            is_refusal: false,
        }
    }

    /// The `_meta` of the updates of the turn.
    pub(crate) fn meta(&self) -> &Arc<EventMeta> {
        &self.meta
    }

    /// The template of the message that a delta continues, and the text to put
    /// into it; `encode` makes the template of a chunk. `None` where the delta has
    /// to go the long way: many messages have one delta only, so the first one does.
    ///
    /// The text counts as sent; if it is not, [`forget`](Self::forget) its
    /// [`chunk`](Self::chunk).
    pub(crate) fn template<'d>(
        &mut self,
        delta: &'d Delta,
        encode: impl FnOnce(&SessionUpdate, &EventMeta) -> Option<TextHead>,
    ) -> Option<(&TextHead, &'d str)> {
        let (kind, text) = chunk_text(delta)?;
        let message = self.ids.continued(kind)?;
        let is_known = |known: &ChunkTemplate| known.message == message && known.kind == kind;
        if !self.template.as_ref().is_some_and(is_known) {
            let head = encode(&self.chunk_of(kind, String::new()), &self.meta)?;
            self.template = Some(ChunkTemplate {
                message,
                kind,
                head,
            });
        }
        self.note_sent(kind, text.len());
        self.template.as_ref().map(|known| (&known.head, text))
    }

    /// A delta as an update.
    pub(crate) fn chunk(&mut self, delta: Delta) -> Option<SessionUpdate> {
        let (kind, _) = chunk_text(&delta)?;
        match delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Refusal(text) => {
                Some(self.chunk_of(kind, text))
            }
            Delta::ToolInput(_) => None,
        }
    }

    /// The updates of an event of the turn.
    pub(crate) fn updates(&mut self, body: EventBody, view: &mut ClientView) -> Vec<SessionUpdate> {
        let update = match body {
            EventBody::Delta(delta) => self.delta(delta),
            EventBody::StepDone(blocks) => return self.step_done(blocks),
            EventBody::ToolRequested(tool) => self.tool(*tool, None),
            EventBody::ToolStarted(tool) => self.tool(*tool, Some(ToolCallStatus::InProgress)),
            EventBody::ToolProgressed(progress) => self.progress(*progress),
            EventBody::ToolCompleted(end) => self.tool_end(*end),
            other => return view.updates(other),
        };
        update.into_iter().collect()
    }

    /// The prompt of the user, for a replay.
    pub(crate) fn user_message(&self, blocks: Vec<Block>) -> Vec<SessionUpdate> {
        let id = self.ids.prompt();
        let chunks = blocks.into_iter().map(|block| {
            let mut chunk = ContentChunk::new(wire::block(block));
            chunk.message_id = Some(Arc::clone(&id).into());
            SessionUpdate::UserMessageChunk(chunk)
        });
        chunks.collect()
    }

    /// The updates of an event of a sub-agent's tool, if the client knows the tool.
    pub(crate) fn known_tool(&mut self, body: EventBody) -> Vec<SessionUpdate> {
        let update = match body {
            EventBody::ToolStarted(tool) if self.tools.contains_key(&tool.id) => {
                self.tool(*tool, Some(ToolCallStatus::InProgress))
            }
            EventBody::ToolProgressed(progress) => self.progress(*progress),
            EventBody::ToolCompleted(end) => self.tool_end(*end),
            _ => None,
        };
        update.into_iter().collect()
    }

    /// Announces the tool that waits at a gate, unless the client knows it.
    pub(crate) fn announce(&mut self, gate: &Gate) -> Vec<SessionUpdate> {
        let update = match &gate.kind {
            GateKind::Permission { tool, .. } => self.tool(tool.clone(), None),
            _ => None,
        };
        update.into_iter().collect()
    }

    /// Informs the user of a gate at which the client cannot ask.
    pub(crate) fn answer_needed_elsewhere(
        &mut self,
        gate: &Gate,
        view: &ClientView,
    ) -> Vec<SessionUpdate> {
        let mut text = match &gate.title {
            Some(title) => format!("An answer is needed elsewhere: {title}"),
            None => "An answer is needed elsewhere.".to_owned(),
        };
        if let GateKind::OpenUrl { url, .. } = &gate.kind {
            text = format!("{text} ({})", url.url);
        }
        if view.has_notices() {
            let notice = Notice::new(NoticeSeverity::Warning, text);
            return vec![wire::notice(notice).into()];
        }
        self.ids.interrupt();
        let update = self.delta(match self.is_refusal {
            true => Delta::Refusal(text),
            false => Delta::Text(text),
        });
        self.streamed.message = 0;
        self.ids.interrupt();
        update.into_iter().collect()
    }

    /// Forgets an update that was not sent after all: its tool call is announced
    /// with the next event, its text is sent when the step is done.
    pub(crate) fn forget(&mut self, update: &SessionUpdate) {
        let bytes = |chunk: &ContentChunk| match &chunk.content {
            ContentBlock::Text(text) => text.text.len(),
            _ => 0,
        };
        let sent = &mut self.streamed;
        match update {
            SessionUpdate::ToolCall(call) => drop(self.tools.remove(call.tool_call_id.as_str())),
            SessionUpdate::AgentMessageChunk(chunk) => {
                sent.message = sent.message.saturating_sub(bytes(chunk));
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                sent.thought = sent.thought.saturating_sub(bytes(chunk));
            }
            _ => {}
        }
    }

    /// How a turn ended by one of its last events.
    pub(crate) fn end(&self, body: EventBody, is_public: bool) -> PromptEnd {
        match body {
            EventBody::TurnInterrupted => PromptEnd::Interrupted,
            EventBody::TurnFailed(failure) if is_public => PromptEnd::Failed(failure),
            EventBody::TurnFailed(_) => PromptEnd::Failed(TurnFailure::Panicked),
            _ => PromptEnd::Done {
                refused: self.is_refusal,
            },
        }
    }

    fn delta(&mut self, delta: Delta) -> Option<SessionUpdate> {
        let (kind, text) = chunk_text(&delta)?;
        self.note_sent(kind, text.len());
        self.chunk(delta)
    }

    fn note_sent(&mut self, kind: ChunkKind, bytes: usize) {
        if kind == ChunkKind::Thought {
            self.streamed.thought += bytes;
        } else {
            self.streamed.message += bytes;
            self.is_refusal = kind == ChunkKind::Refusal;
        }
    }

    fn chunk_of(&mut self, kind: ChunkKind, text: String) -> SessionUpdate {
        let mut chunk = self.content_chunk(kind, wire::text(text));
        if kind == ChunkKind::Refusal {
            let meta = Meta::from_iter([("refusal".to_owned(), true.into())]);
            chunk.meta = Some(Box::new(meta));
        }
        match kind {
            ChunkKind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
            _ => SessionUpdate::AgentMessageChunk(chunk),
        }
    }

    fn content_chunk(&mut self, kind: ChunkKind, content: ContentBlock) -> ContentChunk {
        let mut chunk = ContentChunk::new(content);
        chunk.message_id = Some(self.ids.next(kind).into());
        chunk
    }

    /// The rest of a finished step, behind its deltas.
    fn step_done(&mut self, blocks: Vec<Block>) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        let mut sent = std::mem::take(&mut self.streamed);
        for block in blocks {
            let update = match block {
                Block::Text(text) => {
                    self.is_refusal = false;
                    self.delta(Delta::Text(rest(text, &mut sent.message)))
                }
                Block::Refusal(text) => {
                    self.is_refusal = true;
                    self.delta(Delta::Refusal(rest(text, &mut sent.message)))
                }
                Block::Thinking(text) => self.delta(Delta::Thinking(rest(text, &mut sent.thought))),
                other => {
                    let chunk = self.content_chunk(ChunkKind::Message, wire::block(other));
                    Some(SessionUpdate::AgentMessageChunk(chunk))
                }
            };
            updates.extend(update);
        }
        self.streamed = StreamedBytes::default();
        self.ids.interrupt();
        updates
    }

    /// All of a tool call if it is new, else its changes.
    fn tool(&mut self, tool: ToolCall, status: Option<ToolCallStatus>) -> Option<SessionUpdate> {
        match self.tools.get_mut(&tool.id) {
            Some(known) => {
                let mut update = v1::ToolCallUpdate::new(tool.id.to_shared());
                let is_changed = add_changes(&mut update, known, &tool);
                let is_news = is_changed || status.is_some();
                update.status = status;
                *known = tool;
                is_news.then(|| update.into())
            }
            None => {
                self.ids.interrupt();
                let status = status.unwrap_or(ToolCallStatus::Pending);
                let update = wire::tool_call(tool.clone(), status).into();
                self.tools.insert(tool.id.clone(), tool);
                Some(update)
            }
        }
    }

    fn progress(&mut self, progress: ToolProgress) -> Option<SessionUpdate> {
        let mut now = self.tools.get(&progress.id)?.clone();
        now.title = progress.title.unwrap_or(now.title);
        now.content = progress.content.unwrap_or(now.content);
        now.locations = progress.locations.unwrap_or(now.locations);
        self.tool(now, None)
    }

    fn tool_end(&mut self, end: ToolEnd) -> Option<SessionUpdate> {
        self.tools.remove(&end.id)?;
        let mut update = v1::ToolCallUpdate::new(end.id.to_shared());
        update.status = Some(match end.is_error {
            true => ToolCallStatus::Failed,
            false => ToolCallStatus::Completed,
        });
        if !end.content.is_empty() {
            update.content = Some(wire::tool_contents(end.content));
        }
        update.raw_output = end.output.map(|output| RawJson::from(output.into_raw()));
        Some(update.into())
    }
}

/// Adds the differences between a tool call as the client knows it and as it is
/// now. False if there are none.
fn add_changes(update: &mut v1::ToolCallUpdate, known: &ToolCall, now: &ToolCall) -> bool {
    fn changed<T: PartialEq + Clone>(known: &T, now: &T) -> Option<T> {
        (now != known).then(|| now.clone())
    }
    update.title = changed(&known.title, &now.title);
    update.name = changed(&known.name, &now.name);
    update.kind = changed(&known.kind, &now.kind).map(wire::tool_kind);
    update.content = changed(&known.content, &now.content).map(wire::tool_contents);
    update.locations = changed(&known.locations, &now.locations).map(wire::locations);
    let input = changed(&known.input, &now.input).flatten();
    update.raw_input = input.map(|input| RawJson::from(input.into_raw()));
    known != now
}

/// The rest of a text behind the bytes that were sent.
fn rest(mut text: String, sent: &mut usize) -> String {
    let skip = (*sent).min(text.len());
    *sent -= skip;
    // The deltas were no beginning of the text: repeating a part of it helps nobody.
    if !text.is_char_boundary(skip) {
        return String::new();
    }
    text.drain(..skip);
    text
}

/// The text of a delta and its kind. `None` if there is no text, or if it has no
/// form on the wire: unfinished arguments.
fn chunk_text(delta: &Delta) -> Option<(ChunkKind, &str)> {
    let (kind, text) = match delta {
        Delta::Text(text) => (ChunkKind::Message, text),
        Delta::Refusal(text) => (ChunkKind::Refusal, text),
        Delta::Thinking(text) => (ChunkKind::Thought, text),
        Delta::ToolInput(_) => return None,
    };
    (!text.is_empty()).then_some((kind, text))
}
