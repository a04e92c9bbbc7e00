//! What comes while no turn runs.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use acp_protocol::v1::methods;

use crate::error::{AgentDeath, ClientError};
use crate::session::{Read, Reader, Session, TurnEvent};

impl Session {
    /// Reads what comes while no turn runs: titles, commands, late words.
    ///
    /// What nobody reads here comes at the beginning of the next turn, marked as
    /// [`TurnEvent::Earlier`]; of it the newest 512 updates are kept.
    pub fn updates(&mut self) -> Updates<'_> {
        Updates {
            session: self,
            reader: None,
            end: None,
        }
    }
}

/// Reads a session between its turns; see [`Session::updates`].
#[derive(Debug)]
pub struct Updates<'a> {
    session: &'a mut Session,
    reader: Option<OwnedMutexGuard<Reader>>,
    end: Option<SessionEnd>,
}

/// How the updates of a session came to their end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionEnd {
    /// Why there are no more.
    pub cause: SessionEndCause,
    /// How many were dropped while there were some.
    pub dropped: u64,
}

/// Why a session has ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SessionEndCause {
    /// The session was closed or deleted on this side.
    SessionClosed,
    /// The client was closed on this side.
    ClientClosed,
    /// The agent went away.
    Died(Arc<AgentDeath>),
}

impl<'a> Updates<'a> {
    /// Waits for the next thing that happens outside of turns; `None` when the session
    /// has ended and everything is read.
    ///
    /// While a turn runs, it waits for its end.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: nothing is lost when another branch of `select!` wins.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        self.advance(false).await
    }

    /// Waits as [`next`](Self::next), and joins pieces of text that are there already,
    /// as [`Turn::next_merged`](crate::Turn::next_merged) does.
    ///
    /// # Cancel safety
    ///
    /// As [`next`](Self::next).
    pub async fn next_merged(&mut self) -> Option<TurnEvent> {
        self.advance(true).await
    }

    /// Tells how the session ended, once [`next`](Self::next) gave `None`.
    #[must_use]
    pub fn end(&self) -> Option<&SessionEnd> {
        self.end.as_ref()
    }

    async fn advance(&mut self, merged: bool) -> Option<TurnEvent> {
        let state = &self.session.state;
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let mut reader = Arc::clone(&state.reader).lock_owned().await;
                reader.listen();
                none.insert(reader)
            }
        };
        loop {
            match reader.next(state, merged).await {
                Read::Event(event) => return Some(event),
                // No turn runs, so it is nobody's.
                Read::End(_) => {}
                Read::Closed => {
                    let cause = match state.why_closed(methods::SESSION_UPDATE).await {
                        ClientError::SessionClosed => SessionEndCause::SessionClosed,
                        ClientError::Died(death) => SessionEndCause::Died(death),
                        _ => SessionEndCause::ClientClosed,
                    };
                    self.end = Some(SessionEnd {
                        cause,
                        dropped: state.counters().dropped,
                    });
                    return None;
                }
            }
        }
    }
}

impl Drop for Updates<'_> {
    fn drop(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.pause();
        }
    }
}
