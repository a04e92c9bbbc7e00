//! The table of settings: what there is to set, by which names, and who said what.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::error::ConfigError;
use super::file::{Mcp, Source};
use super::project::{self, Note};
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Origin {
    /// Nobody: it is what the program does by itself.
    Default,
    /// The user's own file.
    Global { path: PathBuf, line: usize },
    /// The file of the project.
    Project { path: PathBuf, line: usize },
    /// A variable of the environment.
    Environment { variable: &'static str },
    /// The command line, by the name of the setting.
    Flag { name: &'static str },
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
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { name } => write!(f, "--{}", name.replace('_', "-")),
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

/// Declares all settings once: `name: type => type in force, rule, "VARIABLE", "an example",
/// "what it is about"`. The type in force is an option where a setting has no value until
/// somebody sets one. The rule says what a project may set that nobody trusts.
macro_rules! settings {
    ($($name:ident: $type:ty => $in_force:ty, $rule:ident, $var:literal, $example:literal, $about:literal;)*) => {
        /// What is in force, after all who may say something were heard.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $(#[doc = $about] pub(crate) $name: Setting<$in_force>,)*
        }

        /// What the command line says; what it leaves out is asked for elsewhere.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Flags {
            $(#[doc = $about] pub(crate) $name: Option<$type>,)*
            /// The command line says by which command the agent is started: no name of
            /// one counts, and no model or mode that was chosen along with a name.
            pub(crate) command: bool,
        }

        /// What one of those says who may.
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Layer {
            $(pub(super) $name: Option<Setting<$type>>,)*
        }

        /// A file as it is written.
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct Document {
            $($name: Option<Spanned<$type>>,)*
            pub(super) protect: Option<Spanned<Vec<String>>>,
            pub(super) registry: Option<Spanned<PathBuf>>,
            pub(super) mcp: Option<Spanned<Mcp>>,
            pub(super) agents: Option<Spanned<AgentTable>>,
        }

        impl Document {
            /// Names all that the file sets.
            pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
                let settings = [$((stringify!($name), self.$name.is_some()),)*];
                let set = settings.into_iter().filter(|(_, is_set)| *is_set);
                set.map(|(name, _)| name).chain(self.tables())
            }
        }

        impl Settings {
            /// Takes of each setting what the strongest says of it; the strongest comes
            /// last.
            pub(crate) fn of(layers: Vec<Layer>) -> Self {
                let mut all = Layer::default();
                for layer in layers {
                    $(all.$name = layer.$name.or(all.$name);)*
                }
                Self {
                    $($name: in_force(all.$name),)*
                }
            }

            /// Returns all of them, in the order of the table.
            pub(crate) fn rows(&self) -> Vec<Row> {
                vec![$(Row {
                    name: stringify!($name),
                    variable: $var,
                    example: $example,
                    about: $about,
                    value: serde_json::to_value(&self.$name.value).unwrap_or_default(),
                    origin: self.$name.origin.clone(),
                },)*]
            }
        }

        impl Layer {
            /// Takes away what a project may not say that nobody trusts, by the rule of each
            /// setting and what the user's own file says.
            pub(super) fn restrict(&mut self, own: &Self) -> Vec<Note> {
                let mut notes = Vec::new();
                $(if let Some(said) = &self.$name {
                    let own = own.$name.as_ref().map(|own| &own.value);
                    if let Some(why) = project::$rule(&said.value, own) {
                        let origin = said.origin.clone();
                        notes.push(Note::denied(stringify!($name), origin, why));
                        self.$name = None;
                    }
                })*
                notes
            }

            /// Reads the variables of the environment; empty ones say nothing.
            pub(super) fn of_environment(
                variable: &dyn Fn(&str) -> Option<OsString>,
            ) -> Result<Self, ConfigError> {
                Ok(Self {
                    $($name: of_variable(variable, $var)?,)*
                })
            }

            /// Takes what the command line says.
            pub(super) fn of_flags(flags: Flags) -> Self {
                Self {
                    $($name: flags.$name.map(|value| Setting {
                        value,
                        origin: Origin::Flag { name: stringify!($name) },
                    }),)*
                }
            }

            /// Takes what a file says.
            pub(super) fn of_file(document: &mut Document, source: &Source) -> Self {
                Self {
                    $($name: document.$name.take().map(|value| source.setting(value)),)*
                }
            }
        }
    };
}

settings! {
    agent: Word => Option<Word>, as_chosen, "ACP_AGENT", "\"claude\"", "the agent, by the name that `acp agents` gives it";
    model: Word => Option<Word>, as_chosen, "ACP_MODEL", "\"opus\"", "the model, as the agent names it";
    effort: Word => Option<Word>, as_chosen, "ACP_EFFORT", "\"high\"", "how hard the model thinks, as the agent names it";
    mode: Word => Option<Word>, careful, "ACP_MODE", "\"plan\"", "the session mode, as the agent names it";
    timeout: Time => Option<Time>, no_longer, "ACP_TIMEOUT", "\"1h\"", "how long a turn may take in all, as 90, \"5m\" or \"1h\"";
    idle_timeout: Bound => Option<Bound>, no_more_idle, "ACP_IDLE_TIMEOUT", "\"30m\"", "how long an agent may be silent in a turn, or \"none\"";
    start_timeout: Time => Option<Time>, no_later, "ACP_START_TIMEOUT", "\"30s\"", "how long an agent may take to start";
    allow: AllowLevel => AllowLevel, at_most, "ACP_ALLOW", "\"none\"", "what the agent may do when it asks";
    files: Files => Files, at_most, "ACP_FILES", "\"none\"", "which files of the folder it is served";
    terminals: bool => bool, at_most, "ACP_TERMINALS", "false", "whether it may run commands by way of acp";
    color: Colour => Colour, as_chosen, "ACP_COLOR", "\"auto\"", "when colours are used";
}

impl Document {
    /// Names the tables and lists that it holds besides settings.
    pub(super) fn tables(&self) -> impl Iterator<Item = &'static str> {
        let tables = [
            ("protect", self.protect.is_some()),
            ("registry", self.registry.is_some()),
            ("mcp", self.mcp.is_some()),
            ("agents", self.agents.is_some()),
        ];
        tables
            .into_iter()
            .filter_map(|(name, is_there)| is_there.then_some(name))
    }
}

/// Takes what was said, or the default where nobody said anything.
fn in_force<T, F: From<T> + Default>(said: Option<Setting<T>>) -> Setting<F> {
    match said {
        Some(Setting { value, origin }) => Setting {
            value: value.into(),
            origin,
        },
        None => Setting {
            value: F::default(),
            origin: Origin::Default,
        },
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
            origin: Origin::Environment { variable: name },
        })),
        Err(wanted) => Err(ConfigError::variable(name, wanted)),
    }
}
