//! What can be wrong with an envelope.

use std::fmt;

use super::ErrorCode;

/// One thing that is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Issue {
    /// Longer than the limit.
    OversizedPayload,
    /// Nested deeper than the limit.
    ExcessiveNesting,
    /// More values than the limit.
    ExcessiveValues,
    /// Not JSON, or not UTF-8.
    MalformedJson,
    /// JSON, but no object. Batches are refused by this.
    NotAnObject,
    /// A second value behind the object.
    TrailingData,
    /// One of the known members stands there twice.
    DuplicateField,
    /// `jsonrpc` is not the string `2.0`.
    WrongVersion,
    /// `method` is not a string, or empty.
    InvalidMethodType,
    /// `id` is neither a string nor an integer, or is a string of more than 1 KiB.
    InvalidIdType,
    /// `error` lacks an integer code or a message.
    MalformedErrorObject,
    /// A result and an error at once.
    BothResultAndError,
    /// An answer without an id.
    MissingId,
    /// None of the three shapes.
    AmbiguousShape,
    /// An update whose session or content could not be decoded.
    UndecodableUpdate,
}

impl Issue {
    /// Every kind, in the order of its counter.
    pub const ALL: [Self; 15] = [
        Self::OversizedPayload,
        Self::ExcessiveNesting,
        Self::ExcessiveValues,
        Self::MalformedJson,
        Self::NotAnObject,
        Self::TrailingData,
        Self::DuplicateField,
        Self::WrongVersion,
        Self::InvalidMethodType,
        Self::InvalidIdType,
        Self::MalformedErrorObject,
        Self::BothResultAndError,
        Self::MissingId,
        Self::AmbiguousShape,
        Self::UndecodableUpdate,
    ];

    /// The error code that tells a peer about it.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        match self {
            Self::MalformedJson | Self::TrailingData => ErrorCode::PARSE,
            _ => ErrorCode::INVALID_REQUEST,
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of [`Issue`]s.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Issues(u16);

impl Issues {
    pub(super) fn insert(&mut self, issue: Issue) {
        self.0 |= issue.bit();
    }

    /// Tells whether nothing is wrong.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Tells whether `issue` is among them.
    #[must_use]
    pub fn contains(self, issue: Issue) -> bool {
        self.0 & issue.bit() != 0
    }

    /// The issues, in the order of [`Issue::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Issue> {
        Issue::ALL
            .into_iter()
            .filter(move |issue| self.contains(*issue))
    }

    /// Tells whether the line was no JSON.
    #[must_use]
    pub fn is_parse_error(self) -> bool {
        self.iter().any(|issue| issue.code() == ErrorCode::PARSE)
    }
}

impl From<Issue> for Issues {
    fn from(issue: Issue) -> Self {
        Self(issue.bit())
    }
}

impl fmt::Debug for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for Issues {
    /// Counts and kinds only: no byte of the payload.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, issue) in self.iter().enumerate() {
            write!(f, "{}{issue:?}", if nth > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
