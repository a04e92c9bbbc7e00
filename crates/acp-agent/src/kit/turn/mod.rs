//! One turn: the way from a handler to whoever waits for its answer.

mod ask;
mod client;
mod command;
mod compaction;
mod end;
mod messages;
mod options;
pub(in crate::kit) mod permission;
mod prompt;
mod question;
mod tool;

pub use ask::{Ask, AskOr};
pub use client::AddressVisit;
pub use command::RunningCommand;
pub use compaction::RunningCompaction;
pub use end::{TurnEnd, TurnError};
pub use permission::{Answer, Permission};
pub use prompt::Prompt;
pub use question::{QuestionError, form_of};
pub use tool::{RunningTool, ToolDraft};

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use acp_host::{
    Cancel, ClientLink, CommandId, EmitError, Event, EventBody, HostError, Offer, Origin,
    SessionId, Setup, ToolCall, ToolEnd, ToolId, TurnId,
};

use crate::kit::{
    history::record::What,
    history::recorder::{Recorder, what},
    session::facts::SessionFacts,
};

/// One turn: the way to whoever waits for it.
///
/// What is told reaches the client in the order of the calls: it is written
/// straight into the outgoing buffer, on the task of the caller, and a call
/// waits only while the client reads too slowly. It fails once the client has
/// cancelled the turn.
#[derive(Debug)]
pub struct Turn {
    link: ClientLink,
    origin: Arc<Origin>,
    /// The number of the next event.
    next: AtomicU64,
    /// The number of the next tool, gate or sub-agent.
    next_name: AtomicU64,
    cancel: Cancel,
    session: Arc<SessionFacts>,
    /// What belongs to the turn and to those that work for it.
    whole: Arc<Whole>,
    /// For a sub-agent: the tools that the client knows.
    known: Option<Mutex<BTreeSet<ToolId>>>,
}

/// What a turn shares with its sub-agents.
#[derive(Debug)]
struct Whole {
    /// Tools that were announced and have not ended.
    tools: Mutex<BTreeSet<ToolId>>,
    /// Takes note of what is told, if the kit has a history.
    recorder: Option<Arc<Recorder>>,
}

/// What is noted of an event once it is told.
struct Note {
    place: Option<u64>,
    what: What,
}

