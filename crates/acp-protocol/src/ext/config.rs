//! Configuration of sessions.

use crate::json::Slice;
use crate::lenient::{self, Forgiven};
use crate::v1::{
    SessionConfigOptionValue, SessionConfigSelectGroup, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionConfigValueId,
};

impl SessionConfigSelectOptions {
    /// Understands a list that mixes values and groups: values that stand alone become
    /// groups without a name.
    pub(crate) fn mix(elements: &[Slice<'_>]) -> Option<Self> {
        let mut groups = Vec::new();
        let mut alone: Vec<SessionConfigSelectOption> = Vec::new();
        let group = |values| SessionConfigSelectGroup::new("", "", values);
        for element in elements {
            if let Ok(value) = serde_json::from_str(element.as_str()) {
                alone.push(value);
                continue;
            }
            let found: SessionConfigSelectGroup = serde_json::from_str(element.as_str()).ok()?;
            if !alone.is_empty() {
                groups.push(group(std::mem::take(&mut alone)));
            }
            groups.push(found);
        }
        if !alone.is_empty() {
            groups.push(group(alone));
        }
        lenient::report("SessionConfigSelect", "options", Forgiven::Mixed);
        Some(Self::Grouped(groups))
    }
}

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
