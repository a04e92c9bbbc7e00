//! The code of an error on the wire.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a request was not served, as a number.
///
/// Codes that the protocol does not name are as good as those it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorCode(pub i32);

impl ErrorCode {
    /// The message was no JSON.
    pub const PARSE: Self = Self(-32700);
    /// The message was no request.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// Nobody serves the method.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// Serving the request failed on the other side.
    pub const INTERNAL: Self = Self(-32603);
    /// The request was cancelled by who sent it.
    pub const REQUEST_CANCELLED: Self = Self(-32800);
    /// The user has to log in first.
    pub const AUTH_REQUIRED: Self = Self(-32000);
    /// A session, file or other resource does not exist.
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);

    /// The codes that the protocol names.
    pub const KNOWN: &'static [Self] = &[
        Self::PARSE,
        Self::INVALID_REQUEST,
        Self::METHOD_NOT_FOUND,
        Self::INVALID_PARAMS,
        Self::INTERNAL,
        Self::REQUEST_CANCELLED,
        Self::AUTH_REQUIRED,
        Self::RESOURCE_NOT_FOUND,
    ];
}

impl From<i32> for ErrorCode {
    fn from(code: i32) -> Self {
        Self(code)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
