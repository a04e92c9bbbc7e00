//! Events of a turn as updates of the client.

use std::{collections::HashMap, sync::Arc};

use acp_host::{
    Block, Delta, EventBody, Gate, GateKind, Notice, NoticeSeverity, ToolCall, ToolEnd, ToolId,
    ToolProgress, TurnFailure, TurnOrigin,
};
use acp_protocol::{
    RawJson,
    rpc::frame::TextHead,
    v1::{self, ContentChunk, SessionUpdate, ToolCallStatus},
};

use super::{
    chunk::{chunk, chunk_text, is_unknown, rest},
    client_view::ClientView,
    draft::{ClientKnows, Draft, KnownOfStep, Left, PendingEvent, StepRest},
    message_ids::{ChunkKind, MessageIds},
    outcome::PromptEnd,
};
use crate::wire::{self, event_meta::EventMeta};

/// Turns the events of one turn into updates, in order.
///
/// It knows what the client knows: what was [sent](Self::sent), and nothing else.
#[derive(Debug)]
pub(crate) struct Translator {
    ids: MessageIds,
    meta: Arc<EventMeta>,
    /// The template of the message that streams.
    template: Option<ChunkTemplate>,
    /// Tool calls that the client knows and that have not ended.
    tools: HashMap<ToolId, ToolCall>,
    step: KnownOfStep,
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

impl Translator {
    /// Begins a turn; `meta` is that of its updates.
    pub(crate) fn new(origin: &TurnOrigin, meta: EventMeta) -> Self {
        Self {
            ids: MessageIds::new(origin.turn.clone()),
            meta: Arc::new(meta),
            template: None,
            tools: HashMap::new(),
            step: KnownOfStep::default(),
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
    /// When the text is sent, [note](Self::note_delta) it.
    pub(crate) fn template<'d>(
        &mut self,
        delta: &'d Delta,
        encode: impl FnOnce(&SessionUpdate, &EventMeta) -> Option<TextHead>,
    ) -> Option<(&TextHead, &'d str)> {
        let (kind, text) = chunk_text(delta)?;
        let message = self.ids.continued(kind)?;
        let is_known = |known: &ChunkTemplate| known.message == message && known.kind == kind;
        if !self.template.as_ref().is_some_and(is_known) {
            let chunk = chunk(kind, &self.ids.next(kind), String::new());
            let head = encode(&chunk, &self.meta)?;
            self.template = Some(ChunkTemplate {
                message,
                kind,
                head,
            });
        }
        self.template.as_ref().map(|known| (&known.head, text))
    }

    /// Takes note that a delta was sent by the template of its message.
    pub(crate) fn note_delta(&mut self, delta: &Delta) {
        if let Some((kind, text)) = chunk_text(delta) {
            self.note_text(kind, text.len());
        }
    }

    /// The next update of an event, if the client gets one more; it counts once it is
    /// [sent](Self::sent).
    pub(crate) fn next(&mut self, event: &mut PendingEvent, view: &ClientView) -> Option<Draft> {
        let is_foreign = event.is_foreign;
        match &mut event.left {
            Left::Updates(_) | Left::Companion(_) => view.next_of(event),
            Left::Aside(text) => text.take().map(|text| self.aside(text)),
            Left::Step(step) => {
                let draft = self.step(step);
                if draft.is_none() {
                    // The client has all of the step.
                    self.step = KnownOfStep::default();
                    self.ids.interrupt();
                }
                draft
            }
            Left::Event(body) => match body.take()? {
                EventBody::StepDone(blocks) if !is_foreign => {
                    event.left = Left::Step(StepRest {
                        blocks: blocks.into_iter(),
                        known: self.step,
                    });
                    self.next(event, view)
                }
                EventBody::ToolStarted(tool) if is_foreign => {
                    let known = self.tools.contains_key(&tool.id);
                    known.then(|| self.tool(*tool, Some(ToolCallStatus::InProgress)))?
                }
                EventBody::ToolProgressed(progress) => self.progress(*progress),
                EventBody::ToolCompleted(end) => self.tool_end(*end),
                // Of a sub-agent the client sees the tools it was asked about.
                _ if is_foreign => None,
                EventBody::Delta(delta) => self.delta(delta),
                EventBody::ToolRequested(tool) => self.tool(*tool, None),
                EventBody::ToolStarted(tool) => self.tool(*tool, Some(ToolCallStatus::InProgress)),
                other => view.next(other, event),
            },
        }
    }

    /// Whether there is a [next](Self::next) update.
    pub(crate) fn has_next(&self, event: &PendingEvent, view: &ClientView) -> bool {
        let is_foreign = event.is_foreign;
        match &event.left {
            Left::Updates(_) | Left::Companion(_) => view.has_next(event),
            Left::Aside(text) => text.is_some(),
            Left::Step(step) => is_unknown(step.blocks.as_slice(), step.known),
            Left::Event(None) => false,
            Left::Event(Some(body)) => match body {
                EventBody::ToolStarted(tool) if is_foreign => self.tools.contains_key(&tool.id),
                EventBody::ToolProgressed(progress) => self.tools.contains_key(&progress.id),
                EventBody::ToolCompleted(end) => self.tools.contains_key(&end.id),
                _ if is_foreign => false,
                EventBody::StepDone(blocks) => is_unknown(blocks, self.step),
                EventBody::Delta(delta) => chunk_text(delta).is_some(),
                EventBody::ToolRequested(tool) => self.tools.get(&tool.id) != Some(&**tool),
                EventBody::ToolStarted(_) => true,
                other => view.shows(other),
            },
        }
    }

    /// Takes note that an update was sent.
    pub(crate) fn sent(&mut self, known: ClientKnows, view: &mut ClientView) {
        match known {
            ClientKnows::Text {
                kind,
                message,
                bytes,
            } => {
                self.ids.note_sent(kind, &message);
                self.note_text(kind, bytes);
            }
            ClientKnows::Part { message } => {
                self.ids.note_sent(ChunkKind::Message, &message);
                self.step.others += 1;
            }
            ClientKnows::Aside { kind, message } => {
                self.ids.note_sent(kind, &message);
                self.ids.interrupt();
            }
            ClientKnows::Tool(tool) => {
                let id = tool.id.clone();
                if self.tools.insert(id, *tool).is_none() {
                    self.ids.interrupt();
                }
            }
            ClientKnows::ToolEnd(id) => drop(self.tools.remove(&id)),
            other => view.sent(other),
        }
    }

    /// All updates of an event, taken for sent: for a replay, which fails as a whole.
    pub(crate) fn updates(
        &mut self,
        mut event: PendingEvent,
        view: &mut ClientView,
    ) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        while let Some(draft) = self.next(&mut event, view) {
            updates.push(draft.update);
            self.sent(draft.then, view);
        }
        updates
    }

