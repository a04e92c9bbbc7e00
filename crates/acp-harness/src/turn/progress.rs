//! What happens in a turn, told while it happens.

use std::collections::VecDeque;
use std::sync::Arc;

use acp_client::Decided;
use acp_protocol::v1::{
    AuthMethodId, Implementation, Plan, SessionId, SessionModeId, ToolCallId, ToolCallStatus,
    UsageUpdate,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Opened, SteerOutcome, TimeLimit};
use crate::limits::{MAX_PROGRESS_EVENTS, MAX_PROGRESS_TEXT};
use crate::reader::{ToolCalled, ToolEnded};
use acp_text::last_bytes;

/// Something that happened in a turn.
///
/// What an agent says is as it wrote it; see [`text`](crate::text) before it is shown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TurnProgress {
    /// The agent is connected.
    Connected {
        /// What it says it is.
        agent: Option<Implementation>,
    },
    /// A login is tried.
    Login {
        /// The method.
        method: AuthMethodId,
        /// Whether it succeeded; `None` while it is being tried.
        succeeded: Option<bool>,
    },
    /// There is a session.
    Session {
        /// The agent's name for it.
        id: SessionId,
        /// How it came to be.
        opened: Opened,
    },
    /// The agent said something.
    Message(String),
    /// The agent thought something.
    Thought(String),
    /// The agent calls a tool.
    ToolCall(ToolCalled),
    /// Something is new about a call that goes on.
    ToolUpdate {
        /// The id of the call.
        id: ToolCallId,
        /// Where it stands now, if that is new.
        status: Option<ToolCallStatus>,
        /// What it is called now, if that is new.
        title: Option<String>,
    },
    /// A tool has ended.
    ToolResult(ToolEnded),
    /// The plan, as it is now.
    Plan(Plan),
    /// The agent changed its mode.
    Mode(SessionModeId),
    /// How full the context is now, and what it cost.
    Usage(UsageUpdate),
    /// A permission was decided about. Told as soon as that was, and so perhaps before
    /// what the agent had said before it asked.
    Permission(Decided),
    /// The agent was told more while it works. Told in its place: after what the agent said
    /// before it answered, and before what it said then.
    Steered(SteerOutcome),
    /// The turn is being cancelled.
    Stopping {
        /// The bound that made it so; `None` when somebody wanted it to stop.
        limit: Option<TimeLimit>,
    },
    /// Updates were lost before they could be read, or made no sense.
    Lost {
        /// How many.
        updates: u64,
    },
    /// Something is missing here, because it was read too slowly.
    Missed {
        /// Bytes of text.
        text: u64,
        /// Other events.
        events: u64,
    },
}

impl TurnProgress {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Message(text) | Self::Thought(text) => Some(text),
            _ => None,
        }
    }
}

/// Makes the two ends of a queue of events.
///
/// It is bounded, and the turn never waits for its reader. Adjacent pieces of text are
/// joined. Of a reader that is too slow the oldest texts are kept back first; other events
/// only when thousands of them wait. What is missing is told before what is left
/// ([`TurnProgress::Missed`]).
#[must_use]
pub fn progress() -> (ProgressSender, ProgressReceiver) {
    let shared = Arc::new(Shared::default());
    let sender = ProgressSender(Arc::new(Open(Arc::clone(&shared))));
    (sender, ProgressReceiver(shared))
}

/// Tells what happens. Clones tell the same reader.
#[derive(Clone, Debug)]
pub struct ProgressSender(Arc<Open>);

/// Hears what happens.
#[derive(Debug)]
pub struct ProgressReceiver(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    bell: Notify,
}

/// As long as it lives, more may come.
#[derive(Debug)]
struct Open(Arc<Shared>);

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<TurnProgress>,
    /// What the texts among them cost.
    text: usize,
    /// How many of them are something else.
    others: usize,
    missed_text: u64,
    missed_events: u64,
    closed: bool,
}

/// What a piece of text costs besides its bytes.
const PIECE: usize = size_of::<TurnProgress>();

impl ProgressSender {
    /// Tells of an event, at once.
    pub fn send(&self, event: TurnProgress) {
        let shared = &self.0.0;
        shared.queue.lock().push(event);
        shared.bell.notify_one();
    }
}

impl ProgressReceiver {
    /// Waits for the next event; `None` when the turn is over and everything was told.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: when another branch of `select!` wins, nothing is lost.
    pub async fn next(&mut self) -> Option<TurnProgress> {
        loop {
            {
                let mut queue = self.0.queue.lock();
                if let Some(event) = queue.pop() {
                    return Some(event);
                }
                if queue.closed {
                    return None;
                }
            }
            self.0.bell.notified().await;
        }
    }

    /// Returns the next event that is there already.
    pub fn try_next(&mut self) -> Option<TurnProgress> {
        self.0.queue.lock().pop()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.queue.lock().closed = true;
        self.0.bell.notify_one();
    }
}

impl Queue {
    fn push(&mut self, event: TurnProgress) {
        let Some(text) = event.text() else {
            self.events.push_back(event);
            self.others += 1;
            if self.others > MAX_PROGRESS_EVENTS {
                self.let_go(|event| event.text().is_none());
            }
            return;
        };
        self.text += text.len();
        match (self.events.back_mut(), &event) {
            (Some(TurnProgress::Message(known)), TurnProgress::Message(more))
            | (Some(TurnProgress::Thought(known)), TurnProgress::Thought(more)) => {
                known.push_str(more)
            }
            _ => {
                self.text += PIECE;
                self.events.push_back(event);
            }
        }
        while self.text > MAX_PROGRESS_TEXT && self.texts_wait() {
            self.let_go(|event| event.text().is_some());
        }
        self.shorten();
    }

    fn pop(&mut self) -> Option<TurnProgress> {
        if self.missed_text > 0 || self.missed_events > 0 {
            return Some(TurnProgress::Missed {
                text: std::mem::take(&mut self.missed_text),
                events: std::mem::take(&mut self.missed_events),
            });
        }
        let event = self.events.pop_front()?;
        self.forget(&event);
        Some(event)
    }

    /// Tells whether there is more than one text.
    fn texts_wait(&self) -> bool {
        self.events.len() - self.others > 1
    }

    /// Lets the oldest event go that is of this kind.
    fn let_go(&mut self, kind: impl Fn(&TurnProgress) -> bool) {
        let oldest = self.events.iter().position(kind);
        let Some(event) = oldest.and_then(|oldest| self.events.remove(oldest)) else {
            return;
        };
        self.forget(&event);
        match event.text() {
            Some(text) => self.missed_text += text.len() as u64,
            None => self.missed_events += 1,
        }
    }

    /// Keeps the end of the only text, where that alone is too long.
    fn shorten(&mut self) {
        if self.text <= MAX_PROGRESS_TEXT {
            return;
        }
        // Half of it, so that it is not moved for each piece that comes.
        let Some(TurnProgress::Message(text) | TurnProgress::Thought(text)) =
            self.events.back_mut()
        else {
            return;
        };
        let kept = last_bytes(text, MAX_PROGRESS_TEXT / 2).to_owned();
        let gone = text.len() - kept.len();
        *text = kept;
        self.text -= gone;
        self.missed_text += gone as u64;
    }

    fn forget(&mut self, event: &TurnProgress) {
        match event.text() {
            Some(text) => self.text -= text.len() + PIECE,
            None => self.others -= 1,
        }
    }
}
