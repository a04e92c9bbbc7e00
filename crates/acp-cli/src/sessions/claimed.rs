//! A session that is kept, from the moment it is claimed to the end of its turn.

use std::path::Path;
use std::sync::Arc;

use acp_client::{ClientError, SessionControl, TurnEvent};
use acp_harness::transcript::{FirstPrompt, Transcript};
use acp_harness::turn::{Opened, Ready, StopHandle};
use acp_protocol::Patch;
use acp_protocol::v1::{SessionId, SessionUpdate};
use parking_lot::Mutex;

use super::control::{Control, Ended, Live};
use super::key::SessionKey;
use super::record::{Record, TurnEnded};
use super::store::{Hold, Store, StoreError};
use super::wishes::{Change, Offers};
use crate::outcome::in_words;
use crate::show::one_line;

/// How a session is begun or gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// Go on where it was left, or begin it.
    Continue,
    /// Begin anew.
    Anew,
    /// Go on in this session of the agent, and in no other.
    In(SessionId),
}

impl Continuation {
    /// Returns the folder the agent works in, where the record settles it: a session stays
    /// where it was begun, as long as that is there.
    pub(crate) fn settled_cwd<'a>(&self, record: &'a Record) -> Option<&'a Path> {
        let is_settled = match self {
            Self::Continue => record.session_id.is_some(),
            Self::Anew => false,
            Self::In(id) => record.session_ids().any(|known| known == id),
        };
        let cwd = Path::new(&record.cwd);
        (is_settled && cwd.is_dir()).then_some(cwd)
    }
}

/// A session that is ours for a turn.
#[derive(Debug)]
pub(crate) struct ClaimedSession {
    hold: Arc<Hold>,
    /// The record as it will be once the agent has opened the session.
    draft: Record,
    /// Whether no other session of the agent will do.
    no_other: bool,
    /// What a session is told that knows nothing of it.
    history: Transcript,
    live: Arc<Live>,
    control: Option<Control>,
    /// Whether its turn is recorded.
    begun: bool,
    /// What could not be done on the way.
    troubles: Vec<String>,
    title: Mutex<Option<Option<String>>>,
}

/// How a kept session was opened, to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionOpening {
    pub(crate) name: String,
    pub(crate) agent: String,
    pub(crate) kind: OpeningKind,
}

/// What the agent made of a kept session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpeningKind {
    Begun,
    Resumed,
    Loaded,
    /// The agent knows it no longer; a new one was told what was said.
    HandedOn {
        /// Messages that it was told, the newest.
        messages: usize,
        /// What the agent said.
        refusal: Option<String>,
    },
}

impl ClaimedSession {
    /// Begins with a session that was claimed: `cwd` is where one that is begun works.
    pub(crate) fn begin(
        store: &Store,
        key: &SessionKey,
        hold: Arc<Hold>,
        cwd: &str,
        way: &Continuation,
        stop: &StopHandle,
    ) -> Self {
        let mut troubles = Vec::new();
        if let Some(aside) = hold.aside() {
            troubles.push(format!(
                "the record of the session was damaged; it is kept as {}, and the session begins anew",
                aside.display()
            ));
        }
        let mut draft = hold.record().unwrap_or_else(|| Record::new(key, cwd));
        if way.settled_cwd(&draft).is_none() {
            draft.cwd = cwd.to_owned();
        }
        match way {
            Continuation::Continue => {}
            Continuation::Anew => draft.begin_anew(),
            Continuation::In(session) => draft.take_up(session),
        }
        let live = Arc::new(Live::new(key, Arc::downgrade(&hold), stop));
        let control = Control::listen(&store.socket(key), Arc::clone(&live));
        if let Err(error) = &control {
            troubles.push(format!("no other process can reach this turn: {error}"));
        }
        Self {
            history: draft.transcript(),
            no_other: matches!(way, Continuation::In(_)),
            draft,
            hold,
            live,
            control: control.ok(),
            begun: false,
            troubles,
            title: Mutex::new(None),
        }
    }

    /// Returns the folder the agent works in.
    pub(crate) fn cwd(&self) -> &Path {
        Path::new(&self.draft.cwd)
    }

    /// Returns the agent's session to go on in, and whether no other one will do.
    pub(crate) fn known(&self) -> Option<(&SessionId, bool)> {
        let known = self.draft.session_id.as_ref()?;
        Some((known, self.no_other))
    }

