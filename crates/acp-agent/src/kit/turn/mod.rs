//! One turn: the link from a handler to its client.

mod ask;
mod client;
mod command;
mod compaction;
mod end;
mod messages;
mod options;
mod permission;
mod prompt;
mod question;
mod tool;

pub use ask::{QuestionOrDefault, TypedQuestion};
pub use client::AddressVisit;
pub use command::RunningCommand;
pub use compaction::RunningCompaction;
pub use end::{TurnEnd, TurnError};
pub use permission::{Permission, UserAnswer};
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
    Cancel, ClientLink, CommandId, EmitError, EventBody, GateKind, HostError, HostEvent, Offer,
    SessionId, Setup, ToolEnd, ToolId, TurnId, TurnOrigin,
};

use crate::kit::{
    history::record::RecordBody,
    history::recorder::{Recorder, record_of},
    session::facts::SessionFacts,
};

/// One turn: the link to the client that waits for it.
///
/// Messages reach the client in the order of the calls: they are written
/// straight into the outgoing buffer, on the task of the caller, and a call
/// waits only while the client reads too slowly. It fails once the client has
/// cancelled the turn.
#[derive(Debug)]
pub struct Turn {
    link: ClientLink,
    origin: Arc<TurnOrigin>,
    cancel: Cancel,
    session: Arc<SessionFacts>,
    /// What belongs to the turn and to those that work for it.
    shared: Arc<SharedTurn>,
    /// For a sub-agent: the tools that the client knows.
    known: Option<Mutex<BTreeSet<ToolId>>>,
}

/// What a turn shares with its sub-agents.
#[derive(Debug)]
struct SharedTurn {
    /// The number of the next event. There is one count for all of them, so that an
    /// event has the same name when it is replayed.
    next: AtomicU64,
    /// The number of the next tool, gate or sub-agent.
    next_name: AtomicU64,
    /// Tools that were announced and have not ended.
    tools: Mutex<BTreeSet<ToolId>>,
    /// Records the events of the turn, if the kit has a history.
    recorder: Option<Arc<Recorder>>,
}

/// The record of an event, to be noted once it is sent.
struct Note {
    number: u64,
    body: RecordBody,
}

