//! Events of a turn as updates of the client.

use std::collections::HashMap;

use acp_host::{
    Block, Delta, EventBody, Gate, GateKind, Notice, NoticeSeverity, Origin, ToolCall, ToolEnd,
    ToolId, ToolProgress,
};
use acp_protocol::{
    Meta, RawJson,
    rpc::frame::TextHead,
    v1::{self, ContentBlock, ContentChunk, SessionUpdate, ToolCallStatus},
};

use crate::{
    turn::client_view::ClientView,
    turn::message_ids::{ChunkKind, MessageIds},
    turn::outcome::PromptEnd,
    turn::sent::SentMark,
    wire,
};

/// Turns the events of one turn into updates, in order.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    numbering: Option<MessageIds>,
    /// What stands around the pieces of the message that is told now.
    piece: Option<Piece>,
    /// Tool calls that the client knows and that have not ended.
    tools: HashMap<ToolId, ToolCall>,
    step: Streamed,
    /// The last words of the agent declined.
    refused: bool,
}

/// What a piece of text is a piece of, and what stands around it.
#[derive(Debug)]
struct Piece {
    /// The message, by its place among those of the turn.
    message: u64,
    refused: bool,
    head: TextHead,
}

/// How many bytes of the current step were told by deltas.
#[derive(Debug, Default)]
struct Streamed {
    message: usize,
    thought: usize,
}

/// What an event tells the client.
#[derive(Debug)]
pub(crate) enum Updates {
    Nothing,
    One(SessionUpdate),
    Many(Vec<SessionUpdate>),
}

/// The updates of a [`Updates`], in order.
#[derive(Debug)]
pub(crate) struct UpdateIter {
    first: Option<SessionUpdate>,
    rest: std::vec::IntoIter<SessionUpdate>,
}

impl Iterator for UpdateIter {
    type Item = SessionUpdate;

    fn next(&mut self) -> Option<SessionUpdate> {
        self.first.take().or_else(|| self.rest.next())
    }
}

impl IntoIterator for Updates {
    type Item = SessionUpdate;
    type IntoIter = UpdateIter;

    fn into_iter(self) -> UpdateIter {
        let (first, rest) = match self {
            Self::Nothing => (None, Vec::new()),
            Self::One(update) => (Some(update), Vec::new()),
            Self::Many(updates) => (None, updates),
        };
        UpdateIter {
            first,
            rest: rest.into_iter(),
        }
    }
}

impl From<Option<SessionUpdate>> for Updates {
    fn from(update: Option<SessionUpdate>) -> Self {
        update.map_or(Self::Nothing, Self::One)
    }
}

impl Translator {
    /// Begins the turn.
    pub(crate) fn begin(&mut self, origin: &Origin) {
        self.numbering = Some(MessageIds::new(origin.turn.clone()));
        self.piece = None;
    }

    /// Tells a piece of text the short way, where there is one: gives what stands
    /// around it. `head` makes that of a piece without a letter. The first piece of a
    /// message goes the long way: many have no other.
    ///
    /// The piece is taken as told then; one that is not has to be
    /// [forgotten](Self::forget), or told as the [same](Self::piece).
    pub(crate) fn say(
        &mut self,
        delta: &Delta,
        head: impl FnOnce(&SessionUpdate) -> Option<TextHead>,
    ) -> Option<&TextHead> {
        let (kind, text, refused) = spoken(delta)?;
        let message = self.numbering.as_ref()?.current(kind)?;
        let is_known = |known: &Piece| known.message == message && known.refused == refused;
        if !self.piece.as_ref().is_some_and(is_known) {
            let head = head(&self.chunk_of(kind, refused, String::new()))?;
            self.piece = Some(Piece {
                message,
                refused,
                head,
            });
        }
        self.take_note(kind, refused, text.len());
        self.piece.as_ref().map(|piece| &piece.head)
    }

