//! A live session: turns, gates, events.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use acp_agent::host::{
    Block, Cancel, ClientLink, CommandId, CompactRejectReason, Compaction, CompactionStatus,
    ContextUse, EventBody, Gate, GateAnswer, GateId, GateResponse, HostError, HostEvent,
    LiveSession, PermissionAction, SessionId, SessionInfo, SlashCommand, Submission, ToolCall,
    ToolEnd, ToolKind, TurnOrigin,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use super::{
    errands,
    library::{Library, Line, written},
};

/// How many lines fit into a book.
const BOOK_LINES: u64 = 100;

/// A desk at which one book is written.
pub(crate) struct Desk {
    id: SessionId,
    pub(crate) library: Library,
    link: OnceLock<ClientLink>,
    /// The number of the next event of the session as a whole.
    next: AtomicU64,
    busy: Mutex<Busy>,
}

/// What is under way.
#[derive(Default)]
struct Busy {
    /// Stops the turn that runs.
    turn: Option<Cancel>,
    /// Who waits for which decision.
    gates: HashMap<GateId, oneshot::Sender<GateAnswer>>,
}

/// How a turn ended.
pub(crate) enum End {
    Done,
    Interrupted,
}

impl Desk {
    pub(crate) fn new(id: SessionId, library: Library) -> Self {
        Self {
            id,
            library,
            link: OnceLock::new(),
            next: AtomicU64::new(0),
            busy: Mutex::default(),
        }
    }

    fn busy(&self) -> MutexGuard<'_, Busy> {
        self.busy.lock()
    }

    /// The way to the client.
    pub(crate) fn link(&self) -> Result<&ClientLink, HostError> {
        let not_yet = || HostError::public("the session is not attached");
        self.link.get().ok_or_else(not_yet)
    }

    /// Tells something that concerns the session as a whole.
    async fn tell(&self, body: EventBody) -> Result<(), HostError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let told = self.link()?.emit(HostEvent::of_session(number, body)).await;
        told.map_err(HostError::internal)
    }

    /// Opens a gate and waits for its answer.
    pub(crate) async fn ask(
        &self,
        turn: &Turn<'_>,
        question: Gate,
    ) -> Result<GateAnswer, HostError> {
        let (answer, decided) = oneshot::channel();
        self.busy().gates.insert(question.id.clone(), answer);
        turn.tell(EventBody::GateOpened(Box::new(question))).await?;
        decided.await.map_err(HostError::internal)
    }

    /// Reads the whole book out.
    pub(crate) fn read(&self) -> Result<String, HostError> {
        self.library.book(&self.id, |book| book.read())
    }

    /// Writes a line, if it may.
    async fn write(&self, turn: &Turn<'_>, line: Line) -> Result<End, HostError> {
        let tool = ToolCall::new(format!("{}-tool", line.turn), "write", "Write a line")
            .with_kind(ToolKind::Edit);
        if self.library.book(&self.id, |book| book.asks_first())? {
            let gate = GateId::from(format!("{}-gate", line.turn));
            let question = Gate::permission(gate, tool.clone()).with_body(line.text.as_str());
            let answer = self.ask(turn, question);
            let Some(answer) = turn.cancel.run_until_cancelled(answer).await else {
                return Ok(End::Interrupted);
            };
            match answer? {
                GateAnswer::Permission(PermissionAction::Approve) => {}
                // From now on this book is written without asking.
                GateAnswer::Permission(PermissionAction::ApproveAlways) => {
                    let options = self.library.write_without_asking(&self.id)?;
                    self.tell(EventBody::ConfigChanged(options)).await?;
                }
                _ => {
                    let end = ToolEnd::failed(tool.id);
                    turn.tell(EventBody::ToolCompleted(Box::new(end))).await?;
                    turn.say("Then I do not write it.").await?;
                    return Ok(End::Done);
                }
            }
        }
        turn.tell(EventBody::ToolStarted(Box::new(tool.clone())))
            .await?;
        let said = written(&line.text);
        let (title, lines) = self.library.book(&self.id, |book| {
            book.write(line);
            (book.title().map(ToOwned::to_owned), book.lines.len())
        })?;
        let end = ToolEnd::completed(tool.id);
        turn.tell(EventBody::ToolCompleted(Box::new(end))).await?;
        turn.say(said).await?;
        let used = ContextUse::new(lines as u64, BOOK_LINES);
        turn.tell(EventBody::ContextMeasured(used)).await?;
        let mut info = SessionInfo::new();
        info.title = title;
        self.tell(EventBody::InfoChanged(info)).await?;
        Ok(End::Done)
    }
}

