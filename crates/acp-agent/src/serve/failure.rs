//! Internal failures, as the author of an agent learns of them.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use acp_connection::correlation_id;
use acp_protocol::rpc::{ErrorCode, Fault};

use super::registration::Registration;
use crate::fault::HostFailure;

/// A request failed inside of the agent; see
/// [`AgentBuilder::on_error`](crate::AgentBuilder::on_error).
///
/// The client reads the message and the correlation id, and nothing of the cause.
pub struct AgentFailure<'a> {
    method: &'a str,
    correlation_id: &'a str,
    fault: &'a Fault,
}

/// Is called with each failure.
pub(super) type ErrorHook = Box<dyn Fn(&AgentFailure<'_>) + Send + Sync>;

impl AgentFailure<'_> {
    /// The method that was served.
    pub fn method(&self) -> &str {
        self.method
    }

    /// The id that the client reads in the error, as `data.correlationId`, and that the
    /// record of the failure in the log has as `rpc.correlation_id`.
    pub fn correlation_id(&self) -> &str {
        self.correlation_id
    }

    /// The message that the client reads.
    pub fn message(&self) -> &str {
        self.fault.message()
    }

    /// The cause with its sources. Of a failure of the host it is the private one, with
    /// all that it says.
    pub fn cause(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.fault.source()?;
        match source.downcast_ref::<HostFailure>() {
            Some(failure) => failure.cause(),
            None => Some(source),
        }
    }
}

impl fmt::Debug for AgentFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentFailure")
            .field("method", &self.method)
            .field("correlation_id", &self.correlation_id)
            .field("message", &self.fault.message())
            .finish_non_exhaustive()
    }
}

impl Registration {
    /// Gives a failure its id and the hook the failure. A refusal is none: its code or its
    /// data say what the client did.
    pub(super) fn report(&self, method: &str, fault: Fault) -> Fault {
        let is_failure = fault.code() == ErrorCode::INTERNAL
            && (fault.source().is_some() || fault.data().is_none());
        if !is_failure {
            return fault;
        }
        let id = correlation_id();
        if let Some(hook) = &self.on_error {
            let failure = AgentFailure {
                method,
                correlation_id: &id,
                fault: &fault,
            };
            // The answer leaves in any case.
            let _ = catch_unwind(AssertUnwindSafe(|| hook(&failure)));
        }
        fault.with_correlation_id(id)
    }
}