    /// Announces the tool that waits at a gate, unless the client knows it.
    pub(crate) fn announcement(gate: &Gate) -> PendingEvent {
        match &gate.kind {
            GateKind::Permission { tool, .. } => {
                PendingEvent::new(EventBody::ToolRequested(Box::new(tool.clone())))
            }
            _ => PendingEvent::of_updates(Vec::new()),
        }
    }

    /// Informs the user of a gate at which the client cannot ask.
    pub(crate) fn answer_needed_elsewhere(gate: &Gate, view: &ClientView) -> PendingEvent {
        let mut text = match &gate.title {
            Some(title) => format!("An answer is needed elsewhere: {title}"),
            None => "An answer is needed elsewhere.".to_owned(),
        };
        if let GateKind::OpenUrl { url, .. } = &gate.kind {
            text = format!("{text} ({})", url.url);
        }
        if view.has_notices() {
            let notice = Notice::new(NoticeSeverity::Warning, text);
            return PendingEvent::of_updates(vec![wire::notice(notice).into()]);
        }
        PendingEvent::aside(text)
    }

    /// Ends the tool calls that the client believes open: nothing runs in a turn that
    /// is over.
    pub(crate) fn close_tools(&mut self) -> Vec<(ToolId, SessionUpdate)> {
        let mut open: Vec<_> = self.tools.drain().map(|(id, _)| id).collect();
        open.sort_unstable();
        let ends = open.into_iter().map(|id| {
            let mut update = v1::ToolCallUpdate::new(id.to_shared());
            update.status = Some(ToolCallStatus::Failed);
            (id, update.into())
        });
        ends.collect()
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

    fn note_text(&mut self, kind: ChunkKind, bytes: usize) {
        if kind == ChunkKind::Thought {
            self.step.thought += bytes;
        } else {
            self.step.message += bytes;
            self.is_refusal = kind == ChunkKind::Refusal;
        }
    }

    fn delta(&self, delta: Delta) -> Option<Draft> {
        let (kind, text) = chunk_text(&delta)?;
        let (message, bytes) = (self.ids.next(kind), text.len());
        let text = match delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Refusal(text) => text,
            Delta::ToolInput(_) => return None,
        };
        let update = chunk(kind, &message, text);
        let then = ClientKnows::Text {
            kind,
            message,
            bytes,
        };
        Some(Draft::new(update, then))
    }

