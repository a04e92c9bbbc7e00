//! What a session is set to, and what its agent offers.

use std::collections::BTreeMap;
use std::fmt;

use acp_client::SessionControl;
use acp_harness::model::{Demand, SessionSettings, values};
use acp_harness::turn::{HarnessError, set};
use acp_protocol::json_length;
use acp_protocol::v1::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionKind, SessionModeState,
};
use acp_text::one_line;
use clap::Subcommand;
use serde::{Deserialize, Serialize};

use super::limits::{MAX_OFFERS, MAX_SETTINGS, MAX_VALUE};
use crate::exit::Exit;
use crate::outcome::Outcome;

/// Characters of a list of values that are shown.
const MAX_SHOWN: usize = 400;

/// One thing to set.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum Change {
    /// Set the mode
    Mode {
        /// Its id, or the name the agent shows
        #[arg(value_parser = value)]
        id: String,
    },
    /// Set the model
    Model {
        /// Its id, or the name the agent shows
        #[arg(value_parser = value)]
        id: String,
    },
    /// Set an option
    Option {
        /// Its id, or the name the agent shows
        #[arg(value_parser = value)]
        id: String,
        /// One of its values, or true or false
        #[arg(value_parser = value)]
        value: String,
    },
}

fn value(text: &str) -> Result<String, String> {
    match text.len() {
        1..=MAX_VALUE => Ok(text.to_owned()),
        _ => Err(format!("1 to {MAX_VALUE} bytes are wanted")),
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { id } => write!(f, "the model {id}"),
            Self::Mode { id } => write!(f, "the mode {id}"),
            Self::Option { id, value } => write!(f, "the option {id} to {value}"),
        }
    }
}

/// What a session is set to before each of its turns: agents start anew for each, and not
/// all of them remember.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RememberedSettings {
    #[serde(default)]
    pub(crate) model: Option<String>,
    #[serde(default)]
    pub(crate) mode: Option<String>,
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
}

/// What the agent had to choose from, when it was last asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Offers {
    /// Whether it was asked.
    #[serde(default)]
    known: bool,
    #[serde(default)]
    modes: Option<SessionModeState>,
    #[serde(default)]
    options: Vec<SessionConfigOption>,
}

impl RememberedSettings {
    /// Tells whether nothing is set.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a change; `false` when there are too many.
    pub(crate) fn add(&mut self, change: &Change) -> bool {
        match change {
            Change::Model { id } => self.model = Some(id.clone()),
            Change::Mode { id } => self.mode = Some(id.clone()),
            Change::Option { id, value } => {
                if self.options.len() >= MAX_SETTINGS && !self.options.contains_key(id) {
                    return false;
                }
                self.options.insert(id.clone(), value.clone());
            }
        }
        true
    }

    /// Returns its parts.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Change> {
        let model = self.model.iter().cloned().map(|id| Change::Model { id });
        let mode = self.mode.iter().cloned().map(|id| Change::Mode { id });
        let options = self.options.iter().map(|(id, value)| Change::Option {
            id: id.clone(),
            value: value.clone(),
        });
        model.chain(mode).chain(options)
    }
}

impl Offers {
    /// Reads what an open session offers; what is too long is not remembered.
    pub(crate) fn of(control: &SessionControl) -> Self {
        let offers = Self {
            known: true,
            modes: control.modes(),
            options: control.config_options().unwrap_or_default(),
        };
        offers.within_bounds()
    }

    fn within_bounds(self) -> Self {
        match json_length(&self) <= MAX_OFFERS {
            true => self,
            false => Self::default(),
        }
    }

