//! Which member of a message does not fit, and what was expected in its place.
//!
//! Decoding says no more than that a message is of another type. Once it has failed, the
//! message is held against the shape of its definition, and the first member that decoding
//! refuses is named by its path:
//!
//! ```
//! use acp_protocol::mismatch;
//!
//! let params = br#"{"cwd": "/home/ada", "mcpServers": [{"name": "notes"}]}"#;
//! let mismatch = mismatch::of_params("session/new", params).unwrap();
//! assert_eq!(mismatch.path(), "mcpServers[0].command");
//! assert_eq!(
//!     mismatch.to_string(),
//!     "mcpServers[0].command: expected a string, found nothing"
//! );
//! ```
//!
//! A mismatch holds names of the protocol and kinds of JSON, and nothing that the peer
//! wrote: members of an object whose names are the peer's are numbered. So it may be
//! logged, and sent to the peer.

mod check;
mod shape;
#[rustfmt::skip]
mod v1;

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

/// A member that does not fit its definition.
///
/// It serialises as `{"path", "expected", "found"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub struct Mismatch {
    path: String,
    expected: Cow<'static, str>,
    found: Found,
}

/// The kind of JSON that stood in place of what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Found {
    /// The member is missing.
    Nothing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    List,
    /// An object.
    Object,
}

impl Mismatch {
    /// Returns where the member stands in the message, such as `mcpServers[1].env`; empty
    /// for the message itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns what was expected, such as `a list of {name, value}`.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns what stood there.
    pub fn found(&self) -> Found {
        self.found
    }

    fn new(expected: impl Into<Cow<'static, str>>, found: Found) -> Self {
        Self {
            path: String::new(),
            expected: expected.into(),
            found,
        }
    }

    /// Puts the name of a member in front of the path.
    fn within(mut self, member: &str) -> Self {
        let separator = match self.path.chars().next() {
            None | Some('[') => "",
            Some(_) => ".",
        };
        self.path.insert_str(0, separator);
        self.path.insert_str(0, member);
        self
    }

    /// Puts the place of an element in front of the path.
    fn at(self, place: usize) -> Self {
        self.within(&format!("[{place}]"))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        write!(out, "expected {}, found {}", self.expected, self.found)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Nothing => "nothing",
            Self::Null => "null",
            Self::Boolean => "true or false",
            Self::Number => "a number",
            Self::String => "a string",
            Self::List => "a list",
            Self::Object => "an object",
        })
    }
}

/// Finds what does not fit in the parameters of a method.
///
/// `None` where everything fits, where the text is no JSON, and for methods that the
/// protocol does not name.
pub fn of_params(method: &str, json: &[u8]) -> Option<Mismatch> {
    check::check(v1::params(method)?, json)
}

/// Finds what does not fit in the result of a method; see [`of_params`].
pub fn of_result(method: &str, json: &[u8]) -> Option<Mismatch> {
    check::check(v1::result(method)?, json)
}

/// Finds what does not fit in a value of a definition of the schema, by its name; see
/// [`of_params`].
pub fn of_definition(name: &str, json: &[u8]) -> Option<Mismatch> {
    check::check(v1::definition(name)?, json)
}
