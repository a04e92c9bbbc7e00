//! Who may say what, and who has the last word.

use std::path::Path;

use acp_client::{ProtectedPaths, ProtectedPatternError};
use acp_harness::Registry;
use acp_harness::registry::official::Importer;

use super::error::ConfigError;
use super::file::{ConfigScope, Source};
use super::locations::{Surroundings, project_file};
use super::mcp::McpServers;
use super::project::{Note, deny_tables, part_from_other_agents};
use super::settings::{Document, Flags, Layer, Origin, Setting, Settings};
use super::suggest::suggestion;
use super::trust::{Trust, TrustStore};
use super::value::{Colour, Word};
use super::{Agent, Configuration, FileFound};
use crate::outcome::in_words;
use crate::show::one_line;

/// The name of the agent that is built in. An agent of that name in the user's file is
/// that one.
const DEMO: &str = "demo";

/// Finds what is in force in a folder.
pub(super) fn load(
    folder: &Path,
    flags: Flags,
    surroundings: Surroundings,
) -> Result<Configuration, ConfigError> {
    let mut loader = Loader::new(surroundings);
    loader.global()?;
    loader.project(folder)?;
    loader.environment()?;
    loader.end(flags)
}

/// Hears one after the other, the weakest first.
struct Loader {
    surroundings: Surroundings,
    layers: Vec<Layer>,
    registry: Registry,
    mcp: McpServers,
    notes: Vec<Note>,
    protected: ProtectedPaths,
    global: Option<FileFound>,
    project: Option<FileFound>,
}

impl Loader {
    fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            layers: Vec::new(),
            registry: Registry::builtin().clone(),
            mcp: McpServers::default(),
            notes: Vec::new(),
            protected: ProtectedPaths::new(),
            global: None,
            project: None,
        }
    }

    /// Hears the user's own file.
    fn global(&mut self) -> Result<(), ConfigError> {
        let Some(path) = self.surroundings.global_file() else {
            return Ok(());
        };
        let read = Source::read(&path, ConfigScope::Global)?;
        self.global = Some(FileFound {
            path,
            there: read.is_some(),
            trust: Trust::Trusted,
            adds: Vec::new(),
        });
        if let Some((source, mut document)) = read {
            self.protect(&mut document, &source)?;
            self.take(&mut document, &source)?;
            self.layers.push(Layer::of_file(&mut document, &source));
        }
        Ok(())
    }

    /// Hears the file of the project that a folder belongs to.
    fn project(&mut self, folder: &Path) -> Result<(), ConfigError> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let Some(path) = project_file(&folder) else {
            return Ok(());
        };
        let Some((source, mut document)) = Source::read(&path, ConfigScope::Project)? else {
            return Ok(());
        };
        let trust = source.state.as_ref().map_or(Trust::Never, |state| {
            TrustStore::of(&self.surroundings).judge(state)
        });
        let mut layer = Layer::of_file(&mut document, &source);
        let adds = document.tables().collect();
        self.protect(&mut document, &source)?;
        if trust == Trust::Trusted {
            self.take(&mut document, &source)?;
        } else {
            self.notes.extend(deny_tables(&document, &source));
            let own = self.layers.first().cloned().unwrap_or_default();
            self.notes.extend(layer.restrict(&own));
        }
        self.layers.push(layer);
        self.project = Some(FileFound {
            path,
            there: true,
            trust,
            adds,
        });
        Ok(())
    }

    /// Hears the environment.
    fn environment(&mut self) -> Result<(), ConfigError> {
        let variable = &*self.surroundings.variable;
        let mut layer = Layer::of_environment(variable)?;
        if layer.color.is_none() && variable(NO_COLOR).is_some_and(|value| !value.is_empty()) {
            layer.color = Some(Setting {
                value: Colour::Never,
                origin: Origin::Environment { variable: NO_COLOR },
            });
        }
        self.layers.push(layer);
        Ok(())
    }

    /// Hears the command line, and finds what is in force.
    fn end(mut self, flags: Flags) -> Result<Configuration, ConfigError> {
        let command = flags.command;
        self.layers.push(Layer::of_flags(flags));
        let agent = match command {
            true => Setting {
                value: Agent::Command,
                origin: Origin::Command,
            },
            false => self.agent()?,
        };
        Ok(self.in_force(agent))
    }

    /// Finds what is in force for an agent.
    fn in_force(mut self, agent: Setting<Agent>) -> Configuration {
        for layer in &mut self.layers {
            let parted = part_from_other_agents(layer, &agent.value, &self.registry);
            self.notes.extend(parted);
        }
        Configuration {
            settings: Settings::of(self.layers),
            agent,
            registry: self.registry,
            protected: self.protected,
            mcp: self.mcp,
            notes: self.notes,
            global: self.global,
            project: self.project,
            surroundings: self.surroundings,
        }
    }

    /// Takes what names commands, and addresses, out of a file that may name them.
    fn take(&mut self, document: &mut Document, source: &Source) -> Result<(), ConfigError> {
        if let Some(agents) = document.agents.take() {
            let span = agents.span();
            let laid = self.registry.lay_over_table(agents.into_inner());
            laid.map_err(|error| source.refuse(&span, cannot(&error)))?;
        }
        if let Some(path) = document.registry.take() {
            let Some(file) = self.surroundings.spell_out(path.get_ref()) else {
                return Err(source.refuse(&path.span(), "`registry` is an absolute path"));
            };
            let refuse = |error: &dyn std::error::Error| source.refuse(&path.span(), cannot(error));
            let imported = Importer::new().read_file(file);
            let imported = imported.map_err(|error| refuse(&error))?;
            self.registry
                .add(imported.agents)
                .map_err(|error| refuse(&error))?;
        }
        if let Some(mcp) = document.mcp.take() {
            self.mcp.take(mcp, source)?;
        }
        Ok(())
    }

    /// Adds paths that are protected: any file may do so, for it only tightens.
    fn protect(&mut self, document: &mut Document, source: &Source) -> Result<(), ConfigError> {
        let Some(protect) = document.protect.take() else {
            return Ok(());
        };
        for pattern in protect.get_ref() {
            let added = std::mem::take(&mut self.protected).with(pattern);
            let refuse = |error: ProtectedPatternError| {
                source.refuse(&protect.span(), format!("`protect`: {error}"))
            };
            self.protected = added.map_err(refuse)?;
        }
        Ok(())
    }

    /// Finds the agent that the strongest of all names.
    fn agent(&self) -> Result<Setting<Agent>, ConfigError> {
        let chosen = self.layers.iter().rev();
        let Some(said) = chosen.filter_map(|layer| layer.agent.as_ref()).next() else {
            return Ok(NOT_CHOSEN);
        };
        let value = find(&said.value, &self.registry).ok_or_else(|| {
            let by = match &said.origin {
                // Who has just typed it knows where.
                Origin::Flag { .. } => String::new(),
                origin => format!(" ({origin})"),
            };
            unknown(said.value.as_str(), &by, &self.registry)
        })?;
        Ok(Setting {
            value,
            origin: said.origin.clone(),
        })
    }
}

