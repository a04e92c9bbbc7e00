//! A live session: turns, gates, events.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use acp_agent::host::{
    Block, Cancel, ClientLink, Command, CommandId, ContextUse, Event, EventBody, Gate, GateAnswer,
    GateId, GateResponse, HostError, LiveSession, Origin, PermissionAction, SessionId, SessionInfo,
    Submission, ToolCall, ToolEnd, ToolKind,
};
use tokio::sync::oneshot;

use super::library::{Library, Line, written};

/// How many lines fit into a book.
const BOOK_LINES: u64 = 100;

/// A desk at which one book is written.
pub(crate) struct Desk {
    id: SessionId,
    library: Library,
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
enum End {
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
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self) -> Result<&ClientLink, HostError> {
        let not_yet = || HostError::public("the session is not attached");
        self.link.get().ok_or_else(not_yet)
    }

    /// Tells something that concerns the session as a whole.
    async fn tell(&self, body: EventBody) -> Result<(), HostError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let told = self.link()?.emit(Event::of_session(number, body)).await;
        told.map_err(HostError::internal)
    }

    /// Writes a line, if it may.
    async fn write(&self, turn: &Turn<'_>, line: Line) -> Result<End, HostError> {
        let tool = ToolCall::new(format!("{}-tool", line.turn), "write", "Write a line")
            .with_kind(ToolKind::Edit);
        if self.library.book(&self.id, |book| book.asks_first())? {
            let gate = GateId::from(format!("{}-gate", line.turn));
            let (answer, decided) = oneshot::channel();
            self.busy().gates.insert(gate.clone(), answer);
            let question = Gate::permission(gate, tool.clone()).with_body(line.text.as_str());
            turn.tell(EventBody::GateOpened(Box::new(question))).await?;
            let decided = turn.cancel.run_until_cancelled(decided).await;
            let Some(answer) = decided else {
                return Ok(End::Interrupted);
            };
            match answer.map_err(HostError::internal)? {
                GateAnswer::Permission(PermissionAction::Approve) => {}
                // From now on this book is written without asking.
                GateAnswer::Permission(PermissionAction::ApproveAlways) => {
                    let options = self.library.write_without_asking(&self.id)?;
                    self.tell(EventBody::ConfigChanged(options)).await?;
                }
                _ => {
                    let end = ToolEnd::failed(tool.id);
                    turn.tell(EventBody::ToolCompleted(Box::new(end))).await?;
                    let said = vec![Block::text("Then I do not write it.")];
                    turn.tell(EventBody::StepDone(said)).await?;
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
        turn.tell(EventBody::StepDone(vec![Block::text(said)]))
            .await?;
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
        let commands = vec![Command::new("read", "Reads the book out")];
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
            origin: Arc::new(Origin::new("main", command.as_str())),
            next: AtomicU64::new(0),
            cancel: cancel.clone(),
        };
        let started = EventBody::TurnStarted {
            command: Some(command.clone()),
            index: 0,
        };
        self.busy().turn = Some(cancel);
        turn.tell(started).await?;
        let done = if text == "/read" {
            let lines = self.library.book(&self.id, |book| book.lines.clone())?;
            let lines: Vec<_> = lines.into_iter().map(|line| line.text).collect();
            let said = vec![Block::text(lines.join("\n"))];
            turn.tell(EventBody::StepDone(said))
                .await
                .map(|()| End::Done)
        } else {
            let turn_id = command.to_string();
            self.write(
                &turn,
                Line {
                    turn: turn_id,
                    text,
                },
            )
            .await
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
        self.library.book(&self.id, |book| {
            let (len, mut at) = (book.lines.len(), 0);
            book.lines.retain(|_| {
                at += 1;
                at == 1 || at == len
            });
        })?;
        self.tell(EventBody::CompactDone { command }).await
    }
}

/// A turn that runs, and numbers its events.
struct Turn<'a> {
    link: &'a ClientLink,
    origin: Arc<Origin>,
    next: AtomicU64,
    cancel: Cancel,
}

impl Turn<'_> {
    async fn tell(&self, body: EventBody) -> Result<(), HostError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let event = Event::new(Arc::clone(&self.origin), number, body);
        self.link.emit(event).await.map_err(HostError::internal)
    }
}
