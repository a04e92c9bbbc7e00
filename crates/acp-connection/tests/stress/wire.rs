//! What the two sides say to each other: the messages of a turn, no richer than
//! the stress needs them.

use std::sync::Arc;

use acp_protocol::{Notification, Request, method::Side};
use serde::{Deserialize, Serialize};

/// Starts a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Prompt {
    pub(crate) session_id: Arc<str>,
    /// The turn goes on until it is cancelled.
    pub(crate) endless: bool,
    /// The turn is sure to ask for permission.
    pub(crate) asks: bool,
}

impl Request for Prompt {
    const METHOD: &'static str = "session/prompt";
    const SERVED_BY: Side = Side::Agent;
    type Response = Stopped;
}

/// The end of a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stopped {
    /// Updates sent before it.
    pub(crate) updates: u64,
}

/// Stops a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cancel {
    pub(crate) session_id: Arc<str>,
}

impl Notification for Cancel {
    const METHOD: &'static str = "session/cancel";
    const SERVED_BY: Side = Side::Agent;
}

/// One update: a chunk of text that starts with its number.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Chunk {
    pub(crate) session_id: Arc<str>,
    update: ChunkUpdate,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChunkUpdate {
    session_update: String,
    content: Text,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Text {
    r#type: String,
    text: String,
}

impl Notification for Chunk {
    const METHOD: &'static str = "session/update";
    const SERVED_BY: Side = Side::Client;
}

impl Chunk {
    pub(crate) fn new(session_id: Arc<str>, number: u64, padding: usize) -> Self {
        Self {
            session_id,
            update: ChunkUpdate {
                session_update: "agent_message_chunk".into(),
                content: Text {
                    r#type: "text".into(),
                    text: format!("{number} {}", "x".repeat(padding)),
                },
            },
        }
    }

    /// Reads the number out of a line.
    pub(crate) fn number_in(line: &str) -> u64 {
        #[derive(Deserialize)]
        struct Line {
            params: Chunk,
        }
        let line: Line = serde_json::from_str(line).expect("a line of ours");
        let text = line.params.update.content.text;
        let (number, _) = text.split_once(' ').expect("a number first");
        number.parse().expect("a number first")
    }
}

/// Asks the client before the turn goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Permission {
    pub(crate) session_id: Arc<str>,
}

impl Request for Permission {
    const METHOD: &'static str = "session/request_permission";
    const SERVED_BY: Side = Side::Client;
    type Response = Granted;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Granted {}

/// Is answered with itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Echo {
    pub(crate) padding: String,
}

impl Request for Echo {
    const METHOD: &'static str = "_stress/echo";
    const SERVED_BY: Side = Side::Both;
    type Response = Self;
}

/// Is read and ignored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) padding: String,
}

impl Notification for Note {
    const METHOD: &'static str = "_stress/note";
    const SERVED_BY: Side = Side::Both;
}
