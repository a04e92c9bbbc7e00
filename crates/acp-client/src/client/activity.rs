//! Whether an agent still moves, and whose turn it is to speak.

use acp_protocol::rpc::ReceiveSeq;

use super::Client;
use crate::error::ClientError;

/// What moves on a connection; see [`Client::activity`].
///
/// Two that are equal mean that the agent has said nothing between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Activity {
    /// The place of its newest update, notification or answer on the receive clock.
    pub received: ReceiveSeq,
    /// How many requests it has made.
    pub requested: u64,
    /// Requests of the agent that it waits to be answered: permissions, questions, files
    /// and commands. As long as there are some, an agent that is silent is not to blame.
    pub owed: usize,
}

impl Client {
    /// Returns what moves on the connection.
    ///
    /// # Errors
    ///
    /// As [`agent`](Self::agent).
    pub fn activity(&self) -> Result<Activity, ClientError> {
        let lease = self.lease()?;
        let peer = &lease.connection.peer;
        Ok(Activity {
            received: peer.received(),
            requested: peer.stats().requests_received,
            owed: peer.open_requests(),
        })
    }
}
