//! The id by which an answer finds its request.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The id of a request.
///
/// `1` and `"1"` are different ids. Numbers are whole and fit into 64 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a whole number, a string or null")]
pub enum RequestId {
    /// `null`, which stands in answers to requests whose id could not be read.
    Null,
    /// A whole number.
    Number(i64),
    /// A text, the empty one too.
    Text(Arc<str>),
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        RequestId::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        RequestId::Text(text.into())
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        RequestId::Text(text.into())
    }
}

/// Writes the id as it stands on the wire.
impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Null => out.write_str("null"),
            RequestId::Number(number) => write!(out, "{number}"),
            RequestId::Text(text) => write!(out, "{text:?}"),
        }
    }
}