/// The agent where nobody chooses one.
const NOT_CHOSEN: Setting<Agent> = Setting {
    value: Agent::Demo,
    origin: Origin::Default,
};

/// What is in force where nobody is heard.
impl Default for Configuration {
    fn default() -> Self {
        Loader::new(Surroundings::of_process()).in_force(NOT_CHOSEN)
    }
}

/// Says of a part of a file what could not be done.
fn cannot(error: &dyn std::error::Error) -> String {
    format!("cannot {}", without_failed(error))
}

/// Says what could not be done, to go on a sentence with.
pub(super) fn without_failed(error: &dyn std::error::Error) -> String {
    let words = in_words(error);
    words
        .strip_prefix("failed to ")
        .unwrap_or(&words)
        .to_owned()
}

/// The variable by which all programs are asked for no colours.
const NO_COLOR: &str = "NO_COLOR";

/// Finds an agent by one of its names.
pub(super) fn find(name: &Word, registry: &Registry) -> Option<Agent> {
    match registry.get(name.as_str()) {
        Some(entry) => Some(Agent::Known(entry.name.clone())),
        None => (name.as_str() == DEMO).then_some(Agent::Demo),
    }
}

/// Says that there is no such agent, and which one may be meant.
pub(super) fn unknown(name: &str, said_by: &str, registry: &Registry) -> ConfigError {
    let what = format!("find the agent `{}`{said_by}", one_line(name));
    let entries = registry.iter();
    let names = entries.flat_map(|entry| std::iter::once(&entry.name).chain(&entry.aliases));
    let names = names.map(String::as_str).chain([DEMO]);
    let hint = match suggestion(name, names) {
        Some(meant) => format!("did you mean `{meant}`? `acp agents` lists all that are known"),
        None => "`acp agents` lists those that are known; any other agent can be given by its \
                 command, after --"
            .to_owned(),
    };
    ConfigError::new(what, hint)
}
