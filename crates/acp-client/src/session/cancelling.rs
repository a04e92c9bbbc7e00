//! Cancels the turns of a session at the agent.

use std::future::pending;
use std::sync::Arc;

use acp_connection::MailboxControl;
use acp_protocol::v1::{CancelNotification, SessionId};
use tokio::time::{Instant, sleep_until};

use super::Sessions;
use crate::gate::GateWatch;
use crate::limits::CANCEL_REPEATS;

/// Sends the cancels of one session. It does not keep the session open.
#[derive(Clone)]
pub(super) struct CancelSender {
    session: SessionId,
    sessions: Arc<Sessions>,
    mailbox: MailboxControl,
}

impl CancelSender {
    pub(super) fn new(
        session: SessionId,
        sessions: Arc<Sessions>,
        mailbox: MailboxControl,
    ) -> Self {
        Self {
            session,
            sessions,
            mailbox,
        }
    }

    pub(super) fn send(&self) {
        // It fails when the connection has ended, and the turn with it.
        let cancel = CancelNotification::new(self.session.clone());
        let _ = self.sessions.connection.peer.notify_now(&cancel);
    }

    /// Sends the cancel again while the turn goes on, also when the session has been
    /// dropped meanwhile.
    pub(super) async fn repeat(self, mut gate: GateWatch, turn: u64, since: Instant) {
        for delay in CANCEL_REPEATS {
            let ended = async {
                if !gate.turn_ended(turn).await {
                    // The session is gone, and the agent may still be at work in it.
                    pending::<()>().await;
                }
            };
            tokio::select! {
                () = ended => return,
                _ = self.sessions.connection.ended() => return,
                () = sleep_until(since + delay) => {}
            }
            // Answered, and nobody has read the answer yet: it arrived.
            if !self.mailbox.is_streaming() {
                return;
            }
            tracing::debug!(session.id = %self.session, "the agent does not react to the cancel, sending it again");
            self.send();
        }
    }
}
