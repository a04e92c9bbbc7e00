//! The bounds of an agent, each with its reason.

use std::time::Duration;

/// Folders of a session besides its working folder, and as many tool servers: nobody
/// sets up more by hand.
pub(crate) const MAX_SETUP_ENTRIES: usize = 64;

/// Bytes of the set-up of a session: its folders, and its tool servers with their
/// arguments, environments and headers. Long tokens have some thousand.
pub(crate) const MAX_SETUP: usize = 256 << 10;

/// Bytes of the set-ups of all live sessions of a connection: sixteen times that of each
/// of a thousand usual ones.
pub(crate) const MAX_LIVE_SETUPS: usize = 16 << 20;

/// Bytes of the sessions on one page of a list; one session in any case. A hundred usual
/// ones take a tenth of it.
pub(crate) const MAX_LIST_PAGE: usize = 256 << 10;

/// Turns of a host that run at the same time for no prompt of the client, and whose
/// events are known to be nobody's: four times as many as sub-agents that anybody runs. A
/// host with more reads that its events have no turn.
pub(crate) const MAX_OWN_TURNS: usize = 64;

/// Bytes that the log gets of the causes of a failure: a chain of some twenty errors. A
/// cause may quote an answer of any size.
pub(crate) const MAX_CAUSE: usize = 4 << 10;

/// Characters kept of the name and the version of a client.
pub(crate) const MAX_CLIENT_NAME: usize = 256;

/// How much an agent holds and how long it waits.
///
/// What the connection itself holds is bounded by
/// [`acp_protocol::rpc::Limits`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentLimits {
    /// Sessions that may be live on one connection. A client that never closes
    /// its sessions would otherwise fill the memory. Default 1,024.
    pub live_sessions: usize,
    /// How long a turn may take to end after the client no longer wants it.
    /// Then the prompt is answered without it; its session takes no other until
    /// the turn has ended. Default 30 s.
    pub interrupt: Duration,
    /// How long a session may take to let go of its resources; the answer to
    /// the client does not wait for it. Default 5 s.
    pub shutdown: Duration,
    /// How long the denial of a gate may take that fails closed. Default 10 s.
    pub deny: Duration,
    /// How long a prompt may wait from when it was submitted until its turn
    /// begins, in a queue of the host or forgotten by it. Then it is interrupted
    /// and fails, and the client may try again; it would otherwise wait without
    /// an answer for what may never come. Default 60 s.
    pub turn_start: Duration,
    /// How long the host may take to withdraw a prompt whose turn has not begun, once
    /// the client no longer wants it: there is nothing to undo. Default 5 s.
    pub withdraw: Duration,
    /// How long a turn may report nothing, while the client is asked nothing. Then it
    /// is interrupted and its prompt fails: a host that lost its end would leave the
    /// client waiting for ever. Default 6 hours, longer than a build or a test run that
    /// says nothing.
    pub turn_idle: Option<Duration>,
    /// How long the user may take to decide; then the answer is no. Default
    /// none: people go for lunch.
    pub permission: Option<Duration>,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            live_sessions: 1024,
            interrupt: Duration::from_secs(30),
            shutdown: Duration::from_secs(5),
            deny: Duration::from_secs(10),
            turn_start: Duration::from_secs(60),
            withdraw: Duration::from_secs(5),
            turn_idle: Some(Duration::from_secs(6 * 3600)),
            permission: None,
        }
    }
}
