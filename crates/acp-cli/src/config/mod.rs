//! The configuration: what is chosen where the command line says nothing.
//!
//! Five may say something, the strongest first: the command line, the environment, the
//! file of the project, the user's own file, and the program itself. Of each setting the
//! strongest that says it counts, and [`Setting::origin`] tells who it was. A command that
//! takes settings as flags makes those flags optional and without a default of clap's,
//! hands what was given to [`load()`] as [`Flags`], and then asks the [`Configuration`]
//! alone:
//!
//! ```text
//! let flags = Flags { agent: args.agent, timeout: args.timeout.map(Time::from), ..Flags::default() };
//! let configuration = config::load(&cwd, flags)?;
//! for warning in configuration.warnings() { /* tell the user, on standard error */ }
//! match &configuration.agent.value { Agent::Known(name) => …, Agent::Demo => …, … }
//! ```
//!
//! A project's file comes with what was cloned, so it may choose and be careful, and
//! nothing else ([`project`]), unless the user's file trusts its folder. Model, effort and
//! mode go with the agent that the same one names: they do not count where somebody
//! stronger chooses another agent.

mod error;
mod file;
pub(crate) mod init;
mod limits;
mod load;
mod mcp;
mod places;
mod project;
mod settings;
pub(crate) mod show;
mod suggest;
#[cfg(test)]
mod tests;
mod value;

use std::path::{Path, PathBuf};

use acp_harness::Registry;
use acp_protocol::v1::McpServer;
use serde::Serialize;

pub(crate) use error::ConfigError;
use mcp::McpServers;
pub(crate) use places::{Surroundings, repository};
pub(crate) use project::Note;
pub(crate) use settings::{Flags, Origin, Setting, Settings};
pub(crate) use value::{AllowLevel, Colour, Files, Time, Word};

/// What is in force in a folder.
pub(crate) struct Configuration {
    /// The settings, each with who said it.
    pub(crate) settings: Settings,
    /// The agent that is used.
    pub(crate) agent: Setting<Agent>,
    /// The agents that are known: built in, of files, imported.
    pub(crate) registry: Registry,
    /// What was said and does not count.
    pub(crate) notes: Vec<Note>,
    /// The user's own file; none where there is no home.
    pub(crate) global: Option<FileFound>,
    /// The file of the project, if it has one.
    pub(crate) project: Option<FileFound>,
    mcp: McpServers,
    surroundings: Surroundings,
}

/// The agent that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The one that is built in, where nobody chose any.
    Demo,
    /// One of the registry, by the name it has there.
    Known(String),
    /// The command that stands on the command line.
    Command,
}

/// A file of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileFound {
    /// Where it is, or would be.
    pub(crate) path: PathBuf,
    /// Whether it is there.
    #[serde(rename = "exists")]
    pub(crate) there: bool,
    /// Whether it may say everything.
    pub(crate) trusted: bool,
}

impl FileFound {
    /// Says where it is, and whether its folder is trusted.
    pub(crate) fn with_trust(&self) -> String {
        let not = if self.trusted { "" } else { "not " };
        format!("{} ({not}trusted)", self.path.display())
    }
}

/// Finds what is in force in a folder, with these flags.
///
/// # Errors
///
/// [`ConfigError`] when somebody says what makes no sense; nothing is in force then.
pub(crate) fn load(folder: &Path, flags: Flags) -> Result<Configuration, ConfigError> {
    load::load(folder, flags, Surroundings::of_process())
}

impl Configuration {
    /// Returns what the user should be told before anything is done, one line each: what a
    /// project wanted and may not have, and how it could.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let denied = self.notes.iter().filter(|note| note.denied);
        let mut warnings: Vec<_> = denied.map(ToString::to_string).collect();
        if self
            .notes
            .iter()
            .any(|note| note.denied && note.name != "trust")
        {
            warnings.extend(self.trust_hint());
        }
        warnings
    }

    /// Finds an agent by one of its names.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with what may be meant.
    pub(crate) fn find(&self, name: &str) -> Result<Agent, ConfigError> {
        let word = name.parse().ok();
        let found = word.and_then(|word| load::find(&word, &self.registry));
        found.ok_or_else(|| load::unknown(name, "", &self.registry))
    }

    /// Returns the MCP servers that sessions are given.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when a program or a variable is not there.
    pub(crate) fn mcp_servers(&self) -> Result<Vec<McpServer>, ConfigError> {
        self.mcp.servers(&*self.surroundings.variable)
    }

    /// Walks over the names of those servers, and who said them.
    pub(crate) fn mcp_names(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.mcp.names()
    }

    fn trust_hint(&self) -> Option<String> {
        let (project, global) = (self.project.as_ref()?, self.global.as_ref()?);
        let folder = project.path.parent()?;
        Some(format!(
            "if you trust what the project says, write trust = [{:?}] into {}",
            folder.display().to_string(),
            global.path.display()
        ))
    }
}
