//! How long a client waits for its agent.

use std::time::Duration;

use crate::limits::{
    AUTHENTICATE_TIMEOUT, CANCEL_GRACE, FIRST_BYTE_TIMEOUT, INITIALIZE_PATIENCE,
    INITIALIZE_TIMEOUT, LOAD_TIMEOUT, NEW_SESSION_TIMEOUT, REQUEST_TIMEOUT, SPAWN_TIMEOUT,
    UNREAD_WAIT,
};

/// How long a client waits for its agent; the defaults stand in [`limits`](crate::limits),
/// with their reasons.
///
/// ```
/// use std::time::Duration;
/// use acp_client::{ClientOptions, ClientTimeouts};
///
/// let options = ClientOptions::new().with_timeouts(ClientTimeouts {
///     load: Duration::from_secs(300),
///     ..ClientTimeouts::default()
/// });
/// # drop(options);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ClientTimeouts {
    /// For starting the program. Default 10 seconds.
    pub spawn: Duration,
    /// For an agent that is silent on both of its outputs, up to its first byte. Default
    /// 30 seconds.
    pub first_byte: Duration,
    /// For a silent agent to answer `initialize`, from its first byte on. Default 30
    /// seconds.
    pub initialize: Duration,
    /// For both, as long as the agent keeps writing to standard error. Default 2 minutes.
    pub initialize_in_all: Duration,
    /// For opening or resuming a session. Default 2 minutes.
    pub new_session: Duration,
    /// For loading a session; the time its caller takes to read the history does not
    /// count. Default 90 seconds.
    pub load: Duration,
    /// For a login. Default 10 minutes.
    pub authenticate: Duration,
    /// For short requests: modes, options, close. Default 30 seconds.
    pub request: Duration,
    /// For a cancelled turn to end, before it counts as stuck. Default 10 seconds.
    pub cancel_grace: Duration,
    /// For a permission request or a question in the stream of a session that nobody reads:
    /// no turn runs, and no [`Updates`](crate::Updates) are read. It is refused then.
    /// Default 1 minute.
    pub unread: Duration,
}

impl ClientTimeouts {
    /// Sets how long the agent may take from its start to the answer of `initialize`,
    /// whatever it does meanwhile.
    #[must_use]
    pub fn with_initialize(self, limit: Duration) -> Self {
        Self {
            first_byte: limit,
            initialize: limit,
            initialize_in_all: limit,
            ..self
        }
    }
}

impl Default for ClientTimeouts {
    fn default() -> Self {
        Self {
            spawn: SPAWN_TIMEOUT,
            first_byte: FIRST_BYTE_TIMEOUT,
            initialize: INITIALIZE_TIMEOUT,
            initialize_in_all: INITIALIZE_PATIENCE,
            new_session: NEW_SESSION_TIMEOUT,
            load: LOAD_TIMEOUT,
            authenticate: AUTHENTICATE_TIMEOUT,
            request: REQUEST_TIMEOUT,
            cancel_grace: CANCEL_GRACE,
            unread: UNREAD_WAIT,
        }
    }
}
