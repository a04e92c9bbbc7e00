//! What everything that belongs to one session shares.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use acp_connection::{Mailbox, MailboxControl};
use acp_conversation::{ConversationLimits, ToolCalls};
use acp_protocol::rpc::{CallError, CallFacts, MailboxId, ReceiveSeq};
use acp_protocol::v1::{CloseSessionRequest, SessionId, SessionUpdate, ToolCallUpdate};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::{Instant, timeout};

use super::cancelling::CancelSender;
use super::counters::ReadCounts;
use super::services::Services;
use super::session_settings::SessionSettings;
use super::session_setup::OpeningParts;
use super::waiting::{IsRead, WaitingQueue};
use super::{Reader, SessionCounters, Sessions};
use crate::connection::{Capability, Connection};
use crate::error::ClientError;
use crate::folders::SessionFolders;
use crate::gate::{CancelledTurn, TurnGate};
use crate::limits::ANNOUNCEMENT_WAIT;
use crate::options::PermissionsBy;
use crate::permission::ToolCallState;

/// One open session.
///
/// Open as long as somebody holds it; it does not keep the connection up.
pub(crate) struct SessionState {
    pub(crate) id: SessionId,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) gate: TurnGate,
    pub(crate) reader: Arc<tokio::sync::Mutex<Reader>>,
    pub(crate) waiting: WaitingQueue,
    pub(super) is_read: IsRead,
    pub(crate) services: Mutex<Services>,
    /// The folders it works in.
    pub(crate) folders: Arc<SessionFolders>,
    /// The policy that answers its permission requests.
    pub(crate) permissions: PermissionsBy,
    settings: Mutex<SessionSettings>,
    pub(super) counts: Arc<ReadCounts>,
    mailbox: MailboxControl,
    tools: Mutex<ToolCalls>,
    /// It was closed or deleted on this side.
    ended: AtomicBool,
    /// The newest turn of which the agent was told that it is cancelled; 0 before.
    cancelled_turn: AtomicU64,
}

impl SessionState {
    pub(super) fn new(
        id: SessionId,
        sessions: Arc<Sessions>,
        mailbox: Mailbox,
        parts: OpeningParts,
    ) -> Arc<Self> {
        let control = mailbox.control();
        let is_read = IsRead::new();
        let reader = Reader::new(mailbox, sessions.options.dedup, is_read.clone());
        Arc::new(Self {
            id,
            counts: sessions.counters.open(),
            sessions,
            gate: TurnGate::new(),
            reader: Arc::new(tokio::sync::Mutex::new(reader)),
            waiting: WaitingQueue::default(),
            is_read,
            services: Mutex::new(parts.services),
            folders: parts.folders,
            permissions: parts.permissions,
            settings: Mutex::default(),
            mailbox: control,
            // Policies look at kinds and paths, so nothing else is kept.
            tools: Mutex::new(ToolCalls::within(ConversationLimits {
                tool_text: 0,
                ..ConversationLimits::default()
            })),
            ended: AtomicBool::new(false),
            cancelled_turn: AtomicU64::new(0),
        })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.sessions.connection
    }

    pub(super) fn mailbox_id(&self) -> MailboxId {
        self.mailbox.id()
    }

    pub(crate) fn counters(&self) -> SessionCounters {
        self.counts.of_session(|| self.mailbox.counts())
    }