    /// A piece of text as an update, for what was [said](Self::say) and has to wait.
    pub(crate) fn piece(&mut self, delta: Delta) -> Option<SessionUpdate> {
        let (kind, _, refused) = spoken(&delta)?;
        match delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Refusal(text) => {
                Some(self.chunk_of(kind, refused, text))
            }
            _ => None,
        }
    }

    /// Tells an event of the turn.
    pub(crate) fn tell(&mut self, body: EventBody, shown: &mut ClientView) -> Updates {
        match body {
            EventBody::Delta(delta) => self.delta(delta).into(),
            EventBody::StepDone(blocks) => self.step_done(blocks),
            EventBody::ToolRequested(tool) => self.tool(*tool, None).into(),
            EventBody::ToolStarted(tool) => {
                self.tool(*tool, Some(ToolCallStatus::InProgress)).into()
            }
            EventBody::ToolProgressed(progress) => self.progress(*progress).into(),
            EventBody::ToolCompleted(end) => self.tool_end(*end).into(),
            other => shown.tell(other),
        }
    }

    /// Tells again what the user asked.
    pub(crate) fn user_message(&self, blocks: Vec<Block>) -> Updates {
        let id = self.numbering.as_ref().map(MessageIds::user_id);
        let chunks = blocks.into_iter().map(|block| {
            let mut chunk = ContentChunk::new(wire::block(block));
            chunk.message_id = id.clone().map(Into::into);
            SessionUpdate::UserMessageChunk(chunk)
        });
        Updates::Many(chunks.collect())
    }

    /// Tells an event of a sub-agent's tool, if the client knows the tool.
    pub(crate) fn tell_known_tool(&mut self, body: EventBody) -> Updates {
        match body {
            EventBody::ToolStarted(tool) if self.tools.contains_key(&tool.id) => {
                self.tool(*tool, Some(ToolCallStatus::InProgress)).into()
            }
            EventBody::ToolProgressed(progress) => self.progress(*progress).into(),
            EventBody::ToolCompleted(end) => self.tool_end(*end).into(),
            _ => Updates::Nothing,
        }
    }

    /// Announces the tool that waits at a gate, unless the client knows it.
    pub(crate) fn announce(&mut self, gate: &Gate) -> Updates {
        match &gate.kind {
            GateKind::Permission { tool, .. } => self.tool(tool.clone(), None).into(),
            _ => Updates::Nothing,
        }
    }

    /// Tells the user of a gate at which the client cannot ask.
    pub(crate) fn tell_of_gate(&mut self, gate: &Gate, shown: &ClientView) -> Updates {
        let mut text = match &gate.title {
            Some(title) => format!("An answer is needed elsewhere: {title}"),
            None => "An answer is needed elsewhere.".to_owned(),
        };
        if let GateKind::OpenUrl { url, .. } = &gate.kind {
            text = format!("{text} ({})", url.url);
        }
        if shown.has_notices() {
            let notice = Notice::new(NoticeSeverity::Warning, text);
            return Updates::One(wire::notice(notice).into());
        }
        self.interrupt_messages();
        let told = self.message(text, self.refused);
        self.step.message = 0;
        self.interrupt_messages();
        told.into()
    }

    /// Forgets what was taken as told and was not: a tool call is announced when
    /// it is next heard of, text is told when its step is done.
    pub(crate) fn forget(&mut self, memory: &SentMark) {
        match memory {
            SentMark::Tool(id) => drop(self.tools.remove(id)),
            SentMark::Message(bytes) => {
                self.step.message = self.step.message.saturating_sub(*bytes);
            }
            SentMark::Thought(bytes) => {
                self.step.thought = self.step.thought.saturating_sub(*bytes);
            }
            _ => {}
        }
    }

    /// How a turn ended by one of its last events.
    pub(crate) fn end(&self, body: EventBody, is_public: bool) -> PromptEnd {
        match body {
            EventBody::TurnInterrupted => PromptEnd::Interrupted,
            EventBody::TurnFailed(failure) if is_public => PromptEnd::Failed(failure),
            EventBody::TurnFailed(_) => PromptEnd::Failed(acp_host::TurnFailure::Panicked),
            _ => PromptEnd::Done {
                refused: self.refused,
            },
        }
    }

    fn delta(&mut self, delta: Delta) -> Option<SessionUpdate> {
        let (kind, text, refused) = spoken(&delta)?;
        self.take_note(kind, refused, text.len());
        self.piece(delta)
    }

    fn message(&mut self, text: String, refused: bool) -> Option<SessionUpdate> {
        self.delta(match refused {
            true => Delta::Refusal(text),
            false => Delta::Text(text),
        })
    }

    /// Takes note of a piece of text that is told.
    fn take_note(&mut self, kind: ChunkKind, refused: bool, bytes: usize) {
        match kind {
            ChunkKind::Message => {
                self.step.message += bytes;
                self.refused = refused;
            }
            ChunkKind::Thought => self.step.thought += bytes,
        }
    }

    fn chunk_of(&mut self, kind: ChunkKind, refused: bool, text: String) -> SessionUpdate {
        let mut chunk = self.chunk(kind, text_content(text));
        if refused {
            chunk.meta = Some(Box::new(Meta::from_iter([(
                "refusal".to_owned(),
                true.into(),
            )])));
        }
        match kind {
            ChunkKind::Message => SessionUpdate::AgentMessageChunk(chunk),
            ChunkKind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
        }
    }

    fn chunk(&mut self, kind: ChunkKind, content: ContentBlock) -> ContentChunk {
        let mut chunk = ContentChunk::new(content);
        chunk.message_id = self
            .numbering
            .as_mut()
            .map(|numbers| numbers.id_for(kind).into());
        chunk
    }

    /// Tells of a finished step what its deltas did not.
    fn step_done(&mut self, blocks: Vec<Block>) -> Updates {
        let mut updates = Vec::new();
        let mut told = std::mem::take(&mut self.step);
        for block in blocks {
            let update = match block {
                Block::Text(text) => {
                    self.refused = false;
                    self.message(rest(text, &mut told.message), false)
                }
                Block::Refusal(text) => {
                    self.refused = true;
                    self.message(rest(text, &mut told.message), true)
                }
                Block::Thinking(text) => self.delta(Delta::Thinking(rest(text, &mut told.thought))),
                other => {
                    let chunk = self.chunk(ChunkKind::Message, wire::block(other));
                    Some(SessionUpdate::AgentMessageChunk(chunk))
                }
            };
            updates.extend(update);
        }
        self.step = Streamed::default();
        self.interrupt_messages();
        Updates::Many(updates)
    }

    /// Tells of a tool call: all of it if it is new, else what changed.
    fn tool(&mut self, tool: ToolCall, status: Option<ToolCallStatus>) -> Option<SessionUpdate> {
        match self.tools.get_mut(&tool.id) {
            Some(known) => {
                let mut update = changes(known, &tool);
                let is_news = update.is_some() || status.is_some();
                *known = tool;
                is_news.then(|| {
                    let mut update = update
                        .take()
                        .unwrap_or_else(|| v1::ToolCallUpdate::new(known.id.to_shared()));
                    update.status = status;
                    update.into()
                })
            }
            None => {
                self.interrupt_messages();
                let status = status.unwrap_or(ToolCallStatus::Pending);
                let update = wire::tool_call(tool.clone(), status).into();
                self.tools.insert(tool.id.clone(), tool);
                Some(update)
            }
        }
    }

    fn progress(&mut self, progress: ToolProgress) -> Option<SessionUpdate> {
        let known = self.tools.get_mut(&progress.id)?;
        let mut now = known.clone();
        now.title = progress.title.unwrap_or(now.title);
        now.content = progress.content.unwrap_or(now.content);
        now.locations = progress.locations.unwrap_or(now.locations);
        self.tool(now, None)
    }

    fn tool_end(&mut self, end: ToolEnd) -> Option<SessionUpdate> {
        self.tools.remove(&end.id)?;
        let mut update = v1::ToolCallUpdate::new(end.id.to_shared());
        let failed = end.is_error;
        update.status = Some(if failed {
            ToolCallStatus::Failed
        } else {
            ToolCallStatus::Completed
        });
        if !end.content.is_empty() {
            update.content = Some(end.content.into_iter().map(wire::tool_content).collect());
        }
        update.raw_output = end.output.map(|output| RawJson::from(output.into_raw()));
        Some(update.into())
    }

    fn interrupt_messages(&mut self) {
        if let Some(numbering) = &mut self.numbering {
            numbering.interrupt();
        }
    }
}