    /// Says what there is to choose from: each choice by its id, with its values.
    pub(crate) fn in_words(&self) -> Vec<(String, String)> {
        let names = |all: Vec<&str>| one_line(&all.join(", "), MAX_SHOWN);
        let mut choices = Vec::new();
        let is_mode = |option: &SessionConfigOption| {
            option.category == Some(SessionConfigOptionCategory::Mode)
        };
        if let Some(modes) = &self.modes
            && !self.options.iter().any(is_mode)
        {
            let modes = modes.available_modes.iter().map(|mode| mode.id.as_str());
            choices.push(("mode".to_owned(), names(modes.collect())));
        }
        for option in &self.options {
            let values = match &option.kind {
                SessionConfigOptionKind::Select(choice) => {
                    values(choice).map(|offer| offer.value.as_str()).collect()
                }
                SessionConfigOptionKind::Boolean(_) => vec!["true", "false"],
                _ => continue,
            };
            choices.push((one_line(option.id.as_str(), MAX_SHOWN), names(values)));
        }
        choices
    }

    /// Checks that a change can be had, as far as it is known.
    ///
    /// # Errors
    ///
    /// [`HarnessError`] with what there is instead.
    pub(crate) fn check(&self, change: &Change) -> Result<(), HarnessError> {
        match self.known {
            true => is_open(&self.options, self.modes.as_ref(), change).map(|_| ()),
            false => Ok(()),
        }
    }
}

impl From<&Change> for SessionSettings {
    fn from(change: &Change) -> Self {
        let settings = Self::new();
        match change {
            Change::Model { id } => settings.with_model(id, Demand::Require),
            Change::Mode { id } => settings.with_mode(id, Demand::Require),
            Change::Option { id, value } => settings.with_option(id, value),
        }
    }
}

/// Tells whether there is something to be done to have a change.
fn is_open(
    options: &[SessionConfigOption],
    modes: Option<&SessionModeState>,
    change: &Change,
) -> Result<bool, HarnessError> {
    let mut plan = SessionSettings::from(change).plan();
    Ok(plan.next(options, modes)?.is_some())
}

/// Sets it on a session that is open, and sees to it that the agent says so.
pub(crate) async fn apply(control: &SessionControl, change: &Change) -> Result<(), NotSet> {
    set(control, &change.into()).await?;
    prove(control, change)
}

/// Checks that the agent says that it is set.
pub(crate) fn prove(control: &SessionControl, change: &Change) -> Result<(), NotSet> {
    let options = control.config_options().unwrap_or_default();
    match is_open(&options, control.modes().as_ref(), change)? {
        false => Ok(()),
        true => Err(NotSet::NotKept {
            change: change.clone(),
        }),
    }
}

/// Checks it of several.
pub(crate) fn prove_all(control: &SessionControl, changes: &[Change]) -> Result<(), NotSet> {
    changes.iter().try_for_each(|change| prove(control, change))
}

/// Why something is not set.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSet {
    #[error(transparent)]
    Failed(#[from] HarnessError),
    /// The agent accepted it and says it is set to something else.
    #[error("set {change}: the agent took it, and still has another one")]
    NotKept { change: Change },
    /// A session remembers only so many.
    #[error("remember {change}: too many options are set")]
    TooMany { change: Change },
}

impl From<NotSet> for Outcome {
    fn from(error: NotSet) -> Self {
        let exit = match error {
            NotSet::Failed(error) => return error.into(),
            NotSet::NotKept { .. } => Exit::Protocol,
            NotSet::TooMany { .. } => Exit::Usage,
        };
        Self::failed(exit, &error).with_hint("`acp set clear` forgets what the session is set to")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_and_long_offers_are_not_remembered() {
        assert!(value(&"v".repeat(MAX_VALUE)).is_ok());
        assert!(value(&"v".repeat(MAX_VALUE + 1)).is_err());
        let offers = |bytes: usize| Offers {
            known: true,
            modes: Some(SessionModeState::new("m".repeat(bytes), Vec::new())),
            options: Vec::new(),
        };
        assert!(offers(MAX_OFFERS / 2).within_bounds().known);
        assert!(!offers(MAX_OFFERS).within_bounds().known);
    }
}
