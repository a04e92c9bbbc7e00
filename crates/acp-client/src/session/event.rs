//! One thing that happens in a session.

use acp_connection::{RawLine, Update};
use acp_protocol::v1::ElicitationId;

use crate::elicitation::PendingQuestion;
use crate::permission::PendingPermission;

/// What happens in a session.
#[derive(Debug)]
#[non_exhaustive]
pub enum TurnEvent {
    /// The agent tells something.
    Update(Update),
    /// The agent told something before this turn began and after the last one ended,
    /// and nobody has read it yet.
    Earlier(Update),
    /// The agent told something that makes no sense, not even by the protocol's rules
    /// of leniency.
    Unreadable {
        /// What it wrote.
        line: RawLine,
        /// Why it makes no sense.
        error: serde_json::Error,
    },
    /// Updates are missing here: they came faster than they were read, and the oldest were
    /// dropped; or they came in a line that is too long or no message.
    Gap {
        /// How many.
        dropped: u64,
    },
    /// The agent asks for permission and waits. Only with
    /// [`ClientOptions::with_permissions_in_stream`](crate::ClientOptions::with_permissions_in_stream).
    Permission(PendingPermission),
    /// The agent wants to know something of the user and waits. Only with
    /// [`ClientOptions::with_elicitation_in_stream`](crate::ClientOptions::with_elicitation_in_stream).
    Question(PendingQuestion),
    /// What the user agreed to do at an address is done, says the agent. Once for each
    /// link at most.
    LinkCompleted {
        /// The agent's name for it; see [`ElicitationLink::id`](crate::elicitation::ElicitationLink::id).
        link: ElicitationId,
    },
}
