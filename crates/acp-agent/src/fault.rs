//! How failures of the host look on the wire.

use std::time::Duration;

use acp_host::{HostError, HostErrorKind};
use acp_protocol::rpc::{ErrorCode, Fault};
use acp_text::Clean;
use serde::Serialize;

use crate::host_call::HostPanicked;

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

/// Parameters that cannot be used.
pub(crate) fn invalid_params(method: &str, text: &str) -> Fault {
    Fault::invalid_params(format!("{method}: {text}"))
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
    fault.with_source(error)
}

/// What a host call came to.
pub(crate) fn called<T>(
    method: &str,
    result: Result<Result<T, HostError>, HostPanicked>,
) -> Result<T, Fault> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(from_host(method, error)),
        Err(HostPanicked) => Err(internal(method, "the agent failed")),
    }
}
