//! Values that are never shown.

use std::fmt;
use std::sync::Arc;

/// Holds a value that is never shown: a key, a token, a password.
///
/// It has no `Display`, no serialisation, and a `Debug` of three stars, so it gets into
/// no log by accident. [`expose`](Self::expose) is the one way to the value, and easy to
/// search for. The memory is not wiped: the value is on its way into the environment of
/// a child, where it stands in the open for everybody who may read that.
///
/// ```
/// use acp_text::Secret;
///
/// let key = Secret::new("s3cret");
/// assert_eq!(format!("{key:?}"), "***");
/// assert_eq!(key.expose(), "s3cret");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes a value in.
    #[must_use]
    pub fn new(value: impl Into<Arc<str>>) -> Self {
        Self(value.into())
    }

    /// Returns the value, for where it is used and nowhere else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether there is nothing to hide.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self(value.into())
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self(value.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_shows_it() {
        let secrets = [Secret::from("s3cret"), Secret::from(String::from("s3cret"))];
        let shown = format!("{secrets:?} {secrets:#?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("***"), "{shown}");
        assert!(!secrets[0].is_empty() && Secret::from("").is_empty());
    }
}
