//! Calls of ours: ids, who waits for which answer, and answers that come late.

use std::{
    collections::VecDeque,
    task::{Poll, Waker},
    time::Instant,
};

use foldhash::HashMap;

use super::{
    CallError, CallFacts, Limits, ReceiveSeq,
    mailbox::MailboxId,
    message::RawResponse,
    wake::{Wakes, register},
    watches::{CallWatch, Watches},
};

/// First id of a call. Far above what a person would write by hand, and below
/// 2^53, so that every JavaScript peer echoes it exactly.
const FIRST_ID: i64 = 1 << 32;
/// First id of an extension call.
const FIRST_EXTENSION_ID: i64 = 1;

/// Names a call of this connection. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub(super) i64);

/// Which ids a call takes. The two ranges never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdSpace {
    /// Methods of the protocol, from 2^32.
    Protocol,
    /// Methods of extensions, from 1.
    Extension,
}

/// What happens to the answer of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTo {
    /// Its caller takes it. While such a call is open, reading never pauses.
    Caller,
    /// It ends a stream: it goes into a mailbox, behind the updates before it.
    Mailbox(MailboxId),
}

/// What happens when the caller stops waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDrop {
    /// The peer is told by `$/cancel_request`.
    Cancel,
    /// The answer is ignored.
    Forget,
    /// The peer is told by `$/cancel_request`, and if it answers with a result
    /// all the same, the handler gets it: something has to be undone, as a
    /// session that nobody will use.
    Report,
}

/// The answer to a call, not decoded yet.
pub type Answered = Result<RawResponse, CallError>;

/// A finished call.
#[derive(Debug)]
pub struct CallOutcome {
    /// What is known of the call.
    pub facts: CallFacts,
    /// Its answer.
    pub result: Answered,
}

#[derive(Debug)]
enum CallState {
    Waiting(Option<Waker>),
    Streamed(MailboxId),
    Done(Box<CallOutcome>),
    Abandoned { report: bool },
}

/// The table of open calls.
#[derive(Debug)]
pub(super) struct Calls {
    next: i64,
    next_extension: i64,
    table: HashMap<i64, CallState>,
    /// Calls that wait for an answer and are not streamed.
    open_plain: usize,
    open: usize,
    /// Abandoned calls, oldest first, with the instant they are forgotten.
    zombies: VecDeque<(Instant, i64)>,
    watches: Watches,
}

/// How far a call was when it was given up.
#[derive(Debug)]
pub(super) enum Abandoned {
    /// The peer has not answered it.
    Unanswered,
    /// The answer was there and nobody had taken it; it is to be reported.
    Answered(Answered),
    /// It had ended.
    Nothing,
}

/// What a response turned out to be.
#[derive(Debug)]
pub(super) enum Resolved {
    /// The answer of a call somebody waits for.
    Caller,
    /// The end of a stream.
    Streamed(MailboxId, CallId, Answered),
    /// The late answer of a call that was given up; to be reported or not.
    Late(Option<(CallId, Answered)>),
    /// No such call.
    Unmatched,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            next: FIRST_ID,
            next_extension: FIRST_EXTENSION_ID,
            table: HashMap::default(),
            open_plain: 0,
            open: 0,
            zombies: VecDeque::new(),
            watches: Watches::default(),
        }
    }
}

impl Calls {
    /// Opens a call and gives its id.
    pub(super) fn open(
        &mut self,
        space: IdSpace,
        to: AnswerTo,
        limits: &Limits,
    ) -> Result<CallId, CallError> {
        if self.open >= limits.open_calls {
            return Err(CallError::TooManyCalls {
                limit: limits.open_calls,
            });
        }
        let counter = match space {
            IdSpace::Protocol => &mut self.next,
            IdSpace::Extension => &mut self.next_extension,
        };
        let id = *counter;
        *counter += 1;
        let state = match to {
            AnswerTo::Caller => {
                self.open_plain += 1;
                CallState::Waiting(None)
            }
            AnswerTo::Mailbox(mailbox) => CallState::Streamed(mailbox),
        };
        self.open += 1;
        self.table.insert(id, state);
        Ok(CallId(id))
    }

    /// Tells whether a call is open that is not streamed.
    pub(super) fn any_plain(&self) -> bool {
        self.open_plain > 0
    }

    /// Tells whether `id` waits for an answer.
    pub(super) fn is_open(&self, id: i64) -> bool {
        matches!(
            self.table.get(&id),
            Some(CallState::Waiting(_) | CallState::Streamed(_))
        )
    }

    /// Tells where the answer of an open call goes.
    pub(super) fn destination(&self, id: i64) -> Option<AnswerTo> {
        match self.table.get(&id)? {
            CallState::Waiting(_) => Some(AnswerTo::Caller),
            CallState::Streamed(mailbox) => Some(AnswerTo::Mailbox(*mailbox)),
            CallState::Done(_) | CallState::Abandoned { .. } => None,
        }
    }

    /// Waits until a call is not open any more.
    pub(super) fn poll_ended(
        &mut self,
        id: i64,
        watch: &mut Option<CallWatch>,
        waker: &Waker,
    ) -> Poll<()> {
        if self.is_open(id) {
            self.watches.add(id, watch, waker);
            Poll::Pending
        } else {
            *watch = None;
            Poll::Ready(())
        }
    }

