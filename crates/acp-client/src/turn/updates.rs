//! What comes while no turn runs.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use crate::error::AgentDeath;
use crate::session::{Happening, Reader};
use crate::{Session, TurnEvent};

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
    pub(crate) fn new(session: &'a mut Session) -> Self {
        Self {
            session,
            reader: None,
            end: None,
        }
    }

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
        let state = self.session.state();
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let mut reader = Arc::clone(state.reader()).lock_owned().await;
                reader.listen();
                none.insert(reader)
            }
        };
        loop {
            let happening = match merged {
                true => reader.next_merged(state).await,
                false => reader.next(state).await,
            };
            match happening {
                Happening::Event(event) => return Some(event),
                // No turn runs, so it is nobody's.
                Happening::End(_) => {}
                Happening::Closed => {
                    self.end = Some(SessionEnd {
                        cause: state.why_ended().await,
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
