//! What is owed to the peer, and what it got: every request at most one answer,
//! every line whole.

use std::collections::HashMap;

use acp_protocol::rpc::{Attempt, Inbound, Issue, LineFault, Refused, RequestId, Shape};
use serde_json::Value;

/// Answers owed to the peer.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    owed: HashMap<RequestId, u32>,
    /// Lines so long that only their first bytes were seen: nobody knows for
    /// sure whose answer is owed.
    owed_to_somebody: u32,
    /// What was written and is no whole line yet.
    written: Vec<u8>,
}

impl Ledger {
    /// Notes what an arrival entitles the peer to.
    pub(crate) fn arrives(&mut self, inbound: &Inbound) {
        match inbound {
            Inbound::Message(message) if message.shape() == Shape::Request => {
                self.owe(message.id().expect("a request has an id"));
            }
            Inbound::Refused(Refused {
                attempt: Attempt::Answer,
                ..
            }) => {}
            Inbound::Refused(Refused {
                id: Some(id),
                attempt,
                issues,
                ..
            }) if *attempt == Attempt::Call || issues.contains(Issue::AmbiguousShape) => {
                self.owe(id);
            }
            Inbound::Refused(_) => self.owe(&RequestId::Null),
            Inbound::Lost(LineFault::TooLarge { .. }) => self.owed_to_somebody += 1,
            _ => {}
        }
    }

    fn owe(&mut self, id: &RequestId) {
        *self.owed.entry(id.clone()).or_default() += 1;
    }

    /// Checks what this side has written.
    pub(crate) fn writes(&mut self, bytes: &[u8], max_message: usize) {
        self.written.extend_from_slice(bytes);
        while let Some(end) = self.written.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.written.drain(..=end).collect();
            assert!(line.len() <= max_message + 1, "{} bytes", line.len());
            let message: Value = serde_json::from_slice(&line).expect("each line is JSON");
            assert_eq!(message["jsonrpc"], "2.0");
            if message.get("method").is_none() {
                self.answers(&message);
            }
        }
    }

    fn answers(&mut self, message: &Value) {
        let id: RequestId =
            serde_json::from_value(message["id"].clone()).expect("an answer has an id");
        match self.owed.get_mut(&id) {
            Some(owed) if *owed > 0 => *owed -= 1,
            _ => {
                assert!(self.owed_to_somebody > 0, "nobody asked: {message}");
                self.owed_to_somebody -= 1;
            }
        }
    }
}
