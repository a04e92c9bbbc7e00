//! How failures of the host look on the wire.

use std::{error::Error, fmt, time::Duration};

use acp_connection::correlation_id;
use acp_host::{HostError, HostErrorKind};
use acp_protocol::{
    rpc::{ErrorCode, Fault},
    v1::SessionId,
};
use acp_text::{Clean, Redactor};
use serde::Serialize;

use crate::{host_call::HostPanicked, limits::MAX_CAUSE};

/// The method in whose name a turn fails.
pub(crate) const PROMPT: &str = "session/prompt";

/// What a client can act upon, as the `data` of an error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ErrorData {
    reason: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<usize>,
}

impl ErrorData {
    pub(crate) fn new(reason: &'static str) -> Self {
        Self {
            reason,
            retryable: false,
            retry_after_ms: None,
            max: None,
        }
    }

    pub(crate) fn retryable(mut self, after: Option<Duration>) -> Self {
        self.retryable = true;
        self.retry_after_ms =
            after.map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
        self
    }

    pub(crate) fn max(mut self, max: usize) -> Self {
        self.max = Some(max);
        self
    }
}

/// A failure on this side, in fixed words.
pub(crate) fn internal(method: &str, text: &str) -> Fault {
    Fault::new(ErrorCode::INTERNAL, format!("{method}: {text}"))
}

/// A request that cannot be served in this state.
pub(crate) fn invalid_request(method: &str, text: &str) -> Fault {
    Fault::invalid_request(format!("{method}: {text}"))
}

/// A failure of the host: its public words, or fixed ones.
pub(crate) fn from_host(method: &str, error: HostError) -> Fault {
    // Messages of errors are shown on one line, wherever they get to.
    let public = error
        .public_text()
        .map(|text| Clean::line(text).into_string());
    let text = |fixed: &str| match &public {
        Some(public) if !public.is_empty() => format!("{method}: {public}"),
        _ => format!("{method}: {fixed}"),
    };
    let fault = match error.kind() {
        HostErrorKind::InvalidInput => Fault::invalid_params(text("the input cannot be used")),
        HostErrorKind::NotFound => Fault::not_found(text("not found")),
        HostErrorKind::AuthRequired => {
            Fault::new(ErrorCode::AUTH_REQUIRED, text("authentication required"))
        }
        HostErrorKind::Busy { retry_after } => {
            Fault::new(ErrorCode::INTERNAL, text("the agent is busy"))
                .with_data(&ErrorData::new("busy").retryable(retry_after))
        }
        HostErrorKind::Internal => Fault::new(ErrorCode::INTERNAL, text("the agent failed")),
    };
    match error.private_cause() {
        Some(_) => fault.with_source(HostFailure(error)),
        None => fault,
    }
}

/// A panic of the host: its words are a private cause.
pub(crate) fn from_panic(method: &str, HostPanicked(words): HostPanicked) -> Fault {
    let error = HostError::internal(format!("the host panicked: {words}"));
    internal(method, "the agent failed").with_source(HostFailure(error))
}

/// Logs a failure of the host for which no request waits.
pub(crate) fn log(session: &SessionId, text: &str, panicked: HostPanicked) {
    let cause = from_panic(PROMPT, panicked);
    let error = cause.source().map(ToString::to_string);
    let id = correlation_id();
    tracing::warn!(session.id = %session, rpc.correlation_id = id, error, "{text}");
}

/// What a host call came to.
pub(crate) fn called<T>(
    method: &str,
    result: Result<Result<T, HostError>, HostPanicked>,
) -> Result<T, Fault> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(from_host(method, error)),
        Err(panicked) => Err(from_panic(method, panicked)),
    }
}

/// A failure of the host as the cause of a fault.
///
/// It shows as its private causes, for the log: on one line, cut, and without what looks
/// like a secret.
#[derive(Debug)]
pub(crate) struct HostFailure(HostError);

impl HostFailure {
    /// The private cause itself.
    pub(crate) fn cause(&self) -> Option<&(dyn Error + 'static)> {
        self.0.private_cause().map(|cause| cause as _)
    }
}

impl Error for HostFailure {}

impl fmt::Display for HostFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chain = Vec::new();
        let mut cause = self.cause();
        while let Some(error) = cause {
            chain.push(error.to_string());
            cause = error.source();
        }
        let chain = Redactor::new().redact_beginning(&chain.join(": "), MAX_CAUSE);
        f.write_str(&Clean::line(&chain).into_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("ask the model")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn a_failure_shows_its_whole_chain_without_secrets() {
        let inner = std::io::Error::other("key sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWx\nwas refused");
        let shown = HostFailure(HostError::internal(Outer(inner))).to_string();
        assert!(shown.starts_with("ask the model: key "), "{shown}");
        assert!(shown.ends_with("was refused"), "{shown}");
        assert!(
            !shown.contains("AbCdEf") && !shown.contains('\n'),
            "{shown}"
        );
    }

    #[test]
    fn a_long_cause_is_cut() {
        let long = HostFailure(HostError::internal("word ".repeat(MAX_CAUSE)));
        let length = long.to_string().len();
        assert!(length <= MAX_CAUSE, "{length}");
        assert!(length > MAX_CAUSE / 2, "{length}");
    }
}
