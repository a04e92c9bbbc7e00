//! What everything that belongs to one session shares.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_connection::MailboxControl;
use acp_protocol::rpc::{CallError, MailboxId, ReceiveSeq};
use acp_protocol::v1::{
    CancelNotification, CloseSessionRequest, SessionId, SessionUpdate, ToolCallUpdate, methods,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::counters::{Counts, Page};
use super::served::Served;
use super::settings::Settings;
use super::turn_gate::{Cancelled, Slot};
use super::waiting::AskQueue;
use crate::connection::Capability;
use crate::connection::Connection;
use crate::limits::{ANNOUNCEMENT_WAIT, CANCEL_REPEATS};
use crate::permission::{KnownTools, ToolFacts};
use crate::session::Reader;
use crate::{ClientError, SessionCounters, SessionEndCause, TurnEvent};

/// One open session.
///
/// Open as long as somebody holds it; it does not keep the connection up.
pub(crate) struct SessionState {
    id: SessionId,
    connection: Arc<Connection>,
    slot: watch::Sender<Slot>,
    reader: Arc<tokio::sync::Mutex<Reader>>,
    mailbox: MailboxControl,
    asks: AskQueue,
    tools: Mutex<KnownTools>,
    settings: Mutex<Settings>,
    page: Page,
    counts: Arc<Counts>,
    served: Served,
    /// It was closed or deleted on this side.
    ended: AtomicBool,
}

impl SessionState {
    pub(crate) fn new(
        id: SessionId,
        connection: Arc<Connection>,
        reader: Reader,
        settings: Settings,
        served: Served,
    ) -> Arc<Self> {
        let (page, counts) = connection.counters().open();
        Arc::new(Self {
            id,
            connection,
            page,
            counts,
            slot: watch::Sender::new(Slot::new()),
            mailbox: reader.mailbox(),
            reader: Arc::new(tokio::sync::Mutex::new(reader)),
            asks: AskQueue::default(),
            tools: Mutex::default(),
            settings: Mutex::new(settings),
            served,
            ended: AtomicBool::new(false),
        })
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    pub(crate) fn slot(&self) -> &watch::Sender<Slot> {
        &self.slot
    }

    pub(crate) fn reader(&self) -> &Arc<tokio::sync::Mutex<Reader>> {
        &self.reader
    }

    pub(crate) fn mailbox_id(&self) -> MailboxId {
        self.mailbox.id()
    }

    pub(crate) fn asks(&self) -> &AskQueue {
        &self.asks
    }

    pub(crate) fn served(&self) -> &Served {
        &self.served
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn counters(&self) -> SessionCounters {
        self.counts.of_session(|| self.mailbox.counts())
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock()
    }

    /// Learns what an update tells about tools and settings. Called for each update
    /// that is read, and must cost nothing for text.
    pub(crate) fn learn(&self, update: &SessionUpdate, at: ReceiveSeq) {
        match update {
            SessionUpdate::ToolCall(_) | SessionUpdate::ToolCallUpdate(_) => {
                self.tools().learn(update)
            }
            SessionUpdate::CurrentModeUpdate(_) | SessionUpdate::ConfigOptionUpdate(_) => {
                self.settings().learn(update, at);
            }
            _ => {}
        }
    }

    /// Puts what was read about a tool under what a permission request says of it.
    pub(crate) fn complete_tool(&self, asked: &ToolCallUpdate) -> ToolFacts {
        self.tools().complete(asked)
    }

    /// Takes the first question, with everything that is known by now of its tool.
    pub(crate) fn take_ask(&self) -> Option<TurnEvent> {
        Some(self.asks.pop()?.into_event(self))
    }

    /// Waits until everything that was received up to `seq`, or up to now, was read.
    pub(crate) async fn wait_updates(&self, seq: Option<ReceiveSeq>) -> Result<(), ClientError> {
        self.check_open()?;
        let seq = seq.unwrap_or_else(|| self.connection.peer().received());
        if self.mailbox.consumed_through(seq).await {
            return Ok(());
        }
        Err(self.why_closed(methods::SESSION_UPDATE).await)
    }

    /// Waits until everything that came before `seq` was read, but not for long.
    pub(crate) async fn wait_until_read(&self, seq: ReceiveSeq) {
        // When it takes too long, we do without.
        let _ = timeout(ANNOUNCEMENT_WAIT, self.mailbox.consumed_through(seq)).await;
    }

    /// Tells the agent to close the session, and forgets it.
    pub(crate) async fn close(&self) -> Result<(), ClientError> {
        let _forget = Forget(self);
        self.ended.store(true, Ordering::Relaxed);
        self.connection.registry().remove(&self.id, self);
        // What the agent asked meanwhile is answered `cancelled`.
        self.slot
            .send_modify(|slot| _ = slot.cancel(Instant::now()));
        self.served.end();
        if let Err(error) = Capability::Close.require_in(self.connection.offers()?) {
            if self.mailbox.is_streaming() {
                // Its turn shall not go on unseen.
                self.send_cancel();
            }
            return Err(error);
        }
        self.mailbox.set_cancelled();
        let request = CloseSessionRequest::new(self.id.clone());
        self.connection
            .call(&request, self.connection.options().timeouts.request)
            .await?;
        Ok(())
    }

    /// Ends the session on this side: its id may be used again, what the agent asked
    /// is answered `cancelled`, and whoever reads comes to the end.
    pub(crate) fn forget(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.connection.registry().remove(&self.id, self);
        self.slot
            .send_modify(|slot| _ = slot.cancel(Instant::now()));
        self.served.end();
        self.mailbox.retire();
    }

    /// Checks that the session was not closed or deleted on this side.
    pub(crate) fn check_open(&self) -> Result<(), ClientError> {
        match self.ended.load(Ordering::Relaxed) {
            false => Ok(()),
            // The session went with its client.
            true if self.connection.is_closing() => Err(ClientError::Closed),
            true => Err(ClientError::SessionClosed),
        }
    }

    /// Says how the session ended.
    pub(crate) async fn why_ended(&self) -> SessionEndCause {
        match self.why_closed(methods::SESSION_UPDATE).await {
            ClientError::SessionClosed => SessionEndCause::SessionClosed,
            ClientError::Died(death) => SessionEndCause::Died(death),
            _ => SessionEndCause::ClientClosed,
        }
    }

    /// Says why there is nothing more to read.
    pub(crate) async fn why_closed(&self, method: &'static str) -> ClientError {
        if let Err(closed) = self.check_open() {
            return closed;
        }
        match self.connection.peer().close_cause() {
            Some(cause) => {
                let error = CallError::Closed(cause);
                self.connection.explain(method, error).await
            }
            None => ClientError::SessionClosed,
        }
    }

    /// Cancels: tells the agent, answers what it asks, and sees to it that the agent
    /// hears it.
    pub(crate) fn cancel(self: &Arc<Self>) {
        let mut cancelled = Cancelled::Idle;
        let now = Instant::now();
        self.slot.send_modify(|slot| cancelled = slot.cancel(now));
        if cancelled != Cancelled::Idle {
            if !self.mailbox.is_streaming() {
                // Answered, and nobody has read the answer yet. At least one agent would
                // keep this cancel for its next turn.
                return;
            }
            self.mailbox.set_cancelled();
        }
        self.send_cancel();
        if let Cancelled::First { turn } = cancelled {
            let session = Arc::clone(self);
            self.connection
                .runtime()
                .spawn(session.repeat_cancel(turn, now));
        }
    }

    /// Says the cancel again while the turn goes on.
    async fn repeat_cancel(self: Arc<Self>, turn: u64, since: Instant) {
        let mut slot = self.slot.subscribe();
        for delay in CANCEL_REPEATS {
            tokio::select! {
                _ = slot.wait_for(|slot| !slot.runs(turn)) => return,
                _ = self.connection.ended() => return,
                // Answered, and nobody has read the answer yet: it was heard.
                () = sleep_until(since + delay) => if !self.mailbox.is_streaming() {
                    return;
                } else {
                    tracing::debug!(session.id = %self.id, "the agent has not heard the cancel, saying it again");
                    self.send_cancel();
                }
            }
        }
    }

    fn send_cancel(&self) {
        // It fails when the connection has ended, and the turn with it.
        let _ = self
            .connection
            .peer()
            .notify_now(&CancelNotification::new(self.id.clone()));
    }

    fn tools(&self) -> MutexGuard<'_, KnownTools> {
        self.tools.lock()
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
        self.connection.registry().remove(&self.id, self);
        self.connection.counters().close(&self.page);
    }
}

impl fmt::Debug for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionState")
            .field("id", &self.id)
            .field("slot", &*self.slot.borrow())
            .finish_non_exhaustive()
    }
}
