//! Who may say what, and who has the last word.

use std::path::{Path, PathBuf};

use acp_harness::Registry;
use acp_harness::registry::official::Importer;
use toml::Spanned;

use super::error::ConfigError;
use super::file::{Source, Whose};
use super::limits::MAX_TRUST;
use super::mcp::McpServers;
use super::places::{Surroundings, project_file};
use super::project::{Note, part_from_other_agents, restrict};
use super::settings::{Document, Flags, Layer, Origin, Setting, Settings};
use super::suggest::suggestion;
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
    trust: Vec<PathBuf>,
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
            trust: Vec::new(),
            global: None,
            project: None,
        }
    }

    /// Hears the user's own file.
    fn global(&mut self) -> Result<(), ConfigError> {
        let Some(path) = self.surroundings.global_file() else {
            return Ok(());
        };
        let read = Source::read(&path, Whose::Global)?;
        self.global = Some(FileFound {
            path,
            there: read.is_some(),
            trusted: true,
        });
        if let Some((source, mut document)) = read {
            if let Some(trust) = document.trust.take() {
                self.trust = self.trusted(&trust, &source)?;
            }
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
        let Some((source, mut document)) = Source::read(&path, Whose::Project)? else {
            return Ok(());
        };
        let trusted = path.parent().is_some_and(|folder| {
            let mut folders = self.trust.iter();
            folders.any(|trusted| trusted == folder)
        });
        if let Some(trust) = document.trust.take() {
            self.notes.push(Note::denied(
                "trust",
                source.origin(&trust.span()),
                "only your own file says what is trusted",
            ));
        }
        let mut layer = Layer::of_file(&mut document, &source);
        if trusted {
            self.take(&mut document, &source)?;
        } else {
            let global = self.layers.first().cloned().unwrap_or_default();
            let denied = restrict(&mut layer, &document, &source, &global, &self.registry);
            self.notes.extend(denied);
        }
        self.layers.push(layer);
        self.project = Some(FileFound {
            path,
            there: true,
            trusted,
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

    /// Reads the folders that the user trusts.
    fn trusted(
        &self,
        list: &Spanned<Vec<PathBuf>>,
        source: &Source,
    ) -> Result<Vec<PathBuf>, ConfigError> {
        if list.get_ref().len() > MAX_TRUST {
            let what = format!("`trust` names at most {MAX_TRUST} folders");
            return Err(source.refuse(&list.span(), what));
        }
        let spelled = list.get_ref().iter().map(|folder| {
            let absolute = self.surroundings.spell_out(folder);
            absolute.ok_or_else(|| source.refuse(&list.span(), "`trust` lists absolute paths"))
        });
        spelled
            // A folder that is not there is nobody's.
            .map(|folder| folder.map(|folder| folder.canonicalize().unwrap_or(folder)))
            .collect()
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
    let words = in_words(error);
    format!(
        "cannot {}",
        words.strip_prefix("failed to ").unwrap_or(&words)
    )
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
