//! Talking to the process that runs a turn of a session.
//!
//! It listens on a socket beside the session's record, for as long as it holds the session.
//! A caller says one thing in a line of JSON and hears one answer, or two. Both sides are
//! programs of one user on one machine, and see to it that they are.

mod caller;
mod live;
mod server;
mod socket;
#[cfg(test)]
mod tests;

use acp_harness::turn::SteerOutcome;
use serde::{Deserialize, Serialize};

use super::key::SessionName;
use super::wishes::Change;
pub(crate) use caller::{Caller, NoAnswer};
pub(crate) use live::Live;
pub(crate) use server::Control;
pub(crate) use socket::overlong_path;

/// The version of what is said; a line of another one is answered by [`Answer::Failed`].
const VERSION: u32 = 1;

/// What a caller says.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    version: u32,
    #[serde(flatten)]
    ask: Ask,
}

/// What a caller wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Ask {
    /// To know who runs what. Answered by [`Answer::Running`].
    Look,
    /// The turn to be cancelled. Answered by [`Answer::Cancelling`] at once, and by
    /// [`Answer::Ended`] when the session is free.
    Cancel,
    /// The agent to be told more. Answered by [`Answer::Steered`].
    Steer { text: String },
    /// Something set. Answered by [`Answer::Set`].
    Set { change: Change },
}

/// What the process that runs the turn answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum Answer {
    Running(Running),
    Cancelling,
    Ended(Ended),
    Steered {
        outcome: SteerOutcome,
    },
    Set,
    /// It could not be done, and why.
    Failed {
        message: String,
    },
}

/// Who runs a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Running {
    /// The session's name, and what people call its agent.
    pub(crate) name: SessionName,
    pub(crate) agent: String,
    pub(crate) pid: u32,
    /// Seconds since 1970.
    pub(crate) since: u64,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ended {
    pub(crate) stop_reason: Option<String>,
    pub(crate) exit_code: u8,
}