/// What differs between a tool call that the client knows and what it is now.
fn changes(known: &ToolCall, now: &ToolCall) -> Option<v1::ToolCallUpdate> {
    if known == now {
        return None;
    }
    let mut update = v1::ToolCallUpdate::new(now.id.to_shared());
    if now.title != known.title {
        update.title = Some(now.title.clone());
    }
    if now.name != known.name {
        update.name = Some(now.name.clone());
    }
    if now.kind != known.kind {
        update.kind = Some(wire::tool_kind(now.kind));
    }
    if now.content != known.content {
        update.content = Some(
            now.content
                .iter()
                .cloned()
                .map(wire::tool_content)
                .collect(),
        );
    }
    if now.locations != known.locations {
        update.locations = Some(now.locations.iter().cloned().map(wire::location).collect());
    }
    if now.input != known.input {
        update.raw_input = now
            .input
            .clone()
            .map(|input| RawJson::from(input.into_raw()));
    }
    Some(update)
}

/// What is left of a text after the bytes that were told already.
fn rest(mut text: String, told: &mut usize) -> String {
    let skip = (*told).min(text.len());
    *told -= skip;
    // A host that told something else than a beginning is not made worse by
    // repeating it in pieces.
    if !text.is_char_boundary(skip) {
        return String::new();
    }
    text.drain(..skip);
    text
}

/// What a piece of text is a piece of, the text, and whether it declines; nothing
/// where there is none, or where it has no form on the wire: unfinished arguments.
fn spoken(delta: &Delta) -> Option<(ChunkKind, &str, bool)> {
    let (kind, text, refused) = match delta {
        Delta::Text(text) => (ChunkKind::Message, text, false),
        Delta::Refusal(text) => (ChunkKind::Message, text, true),
        Delta::Thinking(text) => (ChunkKind::Thought, text, false),
        _ => return None,
    };
    (!text.is_empty()).then_some((kind, text, refused))
}

fn text_content(text: String) -> ContentBlock {
    ContentBlock::Text(v1::TextContent::new(text))
}