    fn aside(&self, text: String) -> Draft {
        let kind = match self.is_refusal {
            true => ChunkKind::Refusal,
            false => ChunkKind::Message,
        };
        let message = self.ids.fresh();
        let update = chunk(kind, &message, text);
        Draft::new(update, ClientKnows::Aside { kind, message })
    }

    /// The next of a finished step that no delta said.
    fn step(&mut self, step: &mut StepRest) -> Option<Draft> {
        let StepRest { blocks, known } = step;
        for block in blocks {
            let delta = match block {
                Block::Text(text) => {
                    self.is_refusal = false;
                    Delta::Text(rest(text, &mut known.message))
                }
                Block::Refusal(text) => {
                    self.is_refusal = true;
                    Delta::Refusal(rest(text, &mut known.message))
                }
                Block::Thinking(text) => Delta::Thinking(rest(text, &mut known.thought)),
                _ if known.others > 0 => {
                    known.others -= 1;
                    continue;
                }
                other => {
                    let message = self.ids.next(ChunkKind::Message);
                    let mut chunk = ContentChunk::new(wire::block(other));
                    chunk.message_id = Some(Arc::clone(&message).into());
                    let update = SessionUpdate::AgentMessageChunk(chunk);
                    return Some(Draft::new(update, ClientKnows::Part { message }));
                }
            };
            if let Some(draft) = self.delta(delta) {
                return Some(draft);
            }
        }
        None
    }

    /// All of a tool call if it is new, else its changes.
    fn tool(&self, tool: ToolCall, status: Option<ToolCallStatus>) -> Option<Draft> {
        let update = match self.tools.get(&tool.id) {
            Some(known) => {
                let mut update = v1::ToolCallUpdate::new(tool.id.to_shared());
                let is_changed = add_changes(&mut update, known, &tool);
                if !is_changed && status.is_none() {
                    return None;
                }
                update.status = status;
                update.into()
            }
            None => {
                let status = status.unwrap_or(ToolCallStatus::Pending);
                wire::tool_call(tool.clone(), status).into()
            }
        };
        Some(Draft {
            update,
            then: ClientKnows::Tool(Box::new(tool)),
        })
    }

    fn progress(&self, progress: ToolProgress) -> Option<Draft> {
        let mut now = self.tools.get(&progress.id)?.clone();
        now.title = progress.title.unwrap_or(now.title);
        now.content = progress.content.unwrap_or(now.content);
        now.locations = progress.locations.unwrap_or(now.locations);
        self.tool(now, None)
    }

    fn tool_end(&self, end: ToolEnd) -> Option<Draft> {
        self.tools.get(&end.id)?;
        let mut update = v1::ToolCallUpdate::new(end.id.to_shared());
        update.status = Some(match end.is_error {
            true => ToolCallStatus::Failed,
            false => ToolCallStatus::Completed,
        });
        if !end.content.is_empty() {
            update.content = Some(wire::tool_contents(end.content));
        }
        update.raw_output = end.output.map(|output| RawJson::from(output.into_raw()));
        Some(Draft::new(update, ClientKnows::ToolEnd(end.id)))
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
