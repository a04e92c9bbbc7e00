//! A session that is being loaded: its history, and then the session.

use std::sync::Arc;
use std::time::Duration;

use acp_connection::Update;
use acp_protocol::rpc::{CallFacts, CallId, OnDrop};
use acp_protocol::v1::{LoadSessionRequest, SessionId, methods};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout};

use super::opening::Opening;
use super::opens::{Opened, Opens};
use super::reader::{Read, Reader};
use super::{Lease, Session, SessionSetup, TurnEvent};
use crate::connection::Capability;
use crate::error::ClientError;
use crate::limits::COLLECTED_BYTES;

/// A session that is being loaded.
///
/// It gives the history as the agent replays it, in wire order, and then ends. What
/// to do with the history is the caller's choice:
///
/// * stream it with [`next`](Self::next), and take the session with [`end`](Self::end);
/// * have it in one piece with [`collect`](Self::collect);
/// * do without, with [`end`](Self::end) alone.
///
/// Dropped before its end, the agent is told that nobody waits, and the session is
/// forgotten here; one that the agent loads all the same is closed again, where the
/// agent knows how to.
///
/// ```no_run
/// # async fn show(client: acp_client::Client) -> Result<(), acp_client::ClientError> {
/// let mut loading = client.load_session("session-7", "/home/ada/project").await?;
/// while let Some(event) = loading.next().await {
///     println!("{event:?}");
/// }
/// let mut session = loading.end().await?;
/// # drop(session.prompt("Go on").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping it gives the loading up"]
pub struct Loading {
    /// `None` once it was handed on.
    opening: Option<Opening>,
    stage: LoadStage,
    session: SessionId,
    limit: Duration,
    /// What is left of the limit.
    left: Duration,
}

#[derive(Debug)]
enum LoadStage {
    Running(OwnedMutexGuard<Reader>, CallId),
    Loaded,
    Failed(ClientError),
    /// Handed out.
    Over,
}

/// A loaded session with its history; see [`Loading::collect`].
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedSession {
    /// The session.
    pub session: Session,
    /// What the agent replayed.
    pub replay: Vec<Update>,
    /// Updates that are not in it, because they made no sense or were too many.
    pub missing: u64,
}

impl Loading {
    pub(crate) async fn start(
        lease: Arc<Lease>,
        id: SessionId,
        setup: SessionSetup,
    ) -> Result<Self, ClientError> {
        let sessions = Arc::clone(&lease);
        let connection = &sessions.connection;
        connection.require(Capability::Load)?;
        let setup = setup.prepare(&lease).await?;
        let request = LoadSessionRequest::new(setup.mcp_servers, setup.cwd, id.clone())
            .with_additional_directories(setup.additional_directories);
        let mut opening = Opening::begin(lease, &id, setup.opening)?;
        let reader = Arc::clone(&opening.session.reader);
        let Ok(mut reader) = reader.try_lock_owned() else {
            // Nobody else knows the session yet.
            return Err(ClientError::DuplicateSession { session: id });
        };
        let call = match reader.start_loading(&request) {
            Ok(call) => call,
            Err(error) => {
                let facts = CallFacts::default();
                return Err(connection
                    .explain(methods::SESSION_LOAD, error, facts)
                    .await);
            }
        };
        opening.undo = Some(call);
        let limit = setup.limit.unwrap_or(sessions.options.timeouts.load);
        Ok(Self {
            opening: Some(opening),
            stage: LoadStage::Running(reader, call),
            session: id,
            limit,
            left: limit,
        })
    }

