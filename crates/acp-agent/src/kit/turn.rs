//! What a turn can do.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use acp_host::{
    Cancel, ClientError, ClientLink, CommandId, ContextUse, Delta, Event, EventBody, Gate, GateId,
    LoopId, Offer, Origin, PlanEntry, ReadTextFile, SessionId, Setup, ToolCall, ToolEnd, ToolId,
    TurnId, WriteTextFile,
};

use super::{
    Permission, RunningTool, ToolDraft, TurnError,
    permission::{OpenGate, OpenGates},
};

/// One turn: the way to whoever waits for it.
///
/// What is told reaches the client in the order of the calls. A call waits
/// while the client reads too slowly, and fails once the client has cancelled
/// the turn.
#[derive(Debug)]
pub struct Turn {
    link: ClientLink,
    origin: Arc<Origin>,
    /// The number of the next event.
    next: AtomicU64,
    /// The number of the next tool or gate.
    next_name: AtomicU64,
    cancel: Cancel,
    session: Arc<SessionFacts>,
    /// Tools that were announced and have not ended.
    tools: Mutex<BTreeSet<ToolId>>,
}

/// What a turn knows of its session.
#[derive(Debug)]
pub(super) struct SessionFacts {
    pub(super) id: SessionId,
    pub(super) setup: Setup,
    pub(super) loop_id: LoopId,
    pub(super) gates: Arc<OpenGates>,
}

impl Turn {
    pub(super) fn new(
        link: ClientLink,
        session: Arc<SessionFacts>,
        command: &CommandId,
        cancel: Cancel,
    ) -> Self {
        let turn = TurnId::new(command.to_shared());
        Self {
            link,
            origin: Arc::new(Origin::new(session.loop_id.clone(), turn)),
            next: AtomicU64::new(0),
            next_name: AtomicU64::new(1),
            cancel,
            session,
            tools: Mutex::default(),
        }
    }

    /// Says something.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, the text was not told. So are all methods of a
    /// turn that tell something.
    pub async fn text(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.tell(EventBody::Delta(Delta::Text(text.into()))).await
    }

