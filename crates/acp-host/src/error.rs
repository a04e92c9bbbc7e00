//! What goes wrong in a host, and how much of it a client may read.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

/// Why a host could not do what it was asked.
///
/// It has two parts. The *public* text reaches the client; it exists only if
/// the host wrote it for that purpose. The *private* cause never leaves the
/// process: the facade writes it to the log, with all its sources, under the id
/// that the client reads, and without what looks like a secret. Keep what users
/// say out of it.
///
/// ```
/// # use acp_host::HostError;
/// let private = HostError::internal(std::io::Error::other("key sk-123 was refused"));
/// assert_eq!(private.public_text(), None);
///
/// let public = HostError::public("the model is not available in this region");
/// assert!(public.public_text().is_some());
/// ```
#[derive(Debug)]
pub struct HostError {
    kind: HostErrorKind,
    public: Option<Cow<'static, str>>,
    cause: Option<Private>,
}

/// The sorts of failure that a client can act upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostErrorKind {
    /// The host failed; nothing the client sent was wrong.
    Internal,
    /// Something the client sent cannot be used.
    InvalidInput,
    /// There is no such session or resource.
    NotFound,
    /// The user must log in first.
    AuthRequired,
    /// It may work later.
    Busy {
        /// When to try again, if the host knows.
        retry_after: Option<Duration>,
    },
}

/// A cause whose text stays out of every `Debug` and `Display`.
struct Private(Box<dyn Error + Send + Sync>);

impl HostError {
    /// Wraps a cause of which the client learns nothing.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            kind: HostErrorKind::Internal,
            public: None,
            cause: Some(Private(cause.into())),
        }
    }

    /// States a failure in words that the client may read.
    pub fn public(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: HostErrorKind::Internal,
            public: Some(text.into()),
            cause: None,
        }
    }

    /// Sorts the failure.
    #[must_use]
    pub fn with_kind(mut self, kind: HostErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// Adds words that the client may read.
    #[must_use]
    pub fn with_public_text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.public = Some(text.into());
        self
    }

    /// Adds the cause, for this process alone.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Private(cause.into()));
        self
    }

    /// The sort of failure.
    pub fn kind(&self) -> HostErrorKind {
        self.kind
    }

    /// The words that the client may read.
    pub fn public_text(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// The cause; its text is for this process alone.
    pub fn private_cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_ref().map(|cause| &*cause.0)
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.public, self.kind) {
            (Some(text), _) => f.write_str(text),
            (None, HostErrorKind::Internal) => f.write_str("the host failed"),
            (None, HostErrorKind::InvalidInput) => f.write_str("the host cannot use this input"),
            (None, HostErrorKind::NotFound) => f.write_str("the host does not know it"),
            (None, HostErrorKind::AuthRequired) => f.write_str("log in first"),
            (None, HostErrorKind::Busy { .. }) => f.write_str("the host is busy"),
        }
    }
}

// No `source`: whoever prints a chain of causes would print the private one.
impl Error for HostError {}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_causes_are_never_printed() {
        let error = HostError::internal("canary").with_public_text("no room left");
        let printed = format!("{error} {error:?} {error:#?}");
        assert!(!printed.contains("canary"), "{printed}");
        assert!(error.source().is_none());
        assert_eq!(error.private_cause().unwrap().to_string(), "canary");
        assert_eq!(error.to_string(), "no room left");
    }
}
