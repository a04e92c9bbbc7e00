//! Configuration of sessions.

use crate::v1::{SessionConfigOptionValue, SessionConfigValueId};

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<SessionConfigValueId> for SessionConfigOptionValue {
    fn from(value: SessionConfigValueId) -> Self {
        Self::ValueId(value)
    }
}

impl From<String> for SessionConfigOptionValue {
    fn from(value: String) -> Self {
        Self::ValueId(value.into())
    }
}

impl From<&str> for SessionConfigOptionValue {
    fn from(value: &str) -> Self {
        Self::ValueId(value.into())
    }
}