    /// Thinks aloud.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn thought(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.tell(EventBody::Delta(Delta::Thinking(text.into())))
            .await
    }

    /// Declines, in words. The turn ends as refused if these are its last words.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn refusal(&self, text: impl Into<String>) -> Result<(), TurnError> {
        self.tell(EventBody::Delta(Delta::Refusal(text.into())))
            .await
    }

    /// Shows a plan, the whole of it, in place of the one before.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn plan(
        &self,
        entries: impl IntoIterator<Item = PlanEntry>,
    ) -> Result<(), TurnError> {
        self.tell(EventBody::PlanChanged(entries.into_iter().collect()))
            .await
    }

    /// Tells how much of the context is used: so many of so many tokens.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn usage(&self, used: u64, limit: u64) -> Result<(), TurnError> {
        self.tell(EventBody::ContextMeasured(ContextUse::new(used, limit)))
            .await
    }

    /// Begins to describe a tool call: the tool's own name, and what it does, in
    /// words for people.
    pub fn tool(&self, name: impl Into<String>, title: impl Into<String>) -> ToolDraft<'_> {
        ToolDraft::new(self, ToolCall::new(self.name("tool"), name, title))
    }

    /// Asks the user whether a tool may run, and waits for the answer.
    ///
    /// Nothing but an answer of the user allows a tool: a client that cannot
    /// ask, an answer that was not offered, or a lost connection do not.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the question is withdrawn.
    pub async fn ask_permission(&self, tool: &RunningTool<'_>) -> Result<Permission, TurnError> {
        let id = GateId::from(self.name("gate"));
        let gate = self.session.gates.open(id.clone());
        let mut asked = Asked {
            turn: self,
            id: id.clone(),
            gate,
        };
        self.tell(EventBody::GateOpened(Box::new(Gate::permission(
            id,
            tool.call().clone(),
        ))))
        .await?;
        let answer = self.run_until_cancelled(&mut asked.gate.answer).await?;
        // The other end is dropped only with the session.
        answer
            .map(Permission::from)
            .map_err(|_| TurnError::cancelled())
    }

    /// Reads a text file of the client, unsaved text of its editors included.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] if the client did not say that it can;
    /// otherwise what became of the question.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the client is told that nobody waits for the text.
    pub async fn read_text_file(&self, path: impl AsRef<Path>) -> Result<String, ClientError> {
        self.read_part_of_text_file(ReadTextFile::new(path.as_ref()))
            .await
    }

    /// Reads some lines of a text file of the client.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](Self::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// As [`read_text_file`](Self::read_text_file).
    pub async fn read_part_of_text_file(&self, part: ReadTextFile) -> Result<String, ClientError> {
        let read = self
            .cancel
            .run_until_cancelled(self.link.read_text_file(part))
            .await;
        read.unwrap_or(Err(ClientError::Cancelled))
    }

    /// Writes all of a text file of the client.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](Self::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// If dropped, the client is told that nobody waits; it may have written
    /// the file.
    pub async fn write_text_file(
        &self,
        path: impl AsRef<Path>,
        text: impl Into<String>,
    ) -> Result<(), ClientError> {
        let request = WriteTextFile::new(path.as_ref(), text);
        let written = self
            .cancel
            .run_until_cancelled(self.link.write_text_file(request))
            .await;
        written.unwrap_or(Err(ClientError::Cancelled))
    }

    /// Whether nobody waits for the turn any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Waits until nobody waits for the turn any more.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Runs work for as long as somebody waits for the turn.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if the turn was cancelled; the work was dropped then.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as the work.
    pub async fn run_until_cancelled<F: Future>(&self, work: F) -> Result<F::Output, TurnError> {
        self.cancel
            .run_until_cancelled(work)
            .await
            .ok_or_else(TurnError::cancelled)
    }

    /// The id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.session.id
    }

    /// With what the session was set up: its folder, its tool servers, the
    /// client's abilities.
    pub fn setup(&self) -> &Setup {
        &self.session.setup
    }

    pub(super) fn cancel_signal(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Tells an event, unless the turn is cancelled.
    pub(super) async fn tell(&self, body: EventBody) -> Result<(), TurnError> {
        if self.cancel.is_cancelled() {
            return Err(TurnError::cancelled());
        }
        self.tell_even_if_cancelled(body).await
    }

    pub(super) async fn tell_even_if_cancelled(&self, body: EventBody) -> Result<(), TurnError> {
        Ok(self.link.emit(self.event(body)).await?)
    }

    /// Tells an event that never has to wait.
    pub(super) fn tell_now(&self, body: EventBody) {
        // One that would have to wait is not told.
        let _: Offer = self.link.offer(self.event(body));
    }

    /// Tells the client that tools without an end have failed.
    pub(super) async fn fail_open_tools(&self) {
        let open = std::mem::take(&mut *self.tools());
        for id in open {
            let end = EventBody::ToolCompleted(Box::new(ToolEnd::failed(id)));
            if self.tell_even_if_cancelled(end).await.is_err() {
                return;
            }
        }
    }

    pub(super) fn tools(&self) -> MutexGuard<'_, BTreeSet<ToolId>> {
        // Nothing that can panic runs under it.
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, body: EventBody) -> Event {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Event::new(Arc::clone(&self.origin), number, body)
    }

    /// A name that is unique in the session.
    fn name(&self, what: &str) -> String {
        let number = self.next_name.fetch_add(1, Ordering::Relaxed);
        format!("{}.{what}{number}", self.origin.turn)
    }
}

/// A question under way; dropped before it is answered, it is withdrawn.
struct Asked<'t> {
    turn: &'t Turn,
    id: GateId,
    gate: OpenGate,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.gate.close() {
            self.turn.tell_now(EventBody::GateResolved(self.id.clone()));
        }
    }
}
