//! What a scenario is made of.

use std::sync::Arc;
use std::time::Duration;

use super::mutant::Mutant;
use super::pattern::Pattern;
use crate::rules::Rule;
use acp_recording::{PeerSide, SignalName};

/// Stands for a request of the script, from where it is sent to its answer.
pub(crate) type Slot = usize;

/// One line of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The line in the file, from 1.
    pub(crate) line: usize,
    /// Who does it.
    pub(crate) from: PeerSide,
    pub(crate) act: Act,
    /// The rules that are broken when it fails.
    pub(crate) rules: Vec<&'static Rule>,
    pub(crate) demands: Vec<Demand>,
    pub(crate) mutants: Vec<Mutant>,
}

/// What rules demand of a message besides: when it is broken, the play goes on.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) line: usize,
    pub(crate) rules: Vec<&'static Rule>,
    pub(crate) pattern: Pattern,
}

impl Step {
    pub(crate) fn new(line: usize, from: PeerSide, act: Act) -> Self {
        Self {
            line,
            from,
            act,
            rules: Vec::new(),
            demands: Vec::new(),
            mutants: Vec::new(),
        }
    }
}

/// A step, or a block of them.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Step(Arc<Step>),
    /// `either … or … end`; the last branch of `optional` is empty.
    Either(Vec<Vec<Item>>),
    /// `repeat N as $name … end`.
    Repeat {
        times: u32,
        counter: Option<Arc<str>>,
        items: Vec<Item>,
    },
    /// `any order … end`.
    AnyOrder(Vec<Arc<Step>>),
    /// `whenever LINE … end`.
    Whenever(Arc<Whenever>),
    /// `not exercised "why"`.
    NotExercised {
        line: usize,
        reason: String,
    },
}

/// A standing rule: when its trigger comes, its body is played.
#[derive(Clone, Debug)]
pub(crate) struct Whenever {
    pub(crate) trigger: Arc<Step>,
    pub(crate) items: Vec<Item>,
}

/// Tells who begins, when that is a step that can be seen from the other side.
pub(crate) fn first_side(items: &[Item]) -> Option<PeerSide> {
    match items.first()? {
        Item::Step(step) => match &step.act {
            Act::Message(_) | Act::Nothing(_) | Act::Exit { .. } | Act::Close { .. } => {
                Some(step.from)
            }
            _ => None,
        },
        Item::Either(branches) => first_side(branches.first()?),
        Item::Repeat { items, .. } => first_side(items),
        Item::AnyOrder(steps) => steps.first().map(|step| step.from),
        Item::Whenever(_) | Item::NotExercised { .. } => None,
    }
}

/// What a side does in a step.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Message(Message),
    /// Writes these bytes as they are.
    Bytes(Vec<u8>),
    /// Does nothing for a time; what comes meanwhile waits.
    Wait(Duration),
    /// Says nothing for a time.
    Nothing(Duration),
    /// From here on the side sends nothing like this.
    Never(Message),
    /// From here on the other side passes over what is like this.
    Ignore(Message),
    /// Closes what it writes to: the client the agent's stdin, the agent its stdout.
    Close {
        within: Option<Duration>,
    },
    StopReading,
    ReadOn,
    ReadSlowly {
        bytes: usize,
        every: Duration,
    },
    /// The agent ends.
    Exit {
        how: ExitAs,
        within: Option<Duration>,
    },
    /// The client sends a signal to the agent.
    Signal(SignalName),
    /// The agent writes to stderr.
    Stderr {
        text: Vec<u8>,
        size: usize,
    },
    /// The agent starts a process that outlives signals.
    Grandchild(Duration),
}

/// How an agent ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitAs {
    /// In whatever way; when played, with code 0.
    Any,
    /// With this exit code.
    Code(u8),
    /// By this signal.
    By(SignalName),
}

/// A message, sent or awaited.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// Nothing is filled in and nothing is checked.
    pub(crate) raw: bool,
    pub(crate) what: What,
    pub(crate) count: Count,
    pub(crate) id: Option<Pattern>,
    pub(crate) within: Option<Duration>,
    pub(crate) writing: Writing,
}

/// What kind of message.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Request {
        method: Arc<str>,
        params: Option<Pattern>,
        /// The slot this request fills, unless it may come many times.
        slot: Option<Slot>,
    },
    Notification {
        method: Arc<str>,
        params: Option<Pattern>,
    },
    /// An answer; without a slot it answers nothing that was asked.
    Answer {
        slot: Option<Slot>,
        to: AnswerTo,
        body: AnswerBody,
    },
    /// Any message of a kind; a request that can be answered fills a slot.
    Any { kind: AnyKind, slot: Option<Slot> },
    /// The message as a whole.
    Whole(Pattern),
}

/// What an answer answers, for people.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerTo {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) method: Option<Arc<str>>,
}

/// What is in an answer.
#[derive(Clone, Debug)]
pub(crate) enum AnswerBody {
    Result(Option<Pattern>),
    Error(Option<Pattern>),
    /// Either of both; a result when it is sent.
    Either,
}

/// What `any` stands for as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnyKind {
    Message,
    Request,
    Notification,
    Answer,
}

impl Message {
    /// Returns what has to be in its params, result or error, if something has.
    pub(crate) fn body(&self) -> Option<&Pattern> {
        match &self.what {
            What::Request { params, .. } | What::Notification { params, .. } => params.as_ref(),
            What::Answer {
                body: AnswerBody::Result(body) | AnswerBody::Error(body),
                ..
            } => body.as_ref(),
            _ => None,
        }
    }

    /// Returns the name of the member that holds its body; none where it is a whole message.
    pub(crate) fn part(&self) -> &'static str {
        match &self.what {
            What::Request { .. } | What::Notification { .. } => "params",
            What::Answer {
                body: AnswerBody::Error(_),
                ..
            } => "error",
            What::Answer { .. } => "result",
            What::Any { .. } | What::Whole(_) => "",
        }
    }
}

impl AnyKind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Message => "any message",
            Self::Request => "any request",
            Self::Notification => "any notification",
            Self::Answer => "any answer",
        }
    }
}

/// How often a line may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    One,
    /// `?`
    Optional,
    /// `*`
    Any,
    /// `+`
    Some,
}

/// How a message is put on the wire; for messages that are awaited it means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writing {
    pub(crate) split: Split,
    pub(crate) pausing: Duration,
    pub(crate) ending: Ending,
    pub(crate) bom: bool,
    pub(crate) padded_to: usize,
}

impl Default for Writing {
    fn default() -> Self {
        Self {
            split: Split::No,
            pausing: Duration::ZERO,
            ending: Ending::LineFeed,
            bom: false,
            padded_to: 0,
        }
    }
}

/// Where a line is cut into several writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    No,
    At(Vec<usize>),
    Every(usize),
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    LineFeed,
    CrLf,
    Nothing,
}
