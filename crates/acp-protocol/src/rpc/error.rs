//! Errors, sorted by who can do something about them.

use std::{borrow::Cow, error::Error, sync::Arc};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{ErrorCode, Issues, WireError};
use crate::Mismatch;

/// Why a handler could not serve a request.
///
/// Code, message and data are what the peer gets; the source stays here, for
/// the log.
#[derive(Debug, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Fault {
    code: ErrorCode,
    message: Cow<'static, str>,
    data: Option<Box<RawValue>>,
    source: Option<Box<dyn Error + Send + Sync>>,
    correlation_id: Option<Box<str>>,
}

impl Fault {
    /// Creates a fault with a code and the message the peer may read.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            source: None,
            correlation_id: None,
        }
    }

    /// The request makes no sense in this state (-32600).
    #[must_use]
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// No such method (-32601).
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("method not found: {}", clip(method)),
        )
    }

    /// The parameters do not fit (-32602).
    #[must_use]
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// A member of the parameters does not fit (-32602). The message and the data name it.
    #[must_use]
    pub fn mismatch(method: &str, mismatch: &Mismatch) -> Self {
        Self::invalid_params(format!("{}: {mismatch}", clip(method))).with_data(mismatch)
    }

    /// Something went wrong that is none of the peer's business (-32603).
    #[must_use]
    pub fn internal() -> Self {
        Self::new(ErrorCode::INTERNAL, "internal error")
    }

    /// The peer must authenticate first (-32000).
    #[must_use]
    pub fn auth_required() -> Self {
        Self::new(ErrorCode::AUTH_REQUIRED, "authentication required")
    }

    /// No such session, file or terminal (-32002).
    #[must_use]
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::RESOURCE_NOT_FOUND, message)
    }

    /// The peer cancelled the request (-32800, R054).
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::REQUEST_CANCELLED, "request cancelled")
    }

    /// Adds data for the peer. Data that cannot be serialised is left out.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// Adds the cause, which stays on this side.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets the id by which the peer's report of an internal failure finds its record in
    /// the log. Without it, whoever answers with the fault makes one.
    #[must_use]
    pub fn with_correlation_id(mut self, id: impl Into<Box<str>>) -> Self {
        self.correlation_id = Some(id.into());
        self
    }

    /// The id set by [`with_correlation_id`](Self::with_correlation_id).
    #[must_use]
    pub fn correlation_id(&self) -> Option<&str> {
        self.correlation_id.as_deref()
    }

    /// The data the peer gets.
    #[must_use]
    pub fn data(&self) -> Option<&RawValue> {
        self.data.as_deref()
    }

    /// The code the peer gets.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message the peer gets.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<Fault> for WireError {
    fn from(fault: Fault) -> Self {
        let mut error = Self::new(fault.code, fault.message.into_owned());
        error.data = fault.data;
        error
    }
}

/// Why a call of ours has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error("get a result: the peer answered {} ({})", .0.message, .0.code)]
    Peer(WireError),
    /// The connection ended before the answer came.
    #[error("get an answer")]
    Closed(#[source] CloseCause),
    /// The call was cancelled on this side.
    #[error("wait for the answer: the call was cancelled")]
    Cancelled,
    /// The parameters could not be serialised.
    #[error("serialise the parameters of {method}")]
    Encode {
        /// The method that was to be called.
        method: Cow<'static, str>,
        /// What `serde_json` says.
        #[source]
        source: Arc<serde_json::Error>,
    },
    /// The result does not fit the method.
    #[error("decode the result of {method}")]
    Decode {
        /// The method that was called.
        method: Cow<'static, str>,
        /// The member that does not fit, where the protocol names the method.
        #[source]
        source: Option<Mismatch>,
    },
    /// The call is longer than the limit; nothing was sent.
    #[error("send a message of more than {limit} bytes")]
    TooLarge {
        /// [`Limits::max_message`](super::Limits::max_message).
        limit: usize,
    },
    /// A line came that is longer than the limit, and it was the answer or cannot be
    /// told from one.
    #[error("read an answer of more than {limit} bytes")]
    AnswerTooLarge {
        /// [`Limits::max_message`](super::Limits::max_message).
        limit: usize,
    },
    /// The peer's answer is no JSON-RPC response.
    #[error("understand the answer: {0}")]
    MalformedAnswer(Issues),
    /// The peer echoed the number of the id as a string (R019).
    #[error("match the answer: the peer changed the type of the id")]
    IdTypeChanged,
    /// Too many calls are open.
    #[error("call: {limit} calls are open already")]
    TooManyCalls {
        /// [`Limits::open_calls`](super::Limits::open_calls).
        limit: usize,
    },
}

/// Why a notification was not sent.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection is closed.
    #[error("send")]
    Closed(#[source] CloseCause),
    /// The turn it belongs to was cancelled while it waited.
    #[error("send: the turn was cancelled")]
    Cancelled,
    /// It could not be serialised.
    #[error("serialise the message")]
    Encode(#[source] Arc<serde_json::Error>),
    /// It is longer than the limit.
    #[error("send a message of more than {limit} bytes")]
    TooLarge {
        /// [`Limits::max_message`](super::Limits::max_message).
        limit: usize,
    },
}

/// Why a connection ended.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloseCause {
    /// This side closed it.
    #[error("the connection was closed on this side")]
    Local,
    /// The peer closed its end.
    #[error("the peer closed the connection")]
    PeerEof,
    /// The peer's end closed in the middle of a message.
    #[error("the peer closed the connection in the middle of a message, after {read} bytes of it")]
    Truncated {
        /// Bytes of the unfinished line.
        read: usize,
    },
    /// Reading or writing failed.
    #[error("the connection broke")]
    Io(#[source] Arc<std::io::Error>),
    /// The peer asked for more than it read, without end.
    #[error("the peer does not read what it asks for")]
    Flooded,
    /// The receive clock is at its end.
    #[error("the connection received too many messages")]
    SeqOverflow,
}

/// Cuts text of the peer to 64 characters and takes control characters out.
pub(super) fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}