    /// Waits for the next piece of the history.
    ///
    /// Returns `None` once the loading has ended; [`end`](Self::end) then gives the
    /// session without waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: when another branch of `select!` wins, nothing is lost.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        let (LoadStage::Running(reader, _), Some(opening)) = (&mut self.stage, &mut self.opening)
        else {
            return None;
        };
        let session = Arc::clone(&opening.session);
        let connection = session.connection();
        let wait = Wait::begin(&mut self.left);
        let read = timeout(*wait.left, reader.next(&session, false)).await;
        drop(wait);
        let (facts, answer) = match read {
            Ok(Read::Event(event)) => return Some(event),
            Ok(Read::End(end)) => (end.facts, Some(end.result::<Opens<LoadSessionRequest>>())),
            Ok(Read::Closed) => (CallFacts::default(), None),
            Err(_) => {
                self.give_up();
                self.stage = LoadStage::Failed(ClientError::LoadTimeout {
                    session: self.session.clone(),
                    after: self.limit,
                    stderr_tail: connection.stderr_tail(),
                });
                return None;
            }
        };
        opening.undo = None;
        let failure = match answer {
            Some(Ok(Opened { answer, models })) => {
                let mut settings = session.settings();
                let at = facts.response_seq;
                settings.opened(answer.modes, answer.config_options, models, at);
                drop(settings);
                tracing::debug!(session.id = %self.session, "a session was loaded");
                self.stage = LoadStage::Loaded;
                return None;
            }
            Some(Err(error)) => {
                self.opening = None;
                connection
                    .explain(methods::SESSION_LOAD, error, facts)
                    .await
            }
            None => {
                self.opening = None;
                session.why_closed(methods::SESSION_LOAD).await
            }
        };
        self.stage = LoadStage::Failed(failure);
        None
    }

    /// Waits for the end of the loading and gives the session.
    ///
    /// What is replayed until then is dropped.
    ///
    /// # Errors
    ///
    /// [`ClientError::LoadTimeout`] when the agent takes longer than
    /// [`ClientTimeouts::load`](crate::ClientTimeouts::load)
    /// allows (time that the caller takes does not count), else as any request. The
    /// session is forgotten then.
    ///
    /// # Cancel safety
    ///
    /// Dropping this future drops the loading, which gives it up.
    pub async fn end(mut self) -> Result<Session, ClientError> {
        while self.next().await.is_some() {}
        self.take()
    }

    /// Waits for the end of the loading and gives the session with its history.
    ///
    /// Permission requests among it are refused. Of a history of more than
    /// [`COLLECTED_BYTES`], the rest is counted as missing.
    ///
    /// # Errors
    ///
    /// As [`end`](Self::end).
    ///
    /// # Cancel safety
    ///
    /// As [`end`](Self::end).
    pub async fn collect(mut self) -> Result<LoadedSession, ClientError> {
        let (mut replay, mut missing, mut bytes) = (Vec::new(), 0, 0);
        while let Some(event) = self.next().await {
            match event {
                TurnEvent::Update(update) | TurnEvent::Earlier(update) => {
                    bytes += update.line.as_str().len();
                    if bytes <= COLLECTED_BYTES {
                        replay.push(update);
                    } else {
                        missing += 1;
                    }
                }
                TurnEvent::Unreadable { .. } => missing += 1,
                TurnEvent::Gap { dropped } => missing += dropped,
                _ => {}
            }
        }
        Ok(LoadedSession {
            session: self.take()?,
            replay,
            missing,
        })
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session
    }

    fn take(&mut self) -> Result<Session, ClientError> {
        match std::mem::replace(&mut self.stage, LoadStage::Over) {
            LoadStage::Loaded => self
                .opening
                .take()
                .map(Opening::finish)
                .ok_or(ClientError::Closed),
            LoadStage::Failed(error) => Err(error),
            LoadStage::Running(..) | LoadStage::Over => Err(ClientError::Closed),
        }
    }

    /// Tells the agent that nobody waits, and forgets the session.
    fn give_up(&mut self) {
        let Some(mut opening) = self.opening.take() else {
            return;
        };
        if let LoadStage::Running(mut reader, call) =
            std::mem::replace(&mut self.stage, LoadStage::Over)
            && let Some(end) = reader.abandon(call, OnDrop::Report)
        {
            // Answered, and nobody has read it yet.
            opening.undo = None;
            if end.result::<LoadSessionRequest>().is_ok() {
                opening.session.forget();
                let sessions = &opening.session.sessions;
                sessions.close_unwanted(self.session.clone());
            }
        }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        if matches!(self.stage, LoadStage::Running(..)) {
            self.give_up();
        }
    }
}

/// Counts the time that is waited for the agent, also when the wait is dropped.
struct Wait<'a> {
    left: &'a mut Duration,
    since: Instant,
}

impl<'a> Wait<'a> {
    fn begin(left: &'a mut Duration) -> Self {
        Self {
            left,
            since: Instant::now(),
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        *self.left = self.left.saturating_sub(self.since.elapsed());
    }
}