impl Turn {
    pub(in crate::kit) fn new(
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
            whole: Arc::new(Whole {
                tools: Mutex::default(),
                recorder,
            }),
            known: None,
        }
    }

    /// A turn of a sub-agent, which works for this one.
    ///
    /// It can do what a turn can. The client sees of it what the user is asked
    /// about: its tools from when it asks for their [permission
    /// ](Self::ask_permission), and its questions. What it says and thinks stays
    /// inside, so it is up to this turn to tell what came of it. It is cancelled
    /// with this turn.
    #[must_use]
    pub fn sub_agent(&self, name: impl AsRef<str>) -> Turn {
        let name = self.name(name.as_ref());
        let origin = Origin::new(name.as_str(), name.as_str());
        let origin = origin.with_parent(Arc::clone(&self.origin));
        Self {
            link: self.link.clone(),
            origin: Arc::new(origin),
            next: AtomicU64::new(0),
            next_name: AtomicU64::new(1),
            cancel: self.cancel.clone(),
            session: Arc::clone(&self.session),
            whole: Arc::clone(&self.whole),
            known: Some(Mutex::default()),
        }
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

    pub(in crate::kit) fn session(&self) -> &Arc<SessionFacts> {
        &self.session
    }

    pub(in crate::kit) fn link(&self) -> &ClientLink {
        &self.link
    }

    pub(in crate::kit) fn cancel_signal(&self) -> Cancel {
        self.cancel.clone()
    }

    pub(in crate::kit) fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.whole.recorder.as_ref()
    }

    /// Tells an event, unless the turn is cancelled.
    pub(in crate::kit) async fn tell(&self, body: EventBody) -> Result<(), TurnError> {
        if self.cancel.is_cancelled() {
            return Err(TurnError::cancelled());
        }
        // Most events are told at once, and then this is all there is.
        match self.offer(body) {
            (Offer::Done(told), None) => Ok(told?),
            (offer, note) => self.tell_the_rest(offer, note).await,
        }
    }

    pub(in crate::kit) async fn tell_even_if_cancelled(
        &self,
        body: EventBody,
    ) -> Result<(), TurnError> {
        let (offer, note) = self.offer(body);
        self.tell_the_rest(offer, note).await
    }

    async fn tell_the_rest(&self, offer: Offer, note: Option<Note>) -> Result<(), TurnError> {
        if self.told(offer, note).await? {
            self.save().await?;
        }
        Ok(())
    }

    /// Offers an event, and gives what is to be noted of it once it is told.
    fn offer(&self, body: EventBody) -> (Offer, Option<Note>) {
        let recorder = self.recorder().filter(|_| self.is_seen(&body));
        let what = recorder.and_then(|_| what(&body));
        let event = self.event(body);
        let place = self.place(event.number);
        let note = what.map(|what| Note { place, what });
        (self.link.offer(event), note)
    }

    /// Waits until an event is told, and takes note of it. True when what was noted
    /// so far should be written.
    async fn told(&self, offer: Offer, note: Option<Note>) -> Result<bool, EmitError> {
        match offer {
            Offer::Done(told) => told,
            Offer::Wait(rest) => rest.await,
        }?;
        Ok(match (self.recorder(), note) {
            (Some(recorder), Some(note)) => recorder.note(note.place, note.what),
            _ => false,
        })
    }

    /// Takes note of what is told in another way, or not at all.
    pub(in crate::kit) fn note(&self, what: impl FnOnce() -> What) {
        if let Some(recorder) = self.recorder() {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            recorder.note(self.place(number), what());
        }
    }

    /// Takes note that the client is told of a tool because it is asked about
    /// it.
    pub(in crate::kit) fn note_asked(&self, tool: &ToolCall) {
        let Some(known) = &self.known else {
            return;
        };
        if known.lock().insert(tool.id.clone()) {
            self.note(|| What::ToolRequested(tool.clone()));
        }
    }

    /// Writes what was noted.
    pub(in crate::kit) async fn save(&self) -> Result<(), HostError> {
        match self.recorder() {
            Some(recorder) => recorder.save().await,
            None => Ok(()),
        }
    }

    /// Writes what was noted, on a task of its own.
    pub(in crate::kit) fn save_soon(&self) {
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(recorder), Ok(runtime)) = (self.recorder().cloned(), runtime) {
            runtime.spawn(async move {
                // Nobody waits for the turn, so nobody can be told.
                if recorder.save().await.is_err() {
                    tracing::warn!("the end of a turn is missing from the history");
                }
            });
        }
    }

    /// Tells an event that never has to wait.
    pub(in crate::kit) fn tell_now(&self, body: EventBody) {
        // One that would have to wait is not told.
        let _: Offer = self.link.offer(self.event(body));
    }

    /// Tells the client that tools without an end have failed. Writing that is
    /// left to the end of the turn.
    pub(in crate::kit) async fn fail_open_tools(&self) {
        let open = std::mem::take(&mut *self.tools());
        for id in open {
            let end = EventBody::ToolCompleted(Box::new(ToolEnd::failed(id)));
            let (offer, note) = self.offer(end);
            if self.told(offer, note).await.is_err() {
                return;
            }
        }
    }

    pub(in crate::kit) fn tools(&self) -> MutexGuard<'_, BTreeSet<ToolId>> {
        self.whole.tools.lock()
    }

    /// A name that is unique in the session.
    pub(in crate::kit) fn name(&self, what: &str) -> String {
        let number = self.next_name.fetch_add(1, Ordering::Relaxed);
        format!("{}.{what}{number}", self.origin.turn)
    }

    fn event(&self, body: EventBody) -> Event {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Event::new(Arc::clone(&self.origin), number, body)
    }

    /// Whether the client sees an event: of a sub-agent, only those of the tools
    /// that it knows.
    fn is_seen(&self, body: &EventBody) -> bool {
        let Some(known) = &self.known else {
            return true;
        };
        let known = known.lock();
        match body {
            EventBody::ToolStarted(tool) => known.contains(&tool.id),
            EventBody::ToolProgressed(progress) => known.contains(&progress.id),
            EventBody::ToolCompleted(end) => known.contains(&end.id),
            _ => false,
        }
    }

    /// The number of a record. Those of sub-agents stand behind each other: the
    /// recorder keeps their order.
    fn place(&self, number: u64) -> Option<u64> {
        self.known.is_none().then_some(number)
    }
}
