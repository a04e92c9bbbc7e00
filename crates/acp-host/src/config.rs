//! What the user may set while a session runs: mode, model, and whatever else.

use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{HostError, SessionId};

/// Knows what can be set in a session.
///
/// Registered alone, it only shows; registered as a [`ConfigController`], the
/// client may set it.
#[auto_impl::auto_impl(Arc)]
pub trait ConfigCatalog: Send + Sync + 'static {
    /// All options of a session, as they are now. Asked anew for each request.
    ///
    /// # Errors
    ///
    /// [`HostError`]; only its public text reaches the client.
    fn options(
        &self,
        session: &SessionId,
    ) -> impl Future<Output = Result<Vec<ConfigOption>, HostError>> + Send;
}

/// Sets what can be set; `session/set_config_option` and `session/set_mode`.
#[auto_impl::auto_impl(Arc)]
pub trait ConfigController: ConfigCatalog {
    /// Sets an option, and returns all of them as they are then.
    ///
    /// It is called only for an option and a value that the catalog has just
    /// named, and only if the value differs from the current one.
    ///
    /// # Errors
    ///
    /// [`HostError`]; nothing may have changed then.
    fn set(
        &self,
        session: &SessionId,
        change: ConfigChange,
    ) -> impl Future<Output = Result<Vec<ConfigOption>, HostError>> + Send;
}

/// A change that the client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigChange {
    /// Which option.
    pub option: String,
    /// Its new value.
    pub value: ConfigValue,
}

impl ConfigChange {
    /// Sets an option to a value.
    pub fn new(option: impl Into<String>, value: ConfigValue) -> Self {
        Self {
            option: option.into(),
            value,
        }
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConfigValue {
    /// One of the choices, by its id.
    Choice(String),
    /// On or off.
    Switch(bool),
}

/// Something that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct ConfigOption {
    /// Names the option. The mode of a session has the id
    /// [`MODE`](ConfigOption::MODE).
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// What sort of option it is; clients place it by that.
    #[setters(into = false)]
    pub category: Option<ConfigCategory>,
    /// What it can be, and what it is.
    pub kind: ConfigKind,
}

impl ConfigOption {
    /// The id of the option that holds the mode of a session.
    pub const MODE: &str = "mode";

    /// An option with choices, of which the one with the id `current` is made.
    pub fn select(
        id: impl Into<String>,
        name: impl Into<String>,
        current: impl Into<String>,
        choices: Vec<ConfigChoice>,
    ) -> Self {
        let current = current.into();
        Self::new(id, name, ConfigKind::Select { current, choices })
    }

    /// An option that is on or off.
    pub fn switch(id: impl Into<String>, name: impl Into<String>, is_on: bool) -> Self {
        Self::new(id, name, ConfigKind::Switch { is_on })
    }

    /// The mode of a session, under its well-known id.
    pub fn mode(current: impl Into<String>, choices: Vec<ConfigChoice>) -> Self {
        Self::select(Self::MODE, "Mode", current, choices).with_category(ConfigCategory::Mode)
    }

    fn new(id: impl Into<String>, name: impl Into<String>, kind: ConfigKind) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: None,
            category: None,
            kind,
        }
    }

    /// The value that it has.
    pub fn value(&self) -> ConfigValue {
        match &self.kind {
            ConfigKind::Select { current, .. } => ConfigValue::Choice(current.clone()),
            ConfigKind::Switch { is_on } => ConfigValue::Switch(*is_on),
        }
    }

    /// Whether it can have a value.
    pub fn accepts(&self, value: &ConfigValue) -> bool {
        match (&self.kind, value) {
            (ConfigKind::Select { choices, .. }, ConfigValue::Choice(id)) => {
                choices.iter().any(|choice| choice.id == *id)
            }
            (ConfigKind::Switch { .. }, ConfigValue::Switch(_)) => true,
            _ => false,
        }
    }

    /// Gives it a value. False, and nothing changes, if it cannot have it.
    pub fn set(&mut self, value: ConfigValue) -> bool {
        if !self.accepts(&value) {
            return false;
        }
        match (&mut self.kind, value) {
            (ConfigKind::Select { current, .. }, ConfigValue::Choice(id)) => *current = id,
            (ConfigKind::Switch { is_on }, ConfigValue::Switch(value)) => *is_on = value,
            _ => return false,
        }
        true
    }
}

/// What an option can be, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigKind {
    /// One of some choices.
    Select {
        /// The id of the choice that is made.
        current: String,
        /// What can be chosen. Choices that name a group stand together.
        choices: Vec<ConfigChoice>,
    },
    /// On or off. A client that shows no such options gets two choices.
    Switch {
        /// What it is.
        is_on: bool,
    },
}

/// What can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct ConfigChoice {
    /// Names the choice.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What choosing it means.
    pub description: Option<String>,
    /// Under which heading it stands, if choices stand under headings.
    pub group: Option<String>,
}

impl ConfigChoice {
    /// Names a choice.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: None,
            group: None,
        }
    }
}

/// What sort of option it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigCategory {
    /// The mode of the session.
    Mode,
    /// The model.
    Model,
    /// How the model is set.
    ModelConfig,
    /// How long the model thinks.
    ThoughtLevel,
    /// A sort of the product's own; its name starts with `_`.
    Other(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_or_change_nothing() {
        let choices = vec![
            ConfigChoice::new("ask", "Ask"),
            ConfigChoice::new("act", "Act"),
        ];
        let mut mode = ConfigOption::mode("ask", choices);
        let mut check = |value: ConfigValue, fits: bool, now: &str| {
            assert_eq!(mode.set(value), fits);
            assert_eq!(mode.value(), ConfigValue::Choice(now.into()));
        };
        check(ConfigValue::Choice("act".into()), true, "act");
        check(ConfigValue::Choice("Act".into()), false, "act");
        check(ConfigValue::Switch(true), false, "act");

        let mut switch = ConfigOption::switch("web", "Web search", false);
        assert!(switch.set(ConfigValue::Switch(true)));
        assert!(!switch.set(ConfigValue::Choice("on".into())));
        assert_eq!(switch.value(), ConfigValue::Switch(true));
    }
}
