//! The table of settings: what there is to set, by which names, and who said what.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::error::ConfigError;
use super::file::{Mcp, Source};
use super::value::{self, AllowLevel, Colour, Files, Time, Word};
use crate::values::Bound;
use acp_harness::registry::AgentTable;

/// A value, and who said it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// Who said a value, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody: it is what the program does by itself.
    Default,
    /// The user's own file.
    Global { path: PathBuf, line: usize },
    /// The file of the project.
    Project { path: PathBuf, line: usize },
    /// A variable of the environment.
    Environment(&'static str),
    /// The command line, by the name of the setting.
    Flag(&'static str),
    /// The command line, by the command behind its two dashes.
    Command,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Global { path, line } | Self::Project { path, line } => {
                write!(f, "{}, line {line}", path.display())
            }
            Self::Environment(name) => f.write_str(name),
            Self::Flag(name) => write!(f, "--{}", name.replace('_', "-")),
            Self::Command => f.write_str("the command behind --"),
        }
    }
}

/// A setting as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) variable: &'static str,
    /// A value, as a file spells it; the default where there is one.
    pub(crate) example: &'static str,
    /// What it is about, in a few words.
    pub(crate) about: &'static str,
    /// `null` when it is not set.
    pub(crate) value: serde_json::Value,
    pub(crate) origin: Origin,
}

/// Declares all settings once: `name: type, "VARIABLE", "an example", "what it is about"`.
/// Those of `open` have no value until somebody sets one; those of `set` always have one.
macro_rules! settings {
    (
        open { $($open:ident: $open_type:ty, $open_var:literal, $open_example:literal, $open_about:literal;)* }
        set { $($set:ident: $set_type:ty, $set_var:literal, $set_example:literal, $set_about:literal;)* }
    ) => {
        /// What is in force, after all who may say something were heard.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $(#[doc = $open_about] pub(crate) $open: Setting<Option<$open_type>>,)*
            $(#[doc = $set_about] pub(crate) $set: Setting<$set_type>,)*
        }

        /// What the command line says; what it leaves out is asked for elsewhere.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Flags {
            $(#[doc = $open_about] pub(crate) $open: Option<$open_type>,)*
            $(#[doc = $set_about] pub(crate) $set: Option<$set_type>,)*
            /// The command line says by which command the agent is started: no name of
            /// one counts, and no model or mode that was chosen along with a name.
            pub(crate) command: bool,
        }

        /// What one of those says who may.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Layer {
            $(pub(super) $open: Option<Setting<$open_type>>,)*
            $(pub(super) $set: Option<Setting<$set_type>>,)*
        }

        /// A file as it is written.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct Document {
            $($open: Option<Spanned<$open_type>>,)*
            $($set: Option<Spanned<$set_type>>,)*
            pub(super) trust: Option<Spanned<Vec<PathBuf>>>,
            pub(super) registry: Option<Spanned<PathBuf>>,
            pub(super) mcp: Option<Spanned<Mcp>>,
            pub(super) agents: Option<Spanned<AgentTable>>,
        }

        impl Settings {
            /// Takes of each setting what the strongest says of it; the strongest comes
            /// last.
            pub(crate) fn of(layers: Vec<Layer>) -> Self {
                let mut all = Layer::default();
                for layer in layers {
                    $(all.$open = layer.$open.or(all.$open);)*
                    $(all.$set = layer.$set.or(all.$set);)*
                }
                Self {
                    $($open: match all.$open {
                        Some(said) => Setting { value: Some(said.value), origin: said.origin },
                        None => Setting { value: None, origin: Origin::Default },
                    },)*
                    $($set: all.$set.unwrap_or_else(|| Setting {
                        value: Default::default(),
                        origin: Origin::Default,
                    }),)*
                }
            }

            /// Returns all of them, in the order of the table.
            pub(crate) fn rows(&self) -> Vec<Row> {
                vec![
                    $(Row {
                        name: stringify!($open),
                        variable: $open_var,
                        example: $open_example,
                        about: $open_about,
                        value: shown(&self.$open.value),
                        origin: self.$open.origin.clone(),
                    },)*
                    $(Row {
                        name: stringify!($set),
                        variable: $set_var,
                        example: $set_example,
                        about: $set_about,
                        value: shown(&self.$set.value),
                        origin: self.$set.origin.clone(),
                    },)*
                ]
            }
        }

        impl Layer {
            /// Reads the variables of the environment; empty ones say nothing.
            pub(super) fn of_environment(
                variable: &dyn Fn(&str) -> Option<OsString>,
            ) -> Result<Self, ConfigError> {
                Ok(Self {
                    $($open: of_variable(variable, $open_var)?,)*
                    $($set: of_variable(variable, $set_var)?,)*
                })
            }

            /// Takes what the command line says.
            pub(super) fn of_flags(flags: Flags) -> Self {
                Self {
                    $($open: flags.$open.map(|value| Setting {
                        value,
                        origin: Origin::Flag(stringify!($open)),
                    }),)*
                    $($set: flags.$set.map(|value| Setting {
                        value,
                        origin: Origin::Flag(stringify!($set)),
                    }),)*
                }
            }

            /// Takes what a file says.
            pub(super) fn of_file(document: &mut Document, source: &Source) -> Self {
                Self {
                    $($open: document.$open.take().map(|value| source.setting(value)),)*
                    $($set: document.$set.take().map(|value| source.setting(value)),)*
                }
            }
        }
    };
}

settings! {
    open {
        agent: Word, "ACP_AGENT", "\"claude\"", "the agent, by the name that `acp agents` gives it";
        model: Word, "ACP_MODEL", "\"opus\"", "the model, as the agent names it";
        effort: Word, "ACP_EFFORT", "\"high\"", "how hard the model thinks, as the agent names it";
        mode: Word, "ACP_MODE", "\"plan\"", "the session mode, as the agent names it";
        timeout: Time, "ACP_TIMEOUT", "\"1h\"", "how long a turn may take in all, as 90, \"5m\" or \"1h\"";
        idle_timeout: Bound, "ACP_IDLE_TIMEOUT", "\"30m\"", "how long an agent may be silent in a turn, or \"none\"";
        start_timeout: Time, "ACP_START_TIMEOUT", "\"30s\"", "how long an agent may take to start";
    }
    set {
        allow: AllowLevel, "ACP_ALLOW", "\"none\"", "what the agent may do when it asks";
        files: Files, "ACP_FILES", "\"none\"", "which files of the folder it is served";
        terminals: bool, "ACP_TERMINALS", "false", "whether it may run commands by way of acp";
        color: Colour, "ACP_COLOR", "\"auto\"", "when colours are used";
    }
}

fn of_variable<T: DeserializeOwned>(
    variable: &dyn Fn(&str) -> Option<OsString>,
    name: &'static str,
) -> Result<Option<Setting<T>>, ConfigError> {
    let Some(text) = variable(name).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let text = text.to_str().ok_or("text is wanted".to_owned());
    match text.and_then(value::of_variable) {
        Ok(value) => Ok(Some(Setting {
            value,
            origin: Origin::Environment(name),
        })),
        Err(wanted) => Err(ConfigError::variable(name, wanted)),
    }
}

fn shown(value: &impl Serialize) -> serde_json::Value {
    // Names, numbers and words of lists: nothing of it fails to be written.
    serde_json::to_value(value).unwrap_or_default()
}
