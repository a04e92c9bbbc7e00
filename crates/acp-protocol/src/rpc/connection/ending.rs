//! The end of the peer's stream, while requests of the peer are still open.

use std::time::Instant;

use super::{Connection, ConnectionEvent, ConnectionRole};
use crate::rpc::{CallError, CloseCause};

/// A connection whose input has ended, and which still answers what it accepted.
#[derive(Debug)]
pub(super) struct Ending {
    cause: CloseCause,
    stage: EndingStage,
    /// When the stage is over.
    until: Instant,
}

/// How far the end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndingStage {
    /// Open requests may finish, and what is queued is written.
    Finishing,
    /// Open requests are cancelled, and only their answers are waited for.
    Cancelled,
}

impl Connection {
    /// Takes note that the peer sends nothing more.
    ///
    /// A client closes at once: an agent that is gone waits for no answers. An agent
    /// finishes what it accepted: calls of its own fail, because nothing can answer
    /// them; open requests go on for [`Limits::finish_grace`], then
    /// [`ConnectionEvent::FinishGraceOver`] asks for their end, which has
    /// [`Limits::cancel_grace`]. The connection closes with `cause` as soon as no
    /// request is open and all is written.
    ///
    /// [`Limits::finish_grace`]: crate::rpc::Limits::finish_grace
    /// [`Limits::cancel_grace`]: crate::rpc::Limits::cancel_grace
    pub fn end_input(&mut self, cause: CloseCause, now: Instant) {
        if self.closed.is_some() || self.ending.is_some() {
            return;
        }
        if self.role == ConnectionRole::Client {
            return self.close(cause);
        }
        if let Some(cause) = self.mute.clone() {
            // No answer can be sent.
            return self.close(cause);
        }
        self.fail_calls(&CallError::Closed(cause.clone()));
        self.ending = Some(Ending {
            cause,
            stage: EndingStage::Finishing,
            until: now + self.limits.finish_grace,
        });
    }

    /// Cancels every open request of the peer, as `$/cancel_request` would.
    pub fn cancel_requests(&mut self) {
        self.serving.cancel_all(&mut self.wakes);
    }

    /// Why the peer sends nothing more, if its stream has ended.
    pub(super) fn input_ended(&self) -> Option<&CloseCause> {
        self.ending.as_ref().map(|ending| &ending.cause)
    }

    /// Whether the input has ended and nothing is left to do.
    pub(super) fn has_finished(&self) -> bool {
        let is_over = |ending: &Ending| {
            self.serving.len() == 0
                && self.events.is_empty()
                && (ending.stage == EndingStage::Cancelled || self.unwritten() == 0)
        };
        self.closed.is_none() && self.ending.as_ref().is_some_and(is_over)
    }

    /// Closes the connection if its input has ended and nothing is left to do.
    pub(super) fn close_if_finished(&mut self) {
        if self.has_finished()
            && let Some(cause) = self.input_ended().cloned()
        {
            self.close(cause);
        }
    }

    /// When the next stage of the end begins.
    pub(super) fn ending_timeout(&self) -> Option<Instant> {
        let ending = self.ending.as_ref().filter(|_| self.closed.is_none())?;
        Some(ending.until)
    }

    /// Begins the next stage of the end if it is time.
    pub(super) fn pass_ending(&mut self, now: Instant) {
        let cancel_grace = self.limits.cancel_grace;
        let Some(ending) = self.ending.as_mut().filter(|ending| ending.until <= now) else {
            return;
        };
        if ending.stage == EndingStage::Finishing {
            ending.stage = EndingStage::Cancelled;
            ending.until = now + cancel_grace;
            self.events.push_back(ConnectionEvent::FinishGraceOver);
        } else {
            let cause = ending.cause.clone();
            self.close(cause);
        }
    }
}
