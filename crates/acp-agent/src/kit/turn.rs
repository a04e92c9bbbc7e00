//! What a turn can do.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use acp_host::{
    Cancel, ClientLink, CommandId, ConfigOption, ConfigValue, ContextUse, Delta, Event, EventBody,
    HostError, Notice, Offer, Origin, PlanEntry, SessionId, Setup, ToolCall, ToolEnd, ToolId,
    TurnId,
};

use super::{
    ToolDraft, TurnError,
    facts::SessionFacts,
    permission::OpenGates,
    record::{Record, What},
    recorder::{Recorder, what},
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
    /// Takes note of what is told, if the kit has a history.
    recorder: Option<Arc<Recorder>>,
}

impl Turn {
    pub(super) fn new(
        link: ClientLink,
        session: Arc<SessionFacts>,
        command: &CommandId,
        cancel: Cancel,
    ) -> Self {
        let turn = TurnId::new(command.to_shared());
        let kept = session.kept.clone();
        let recorder = kept.map(|kept| Recorder::new(kept, session.id.clone(), turn.clone()));
        Self {
            link,
            origin: Arc::new(Origin::new(session.loop_id.clone(), turn)),
            next: AtomicU64::new(0),
            next_name: AtomicU64::new(1),
            cancel,
            session,
            tools: Mutex::default(),
            recorder,
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

    /// Says what the session is about.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn title(&self, title: impl Into<String>) -> Result<(), TurnError> {
        let info = self.session.set_title(title.into()).await?;
        self.tell_session(EventBody::InfoChanged(info)).await
    }

    /// Tells the user something that is no part of the conversation, if the
    /// client shows that.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if nobody waits for the turn any more.
    pub async fn notice(&self, notice: Notice) -> Result<(), TurnError> {
        self.tell(EventBody::Noticed(Box::new(notice))).await
    }

    /// The value of an option of the session, as the user has set it; one of
    /// those of [`Kit::with_options`](super::Kit::with_options).
    pub fn option(&self, id: &str) -> Option<ConfigValue> {
        self.session.option(id)
    }

    /// The id of the session's mode, if it has any.
    pub fn mode(&self) -> Option<String> {
        match self.option(ConfigOption::MODE)? {
            ConfigValue::Choice(mode) => Some(mode),
            _ => None,
        }
    }

    /// What happened in the session before this turn, if the kit has a
    /// [history](super::History).
    ///
    /// # Errors
    ///
    /// [`TurnError`] if it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn earlier(&self) -> Result<Vec<Record>, TurnError> {
        let recorder = self.recorder.as_ref();
        let Some(mut earlier) = recorder.and_then(|recorder| recorder.earlier()) else {
            return Ok(Vec::new());
        };
        let mut records = Vec::new();
        while let Some(record) = earlier.next().await? {
            records.push(record);
        }
        Ok(records)
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

    pub(super) fn link(&self) -> &ClientLink {
        &self.link
    }

    pub(super) fn gates(&self) -> &Arc<OpenGates> {
        &self.session.gates
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
        let what = self.recorder.as_ref().and_then(|_| what(&body));
        let event = self.event(body);
        let number = event.number;
        self.link.emit(event).await?;
        if let (Some(recorder), Some(what)) = (&self.recorder, what)
            && recorder.note(number, what)
        {
            recorder.save().await?;
        }
        Ok(())
    }

    /// Takes note of what is told in another way, or not at all.
    pub(super) fn note(&self, what: impl FnOnce() -> What) {
        if let Some(recorder) = &self.recorder {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            recorder.note(number, what());
        }
    }

    /// Writes what was noted.
    pub(super) async fn save(&self) -> Result<(), HostError> {
        match &self.recorder {
            Some(recorder) => recorder.save().await,
            None => Ok(()),
        }
    }

    /// Writes what was noted, on a task of its own.
    pub(super) fn save_soon(&mut self) {
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(recorder), Ok(runtime)) = (self.recorder.take(), runtime) {
            runtime.spawn(async move {
                // Nobody waits for the turn, so nobody can be told.
                if recorder.save().await.is_err() {
                    tracing::warn!("the end of a turn is missing from the history");
                }
            });
        }
    }

    /// Tells something that concerns the session as a whole.
    async fn tell_session(&self, body: EventBody) -> Result<(), TurnError> {
        let event = self.session.event(body);
        Ok(self.link.emit(event).await?)
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
    pub(super) fn name(&self, what: &str) -> String {
        let number = self.next_name.fetch_add(1, Ordering::Relaxed);
        format!("{}.{what}{number}", self.origin.turn)
    }
}
