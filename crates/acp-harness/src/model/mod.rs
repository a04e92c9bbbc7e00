//! Choosing model, effort and mode of a session by its configuration options.
//!
//! Everything here is a function of what the agent offers; nobody is called. A [`SettingPlan`]
//! gives one step after the other, each computed from the newest list of options, because
//! an agent's answer to one step (another model) changes what the next may be (its
//! efforts):
//!
//! ```
//! use acp_harness::model::{Demand, SessionSettings, SettingStep};
//! # use acp_protocol::v1::SessionConfigOption;
//! # let mut options: Vec<SessionConfigOption> = serde_json::from_str(r#"[{"id": "m",
//! #     "name": "Model", "category": "model", "type": "select", "currentValue": "small",
//! #     "options": [{"value": "small", "name": "S"}, {"value": "large", "name": "L"}]}]"#)?;
//! # use acp_protocol::v1::{SessionConfigId, SessionConfigOptionValue};
//! # let call = |_: SessionConfigId, _: SessionConfigOptionValue| Vec::<SessionConfigOption>::new();
//!
//! let settings = SessionSettings::new().with_model("large", Demand::Require);
//! let mut plan = settings.plan();
//! while let Some(step) = plan.next(&options, None)? {
//!     if let SettingStep::Option { option, value } = step {
//!         // `session/set_config_option`; its answer holds the whole new list.
//!         options = call(option, value);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod option;
mod plan;
mod select;

pub use option::select_option;
pub use plan::{SessionSettings, SettingPlan, SettingStep};
pub use select::{Selection, select, values};

use std::fmt;

/// What of a session is set, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Setting {
    /// The model.
    Model,
    /// How much the model thinks.
    Effort,
    /// How the agent works, and what it asks for.
    Mode,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Effort => "effort",
            Self::Mode => "mode",
        })
    }
}

/// How much a value is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Demand {
    /// Take it where it is offered. For defaults that nobody of this moment chose: what
    /// was offered once may be no more.
    Suggest,
    /// Take it where there is such a choice; a choice that does not offer it is an error.
    #[default]
    Prefer,
    /// Have it, or fail.
    Require,
}

/// A value, and how much it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The value as the agent spells it: its id, or the name it shows.
    pub value: String,
    /// How much it is wanted.
    pub demand: Demand,
}

impl Wanted {
    /// Wants a value this much.
    #[must_use]
    pub fn new(value: impl Into<String>, demand: Demand) -> Self {
        let value = value.into();
        Self { value, demand }
    }
}

/// Why nothing is to be done about a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftBecause {
    /// It is set already.
    Current,
    /// The agent offers no such choice.
    NoChoice,
    /// The agent offers the choice, and not this value.
    NotOffered,
}

/// Why a value that is wanted cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The agent offers no such choice.
    #[error("set the {setting} to {value:?}: the agent has no choice of {setting}")]
    NoChoice {
        /// What was to be set.
        setting: Setting,
        /// To what.
        value: String,
    },
    /// The agent offers the choice, and not this value.
    #[error("set the {setting} to {value:?}: the agent offers {}", list(.offered))]
    NotOffered {
        /// What was to be set.
        setting: Setting,
        /// To what.
        value: String,
        /// What there is instead, the first of it.
        offered: Vec<String>,
    },
    /// The agent has no such option.
    #[error("set the option {option:?}: the agent has {}", list(.offered))]
    NoSuchOption {
        /// What was to be set.
        option: String,
        /// The options there are, the first of them.
        offered: Vec<String>,
    },
    /// The option has no such value.
    #[error("set the option {option:?} to {value:?}: the agent offers {}", list(.offered))]
    NoSuchValue {
        /// What was to be set.
        option: String,
        /// To what.
        value: String,
        /// What there is instead, the first of it.
        offered: Vec<String>,
    },
    /// The option is of a kind that nobody knows.
    #[error("set the option {option:?}: it is of a kind that is not known here")]
    UnknownKind {
        /// What was to be set.
        option: String,
    },
}

fn list(offered: &[String]) -> String {
    if offered.is_empty() {
        "nothing".to_owned()
    } else {
        offered.join(", ")
    }
}