    /// Stops waiting for the end of a call.
    pub(super) fn stop_watching(&mut self, watch: &CallWatch) {
        self.watches.remove(watch);
    }

    /// Tells whether a call is open that is answered into this mailbox.
    pub(super) fn any_streamed(&self, mailbox: MailboxId) -> bool {
        self.table
            .values()
            .any(|state| matches!(state, CallState::Streamed(of) if *of == mailbox))
    }

    /// The mailboxes that calls are answered into, each once.
    pub(super) fn streamed_into(&self) -> Vec<MailboxId> {
        let mut mailboxes = Vec::new();
        for state in self.table.values() {
            if let CallState::Streamed(mailbox) = state
                && !mailboxes.contains(mailbox)
            {
                mailboxes.push(*mailbox);
            }
        }
        mailboxes
    }

    /// Ends a call with its answer.
    pub(super) fn resolve(
        &mut self,
        id: i64,
        seq: ReceiveSeq,
        result: Answered,
        wakes: &mut Wakes,
    ) -> Resolved {
        let facts = CallFacts {
            write_admitted: true,
            response_seq: seq,
        };
        match self.table.get_mut(&id) {
            Some(state @ CallState::Waiting(_)) => {
                if let CallState::Waiting(waker) = state {
                    wakes.take_from(waker);
                }
                *state = CallState::Done(Box::new(CallOutcome { facts, result }));
                self.open_plain -= 1;
                self.open -= 1;
                self.watches.end(id, wakes);
                Resolved::Caller
            }
            Some(CallState::Streamed(mailbox)) => {
                let mailbox = *mailbox;
                self.table.remove(&id);
                self.open -= 1;
                self.watches.end(id, wakes);
                Resolved::Streamed(mailbox, CallId(id), result)
            }
            Some(CallState::Abandoned { report }) => {
                let report = *report;
                self.table.remove(&id);
                Resolved::Late(report.then_some((CallId(id), result)))
            }
            Some(CallState::Done(_)) | None => Resolved::Unmatched,
        }
    }

    /// Takes the outcome of a call, once.
    pub(super) fn poll(&mut self, id: CallId, waker: &Waker) -> Poll<CallOutcome> {
        match self.table.get_mut(&id.0) {
            Some(CallState::Waiting(known)) => {
                register(known, waker);
                Poll::Pending
            }
            Some(CallState::Done(_)) => match self.table.remove(&id.0) {
                Some(CallState::Done(outcome)) => Poll::Ready(*outcome),
                _ => Poll::Pending,
            },
            _ => Poll::Ready(CallOutcome {
                facts: CallFacts::default(),
                result: Err(CallError::Cancelled),
            }),
        }
    }

    /// Gives a call up.
    pub(super) fn abandon(
        &mut self,
        id: CallId,
        report: bool,
        now: Instant,
        limits: &Limits,
        wakes: &mut Wakes,
    ) -> Abandoned {
        self.forget_expired(now);
        match self.table.get_mut(&id.0) {
            Some(CallState::Done(_)) => match self.table.remove(&id.0) {
                Some(CallState::Done(outcome)) if report => Abandoned::Answered(outcome.result),
                _ => Abandoned::Nothing,
            },
            Some(state @ (CallState::Waiting(_) | CallState::Streamed(_))) => {
                self.open_plain -= usize::from(matches!(state, CallState::Waiting(_)));
                self.open -= 1;
                *state = CallState::Abandoned { report };
                self.watches.end(id.0, wakes);
                self.zombies.push_back((now + limits.zombie_life, id.0));
                if self.zombies.len() > limits.zombie_calls {
                    self.forget_oldest();
                }
                Abandoned::Unanswered
            }
            Some(CallState::Abandoned { .. }) | None => Abandoned::Nothing,
        }
    }

    /// Fails every open call, and returns the streamed ones.
    pub(super) fn fail(
        &mut self,
        error: &CallError,
        wakes: &mut Wakes,
    ) -> Vec<(MailboxId, CallId)> {
        let facts = CallFacts {
            write_admitted: true,
            response_seq: ReceiveSeq::default(),
        };
        let mut streamed = Vec::new();
        for (id, state) in &mut self.table {
            match state {
                CallState::Waiting(waker) => {
                    wakes.take_from(waker);
                    *state = CallState::Done(Box::new(CallOutcome {
                        facts,
                        result: Err(error.clone()),
                    }));
                }
                CallState::Streamed(mailbox) => streamed.push((*mailbox, CallId(*id))),
                CallState::Done(_) | CallState::Abandoned { .. } => {}
            }
        }
        for (_, call) in &streamed {
            self.table.remove(&call.0);
        }
        self.open = 0;
        self.open_plain = 0;
        self.watches.end_all(wakes);
        streamed
    }

    fn forget_expired(&mut self, now: Instant) {
        while self.zombies.front().is_some_and(|(until, _)| *until <= now) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, id)) = self.zombies.pop_front()
            && matches!(self.table.get(&id), Some(CallState::Abandoned { .. }))
        {
            self.table.remove(&id);
        }
    }
}