impl LiveSession for Desk {
    fn id(&self) -> &SessionId {
        &self.id
    }

    async fn attach(&self, link: ClientLink) -> Result<(), HostError> {
        let twice = |_| HostError::public("attached twice");
        self.link.set(link).map_err(twice)?;
        let commands = errands::COMMANDS
            .iter()
            .map(|(name, does, hint)| match hint {
                Some(hint) => SlashCommand::new(*name, *does).with_hint(*hint),
                None => SlashCommand::new(*name, *does),
            })
            .collect();
        self.tell(EventBody::CommandsChanged(commands)).await
    }

    /// Runs the whole turn. A host whose turns run elsewhere returns as soon as
    /// it has taken the prompt.
    async fn submit(&self, submission: Submission) -> Result<(), HostError> {
        let Submission {
            command,
            content,
            cancel,
            ..
        } = submission;
        let text: Vec<_> = content.iter().filter_map(Block::as_text).collect();
        let text = text.join(" ");
        let turn = Turn {
            link: self.link()?,
            origin: Arc::new(TurnOrigin::new("main", command.as_str())),
            next: AtomicU64::new(0),
            cancel: cancel.clone(),
        };
        let started = EventBody::TurnStarted {
            command: Some(command.clone()),
            index: 0,
        };
        self.busy().turn = Some(cancel);
        turn.tell(started).await?;
        let done = match errands::run(self, &turn, &text).await {
            Some(done) => done,
            None => {
                let turn_id = command.to_string();
                let line = Line {
                    turn: turn_id,
                    text,
                };
                self.write(&turn, line).await
            }
        };
        *self.busy() = Busy::default();
        turn.tell(match done {
            Ok(End::Done) => EventBody::TurnDone,
            Ok(End::Interrupted) => EventBody::TurnInterrupted,
            Err(error) => EventBody::TurnFailed(acp_agent::host::TurnFailure::Other(error)),
        })
        .await
    }

    async fn respond_gate(&self, response: GateResponse) -> Result<(), HostError> {
        let waiting = self.busy().gates.remove(&response.gate);
        let closed = || HostError::public("the gate is not open");
        let waiting = waiting.ok_or_else(closed)?;
        waiting.send(response.answer).map_err(|_| closed())
    }

    async fn interrupt(&self) -> bool {
        let turn = self.busy().turn.clone();
        turn.map(|cancel| cancel.cancel()).is_some()
    }

    /// A book is shortened to its first and its last line.
    async fn compact(&self, command: CommandId, _cancel: Cancel) -> Result<(), HostError> {
        let lines = self.library.book(&self.id, |book| book.lines.len())?;
        let tell = async |status| {
            let compaction = Compaction::new(command.as_str(), status);
            self.tell(EventBody::Compacting(Box::new(compaction))).await
        };
        tell(CompactionStatus::InProgress).await?;
        if lines < 3 {
            let nothing = "there is nothing between the first and the last line";
            tell(CompactionStatus::Failed(Some(nothing.to_owned()))).await?;
            let error = HostError::public("what must be kept is too long already");
            let reason = CompactRejectReason::Failed(error);
            let rejected = EventBody::CompactRejected { command, reason };
            return self.tell(rejected).await;
        }
        self.library
            .book(&self.id, |book| drop(book.lines.drain(1..lines - 1)))?;
        tell(CompactionStatus::Summary(Block::text(self.read()?))).await?;
        tell(CompactionStatus::Completed(Vec::new())).await?;
        self.tell(EventBody::CompactDone { command }).await
    }
}

/// A turn that runs, and numbers its events.
pub(crate) struct Turn<'a> {
    link: &'a ClientLink,
    pub(crate) origin: Arc<TurnOrigin>,
    next: AtomicU64,
    pub(crate) cancel: Cancel,
}

impl Turn<'_> {
    /// The turn of a sub-agent that works for this one.
    pub(crate) fn child(&self, name: &str) -> Turn<'_> {
        let origin = TurnOrigin::new(name, format!("{}-{name}", self.origin.turn));
        Turn {
            link: self.link,
            origin: Arc::new(origin.with_parent(Arc::clone(&self.origin))),
            next: AtomicU64::new(0),
            cancel: self.cancel.clone(),
        }
    }

    /// Says something to the reader.
    pub(crate) async fn say(&self, text: impl Into<String>) -> Result<(), HostError> {
        let said = vec![Block::text(text.into())];
        self.tell(EventBody::StepDone(said)).await
    }

    pub(crate) async fn tell(&self, body: EventBody) -> Result<(), HostError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let event = HostEvent::new(Arc::clone(&self.origin), number, body);
        self.link.emit(event).await.map_err(HostError::internal)
    }
}
