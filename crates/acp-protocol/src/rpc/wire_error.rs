//! The error object of a response.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ErrorCode;

/// An error as it stands on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireError {
    /// What kind of error it is.
    pub code: ErrorCode,
    /// One short sentence (R021).
    pub message: String,
    /// More about it, as the sender likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl WireError {
    /// Creates an error without data.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

impl PartialEq for WireError {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_deref().map(RawValue::get).map(str::to_owned);
        self.code == other.code && self.message == other.message && data(self) == data(other)
    }
}