impl Turn {
    pub(in crate::kit) fn new(
        link: ClientLink,
        session: Arc<SessionFacts>,
        command: &CommandId,
        cancel: Cancel,
    ) -> Self {
        let turn = TurnId::new(command.to_shared());
        let history = session.history.clone();
        let recorder =
            history.map(|history| Recorder::new(history, session.id.clone(), turn.clone()));
        Self {
            link,
            origin: Arc::new(TurnOrigin::new(session.loop_id.clone(), turn)),
            cancel,
            session,
            shared: Arc::new(SharedTurn {
                next: AtomicU64::new(0),
                next_name: AtomicU64::new(1),
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
    /// inside, so this turn has to report the result. It is cancelled
    /// with this turn.
    #[must_use]
    pub fn sub_agent(&self, name: impl AsRef<str>) -> Turn {
        let name = self.name(name.as_ref());
        // A loop of its own that works in the same turn.
        let origin = TurnOrigin::new(name.as_str(), self.origin.turn.clone());
        let origin = origin.with_parent(Arc::clone(&self.origin));
        Self {
            link: self.link.clone(),
            origin: Arc::new(origin),
            cancel: self.cancel.clone(),
            session: Arc::clone(&self.session),
            shared: Arc::clone(&self.shared),
            known: Some(Mutex::default()),
        }
    }

    /// Whether the turn is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Waits until the turn is cancelled.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Runs work until the turn is cancelled.
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
        self.shared.recorder.as_ref()
    }

    /// Sends an event, unless the turn is cancelled.
    pub(in crate::kit) async fn send(&self, body: EventBody) -> Result<(), TurnError> {
        if self.cancel.is_cancelled() {
            return Err(TurnError::cancelled());
        }
        // The short way: most events are sent at once, and not recorded.
        match self.offer(body) {
            (Offer::Done(sent), None) => Ok(sent?),
            (offer, note) => self.finish_sending(offer, note).await,
        }
    }

    pub(in crate::kit) async fn send_even_if_cancelled(
        &self,
        body: EventBody,
    ) -> Result<(), TurnError> {
        let (offer, note) = self.offer(body);
        self.finish_sending(offer, note).await
    }

    async fn finish_sending(&self, offer: Offer, note: Option<Note>) -> Result<(), TurnError> {
        if self.sent(offer, note).await? {
            self.save().await?;
        }
        Ok(())
    }

    /// Offers an event, and gives its record, to be noted once it is sent.
    fn offer(&self, body: EventBody) -> (Offer, Option<Note>) {
        let record = self.recorder().and_then(|_| self.record_of(&body));
        let event = self.event(body);
        let number = event.number;
        let note = record.map(|body| Note { number, body });
        (self.link.offer(event), note)
    }

    /// Waits until an event is sent, and notes it. True when the
    /// notes so far should be written.
    async fn sent(&self, offer: Offer, note: Option<Note>) -> Result<bool, EmitError> {
        match offer {
            Offer::Done(sent) => sent,
            Offer::Wait(rest) => rest.await,
        }?;
        let (Some(recorder), Some(note)) = (self.recorder(), note) else {
            return Ok(false);
        };
        if let (Some(known), RecordBody::ToolRequested(tool)) = (&self.known, &note.body) {
            known.lock().insert(tool.id.clone());
        }
        Ok(recorder.note(note.number, note.body))
    }

    /// Notes something that is sent in another way, or not at all.
    pub(in crate::kit) fn note(&self, record: impl FnOnce() -> RecordBody) {
        if let Some(recorder) = self.recorder() {
            let number = self.next_number();
            recorder.note(number, record());
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
                // The turn is over: only the log is left.
                if recorder.save().await.is_err() {
                    tracing::warn!("the end of a turn is missing from the history");
                }
            });
        }
    }

    /// Sends an event that never has to wait.
    pub(in crate::kit) fn send_now(&self, body: EventBody) {
        // An event that would have to wait is dropped.
        let _: Offer = self.link.offer(self.event(body));
    }

    /// Reports tools without an end as failed. Writing that is
    /// left to the end of the turn.
    pub(in crate::kit) async fn fail_open_tools(&self) {
        let open = std::mem::take(&mut *self.tools());
        for id in open {
            let end = EventBody::ToolCompleted(Box::new(ToolEnd::failed(id)));
            let (offer, note) = self.offer(end);
            if self.sent(offer, note).await.is_err() {
                return;
            }
        }
    }

    pub(in crate::kit) fn tools(&self) -> MutexGuard<'_, BTreeSet<ToolId>> {
        self.shared.tools.lock()
    }

    /// A name that is unique in the session.
    pub(in crate::kit) fn name(&self, kind: &str) -> String {
        let number = self.shared.next_name.fetch_add(1, Ordering::Relaxed);
        format!("{}.{kind}{number}", self.origin.turn)
    }

    fn event(&self, body: EventBody) -> HostEvent {
        HostEvent::new(Arc::clone(&self.origin), self.next_number(), body)
    }

    fn next_number(&self) -> u64 {
        self.shared.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The part of an event that is kept. The client sees of a sub-agent the tools that it was
    /// asked about.
    fn record_of(&self, body: &EventBody) -> Option<RecordBody> {
        let Some(known) = &self.known else {
            return record_of(body);
        };
        let known = known.lock();
        let is_seen = match body {
            EventBody::GateOpened(gate) => match &gate.kind {
                GateKind::Permission { tool, .. } if !known.contains(&tool.id) => {
                    return Some(RecordBody::ToolRequested(tool.clone()));
                }
                _ => false,
            },
            EventBody::ToolStarted(tool) => known.contains(&tool.id),
            EventBody::ToolProgressed(progress) => known.contains(&progress.id),
            EventBody::ToolCompleted(end) => known.contains(&end.id),
            _ => false,
        };
        is_seen.then(|| record_of(body))?
    }
}
