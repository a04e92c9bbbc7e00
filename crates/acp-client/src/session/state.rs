//! What everything that belongs to one session shares.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_connection::{Mailbox, MailboxControl};
use acp_conversation::{ConversationLimits, ToolCalls};
use acp_protocol::rpc::{CallError, MailboxId, ReceiveSeq};
use acp_protocol::v1::{
    CancelNotification, CloseSessionRequest, SessionId, SessionUpdate, ToolCallUpdate, methods,
};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until, timeout};

use super::counters::ReadCounts;
use super::services::Services;
use super::session_settings::SessionSettings;
use super::waiting::WaitingQueue;
use super::{Reader, SessionCounters, Sessions};
use crate::connection::{Capability, Connection};
use crate::error::ClientError;
use crate::gate::{CancelledTurn, TurnGate};
use crate::limits::{ANNOUNCEMENT_WAIT, CANCEL_REPEATS};
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
    pub(crate) services: Mutex<Services>,
    pub(super) settings: Mutex<SessionSettings>,
    pub(super) counts: Arc<ReadCounts>,
    mailbox: MailboxControl,
    tools: Mutex<ToolCalls>,
    /// It was closed or deleted on this side.
    ended: AtomicBool,
}

impl SessionState {
    pub(super) fn new(
        id: SessionId,
        sessions: Arc<Sessions>,
        mailbox: Mailbox,
        services: Services,
    ) -> Arc<Self> {
        let control = mailbox.control();
        let reader = Reader::new(mailbox, sessions.options.dedup);
        Arc::new(Self {
            id,
            counts: sessions.counters.open(),
            sessions,
            gate: TurnGate::new(),
            reader: Arc::new(tokio::sync::Mutex::new(reader)),
            waiting: WaitingQueue::default(),
            services: Mutex::new(services),
            settings: Mutex::default(),
            mailbox: control,
            // Policies look at kinds and paths, so nothing else is kept.
            tools: Mutex::new(ToolCalls::within(ConversationLimits {
                tool_text: 0,
                ..ConversationLimits::default()
            })),
            ended: AtomicBool::new(false),
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

    /// Keeps what an update says about tools and settings. Called for each update that
    /// is read, and must cost nothing for text.
    pub(super) fn learn(&self, update: &SessionUpdate, at: ReceiveSeq) {
        match update {
            SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_) => {
                self.tools.lock().update(update);
            }
            SessionUpdate::CurrentModeUpdate(_) | SessionUpdate::ConfigOptionUpdate(_) => {
                self.settings.lock().learn(update, at);
            }
            _ => {}
        }
    }

    /// Puts what was read about a tool under what a permission request says of it.
    pub(crate) fn complete_tool(&self, asked: &ToolCallUpdate) -> ToolCallState {
        self.tools.lock().overlaid(asked)
    }

    /// Waits until everything that was received up to `seq`, or up to now, was read.
    pub(crate) async fn wait_updates(&self, seq: Option<ReceiveSeq>) -> Result<(), ClientError> {
        self.check_open()?;
        let seq = seq.unwrap_or_else(|| self.connection().peer.received());
        if self.mailbox.consumed_through(seq).await {
            return Ok(());
        }
        Err(self.why_closed(methods::SESSION_UPDATE).await)
    }

    /// Waits until everything that came before `seq` was read, but not for long; returns
    /// whether it was.
    pub(crate) async fn wait_until_read(&self, seq: ReceiveSeq) -> bool {
        let read = timeout(ANNOUNCEMENT_WAIT, self.mailbox.consumed_through(seq)).await;
        read.unwrap_or(false)
    }

    /// Tells the agent to close the session, and forgets it.
    pub(crate) async fn close(&self) -> Result<(), ClientError> {
        let _forget = Forget(self);
        // What the agent asked meanwhile is answered `cancelled`.
        self.end();
        if let Err(error) = self.connection().require(Capability::Close) {
            if self.mailbox.is_streaming() {
                // Its turn shall not go on unseen.
                self.send_cancel();
            }
            return Err(error);
        }
        self.mailbox.set_cancelled();
        let request = CloseSessionRequest::new(self.id.clone());
        self.sessions.request(&request).await?;
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
                self.connection().explain(method, error).await
            }
            None => ClientError::SessionClosed,
        }
    }

    /// Cancels: tells the agent, answers what it asks, and sees to it that the agent
    /// gets it.
    pub(crate) fn cancel(self: &Arc<Self>) {
        let now = Instant::now();
        let cancelled = self.gate.cancel(now);
        if cancelled != CancelledTurn::Idle {
            if !self.mailbox.is_streaming() {
                // Answered, and nobody has read the answer yet. At least one agent would
                // keep this cancel for its next turn.
                return;
            }
            self.mailbox.set_cancelled();
        }
        self.send_cancel();
        if let CancelledTurn::First { turn } = cancelled {
            let session = Arc::clone(self);
            self.connection()
                .runtime
                .spawn(session.repeat_cancel(turn, now));
        }
    }

    /// Sends the cancel again while the turn goes on.
    async fn repeat_cancel(self: Arc<Self>, turn: u64, since: Instant) {
        let mut gate = self.gate.watch();
        for delay in CANCEL_REPEATS {
            tokio::select! {
                () = gate.turn_ended(turn) => return,
                _ = self.connection().ended() => return,
                () = sleep_until(since + delay) => {}
            }
            // Answered, and nobody has read the answer yet: it arrived.
            if !self.mailbox.is_streaming() {
                return;
            }
            tracing::debug!(session.id = %self.id, "the agent does not react to the cancel, sending it again");
            self.send_cancel();
        }
    }

    fn send_cancel(&self) {
        // It fails when the connection has ended, and the turn with it.
        let cancel = CancelNotification::new(self.id.clone());
        let _ = self.connection().peer.notify_now(&cancel);
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