    /// Returns what it is to be set to.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Change> {
        self.draft.wishes.changes()
    }

    /// Returns what the user should know, once.
    pub(crate) fn take_troubles(&mut self) -> Vec<String> {
        std::mem::take(&mut self.troubles)
    }

    /// Records the session that the agent opened, and that its turn begins.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it cannot be recorded; no turn should begin then.
    pub(crate) fn open(
        &mut self,
        ready: &Ready,
        prompt: &str,
    ) -> Result<SessionOpening, StoreError> {
        let known = self.draft.session_id.is_some();
        let id = ready.session.id().clone();
        let kind = match ready.opened {
            Opened::Resumed => OpeningKind::Resumed,
            Opened::Loaded => OpeningKind::Loaded,
            _ if known || !self.history.is_empty() => OpeningKind::HandedOn {
                messages: self.history.stats().kept,
                refusal: ready.refusal.as_ref().map(why),
            },
            _ => OpeningKind::Begun,
        };
        if self.draft.session_id.as_ref() != Some(&id) {
            self.draft.go_on_in(id);
        }
        self.draft.offers = Offers::of(&ready.session.control());
        self.draft.begin_turn(prompt);
        self.hold.save(self.draft.clone())?;
        self.begun = true;
        Ok(SessionOpening {
            name: self.draft.name.to_string(),
            agent: self.draft.agent.label().to_owned(),
            kind,
        })
    }

    /// Writes the prompt: a session that knows nothing of what was said is told first.
    pub(crate) fn prompt(&self, opened: Opened, prompt: &str) -> String {
        match opened {
            Opened::New => FirstPrompt::new(prompt)
                .with_history(&self.history)
                .to_text(),
            _ => prompt.to_owned(),
        }
    }

    /// Lets other processes reach the turn.
    pub(crate) fn begin_turn(&self, control: SessionControl, steers: bool) {
        self.live.begin(control, steers);
    }

    /// Hears what happens in the turn.
    pub(crate) fn hear(&self, event: &TurnEvent) {
        let (TurnEvent::Update(update) | TurnEvent::Earlier(update)) = event else {
            return;
        };
        if let SessionUpdate::SessionInfoUpdate(info) = &update.update {
            let title = match &info.title {
                Patch::Keep => return,
                Patch::Clear => None,
                Patch::Set(title) => Some(title.clone()),
            };
            *self.title.lock() = Some(title);
        }
    }

    /// Records how the turn ended, gives the session up, and tells those who wait for it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it could not be recorded; the session is free all the same.
    pub(crate) async fn end(self, end: TurnEnded, exit_code: u8) -> Result<(), StoreError> {
        let title = self.title.into_inner();
        let ended = Ended {
            stop_reason: end.stop_reason.clone(),
            exit_code,
        };
        if let Some(control) = &self.control {
            control.shut(&ended).await;
        }
        let recorded = match self.begun {
            true => self.hold.update(|record| {
                record.end_turn(&end);
                if let Some(title) = title {
                    record.set_title(&title.unwrap_or_default());
                }
            }),
            false => self.hold.leave_nothing(),
        };
        drop(self.hold);
        if let Some(control) = self.control {
            control.end(ended).await;
        }
        recorded
    }
}

impl SessionOpening {
    /// Tells whether the agent knows less than the user thinks.
    pub(crate) fn is_surprising(&self) -> bool {
        matches!(self.kind, OpeningKind::HandedOn { .. })
    }
}

/// What an agent said that does not go on in a session, in a line.
fn why(refusal: &ClientError) -> String {
    match refusal {
        ClientError::Refused { error, .. } => one_line(&error.message).into_string(),
        other => in_words(other),
    }
}

impl std::fmt::Display for SessionOpening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.name;
        match &self.kind {
            OpeningKind::Begun => write!(f, "session {name}: begun"),
            OpeningKind::Resumed => write!(f, "session {name}: resumed"),
            OpeningKind::Loaded => write!(f, "session {name}: loaded"),
            OpeningKind::HandedOn { messages, refusal } => {
                write!(f, "session {name}: ")?;
                match refusal {
                    Some(refusal) => write!(f, "the agent does not go on in it ({refusal})")?,
                    None => f.write_str("the agent goes on in no session")?,
                }
                match messages {
                    0 => f.write_str("; a new one was begun"),
                    1 => f.write_str("; a new one was told the last message"),
                    _ => write!(f, "; a new one was told the last {messages} messages"),
                }
            }
        }
    }
}