    /// Keeps what an update says about tools. Called for each update that is read, and
    /// must cost nothing for text.
    pub(super) fn learn_tool(&self, update: &SessionUpdate) {
        if let SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_) = update {
            self.tools.lock().update(update);
        }
    }

    /// The settings of the session as known by all that was received: also by updates
    /// that nobody has read, or ever will.
    pub(super) fn settings(&self) -> MutexGuard<'_, SessionSettings> {
        let mut settings = self.settings.lock();
        for newest in self.mailbox.take_settings() {
            settings.take(newest);
        }
        settings
    }

    /// Puts what was read about a tool under what a permission request says of it.
    pub(crate) fn complete_tool(&self, asked: &ToolCallUpdate) -> ToolCallState {
        self.tools.lock().overlaid(asked)
    }

    pub(super) fn mailbox(&self) -> &MailboxControl {
        &self.mailbox
    }

    /// Waits until everything that came before `seq` was read, but not for long; returns
    /// whether it was.
    pub(crate) async fn wait_until_read(&self, seq: ReceiveSeq) -> bool {
        let read = timeout(ANNOUNCEMENT_WAIT, self.mailbox.consumed_through(seq)).await;
        read.unwrap_or(false)
    }

    /// Tells the agent to close the session, and forgets it.
    pub(crate) async fn close(&self, limit: Option<Duration>) -> Result<(), ClientError> {
        let _forget = Forget(self);
        // What the agent asked meanwhile is answered `cancelled`.
        self.end();
        if let Err(error) = self.connection().require(Capability::Close) {
            if self.gate.watch().running().is_some() && self.mailbox.is_streaming() {
                // Its turn shall not go on unseen.
                self.cancels().send();
            }
            return Err(error);
        }
        self.mailbox.set_cancelled();
        let request = CloseSessionRequest::new(self.id.clone());
        self.sessions.request(&request, limit).await?;
        Ok(())
    }

    /// Ends the session on this side: its id may be used again, what the agent asked
    /// is answered `cancelled`, and whoever reads comes to the end.
    pub(crate) fn forget(&self) {
        self.end();
        self.mailbox.retire();
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.sessions.remove(self);
        self.gate.cancel(Instant::now());
        self.end_services();
    }

    /// Closes the files, and ends the commands.
    pub(super) fn end_services(&self) {
        let services = std::mem::take(&mut *self.services.lock());
        drop(services);
    }

    /// Checks that the session was not closed or deleted on this side.
    pub(crate) fn check_open(&self) -> Result<(), ClientError> {
        match self.ended.load(Ordering::Relaxed) {
            false => Ok(()),
            // The session went with its client.
            true if self.sessions.is_closing() => Err(ClientError::Closed),
            true => Err(ClientError::SessionClosed),
        }
    }

    /// Says why there is nothing more to read.
    pub(crate) async fn why_closed(&self, method: &'static str) -> ClientError {
        if let Err(closed) = self.check_open() {
            return closed;
        }
        match self.connection().peer.close_cause() {
            Some(cause) => {
                let error = CallError::Closed(cause);
                self.connection()
                    .explain(method, error, CallFacts::default())
                    .await
            }
            None => ClientError::SessionClosed,
        }
    }

    /// Cancels the running turn, and answers what the agent asks. The agent is told only
    /// where a turn runs: some would keep the cancel for their next one.
    pub(crate) fn cancel(&self) {
        let now = Instant::now();
        match self.gate.cancel(now) {
            CancelledTurn::Idle => {}
            CancelledTurn::First { turn } => self.cancel_turn(turn, now),
            CancelledTurn::Again if self.mailbox.is_streaming() => self.cancels().send(),
            CancelledTurn::Again => {}
        }
    }

    /// Cancels a turn that was cancelled before its prompt was queued. Called once it is.
    pub(crate) fn cancel_if_late(&self, turn: u64) {
        if let Some(since) = self.gate.watch().cancelling_since() {
            self.cancel_turn(turn, since);
        }
    }

    /// Cancels a turn at the agent, once.
    fn cancel_turn(&self, turn: u64, since: Instant) {
        // Not queued yet: who queues the prompt looks for the cancel then. Or answered, and
        // nobody has read the answer.
        if !self.mailbox.is_streaming() || self.cancelled_turn.swap(turn, Ordering::Relaxed) == turn
        {
            return;
        }
        self.mailbox.set_cancelled();
        let cancels = self.cancels();
        cancels.send();
        let repeat = cancels.repeat(self.gate.watch(), turn, since);
        self.connection().runtime.spawn(repeat);
    }

    fn cancels(&self) -> CancelSender {
        let (sessions, mailbox) = (Arc::clone(&self.sessions), self.mailbox.clone());
        CancelSender::new(self.id.clone(), sessions, mailbox)
    }
}

/// Forgets a session when it is dropped.
struct Forget<'a>(&'a SessionState);

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.0.forget();
    }
}

impl Drop for SessionState {
    fn drop(&mut self) {
        self.sessions.remove(self);
        // Nobody waits for the end of a dropped turn any longer.
        self.mailbox.retire();
    }
}

impl fmt::Debug for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionState")
            .field("id", &self.id)
            .field("gate", &self.gate)
            .finish_non_exhaustive()
    }
}
