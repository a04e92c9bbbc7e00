//! The names by which host and facade speak of sessions, turns, tools and gates.

use std::{borrow::Borrow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// Names a session, as the client spells it.
///
/// An opaque text of 1 to 256 bytes without control characters. A session id
/// grants nothing: whether its bearer may use the session is the host's
/// decision.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

/// Why a text cannot name a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionIdError {
    /// The text has no bytes.
    #[error("read a session id: it is empty")]
    Empty,
    /// The text has more than [`SessionId::MAX_BYTES`] bytes.
    #[error("read a session id: it is longer than {} bytes", SessionId::MAX_BYTES)]
    TooLong,
    /// The text holds a control character.
    #[error("read a session id: it holds a control character")]
    ControlCharacter,
}

impl SessionId {
    /// The longest spelling that is accepted; ids are keys of maps, and a peer
    /// chooses them.
    pub const MAX_BYTES: usize = 256;

    /// Takes a text as a session id.
    ///
    /// # Errors
    ///
    /// [`SessionIdError`] names the rule that the text breaks.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, SessionIdError> {
        let text = text.into();
        match text.len() {
            0 => Err(SessionIdError::Empty),
            n if n > Self::MAX_BYTES => Err(SessionIdError::TooLong),
            _ if holds_control(&text) => Err(SessionIdError::ControlCharacter),
            _ => Ok(Self(text)),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as shared text.
    pub fn to_shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

/// Whether a text holds a control character; most ids are ASCII.
fn holds_control(text: &str) -> bool {
    if text.is_ascii() {
        text.bytes().any(|byte| byte.is_ascii_control())
    } else {
        text.chars().any(char::is_control)
    }
}

macro_rules! text_traits {
    ($($name:ident)*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&&*self.0).finish()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    )*};
}

macro_rules! opaque_id {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes a text as this id.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The id as shared text.
            pub fn to_shared(&self) -> Arc<str> {
                Arc::clone(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        text_traits! { $name }
    )*};
}

text_traits! { SessionId }

opaque_id! {
    /// Names one submission; the facade mints it, the host stamps it on its replies.
    CommandId
    /// Names one loop around a model: the session's own, or that of a sub-agent.
    LoopId
    /// Names one turn of a loop; unique within the session.
    TurnId
    /// Names one execution of a tool; unique within the session.
    ToolId
    /// Names one gate; unique within the session.
    GateId
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids() {
        let check = |text: &str, want: Result<(), SessionIdError>| {
            assert_eq!(SessionId::new(text).map(drop), want, "{text:?}");
        };
        check("", Err(SessionIdError::Empty));
        check("s", Ok(()));
        check("not-a-uuid", Ok(()));
        check("sitzung-ü", Ok(()));
        check("two\nlines", Err(SessionIdError::ControlCharacter));
        check("nul\0", Err(SessionIdError::ControlCharacter));
        check(&"x".repeat(256), Ok(()));
        check(&"x".repeat(257), Err(SessionIdError::TooLong));
    }

    #[test]
    fn ids_are_looked_up_by_text() {
        let mut map = std::collections::HashMap::new();
        map.insert(ToolId::from("t1"), 1);
        assert_eq!(map.get("t1"), Some(&1));
    }
}
